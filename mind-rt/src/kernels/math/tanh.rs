//! The hyperbolic tangent: (e^2x - 1) / (e^2x + 1), the difference from 1 being that of [`expm1`], which close to 0 is exact to
//! the last digits. So one path is there for all sizes, and one quotient.

use super::{MultiplyAdd, exp, expm1};

macro_rules! of {
    ($($ty:ident: $most:literal, $reduced:ident, $series:ident, $bias:literal, $shift:literal;)+) => {$(
        /// Of the type of its name.
        #[inline(always)]
        pub(super) fn $ty<A: MultiplyAdd>(x: $ty) -> $ty {
            let size = x.abs();
            // Beyond it the result is 1. Written so that NaN passes.
            let size = if size > $most { $most } else { size };
            let (shifted, r) = exp::$reduced::<A>(size + size);
            let q = expm1::$series::<A>(r);
            let power = $ty::from_bits(shifted.to_bits().wrapping_sub($bias) << $shift);
            let above = A::multiply_add(power, q, power - 1.0);
            let below = above + 2.0;
            (above / below).copysign(x)
        }
    )+};
}

of! {
    f32: 10.0, reduced_f32, series_f32, 127, 23;
    f64: 20.0, reduced_f64, series_f64, 1023, 52;
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
