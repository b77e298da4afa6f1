//! Vectors of 128 bits without instructions for partial loads and stores: a part goes through an array.

/// Implements [`Vector`](super::Vector) for a vector of 128 bits that every processor of its architecture has, by the
/// level's functions.
macro_rules! vector_128 {
    (
        $vector:ident, $element:ident, $lanes:literal,
        $zero:expr, $splat:ident, $load:ident, $store:ident, |$sum:ident, $x:ident, $y:ident| $fma:expr
    ) => {
        impl Vector for $vector {
            type Element = $element;
            const LANES: usize = $lanes;
            whole!($element, $zero, $splat, $load, $store);

            #[inline(always)]
            unsafe fn load_part(from: *const $element, lanes: usize) -> Self {
                let mut elements = [0.0; $lanes];
                for (i, element) in elements.iter_mut().enumerate() {
                    if i < lanes {
                        // SAFETY: the caller vouches for the memory.
                        *element = unsafe { *from.add(i) };
                    }
                }
                // SAFETY: every processor of the architecture has this level, and the array is as long as the vector.
                unsafe { $load(elements.as_ptr()) }
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
pub(super) use vector_128;
