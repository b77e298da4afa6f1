//! Ranges of operands in which a function takes less work.
//!
//! A loop over elements has no branch, so a function does for every element the work that only few elements need. In
//! the sine, this is the work for large angles. Code with many operands first checks whether all of them are in range,
//! and then calls [`Near`] functions. The bits are the same: for operands in range, the general function selects the
//! result that the shorter one gives.

use super::rounding::{Float, Rounding};
use crate::kernels::refused;

/// Functions of operands in range, with the products and sums of `A`.
#[derive(Clone, Copy, Debug)]
pub struct Near<A>(std::marker::PhantomData<A>);

impl<A: Rounding> Rounding for Near<A> {
    const FUSES: bool = A::FUSES;
    const IS_NEAR: bool = true;

    #[inline(always)]
    fn multiply_add<T: Float>(x: T, y: T, z: T) -> T {
        A::multiply_add(x, y, z)
    }

    #[inline(always)]
    fn one_plus<T: Float>(r: T, p: T) -> T {
        A::one_plus(r, p)
    }
}

/// Whether operands are in the ranges of functions.
pub trait OperandRanges: Copy {
    /// The range of `sin`, `cos` and `tan`.
    fn is_near_angle(self) -> bool;

    /// The range of `erf_inv`, which has 99.66 % of all numbers between -1 and 1.
    fn is_near_quantile(self) -> bool;

    /// The range of `lgamma`, `digamma` and `trigamma`: above 0, neither subnormal nor infinite.
    fn is_positive_normal(self) -> bool;

    /// The range of `pow`: positive normal numbers, in `f32` not close to either end, for which the power is ordinary
    /// too.
    fn is_ordinary_power(self, y: Self) -> bool;
}

macro_rules! of_floats {
    ($ty:ident, $angle:expr, $is_normal:path, $is_ordinary:path) => {
        impl OperandRanges for $ty {
            #[inline(always)]
            fn is_near_angle(self) -> bool {
                self.abs() <= $angle
            }

            #[inline(always)]
            fn is_near_quantile(self) -> bool {
                self.abs() <= super::erf_inv::LIMIT as $ty
            }

            #[inline(always)]
            fn is_positive_normal(self) -> bool {
                $is_normal(self)
            }

            #[inline(always)]
            fn is_ordinary_power(self, y: Self) -> bool {
                $is_ordinary(self, y)
            }
        }
    };
}

of_floats!(f32, super::sin::LIMIT_F32, is_positive_normal_f32, super::pow::is_ordinary_f32);
of_floats!(f64, super::sin::LIMIT_F64, is_positive_normal_f64, super::pow::is_ordinary_f64);

/// Compares integers, which saves two per cent of the time of `lgamma` at AVX2.
#[inline(always)]
fn is_positive_normal_f32(x: f32) -> bool {
    const LEAST: u32 = f32::MIN_POSITIVE.to_bits();

    x.to_bits().wrapping_sub(LEAST) < f32::INFINITY.to_bits() - LEAST
}

#[inline(always)]
#[allow(clippy::manual_range_contains, reason = "`&&` is a branch, which keeps a loop from vectors")]
fn is_positive_normal_f64(x: f64) -> bool {
    (x >= f64::MIN_POSITIVE) & (x <= f64::MAX)
}

macro_rules! of_integers {
    ($($ty:ident $variant:ident;)*) => {$(
        impl OperandRanges for $ty {
            fn is_near_angle(self) -> bool {
                refused()
            }

            fn is_near_quantile(self) -> bool {
                refused()
            }

            fn is_positive_normal(self) -> bool {
                refused()
            }

            fn is_ordinary_power(self, _: Self) -> bool {
                refused()
            }
        }
    )*};
}

mind_shape::element_types!(integers => of_integers!);
