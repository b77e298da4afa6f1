//! Tiles of up to 4 rows by 3 vectors of 256 bits: 12 sums, 3 vectors of the right operand, and a factor.

use std::arch::x86_64::{
    __m256, __m256d, __m256i, _mm256_fmadd_pd, _mm256_fmadd_ps, _mm256_loadu_pd, _mm256_loadu_ps,
    _mm256_loadu_si256, _mm256_maskload_pd, _mm256_maskload_ps, _mm256_maskstore_pd, _mm256_maskstore_ps,
    _mm256_set1_pd, _mm256_set1_ps, _mm256_setzero_pd, _mm256_setzero_ps, _mm256_storeu_pd, _mm256_storeu_ps,
};

use super::{Micro, Tile, TileFn, Vector, by_vector, micro};

/// The mask of the first `lanes` of `LANES`: a window into ones followed by zeros.
#[inline(always)]
unsafe fn mask<I: Copy, const LANES: usize>(ones: &[I], lanes: usize) -> __m256i {
    debug_assert!(ones.len() == 2 * LANES && (1..=LANES).contains(&lanes));
    // SAFETY: a window of LANES elements that begins at LANES - lanes is inside twice as many; the caller is compiled
    // for AVX2.
    unsafe { _mm256_loadu_si256(ones.as_ptr().add(LANES - lanes).cast()) }
}

static ONES_32: [i32; 16] = [-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0];
static ONES_64: [i64; 8] = [-1, -1, -1, -1, 0, 0, 0, 0];

macro_rules! vector {
    (
        $vector:ident, $element:ident, $lanes:literal, $ones:ident,
        $zero:ident, $splat:ident, $load:ident, $load_part:ident, $store:ident, $store_part:ident, $fma:ident
    ) => {
        impl Vector for $vector {
            type Element = $element;
            const LANES: usize = $lanes;

            #[inline(always)]
            unsafe fn zero() -> Self {
                // SAFETY: the caller is compiled for AVX2 and FMA.
                unsafe { $zero() }
            }

            #[inline(always)]
            unsafe fn splat(x: $element) -> Self {
                // SAFETY: as above.
                unsafe { $splat(x) }
            }

            #[inline(always)]
            unsafe fn load(from: *const $element) -> Self {
                // SAFETY: as above, and the caller vouches for the memory.
                unsafe { $load(from) }
            }

            #[inline(always)]
            unsafe fn load_part(from: *const $element, lanes: usize) -> Self {
                // SAFETY: as above; lanes outside the mask are not read.
                unsafe { $load_part(from, mask::<_, $lanes>(&$ones, lanes)) }
            }

            #[inline(always)]
            unsafe fn store(self, to: *mut $element) {
                // SAFETY: as above.
                unsafe { $store(to, self) }
            }

            #[inline(always)]
            unsafe fn store_part(self, to: *mut $element, lanes: usize) {
                // SAFETY: as above; lanes outside the mask are not written.
                unsafe { $store_part(to, mask::<_, $lanes>(&$ones, lanes), self) }
            }

            #[inline(always)]
            unsafe fn plus_product(self, x: Self, y: Self) -> Self {
                // SAFETY: as above.
                unsafe { $fma(x, y, self) }
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
    _mm256_fmadd_ps
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
    _mm256_fmadd_pd
);

micro!(F32: __m256, f32, "avx2,fma", [1 2 3 4] by [1 2 3]);
micro!(F64: __m256d, f64, "avx2,fma", [1 2 3 4] by [1 2 3]);
