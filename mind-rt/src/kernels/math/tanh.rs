//! The hyperbolic tangent: (e^2x - 1) / (e^2x + 1), both halved. The difference from 1 is found from its series, which close
//! to 0 is exact to the last digits. So one path is there for all sizes, and one quotient.

use super::{MultiplyAdd, in_pairs};

macro_rules! of {
    ($($ty:ident: $most:literal, $round:expr, $shift:literal, $($pair:tt),+;)+) => {$(
        /// Of the type of its name.
        #[inline(always)]
        pub(super) fn $ty<A: MultiplyAdd>(x: $ty) -> $ty {
            use std::$ty::consts::{LN_2, LOG2_E};

            /// Adding it rounds to an integer, which is then in the low bits as the exponent of a power of 2 is.
            const ROUND: $ty = $round;

            let size = x.abs();
            // Beyond it the result is 1. Written so that NaN passes.
            let size = if size > $most { $most } else { size };
            let shifted = A::multiply_add(size, 2.0 * LOG2_E, ROUND);
            // What multiples of ln 2 lack is felt the less the larger the result is: no second part of it.
            let r = A::multiply_add(shifted - ROUND, -0.5 * LN_2, size);
            // Half of e^2r - 1.
            let square = r * r;
            let q = A::multiply_add(square, in_pairs!(r, square; $($pair),+), r);
            let power = $ty::from_bits(shifted.to_bits() << $shift);
            let above = A::multiply_add(power, q, A::multiply_add(power, 0.5, -0.5));
            (above / (above + 1.0)).copysign(x)
        }
    )+};
}

// The polynomials of `expm1` of 2r, twice.
of! {
    f32: 10.0, 12_582_912.0 + 127.0, 23,
        (64.0 * 1.990_770_5e-4, 32.0 * 1.393_373_2e-3), (16.0 * 8.333_286e-3, 8.0 * 4.166_646_3e-2),
        (4.0 * 1.666_666_7e-1, 1.0);
    f64: 20.0, 6_755_399_441_055_744.0 + 1023.0, 52,
        (4096.0 * 1.609_128_059_342_636_2e-10, 2048.0 * 2.091_821_285_232_536_8e-9),
        (1024.0 * 2.505_205_572_975_664e-8, 512.0 * 2.755_726_307_574_203_4e-7),
        (256.0 * 2.755_731_926_566_698_6e-6, 128.0 * 2.480_158_733_663_254_4e-5),
        (64.0 * 1.984_126_984_125_361e-4, 32.0 * 1.388_888_888_887_900_1e-3),
        (16.0 * 8.333_333_333_333_337e-3, 8.0 * 4.166_666_666_666_668e-2), (4.0 * 1.666_666_666_666_666_6e-1, 1.0);
}

#[cfg(test)]
mod tests {
    use crate::kernels::math::{Fused, MultiplyAdd, Separate};

    /// Units in the last place between two numbers of one sign.
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
