//! What kernels ask of an element type.

use super::conv::Convolve;
use super::matmul::Gemm;
use super::reduce::Reduce;
use super::rows::SumRows;
use super::storage::Plain;

/// Arithmetic that kernels are generic over: IEEE for floats, wrapping for integers.
#[allow(private_bounds, reason = "sealed")]
pub trait Arithmetic:
    Plain
    + Convolve
    + Gemm
    + Reduce
    + SumRows
    + PartialEq
    + PartialOrd
    + Default
    + std::fmt::Debug
    + std::fmt::Display
    + std::fmt::LowerExp
{
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;

    /// The sum.
    #[must_use]
    fn plus(self, other: Self) -> Self;

    /// The product.
    #[must_use]
    fn times(self, other: Self) -> Self;
}

macro_rules! float {
    ($($ty:ty),*) => {
        $(impl Arithmetic for $ty {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;

            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self + other
            }

            #[inline(always)]
            fn times(self, other: Self) -> Self {
                self * other
            }
        })*
    };
}

macro_rules! integer {
    ($($ty:ty),*) => {
        $(impl Arithmetic for $ty {
            const ZERO: Self = 0;
            const ONE: Self = 1;

            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            #[inline(always)]
            fn times(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
        })*
    };
}

float!(f32, f64);
integer!(i32, i64);
