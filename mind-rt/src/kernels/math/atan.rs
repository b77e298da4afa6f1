//! The inverse tangent of a number and of a quotient. The first uses a polynomial for angles within π/8, and rotates
//! other angles by π/4 or π/2. The second uses a polynomial for angles within π/4. `ci/remez` finds the polynomials.

use super::polynomial::horner;
use super::rounding::Rounding;

macro_rules! of {
    ($($ty:ident, $pi_low:literal, $($p:literal)+;)+) => {$(
        /// For the type of the same name.
        #[inline(always)]
        pub(super) fn $ty<A: Rounding>(x: $ty) -> $ty {
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
    )+};
}

/// The inverse tangent of `$t`, plus `$quarters` quarters of π.
macro_rules! sum {
    ($ty:ident, $t:ident, $quarters:ident; $pi_low:literal, $($p:literal),+) => {{
        let z = $t * $t;
        let p = horner!(z; $($p),+);
        let low = A::multiply_add(z * $t, p, $quarters * ($pi_low / 4.0));
        $quarters * std::$ty::consts::FRAC_PI_4 + ($t + low)
    }};
}

of! {
    f32, -8.742_278e-8, -6.082_994e-2 1.059_582_9e-1 -1.424_382_6e-1 1.999_848_8e-1 -3.333_331_6e-1;
    f64, 1.224_646_799_147_353_2e-16,
        -1.791_926_105_561_677_7e-2 3.807_561_888_258_376e-2 -5.039_741_412_926_371e-2 5.847_986_345_608_497e-2
        -6.663_117_360_269_785e-2 7.692_061_378_544_425e-2 -9.090_897_822_366_362e-2 1.111_111_078_566_543e-1
        -1.428_571_428_023_944_8e-1 1.999_999_999_995_399_6e-1 -3.333_333_333_333_32e-1;
}

/// Defines the angle of a point, by a polynomial for angles within π/4. Other angles are rotated by π/2 or π.
macro_rules! of_two {
    ($($name:ident $ty:ident $bits:ident, $pi_low:literal; $($p:literal),+;)+) => {$(
        /// The angle of the point (`x`, `y`).
        #[inline(always)]
        pub(super) fn $name<A: Rounding>(y: $ty, x: $ty) -> $ty {
            use std::$ty::consts::{FRAC_PI_2, PI};

            const SIGN: $bits = 1 << ($bits::BITS - 1);

            let (up, along) = (y.abs(), x.abs());
            let is_steep = up > along;
            // The comparison lets NaN pass: a NaN in `y` becomes `less`, and a NaN in `x` becomes `more`.
            let (less, more) = if is_steep { (along, up) } else { (up, along) };
            // 0 / 0 must give 0, and ∞ / ∞ must give 1. Neither condition holds for NaN.
            let more = if more < $ty::from_bits(1) { $ty::from_bits(1) } else { more };
            let t = if less == more { 1.0 } else { less / more };
            // In the left half plane the result is π minus the angle, and beyond the diagonal it is π/2 minus the
            // angle.
            let is_left = x.is_sign_negative();
            let turn = if is_left { PI } else { 0.0 };
            let turn = if is_steep { FRAC_PI_2 } else { turn };
            let sign = x.to_bits() & SIGN;
            let sign = if is_steep { sign ^ SIGN } else { sign };
            let t = $ty::from_bits(t.to_bits() ^ sign);
            let z = t * t;
            let p = horner!(z; $($p),+);
            let low = A::multiply_add(z * t, p, turn * ($pi_low / PI));
            (turn + (t + low)).copysign(y)
        }
    )+};
}

of_two! {
    of_two_f32 f32 u32, -8.742_278e-8;
        2.920_703e-3, -1.636_797_2e-2, 4.321_193_3e-2, -7.552_221e-2, 1.066_600_75e-1, -1.421_105_6e-1, 1.999_377_3e-1, -3.333_315_3e-1;
    of_two_f64 f64 u64, 1.224_646_799_147_353_2e-16;
        -2.025_854_734_170_209e-5, 2.230_223_296_982_870_3e-4, -1.164_071_358_872_280_2e-3, 3.855_973_529_664_720_5e-3,
        -9.184_556_060_465_206e-3, 1.697_803_080_615_251_4e-2, -2.582_679_092_125_331e-2, 3.406_780_589_307_824e-2,
        -4.092_637_895_104_392e-2, 4.673_949_443_408_719_6e-2, -5.239_232_937_453_24e-2, 5.877_307_752_578_035e-2,
        -6.665_860_359_215_127e-2, 7.692_212_929_969_444e-2, -9.090_901_235_338_891e-2, 1.111_111_067_874_569_9e-1,
        -1.428_571_427_133_470_7e-1, 1.999_999_999_975_502e-1, -3.333_333_333_333_186e-1;
}
