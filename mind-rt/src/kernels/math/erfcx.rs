//! The complement of the error function times e^(x²), and the logarithm of the normal distribution function, which is
//! computed from it.

use std::f64::consts::FRAC_2_SQRT_PI;

use super::polynomial::horner;
use super::rounding::Rounding;
use super::{erf, exp, ln, log1p};

macro_rules! scaled {
    ($($ty:ident, $logarithm:ident, $positive:ident: $scaled_complement:ident, $square:ident, $far:literal, $most:literal, $most_of_tail:literal,
       $reduced:ident, $raised:ident; $($coefficient:literal),+;)+) => {$(
        /// e^(x²) · erfc(x). Below 0 it is 2 e^(x²) minus the value at |x|.
        #[inline(always)]
        pub(super) fn $ty<A: Rounding>(x: $ty) -> $ty {
            let p = $positive::<A>(x.abs());
            // Beyond this bound the result is infinite anyway. The comparisons let NaN pass.
            let size = if x < -$most { $most } else { x.abs() };
            let size = if size > $most { $most } else { size };
            let (square, lost) = erf::$square::<A>(size);
            let (shifted, r) = exp::$reduced::<A>(square);
            let power = exp::$raised::<A>(shifted, r + lost);
            if x < 0.0 { A::multiply_add(power, 2.0, -p) } else { p }
        }

        /// e^(a²) · erfc(a) for a size a: by the polynomial of `erfc`, and beyond its range by the asymptotic series
        /// (7.1.23 of Abramowitz and Stegun).
        #[inline(always)]
        fn $positive<A: Rounding>(size: $ty) -> $ty {
            const HALF_INVERSE_ROOT: $ty = (FRAC_2_SQRT_PI / 2.0) as $ty;

            let near = erf::$scaled_complement::<A>(if size > $far { $far } else { size });
            let inverse = 1.0 / size;
            let square = inverse * inverse;
            let far = horner!(square; $($coefficient),+) * square;
            let far = A::multiply_add(inverse * HALF_INVERSE_ROOT, far, inverse * HALF_INVERSE_ROOT);
            if size > $far { far } else { near }
        }

        /// The logarithm of Φ(x), which is e^(-x²/2) · erfcx(-x / √2) / 2. Above 0 it is the logarithm of 1 - Φ(-x).
        #[inline(always)]
        pub(super) fn $logarithm<A: Rounding>(x: $ty) -> $ty {
            let size = x.abs();
            let half = 0.5 * $positive::<A>(size * std::$ty::consts::FRAC_1_SQRT_2);
            let below = A::multiply_add(-0.5 * x, x, ln::$ty::<A>(half));
            // Beyond this bound the tail is 0 anyway.
            let size = if size > $most_of_tail { $most_of_tail } else { size };
            let (square, lost) = erf::$square::<A>(size);
            let (shifted, r) = exp::$reduced::<A>(-0.5 * square);
            let tail = exp::$raised::<A>(shifted, A::multiply_add(lost, -0.5, r)) * half;
            let above = log1p::$ty::<A>(-tail);
            if x < 0.0 { below } else { above }
        }
    )+};
}

scaled! {
    f32, logarithm_f32, positive_f32: scaled_complement_f32, square_f32, 10.5, 10.0, 15.0, reduced_f32, raised_f32;
        -29.531_25, 6.5625, -1.875, 0.75, -0.5;
    f64, logarithm_f64, positive_f64: scaled_complement_f64, square_f64, 28.0, 27.0, 39.0, reduced_f64, raised_f64;
        -1_055.742_187_5, 162.421_875, -29.531_25, 6.5625, -1.875, 0.75, -0.5;
}
