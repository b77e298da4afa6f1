//! The numbers that kernels compute with.

use std::fmt::{Debug, Display, LowerExp};

use mind_shape::element_types;

use super::memory::Plain;

/// A number that kernels are generic over: IEEE arithmetic for floats, wrapping for integers.
#[allow(private_bounds, reason = "sealed")]
pub trait Number: Plain + PartialEq + PartialOrd + Default + Debug + Display + LowerExp {
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// The lower bound of all numbers: negative infinity, or the least integer.
    const LEAST: Self;
    /// The upper bound of all numbers: infinity, or the greatest integer.
    const GREATEST: Self;

    /// The sum.
    #[must_use]
    fn plus(self, other: Self) -> Self;

    /// The difference.
    #[must_use]
    fn minus(self, other: Self) -> Self;

    /// The product.
    #[must_use]
    fn times(self, other: Self) -> Self;

    /// Adds a chain to this sum, whose rounding error so far is `lost`. Returns the new sum and its rounding error.
    #[must_use]
    fn plus_chain(self, lost: Self, chain: Self) -> (Self, Self);
}

macro_rules! float {
    ($($ty:ident $variant:ident;)*) => {
        $(impl Number for $ty {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const LEAST: Self = Self::NEG_INFINITY;
            const GREATEST: Self = Self::INFINITY;

            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self + other
            }

            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                self - other
            }

            #[inline(always)]
            fn times(self, other: Self) -> Self {
                self * other
            }

            #[inline(always)]
            fn plus_chain(self, lost: Self, chain: Self) -> (Self, Self) {
                let chain = chain - lost;
                let sum = self + chain;
                let lost = (sum - self) - chain;
                // A sum that is not finite has no rounding error: it stays infinite or NaN.
                (sum, if lost.is_finite() { lost } else { 0.0 })
            }
        })*
    };
}

macro_rules! integer {
    ($($ty:ident $variant:ident;)*) => {
        $(impl Number for $ty {
            const ZERO: Self = 0;
            const ONE: Self = 1;
            const LEAST: Self = Self::MIN;
            const GREATEST: Self = Self::MAX;

            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }

            #[inline(always)]
            fn times(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }

            #[inline(always)]
            fn plus_chain(self, _: Self, chain: Self) -> (Self, Self) {
                (self.wrapping_add(chain), 0)
            }
        })*
    };
}

element_types!(floats => float!);
element_types!(integers => integer!);
