//! A number to the power of another one: 2 to the power of the product of the exponent and the logarithm to the base 2.

use super::{MultiplyAdd, exp, horner, in_two_sums, ln};

/// Beyond such an exponent a power is 0, 1 or ∞.
pub(super) const MOST_F32: f32 = 1_099_511_627_776.0;
pub(super) const MOST_F64: f64 = 36_893_488_147_419_103_232.0;

/// What the exponent and special values make of the power of the absolute value.
macro_rules! completed {
    ($ty:ident, $bits:ident, $whole:expr, $x:ident, $y:ident, $power:expr) => {{
        /// From it on every number is an integer, and from twice it on an even one.
        const WHOLE: $ty = $whole;
        const SIGN: $bits = 1 << ($bits::BITS - 1);

        let size = $x.abs();
        // Half of an odd number is as far from an integer as it can be. Halves of the least numbers would be rounded to one.
        let exponent = if $y.abs() > $ty::EPSILON { $y.abs() } else { $ty::EPSILON };
        let half = 0.5 * if exponent < WHOLE + WHOLE { exponent } else { WHOLE + WHOLE };
        let fraction = (half - ((half + WHOLE) - WHOLE)).abs();
        let is_odd = fraction == 0.5;
        let is_rooted = ($x < 0.0) & !is_odd & (fraction != 0.0);
        let power = if is_rooted | $x.is_nan() | $y.is_nan() { $ty::NAN } else { $power };
        // Zero and infinity are their own powers, or those of each other.
        let edge = if (size == 0.0) == ($y < 0.0) { $ty::INFINITY } else { 0.0 };
        let edge = if $y.is_nan() { $ty::NAN } else { edge };
        let power = if (size == 0.0) | (size == $ty::INFINITY) { edge } else { power };
        let sign = if is_odd { $x.to_bits() & SIGN } else { 0 };
        let power = $ty::from_bits(power.to_bits() ^ sign);
        if ($y == 0.0) | ($x == 1.0) { 1.0 } else { power }
    }};
}

/// Of `f32`, in `f64`, which has the digits that a logarithm needs here.
#[inline(always)]
pub(super) fn f32<A: MultiplyAdd>(x: f32, y: f32) -> f32 {
    /// 1.5 · 2⁵² and the bias of exponents.
    const ROUND: f64 = 6_755_399_441_055_744.0 + 1023.0;

    let (k, f) = ln::split_f32(x.abs());
    let (k, f) = (f64::from(k), f64::from(f));
    let s = f / (2.0 + f);
    let z = s * s;
    // Found by Remez' exchange: within 2^-37 of the logarithm to the base 2 of (1 + s) / (1 - s), over s.
    let p = horner!(z;
        3.407_404_663_870_363e-1, 4.116_721_089_230_196e-1, 5.770_835_961_913_725e-1, 9.617_966_732_757_096e-1,
        2.885_390_081_790_146_8);
    // The logarithm of 1 times an infinity is no number.
    let bounded = if A::IS_NEAR || y <= MOST_F32 { y } else { MOST_F32 };
    let bounded = if A::IS_NEAR || bounded >= -MOST_F32 { bounded } else { -MOST_F32 };
    let t = f64::from(bounded) * A::multiply_add(s, p, k);
    // Beyond these the result is 0 or ∞ anyway. Written so that NaN passes.
    let t = if t > 129.0 { 129.0 } else { t };
    let t = if t < -151.0 { -151.0 } else { t };
    let shifted = t + ROUND;
    let r = t - (shifted - ROUND);
    // Found by Remez' exchange: within 2^-34 of 2 to the power of r, relatively.
    let p = horner!(r;
        1.520_190_998_569_406_7e-5, 1.546_931_771_067_135_4e-4, 1.333_392_280_940_982_6e-3,
        9.618_027_171_363_642e-3, 5.550_410_352_909_799_4e-2, 2.402_265_119_876_525_2e-1,
        6.931_471_807_286_735e-1, 9.999_999_999_616_217e-1);
    let power = (p * f64::from_bits(shifted.to_bits() << 52)) as f32;
    if A::IS_NEAR { power } else { completed!(f32, u32, 8_388_608.0, x, y, power) }
}

