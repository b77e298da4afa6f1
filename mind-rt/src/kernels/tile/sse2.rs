//! Tiles of up to 4 rows by 2 vectors of 128 bits, which every x86-64 processor has. A product is rounded before it is added.

use std::arch::x86_64::{
    __m128, __m128d, _mm_add_pd, _mm_add_ps, _mm_loadu_pd, _mm_loadu_ps, _mm_mul_pd, _mm_mul_ps, _mm_set1_pd,
    _mm_set1_ps, _mm_setzero_pd, _mm_setzero_ps, _mm_storeu_pd, _mm_storeu_ps,
};

use super::{Micro, Rows, Scattered, Straight, Table, Tile, TileFn, Vector, by_vector, micro};

macro_rules! vector {
    (
        $vector:ident, $element:ident, $lanes:literal,
        $zero:expr, $splat:ident, $load:ident, $store:ident, |$sum:ident, $x:ident, $y:ident| $fma:expr
    ) => {
        impl Vector for $vector {
            type Element = $element;
            const LANES: usize = $lanes;

            #[inline(always)]
            unsafe fn zero() -> Self {
                // SAFETY: every processor of the architecture has SSE2.
                unsafe { $zero }
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
                let mut elements = [0.0; $lanes];
                for (i, element) in elements.iter_mut().enumerate() {
                    if i < lanes {
                        // SAFETY: as above.
                        *element = unsafe { *from.add(i) };
                    }
                }
                // SAFETY: as above.
                unsafe { $load(elements.as_ptr()) }
            }

            #[inline(always)]
            unsafe fn store(self, to: *mut $element) {
                // SAFETY: as above.
                unsafe { $store(to, self) }
            }

            #[inline(always)]
            unsafe fn store_part(self, to: *mut $element, lanes: usize) {
                let mut elements = [0.0; $lanes];
                // SAFETY: as above.
                unsafe { $store(elements.as_mut_ptr(), self) };
                for (i, element) in elements.into_iter().enumerate() {
                    if i < lanes {
                        // SAFETY: as above.
                        unsafe { *to.add(i) = element };
                    }
                }
            }

            #[inline(always)]
            unsafe fn plus_product(self, x: Self, y: Self) -> Self {
                let ($sum, $x, $y) = (self, x, y);
                // SAFETY: as above.
                unsafe { $fma }
            }
        }
    };
}

vector!(__m128, f32, 4, _mm_setzero_ps(), _mm_set1_ps, _mm_loadu_ps, _mm_storeu_ps, |sum, x, y| _mm_add_ps(
    sum,
    _mm_mul_ps(x, y)
));
vector!(__m128d, f64, 2, _mm_setzero_pd(), _mm_set1_pd, _mm_loadu_pd, _mm_storeu_pd, |sum, x, y| _mm_add_pd(
    sum,
    _mm_mul_pd(x, y)
));

micro!(F32: __m128, f32, "sse2", [1 2 3 4] by [1 2],
    scattered [4 4 4 4 8 8 8 8], [2 2 4 4], None);
micro!(F64: __m128d, f64, "sse2", [1 2 3 4] by [1 2],
    scattered [4 4 4 4 8 8 8 8], [2 2 4 4], None);
