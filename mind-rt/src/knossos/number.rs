//! Numbers: the types of a Float, and checked operations on integers.

use super::{
    fault::{At, Fault},
    view::{Extents, View},
};
use crate::element::Arithmetic;
use crate::kernels::math::Float;

/// The type of a Float, `f32` or `f64`. Functions that are not computed in the type itself are computed in `f64` and
/// rounded.
pub trait Real: Float + Arithmetic {
    /// The number of this type that is nearest to `value`.
    fn rounded(value: f64) -> Self;

    /// The same number as an `f64`.
    fn wide(self) -> f64;
}

impl Real for f64 {
    #[inline(always)]
    fn rounded(value: f64) -> Self {
        value
    }

    #[inline(always)]
    fn wide(self) -> f64 {
        self
    }
}

impl Real for f32 {
    #[inline(always)]
    fn rounded(value: f64) -> Self {
        value as Self
    }

    #[inline(always)]
    fn wide(self) -> f64 {
        f64::from(self)
    }
}

/// The quotient, rounded towards zero.
///
/// # Errors
/// E6010 if the divisor is 0.
#[inline(always)]
pub fn divide(dividend: i64, divisor: i64, at: At) -> Result<i64, Fault> {
    if divisor == 0 {
        return Err(at.failure(&format!("cannot divide {dividend} by zero")));
    }
    Ok(dividend.wrapping_div(divisor))
}

/// Converts an extent of a size.
///
/// # Errors
/// E6010 if the extent is negative.
#[inline(always)]
pub fn extent(extent: i64, at: At) -> Result<usize, Fault> {
    usize::try_from(extent).map_err(|_| at.failure(&format!("the size {extent} is negative")))
}

/// The number of elements of a size.
///
/// # Errors
/// E6004 if the number overflows.
#[inline(always)]
pub fn total<S: Extents>(size: S, at: At) -> Result<usize, Fault> {
    let count = size.as_slice().iter().try_fold(1_usize, |count, extent| count.checked_mul(*extent));
    count.ok_or_else(|| at.no_memory(size.as_slice()))
}

/// The Float that is nearest to an integer.
#[inline(always)]
pub fn from_integer<F: Real>(value: i64) -> F {
    F::rounded(value as f64)
}

/// The larger number; the first if both are equal.
#[inline(always)]
pub fn maximum<F: Real>(x: F, y: F) -> F {
    if x >= y { x } else { y }
}

/// The smaller number; the first if both are equal.
#[inline(always)]
pub fn minimum<F: Real>(x: F, y: F) -> F {
    if x <= y { x } else { y }
}

/// The first position of the largest element.
///
/// # Errors
/// E6010 if there are no elements.
#[inline]
pub fn arg_max<F: Real, S>(view: View<'_, F, S>, at: At) -> Result<i64, Fault> {
    let Some(first) = view.data.first() else {
        return Err(at.failure("the maximum of an empty tensor is undefined"));
    };
    let mut best = (0, *first);
    for (position, element) in view.data.iter().enumerate() {
        if *element > best.1 {
            best = (position, *element);
        }
    }
    Ok(best.0 as i64)
}