/// Of `f64`. The logarithm has two parts, as in msun's `e_pow.c` (Sun Microsystems, 1993): of factors of 26 bits the products
/// are exact.
#[inline(always)]
pub(super) fn f64<A: MultiplyAdd>(x: f64, y: f64) -> f64 {
    let (k, f) = ln::split_f64(x.abs());
    let (log_high, log_low) = if A::FUSES { log2_fused::<A>(k, f) } else { log2_separate::<A>(k, f) };
    // Times the exponent.
    let bounded = if A::IS_NEAR || y <= MOST_F64 { y } else { MOST_F64 };
    let bounded = if A::IS_NEAR || bounded >= -MOST_F64 { bounded } else { -MOST_F64 };
    let (main, small) = if A::FUSES {
        let main = bounded * log_high;
        (main, A::multiply_add(bounded, log_low, A::multiply_add(bounded, log_high, -main)))
    } else {
        let y_high = head(bounded);
        (y_high * log_high, A::multiply_add(bounded - y_high, log_high, bounded * log_low))
    };
    let t = main + small;
    let is_far = t.abs() > 1100.0;
    let t = if t > 1100.0 { 1100.0 } else { t };
    let t = if t < -1100.0 { -1100.0 } else { t };
    let shifted = t + exp::ROUND_F64;
    let r = (main - (shifted - exp::ROUND_F64)) + small;
    let r = if is_far { 0.0 } else { r };
    let r = r * std::f64::consts::LN_2;
    let power = exp::scaled_f64(shifted, A::one_plus(r, exp::second_in_two_sums_f64::<A>(r)));
    if A::IS_NEAR { power } else { completed!(f64, u64, 4_503_599_627_370_496.0, x, y, power) }
}

/// 2 / (3 ln 2).
const SCALE: f64 = 9.617_966_939_259_756e-1;

/// The logarithm of 2^k · (1 + f) to the base 2, in two parts of which the first has few enough digits.
#[inline(always)]
fn log2_separate<A: MultiplyAdd>(k: f64, f: f64) -> (f64, f64) {
    /// Its parts.
    const SCALE_HIGH: f64 = 9.617_966_860_532_761e-1;
    const SCALE_LOW: f64 = 7.872_699_542_894_897e-9;

    // (m - 1) / (m + 1) of the mantissa m.
    let inverse = 1.0 / (2.0 + f);
    let s = f * inverse;
    let s_high = head(s);
    let sum_high = head(2.0 + f);
    let sum_low = f - (sum_high - 2.0);
    let s_low = ((f - s_high * sum_high) - s_high * sum_low) * inverse;
    // The logarithm of m is 2/3 s (3 + s² + rest).
    let z = s * s;
    let square = s_high * s_high;
    let rest = A::multiply_add(z * z, atanh_rest::<A>(z), s_low * (s_high + s));
    let high = head(3.0 + square + rest);
    let low = rest - ((high - 3.0) - square);
    let (main, small) = (s_high * high, A::multiply_add(s_low, high, low * s));
    let high = head(main + small);
    let low = small - (high - main);
    let (main, small) = (SCALE_HIGH * high, A::multiply_add(SCALE_LOW, high, low * SCALE));
    let log_high = head(main + small + k);
    (log_high, small - ((log_high - k) - main))
}

/// The same, of which the second part is what the first is rounded by: an error of a product is a fused sum.
#[inline(always)]
fn log2_fused<A: MultiplyAdd>(k: f64, f: f64) -> (f64, f64) {
    /// What is left of 2 / (3 ln 2).
    const SCALE_LOW: f64 = 5.057_761_664_812_591e-17;

    let sum = 2.0 + f;
    let inverse = 1.0 / sum;
    let s = f * inverse;
    let sum_low = f - (sum - 2.0);
    let s_low = A::multiply_add(-s, sum_low, A::multiply_add(-s, sum, f)) * inverse;
    let z = s * s;
    let z_low = A::multiply_add(s + s, s_low, A::multiply_add(s, s, -z));
    let high = 3.0 + z;
    let low = (z - (high - 3.0)) + A::multiply_add(z * z, atanh_rest::<A>(z), z_low);
    let main = s * high;
    let small = A::multiply_add(s, high, -main) + A::multiply_add(s, low, s_low * high);
    let scaled = main * SCALE;
    let small = A::multiply_add(main, SCALE, -scaled) + A::multiply_add(small, SCALE, main * SCALE_LOW);
    let log = k + scaled;
    (log, small - ((log - k) - scaled))
}

/// Of the logarithm of (1 + s) / (1 - s), over 2/3 s, what is left of it and 3 + z, over z² of z = s².
#[inline(always)]
fn atanh_rest<A: MultiplyAdd>(z: f64) -> f64 {
    // Found by Remez' exchange: within 2^-73 of the logarithm, relatively.
    in_two_sums!(z;
        (1.798_351_620_605_327e-1, 1.751_222_824_846_767_3e-1), (2.000_447_610_142_509e-1, 2.307_683_530_727_692e-1),
        (2.727_272_830_545_965e-1, 3.333_333_332_630_480_4e-1), (4.285_714_285_716_767e-1, 5.999_999_999_999_996e-1))
}

/// The upper 26 bits of a number's 53.
#[inline(always)]
fn head(x: f64) -> f64 {
    f64::from_bits(x.to_bits() & !((1 << 27) - 1))
}
