//! Tiles of up to 4 rows by 2 groups of 4 elements, for every architecture except x86-64. They use no
//! processor-specific instructions, so tests that run them on x86-64 also apply to other architectures.

use super::{Micro, RowSums, Scattered, Straight, Table, Tile, TileFn, Vector, by_vector, micro};

macro_rules! vector {
    ($element:ident) => {
        impl Vector for [$element; 4] {
            type Element = $element;
            const LANES: usize = 4;

            #[inline(always)]
            unsafe fn zero() -> Self {
                [0.0; 4]
            }

            #[inline(always)]
            unsafe fn splat(x: $element) -> Self {
                [x; 4]
            }

            #[inline(always)]
            unsafe fn load(from: *const $element) -> Self {
                // SAFETY: the caller vouches for the memory; an array needs no more alignment than its elements.
                unsafe { *from.cast() }
            }

            #[inline(always)]
            unsafe fn load_part(from: *const $element, lanes: usize) -> Self {
                // SAFETY: as above.
                std::array::from_fn(|i| if i < lanes { unsafe { *from.add(i) } } else { 0.0 })
            }

            #[inline(always)]
            unsafe fn store(self, to: *mut $element) {
                // SAFETY: as above.
                unsafe { *to.cast() = self }
            }

            #[inline(always)]
            unsafe fn store_part(self, to: *mut $element, lanes: usize) {
                for (i, element) in self.into_iter().enumerate().take(lanes) {
                    // SAFETY: as above.
                    unsafe { *to.add(i) = element };
                }
            }

            #[inline(always)]
            unsafe fn plus_product(self, x: Self, y: Self) -> Self {
                std::array::from_fn(|i| self[i] + x[i] * y[i])
            }
        }
    };
}

vector!(f32);
vector!(f64);

micro!(F32: [f32; 4], f32, [1 2 3 4] by [1 2],
    scattered [4 4 4 4], [2 2 4 4], None);
micro!(F64: [f64; 4], f64, [1 2 3 4] by [1 2],
    scattered [4 4 4 4], [2 2 4 4], None);
