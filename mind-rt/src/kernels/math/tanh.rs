//! The hyperbolic tangent of a multiple n (ln 2) / 2 and a rest, by the addition theorem. The tangent of the multiple
//! is (2^n - 1) / (2^n + 1), and the tangent t of the rest is a short polynomial. The formula (2^n - 1 + t (2^n + 1)) /
//! (2^n + 1 + t (2^n - 1)) has one path for all sizes and one division, and it is an odd function.

use super::polynomial::horner;
use super::rounding::Rounding;

macro_rules! of {
    ($($ty:ident: $most:literal, $round:expr, $shift:literal, $($rest:literal),+;)+) => {$(
        /// For the type of the same name.
        #[inline(always)]
        pub(super) fn $ty<A: Rounding>(x: $ty) -> $ty {
            use std::$ty::consts::{LN_2, LOG2_E};

            /// Adding it rounds a number to an integer, which is then in the low bits in the form of the exponent of a
            /// power of 2.
            const ROUND: $ty = $round;

            const MOST: $ty = $most;

            // Beyond this bound the result is 1 or -1. The comparison lets NaN pass.
            let x = if x.abs() > MOST { MOST.copysign(x) } else { x };
            let shifted = A::multiply_add(x, 2.0 * LOG2_E, ROUND);
            // The error of a multiple of ln 2 matters less the larger the result is, so ln 2 needs no second part.
            let r = A::multiply_add(shifted - ROUND, -0.5 * LN_2, x);
            let t = horner!(r * r; $($rest),+, 1.0) * r;
            let power = $ty::from_bits(shifted.to_bits() << $shift);
            // Subtracted, so that -0 stays.
            let (less, more) = (1.0 - power, 1.0 + power);
            A::multiply_add(t, more, -less) / A::multiply_add(t, -less, more)
        }
    )+};
}

// Found by `ci/remez`. The coefficients for `f32` are adjusted so that the error is smallest together with their own
// rounding.
of! {
    f32: 10.0, 12_582_912.0 + 127.0, 23, 1.308_662_9e-1, -3.333_067_3e-1;
    f64: 20.0, 6_755_399_441_055_744.0 + 1023.0, 52,
        3.444_579_116_943_104_6e-3, -8.857_287_749_056_425e-3, 2.186_937_008_441_779e-2, -5.396_825_277_352_142e-2,
        1.333_333_333_277_881_6e-1, -3.333_333_333_333_247_7e-1;
}

#[cfg(test)]
mod tests {
    use crate::kernels::math::{Fused, MultiplyAdd, Separate};

    /// The distance between two numbers of one sign, in units in the last place.
    fn distance(found: f64, expected: f64, unit: f64) -> f64 {
        (found - expected).abs() / (expected.abs().log2().floor().exp2() * unit)
    }

    #[test]
    fn it_is_within_its_bound() {
        for step in 1..20_000 {
            let x = f64::from(step) * 1e-3;
            let (found, fused) = (Separate::tanh(x), Fused::tanh(-x));
            let worst = distance(found, x.tanh(), f64::EPSILON).max(distance(fused, -x.tanh(), f64::EPSILON));
            assert!(worst <= 3.0, "tanh {x} is {worst} units off");
            let single = x as f32;
            let expected = f64::from(single).tanh();
            let (found, fused) = (Separate::tanh(single), Fused::tanh(single));
            let unit = f64::from(f32::EPSILON);
            let worst = distance(found.into(), expected, unit).max(distance(fused.into(), expected, unit));
            assert!(worst <= 3.0, "tanh {single} is {worst} units off in f32");
        }
    }

    #[test]
    fn it_is_exact_where_it_has_to_be() {
        for (x, expected) in [(f64::INFINITY, 1.0), (f64::NEG_INFINITY, -1.0), (800.0, 1.0), (1e-300, 1e-300)]
        {
            assert_eq!(Separate::tanh(x), expected);
        }
        assert!(Separate::tanh(-0.0_f64).is_sign_negative());
        assert!(Separate::tanh(f64::NAN).is_nan() && Separate::tanh(f32::NAN).is_nan());
    }
}
