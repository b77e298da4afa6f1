//! The inverse hyperbolic functions, by the logarithm of 1 + x.

use super::log1p;
use super::rounding::Rounding;

macro_rules! of {
    ($($ty:ident, $asinh:ident, $acosh:ident, $atanh:ident, $large:literal;)+) => {$(
        /// The inverse hyperbolic sine: ln(|x| + √(x² + 1)), with the sign of x.
        #[inline(always)]
        pub(super) fn $asinh<A: Rounding>(x: $ty) -> $ty {
            let size = x.abs();
            // For large numbers the square is not needed, and it may be infinite.
            let is_large = size > $large;
            let square = size * size;
            let t = size + square / (1.0 + (1.0 + square).sqrt());
            let y = log1p::$ty::<A>(if is_large { size } else { t });
            (y + if is_large { std::$ty::consts::LN_2 } else { 0.0 }).copysign(x)
        }

        /// The inverse hyperbolic cosine: ln(x + √(x² - 1)), NaN below 1.
        #[inline(always)]
        pub(super) fn $acosh<A: Rounding>(x: $ty) -> $ty {
            let is_large = x > $large;
            let t = x - 1.0;
            let y = log1p::$ty::<A>(if is_large { x } else { t + A::multiply_add(t, t, t + t).sqrt() });
            let y = y + if is_large { std::$ty::consts::LN_2 } else { 0.0 };
            if x < 1.0 { $ty::NAN } else { y }
        }

        /// The inverse hyperbolic tangent: half of ln((1 + x) / (1 - x)), NaN beyond ±1.
        #[inline(always)]
        pub(super) fn $atanh<A: Rounding>(x: $ty) -> $ty {
            let size = x.abs();
            (0.5 * log1p::$ty::<A>((size + size) / (1.0 - size))).copysign(x)
        }
    )+};
}

of! {
    f32, f32, acosh_f32, atanh_f32, 1e9;
    f64, f64, acosh_f64, atanh_f64, 1e18;
}
