//! Tiles of up to 6 rows by 2 vectors of 256 bits: 12 sums, 2 vectors of the right operand, and a factor.

use std::arch::x86_64::{
    __m256, __m256d, __m256i, _MM_HINT_ET0, _mm_add_pd, _mm_add_ps, _mm_add_sd, _mm_add_ss, _mm_cvtsd_f64,
    _mm_cvtss_f32, _mm_movehdup_ps, _mm_movehl_ps, _mm_prefetch, _mm_unpackhi_pd, _mm256_castpd_ps,
    _mm256_castpd256_pd128, _mm256_castps_pd, _mm256_castps256_ps128, _mm256_extractf128_pd,
    _mm256_extractf128_ps, _mm256_fmadd_pd, _mm256_fmadd_ps, _mm256_loadu_pd, _mm256_loadu_ps,
    _mm256_loadu_si256, _mm256_maskload_pd, _mm256_maskload_ps, _mm256_maskstore_pd, _mm256_maskstore_ps,
    _mm256_permute2f128_pd, _mm256_permute2f128_ps, _mm256_set1_pd, _mm256_set1_ps, _mm256_setzero_pd,
    _mm256_setzero_ps, _mm256_storeu_pd, _mm256_storeu_ps, _mm256_unpackhi_pd, _mm256_unpackhi_ps,
    _mm256_unpacklo_pd, _mm256_unpacklo_ps,
};

use super::{
    Micro, RowSums, Scattered, Straight, Table, Tile, TileFn, Vector, by_vector, micro, transpose, whole,
};

/// The mask of the first `lanes` of `LANES` lanes: a window into `ones`, which are ones followed by zeros.
#[inline(always)]
unsafe fn mask<I: Copy, const LANES: usize>(ones: &[I], lanes: usize) -> __m256i {
    assert!(ones.len() == 2 * LANES && lanes <= LANES);
    // SAFETY: a window of `LANES` elements that begins at `LANES - lanes` is inside `2 * LANES` elements; the caller is
    // compiled for AVX2.
    unsafe { _mm256_loadu_si256(ones.as_ptr().add(LANES - lanes).cast()) }
}

static ONES_32: [i32; 16] = [-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0];
static ONES_64: [i64; 8] = [-1, -1, -1, -1, 0, 0, 0, 0];

macro_rules! vector {
    (
        $vector:ident, $element:ident, $lanes:literal, $ones:ident,
        $zero:ident, $splat:ident, $load:ident, $load_part:ident, $store:ident, $store_part:ident, $fma:ident,
        $sum:ident
    ) => {
        impl Vector for $vector {
            type Element = $element;
            const LANES: usize = $lanes;
            whole!($element, $zero(), $splat, $load, $store);

            #[inline(always)]
            unsafe fn load_part(from: *const $element, lanes: usize) -> Self {
                // SAFETY: the caller is compiled for AVX2 and FMA; lanes outside the mask are not read.
                unsafe { $load_part(from, mask::<_, $lanes>(&$ones, lanes)) }
            }

            #[inline(always)]
            unsafe fn store_part(self, to: *mut $element, lanes: usize) {
                // SAFETY: as above; lanes outside the mask are not written.
                unsafe { $store_part(to, mask::<_, $lanes>(&$ones, lanes), self) }
            }

            #[inline(always)]
            unsafe fn prefetch(to: *const $element) {
                // SAFETY: prefetching is harmless wherever it points.
                unsafe { _mm_prefetch::<_MM_HINT_ET0>(to.cast()) }
            }

            #[inline(always)]
            unsafe fn plus_product(self, x: Self, y: Self) -> Self {
                // SAFETY: as above.
                unsafe { $fma(x, y, self) }
            }

            #[inline(always)]
            unsafe fn sum(self) -> $element {
                // SAFETY: as above.
                unsafe { $sum(self) }
            }
        }
    };
}

vector!(
    __m256,
    f32,
    8,
    ONES_32,
    _mm256_setzero_ps,
    _mm256_set1_ps,
    _mm256_loadu_ps,
    _mm256_maskload_ps,
    _mm256_storeu_ps,
    _mm256_maskstore_ps,
    _mm256_fmadd_ps,
    sum_f32
);
vector!(
    __m256d,
    f64,
    4,
    ONES_64,
    _mm256_setzero_pd,
    _mm256_set1_pd,
    _mm256_loadu_pd,
    _mm256_maskload_pd,
    _mm256_storeu_pd,
    _mm256_maskstore_pd,
    _mm256_fmadd_pd,
    sum_f64
);

#[inline(always)]
pub unsafe fn sum_f32(x: __m256) -> f32 {
    // SAFETY: the caller is compiled for AVX2.
    unsafe {
        let four = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps::<1>(x));
        let two = _mm_add_ps(four, _mm_movehl_ps(four, four));
        _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)))
    }
}

#[inline(always)]
pub unsafe fn sum_f64(x: __m256d) -> f64 {
    // SAFETY: the caller is compiled for AVX2.
    unsafe {
        let two = _mm_add_pd(_mm256_castpd256_pd128(x), _mm256_extractf128_pd::<1>(x));
        _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)))
    }
}

micro!(F32: __m256, f32, "avx2,fma", [1 2 3 4 5 6] by [1 2],
    scattered [4 4 4 4 8 8 8 8 12 12 12 12], [2 2 4 4 6 6], Some(transpose_f32));
micro!(F64: __m256d, f64, "avx2,fma", [1 2 3 4 5 6] by [1 2],
    scattered [4 4 4 4 8 8 8 8 12 12 12 12], [2 2 4 4 6 6], Some(transpose_f64));

transpose!(transpose_f32: __m256, f32, "avx2,fma", 8, |square| {
    // Combines pairs of rows, then four rows, then the halves.
    let pair =
        |x, y| [_mm256_castps_pd(_mm256_unpacklo_ps(x, y)), _mm256_castps_pd(_mm256_unpackhi_ps(x, y))];
    let four = |[x, y]: [[__m256d; 2]; 2]| {
        [
            _mm256_castpd_ps(_mm256_unpacklo_pd(x[0], y[0])),
            _mm256_castpd_ps(_mm256_unpackhi_pd(x[0], y[0])),
            _mm256_castpd_ps(_mm256_unpacklo_pd(x[1], y[1])),
            _mm256_castpd_ps(_mm256_unpackhi_pd(x[1], y[1])),
        ]
    };
    let [a, b, c, d, e, f, g, h] = square;
    let upper = four([pair(a, b), pair(c, d)]);
    let lower = four([pair(e, f), pair(g, h)]);
    let low = |i: usize| _mm256_permute2f128_ps::<0x20>(upper[i], lower[i]);
    let high = |i: usize| _mm256_permute2f128_ps::<0x31>(upper[i], lower[i]);
    [low(0), low(1), low(2), low(3), high(0), high(1), high(2), high(3)]
});

transpose!(transpose_f64: __m256d, f64, "avx2,fma", 4, |square| {
    let [a, b, c, d] = square;
    let (ab, cd) = (
        [_mm256_unpacklo_pd(a, b), _mm256_unpackhi_pd(a, b)],
        [_mm256_unpacklo_pd(c, d), _mm256_unpackhi_pd(c, d)],
    );
    [
        _mm256_permute2f128_pd::<0x20>(ab[0], cd[0]),
        _mm256_permute2f128_pd::<0x20>(ab[1], cd[1]),
        _mm256_permute2f128_pd::<0x31>(ab[0], cd[0]),
        _mm256_permute2f128_pd::<0x31>(ab[1], cd[1]),
    ]
});
