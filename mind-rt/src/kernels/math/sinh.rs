//! The hyperbolic sine: half of e^x - e^-x, computed from e^x - 1. For large x it is computed from e^(x - 1) - 1, which
//! is finite wherever the sine is.

use super::expm1;
use super::rounding::Rounding;

macro_rules! of {
    ($($ty:ident)+) => {$(
        /// For the type of the same name.
        #[inline(always)]
        pub(super) fn $ty<A: Rounding>(x: $ty) -> $ty {
            let size = x.abs();
            let is_far = size > 32.0;
            let t = expm1::$ty::<A>(if is_far { size - 1.0 } else { size });
            let other = if is_far { 1.0 } else { t / (t + 1.0) };
            let half = if is_far { std::$ty::consts::E / 2.0 } else { 0.5 };
            (half * (t + other)).copysign(x)
        }
    )+};
}

of!(f32 f64);
