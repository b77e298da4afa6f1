//! Tiles of up to 8 rows by 3 vectors of 512 bits: 24 sums, 3 vectors of the right operand, and a factor.

use std::arch::x86_64::{
    __m512, __m512d, _MM_HINT_ET0, _mm_prefetch, _mm256_add_pd, _mm256_add_ps, _mm256_castpd_ps,
    _mm512_castpd512_pd256, _mm512_castps_pd, _mm512_castps512_ps256, _mm512_extractf64x4_pd,
    _mm512_fmadd_pd, _mm512_fmadd_ps, _mm512_loadu_pd, _mm512_loadu_ps, _mm512_mask_storeu_pd,
    _mm512_mask_storeu_ps, _mm512_maskz_loadu_pd, _mm512_maskz_loadu_ps, _mm512_set1_pd, _mm512_set1_ps,
    _mm512_setzero_pd, _mm512_setzero_ps, _mm512_shuffle_f64x2, _mm512_storeu_pd, _mm512_storeu_ps,
    _mm512_unpackhi_pd, _mm512_unpacklo_pd,
};

use super::{
    Micro, RowSums, Scattered, Straight, Table, Tile, TileFn, Vector, avx2, by_vector, micro, transpose,
    whole,
};

/// The mask of the first `$lanes` of `$all` lanes. It is empty if `$lanes` is 0 or larger than `$all`.
macro_rules! mask {
    ($mask:ident, $all:expr, $lanes:expr) => {
        $mask::MAX.checked_shr($all.wrapping_sub($lanes) as u32).unwrap_or(0)
    };
}

macro_rules! vector {
    (
        $vector:ident, $element:ident, $mask:ident,
        $zero:ident, $splat:ident, $load:ident, $load_part:ident, $store:ident, $store_part:ident, $fma:ident,
        $sum:ident
    ) => {
        impl Vector for $vector {
            type Element = $element;
            const LANES: usize = $mask::BITS as usize;
            const LOADS_PARTS_FREELY: bool = true;
            whole!($element, $zero(), $splat, $load, $store);

            #[inline(always)]
            unsafe fn load_part(from: *const $element, lanes: usize) -> Self {
                // SAFETY: the caller is compiled for AVX-512; lanes outside the mask are not read.
                unsafe { $load_part(mask!($mask, Self::LANES, lanes), from) }
            }

            #[inline(always)]
            unsafe fn store_part(self, to: *mut $element, lanes: usize) {
                // SAFETY: as above; lanes outside the mask are not written.
                unsafe { $store_part(to, mask!($mask, Self::LANES, lanes), self) }
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
    __m512,
    f32,
    u16,
    _mm512_setzero_ps,
    _mm512_set1_ps,
    _mm512_loadu_ps,
    _mm512_maskz_loadu_ps,
    _mm512_storeu_ps,
    _mm512_mask_storeu_ps,
    _mm512_fmadd_ps,
    sum_f32
);
vector!(
    __m512d,
    f64,
    u8,
    _mm512_setzero_pd,
    _mm512_set1_pd,
    _mm512_loadu_pd,
    _mm512_maskz_loadu_pd,
    _mm512_storeu_pd,
    _mm512_mask_storeu_pd,
    _mm512_fmadd_pd,
    sum_f64
);

#[inline(always)]
unsafe fn sum_f32(x: __m512) -> f32 {
    // SAFETY: the caller is compiled for AVX-512, which includes AVX2.
    unsafe {
        let high = _mm256_castpd_ps(_mm512_extractf64x4_pd::<1>(_mm512_castps_pd(x)));
        avx2::sum_f32(_mm256_add_ps(_mm512_castps512_ps256(x), high))
    }
}

#[inline(always)]
unsafe fn sum_f64(x: __m512d) -> f64 {
    // SAFETY: the caller is compiled for AVX-512, which includes AVX2.
    unsafe { avx2::sum_f64(_mm256_add_pd(_mm512_castpd512_pd256(x), _mm512_extractf64x4_pd::<1>(x))) }
}

micro!(F32: __m512, f32, "avx512f", [1 2 3 4 5 6 7 8] by [1 2 3],
    scattered [2 2 4 4 6 6 8 8 10 10 12 12], [2 2 4 4 6 6 8 8 10 10 12 12], Some(avx2::transpose_f32));
micro!(F64: __m512d, f64, "avx512f", [1 2 3 4 5 6 7 8] by [1 2 3],
    scattered [2 2 4 4 6 6 8 8 10 10 12 12], [2 2 4 4 6 6 8 8 10 10 12 12], Some(transpose_f64));

transpose!(transpose_f64: __m512d, f64, "avx512f", 8, |square| {
    // Combines pairs of rows, then four rows, then the halves.
    let pair = |x, y| [_mm512_unpacklo_pd(x, y), _mm512_unpackhi_pd(x, y)];
    let four = |[x, y]: [[__m512d; 2]; 2]| {
        [
            _mm512_shuffle_f64x2::<0x88>(x[0], y[0]),
            _mm512_shuffle_f64x2::<0x88>(x[1], y[1]),
            _mm512_shuffle_f64x2::<0xdd>(x[0], y[0]),
            _mm512_shuffle_f64x2::<0xdd>(x[1], y[1]),
        ]
    };
    let [a, b, c, d, e, f, g, h] = square;
    let upper = four([pair(a, b), pair(c, d)]);
    let lower = four([pair(e, f), pair(g, h)]);
    let low = |i: usize| _mm512_shuffle_f64x2::<0x88>(upper[i], lower[i]);
    let high = |i: usize| _mm512_shuffle_f64x2::<0xdd>(upper[i], lower[i]);
    [low(0), low(1), low(2), low(3), high(0), high(1), high(2), high(3)]
});
