//! The hyperbolic cosine: half of e^x + e^-x, and for large x by e^(x - 1), which is finite wherever the cosine is.
//! Also the square of the hyperbolic secant, which is the derivative of the hyperbolic tangent.

use super::exp;
use super::rounding::Rounding;

macro_rules! of {
    ($($ty:ident, $sech_squared:ident;)+) => {$(
        /// For the type of the same name.
        #[inline(always)]
        pub(super) fn $ty<A: Rounding>(x: $ty) -> $ty {
            let size = x.abs();
            let is_far = size > 32.0;
            let e = exp::$ty::<A>(if is_far { size - 1.0 } else { size });
            let other = if is_far { 0.0 } else { 1.0 / e };
            let half = if is_far { std::$ty::consts::E / 2.0 } else { 0.5 };
            half * (e + other)
        }

        /// 1 / cosh(x)², by the exponential of a number below 0. Unless the result is 0, only squares can be subnormal.
        #[inline(always)]
        pub(super) fn $sech_squared<A: Rounding>(x: $ty) -> $ty {
            let power = exp::$ty::<A>(-x.abs());
            let secant = (power + power) / A::multiply_add(power, power, 1.0);
            secant * secant
        }
    )+};
}

of! {
    f32, sech_squared_f32;
    f64, sech_squared_f64;
}
