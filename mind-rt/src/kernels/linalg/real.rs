//! The numbers that linear algebra computes with.

use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

use crate::kernels::math::Float;
use crate::kernels::matmul::Gemm;

/// A floating-point number with the operations of linear algebra.
pub(in crate::kernels) trait Real:
    Gemm
    + Float
    + Neg<Output = Self>
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
{
    /// The distance from 1 to the next number.
    const EPSILON: Self;
    /// The smallest positive normal number.
    const SMALLEST: Self;
    /// Not a number.
    const NAN: Self;
    /// Sums of squares below this bound may have lost digits to underflow.
    const SMALL_SQUARES: Self;
    /// Numbers up to this bound have sums of squares that do not overflow.
    const LARGE: Self;

    /// The square root.
    fn root(self) -> Self;

    /// The magnitude.
    fn magnitude(self) -> Self;

    /// The magnitude of this number with the sign of another.
    fn with_sign_of(self, other: Self) -> Self;

    /// Whether the number is neither infinite nor NaN.
    fn is_number(self) -> bool;

    /// Whether it is not a number.
    fn is_nan(self) -> bool;

    /// A power of two that scales the finite positive number to between 1 and 4. Subnormal numbers stay below 1. The
    /// reciprocal of the power is exact.
    fn scale_to_one(self) -> Self;

    /// The number nearest to `number`.
    fn of(number: f64) -> Self;
}

/// The mean of two numbers, which does not overflow.
#[inline(always)]
pub(super) fn mean<T: Real>(a: T, b: T) -> T {
    T::of(0.5) * a + T::of(0.5) * b
}

macro_rules! real {
    ($($ty:ident, $bits:ident;)*) => {
        $(impl Real for $ty {
            const EPSILON: Self = Self::EPSILON;
            const SMALLEST: Self = Self::MIN_POSITIVE;
            const NAN: Self = Self::NAN;
            const SMALL_SQUARES: Self = Self::MIN_POSITIVE / Self::EPSILON;
            const LARGE: Self = $ty::from_bits((3 * (<$ty>::MAX_EXP as $bits) / 2 - 10) << (Self::MANTISSA_DIGITS - 1));

            #[inline(always)]
            fn root(self) -> Self {
                self.sqrt()
            }

            #[inline(always)]
            fn magnitude(self) -> Self {
                self.abs()
            }

            #[inline(always)]
            fn with_sign_of(self, other: Self) -> Self {
                self.copysign(other)
            }

            #[inline(always)]
            fn is_number(self) -> bool {
                self.is_finite()
            }

            #[inline(always)]
            fn is_nan(self) -> bool {
                self.is_nan()
            }

            #[inline(always)]
            fn scale_to_one(self) -> Self {
                const SHIFT: u32 = <$ty>::MANTISSA_DIGITS - 1;
                const MOST: $bits = 2 * (<$ty>::MAX_EXP as $bits - 1);
                let exponent = self.to_bits() >> SHIFT;
                Self::from_bits(MOST.saturating_sub(exponent).max(1) << SHIFT)
            }

            #[inline(always)]
            fn of(number: f64) -> Self {
                number as Self
            }
        })*
    };
}

real! {
    f32, u32;
    f64, u64;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_are_powers_of_two_with_exact_reciprocals() {
        for x in [1.0, 1.5, 3.0e-300, 7.0e300, f64::MAX, f64::MIN_POSITIVE] {
            let scale = x.scale_to_one();
            assert!((1.0..4.0).contains(&(x * scale)), "{x}");
            assert_eq!(scale * (1.0 / scale), 1.0, "{x}");
        }
        for x in [1.0, 1.5, 3.0e-37, 7.0e37, f32::MAX, f32::MIN_POSITIVE] {
            let scale = x.scale_to_one();
            assert!((1.0..4.0).contains(&(x * scale)), "{x}");
            assert_eq!(scale * (1.0 / scale), 1.0, "{x}");
        }
        assert!((f64::from_bits(1).scale_to_one() * f64::from_bits(1)) < 1.0);
        assert_eq!(<f64 as Real>::LARGE, 2.0_f64.powi(503));
        assert_eq!(<f32 as Real>::LARGE, 2.0_f32.powi(55));
    }
}
