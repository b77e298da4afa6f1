//! The inverse tangent, of a number and of a quotient: by a polynomial for angles within π/8, to which others are turned by
//! π/4 or π/2. `ci/remez` finds the polynomials.

use super::{MultiplyAdd, horner};

macro_rules! of {
    ($($ty:ident, $of_two:ident, $scale:literal, $pi_low:literal, $($p:literal)+;)+) => {$(
        /// Of the type of its name.
        #[inline(always)]
        pub(super) fn $ty<A: MultiplyAdd>(x: $ty) -> $ty {
            let size = x.abs();
            let is_steep = size > 2.414_213_5;
            let is_slanting = size > 0.414_213_57;
            let turned = (size - 1.0) / (size + 1.0);
            let t = if is_slanting { turned } else { size };
            let t = if is_steep { -1.0 / size } else { t };
            let quarters = if is_slanting { 1.0 } else { 0.0 };
            let quarters = if is_steep { 2.0 } else { quarters };
            sum!($ty, t, quarters; $pi_low, $($p),+).copysign(x)
        }

        /// The angle of a point, given by `y` and `x`.
        #[inline(always)]
        pub(super) fn $of_two<A: MultiplyAdd>(y: $ty, x: $ty) -> $ty {
            let (up, along) = (y.abs(), x.abs());
            // Sums of the largest numbers would be infinite.
            let factor = if up > $scale || along > $scale { 0.25 } else { 1.0 };
            let (a, b) = (up * factor, along * factor);
            let is_steep = a > 2.414_213_5 * b;
            let is_slanting = a > 0.414_213_57 * b;
            let above = if is_slanting { a - b } else { a };
            let below = if is_slanting { a + b } else { b };
            let (above, below) = (if is_steep { -b } else { above }, if is_steep { a } else { below });
            let quarters = if is_slanting { 1.0 } else { 0.0 };
            let quarters = if is_steep { 2.0 } else { quarters };
            let infinite = up == $ty::INFINITY && along == $ty::INFINITY;
            let (t, quarters) = (if infinite { 0.0 } else { above / below }, if infinite { 1.0 } else { quarters });
            let is_zero = up == 0.0 && along == 0.0;
            let t = if is_zero { 0.0 } else { t };
            let t = if x.is_nan() { x } else { t };
            // From the other side of the half plane: π less the angle, which is -t and so many quarters less.
            let is_left = x.is_sign_negative();
            let (t, quarters) = (if is_left { -t } else { t }, if is_left { 4.0 - quarters } else { quarters });
            sum!($ty, t, quarters; $pi_low, $($p),+).copysign(y)
        }
    )+};
}

/// The inverse tangent of t, and so many quarters of π.
macro_rules! sum {
    ($ty:ident, $t:ident, $quarters:ident; $pi_low:literal, $($p:literal),+) => {{
        let z = $t * $t;
        let p = horner!(z; $($p),+);
        let low = A::multiply_add(z * $t, p, $quarters * ($pi_low / 4.0));
        $quarters * std::$ty::consts::FRAC_PI_4 + ($t + low)
    }};
}

of! {
    f32, of_two_f32, 1e38, -8.742_278e-8, -6.082_994e-2 1.059_582_9e-1 -1.424_382_6e-1 1.999_848_8e-1 -3.333_331_6e-1;
    f64, of_two_f64, 1e307, 1.224_646_799_147_353_2e-16,
        -1.791_926_105_561_677_7e-2 3.807_561_888_258_376e-2 -5.039_741_412_926_371e-2 5.847_986_345_608_497e-2
        -6.663_117_360_269_785e-2 7.692_061_378_544_425e-2 -9.090_897_822_366_362e-2 1.111_111_078_566_543e-1
        -1.428_571_428_023_944_8e-1 1.999_999_999_995_399_6e-1 -3.333_333_333_333_32e-1;
}
