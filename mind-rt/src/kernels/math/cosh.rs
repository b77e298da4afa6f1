//! The hyperbolic cosine: half of e^x + e^-x, and for large x by the exponential of a number less by 1, which is finite wherever
//! the cosine is. And the square of the hyperbolic secant, the derivative of the hyperbolic tangent.

use super::exp;
use super::rounding::Rounding;

macro_rules! of {
    ($($ty:ident, $sech_squared:ident;)+) => {$(
        /// Of the type of its name.
        #[inline(always)]
        pub(super) fn $ty<A: Rounding>(x: $ty) -> $ty {
            let size = x.abs();
            let is_far = size > 32.0;
            let e = exp::$ty::<A>(if is_far { size - 1.0 } else { size });
            let other = if is_far { 0.0 } else { 1.0 / e };
            let half = if is_far { std::$ty::consts::E / 2.0 } else { 0.5 };
            half * (e + other)
        }

        /// 1 / cosh(x)², by the exponential of a number below 0, whose square is the only one that may be subnormal.
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
