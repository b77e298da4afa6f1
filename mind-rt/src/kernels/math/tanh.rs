//! The hyperbolic tangent, within 3 units in the last place: a rational function or polynomial near 0, and one of `exp` beyond,
//! all of Cephes (Moshier, 1984).

use super::{MultiplyAdd, exp, horner};

macro_rules! exp_of_twice {
    ($ty:ident, $size:ident, $most:literal, $reduced:ident, $second:ident, $bias:literal, $shift:literal) => {{
        // Beyond it the result is 1. Written so that NaN passes. The power of 2 is in range, so that one step scales by it.
        let twice = if $size > $most { 2.0 * $most } else { $size + $size };
        let (shifted, r) = exp::$reduced::<A>(twice);
        let y = A::one_plus(r, exp::$second::<A>(r));
        y * $ty::from_bits(shifted.to_bits().wrapping_sub($bias) << $shift)
    }};
}

/// Of `f64`.
#[inline(always)]
pub(super) fn f64<A: MultiplyAdd>(x: f64) -> f64 {
    let size = x.abs();
    let z = size * size;
    let p = horner!(z; -9.643_991_794_250_522e-1, -9.928_772_310_019_185e1, -1.614_687_684_417_084_5e3);
    let q = horner!(z; 1.0, 1.128_116_784_916_329_3e2, 2.235_488_390_601_004_5e3, 4.844_063_053_251_255e3);
    let power = exp_of_twice!(f64, size, 20.0, reduced_f64, second_f64, 1023, 52);
    // One quotient for both forms.
    let near = size < 0.625;
    let (above, below) = (if near { size * z * p } else { -2.0 }, if near { q } else { power + 1.0 });
    (if near { size } else { 1.0 } + above / below).copysign(x)
}

/// Of `f32`.
#[inline(always)]
pub(super) fn f32<A: MultiplyAdd>(x: f32) -> f32 {
    let size = x.abs();
    let z = size * size;
    let p = horner!(z; -5.704_988_7e-3, 2.063_908_8e-2, -5.373_971_6e-2, 1.333_144_2e-1, -3.333_328e-1);
    let near = A::multiply_add(size * z, p, size);
    let power = exp_of_twice!(f32, size, 10.0, reduced_f32, second_f32, 127, 23);
    let far = 1.0 - 2.0 / (power + 1.0);
    if size < 0.625 { near } else { far }.copysign(x)
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
