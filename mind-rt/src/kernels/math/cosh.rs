//! The hyperbolic cosine: half of e^x + e^-x, and for large x by the exponential of a number less by 1, which is finite wherever
//! the cosine is.

use super::MultiplyAdd;

macro_rules! of {
    ($($ty:ident)+) => {$(
        /// Of the type of its name.
        #[inline(always)]
        pub(super) fn $ty<A: MultiplyAdd>(x: $ty) -> $ty {
            let size = x.abs();
            let is_far = size > 32.0;
            let e = A::exp(if is_far { size - 1.0 } else { size });
            let other = if is_far { 0.0 } else { 1.0 / e };
            let half = if is_far { std::$ty::consts::E / 2.0 } else { 0.5 };
            half * (e + other)
        }
    )+};
}

of!(f32 f64);
