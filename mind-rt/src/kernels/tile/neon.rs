//! Tiles of up to 8 rows by 3 vectors of 128 bits: 24 of the 32 registers hold sums.

use std::arch::aarch64::{
    float32x4_t, float64x2_t, vdupq_n_f32, vdupq_n_f64, vfmaq_f32, vfmaq_f64, vld1q_f32, vld1q_f64,
    vst1q_f32, vst1q_f64,
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
                // SAFETY: every processor of the architecture has NEON.
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

vector!(float32x4_t, f32, 4, vdupq_n_f32(0.0), vdupq_n_f32, vld1q_f32, vst1q_f32, |sum, x, y| vfmaq_f32(
    sum, x, y
));
vector!(float64x2_t, f64, 2, vdupq_n_f64(0.0), vdupq_n_f64, vld1q_f64, vst1q_f64, |sum, x, y| vfmaq_f64(
    sum, x, y
));

micro!(F32: float32x4_t, f32, "neon", [1 2 3 4 5 6 7 8] by [1 2 3],
    scattered [2 2 4 4 6 6 8 8 10 10 12 12], [2 2 4 4 6 6 8 8 10 10 12 12], None);
micro!(F64: float64x2_t, f64, "neon", [1 2 3 4 5 6 7 8] by [1 2 3],
    scattered [2 2 4 4 6 6 8 8 10 10 12 12], [2 2 4 4 6 6 8 8 10 10 12 12], None);
