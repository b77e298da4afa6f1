//! A number to the power of another: 2 to the power of the exponent times the logarithm to the base 2.

use super::near::OperandRanges as _;
use super::polynomial::{horner, in_pairs, in_two_sums};
use super::rounding::Rounding;
use super::{exp, ln};

/// Beyond an exponent of this absolute value, a power is 0, 1 or ∞.
const MOST_F32: f32 = 1_099_511_627_776.0;
const MOST_F64: f64 = 36_893_488_147_419_103_232.0;

/// Whether the power is a normal number far from infinity, so that adding to the bits of the exponent scales by powers
/// of 2. This takes a single comparison, because it is evaluated for each block.
#[inline(always)]
pub(super) fn is_ordinary_f32(x: f32, y: f32) -> bool {
    /// In units of 2^-23. The logarithm is at most log2 e times as large, which is 124.1.
    const MOST: f32 = 86.0 * 8_388_608.0;
    /// With an exponent of at least this, the comparison also ensures that x is between 2^-125 and 2^125.
    const LEAST: f32 = 86.0 / 125.0;

    // The bits of x minus those of 1, times 2^-23, equal the logarithm where that is an integer, and are linear in
    // between.
    let log = (x.to_bits() as i32).wrapping_sub(1_f32.to_bits() as i32) as f32;
    // The comparison lets NaN pass.
    let exponent = if LEAST > y.abs() { LEAST } else { y.abs() };
    (log * exponent).abs() <= MOST
}

/// Whether the power does not depend on the exponent alone: the exponent times the logarithm is so small that adding a
/// large constant rounds it to an integer.
#[inline(always)]
pub(super) fn is_ordinary_f64(x: f64, y: f64) -> bool {
    x.is_positive_normal() & (y.abs() <= 1_099_511_627_776.0)
}

/// Applies the exponent and special values to the power of the absolute value.
macro_rules! completed {
    ($ty:ident, $bits:ident, $whole:expr, $x:ident, $y:ident, $power:expr) => {{
        /// From this number on, every float is an integer, and from twice this number on, an even integer.
        const WHOLE: $ty = $whole;
        const SIGN: $bits = 1 << ($bits::BITS - 1);

        let size = $x.abs();
        // Half of an odd number is as far from an integer as possible. Half of the smallest number would be rounded to
        // an integer.
        let exponent = if $y.abs() > $ty::EPSILON { $y.abs() } else { $ty::EPSILON };
        let half = 0.5 * if exponent < WHOLE + WHOLE { exponent } else { WHOLE + WHOLE };
        let fraction = (half - ((half + WHOLE) - WHOLE)).abs();
        let is_odd = fraction == 0.5;
        let is_rooted = ($x < 0.0) & !is_odd & (fraction != 0.0);
        let power = if is_rooted | $x.is_nan() | $y.is_nan() { $ty::NAN } else { $power };
        // A power of zero or infinity is zero or infinity.
        let edge = if (size == 0.0) == ($y < 0.0) { $ty::INFINITY } else { 0.0 };
        let edge = if $y.is_nan() { $ty::NAN } else { edge };
        let power = if (size == 0.0) | (size == $ty::INFINITY) { edge } else { power };
        let sign = if is_odd { $x.to_bits() & SIGN } else { 0 };
        let power = $ty::from_bits(power.to_bits() ^ sign);
        if ($y == 0.0) | ($x == 1.0) { 1.0 } else { power }
    }};
}

/// For `f32`.
#[inline(always)]
pub(super) fn f32<A: Rounding>(x: f32, y: f32) -> f32 {
    // The logarithm of 1 times infinity is NaN, so the exponent is bounded.
    let bounded = if A::IS_NEAR || y <= MOST_F32 { y } else { MOST_F32 };
    let bounded = if A::IS_NEAR || bounded >= -MOST_F32 { bounded } else { -MOST_F32 };
    let power = if A::FUSES { fused_f32::<A>(x, bounded) } else { separate_f32::<A>(x, bounded) };
    if A::IS_NEAR { power } else { completed!(f32, u32, 8_388_608.0, x, y, power) }
}

/// The power of |x|. The logarithm has two parts: a fused sum, and the rounding error of that sum.
#[inline(always)]
fn fused_f32<A: Rounding>(x: f32, y: f32) -> f32 {
    /// 2 / ln 2, and its rounding error.
    const SLOPE: f32 = 2.0 * std::f32::consts::LOG2_E;
    const SLOPE_LOW: f32 = (2.0 * std::f64::consts::LOG2_E - SLOPE as f64) as f32;
    /// With this factor, 1 / (1 + s) is 1 + 1.021 (s² - s), with an error of at most 0.0014.
    const BENT: f32 = 1.021 * SLOPE;
    /// Adding it rounds a number to an integer, which is then in the low bits.
    const ROUND: f32 = 12_582_912.0;

    let (k, half) = if A::IS_NEAR { halves_f32::<true>(x) } else { halves_f32::<false>(x.abs()) };
    let f = half - 0.5;
    // (m - 1) / (m + 1) for the mantissa m, and the remainder of that division.
    let s = f / (half + 0.5);
    let rest = A::multiply_add(-s, f, f - s);
    let z = s * s;
    // The logarithm of m is s times `slope`. Found by Remez' exchange and among the neighbouring floats. The relative
    // error is at most 2^-36.
    let p = in_pairs!(z, z * z; (3.367_105e-1, 4.119_168_2e-1), (5.770_789_4e-1, 9.617_967e-1));
    let slope = A::multiply_add(z, p, SLOPE);
    let slope_low = A::multiply_add(z, p, SLOPE - slope);
    let log = A::multiply_add(s, slope, k);
    // The remainder over the denominator, times the derivative of the logarithm, is rest · (2 / ln 2) / (1 + s).
    let low = A::multiply_add(rest, A::multiply_add(z - s, BENT, SLOPE), s * SLOPE_LOW);
    let low = A::multiply_add(s, slope_low, low) + A::multiply_add(s, slope, k - log);

    let shifted = A::multiply_add(y, log, ROUND);
    let n = shifted - ROUND;
    let is_bounded = A::IS_NEAR || n.abs() <= 1000.0;
    let head = A::multiply_add(y, log, -n);
    let head = if is_bounded { head } else { 0.0 };
    let r = A::multiply_add(y, low, head);
    let r = if is_bounded { r } else { 0.0 };
    // As above: the error is at most 2^-28 of 2^r. The highest terms are evaluated at `head`, so that they need not
    // wait for r. This costs less than a tenth of a unit.
    let highest = horner!(head; 1.532_439_5e-4, 1.339_080_7e-3, 9.618_510_5e-3);
    let p = horner!(r; highest, 5.550_36e-2, 2.402_264_8e-1, std::f32::consts::LN_2, 1.0);
    if A::IS_NEAR {
        return f32::from_bits(p.to_bits().wrapping_add(shifted.to_bits() << 23));
    }
    // Beyond these bounds the result is 0 or ∞ anyway.
    let n = if n > 129.0 { 129.0 } else { n };
    let n = if n < -151.0 { -151.0 } else { n };
    exp::scaled_f32(n + exp::ROUND_F32, p)
}

/// Splits a positive number into 2^k · 2h, where 2h is between √½ and √2.
#[inline(always)]
fn halves_f32<const IS_NORMAL: bool>(x: f32) -> (f32, f32) {
    const SQRT_HALF: i32 = 0x3f35_04f3;
    const HALF_OF_IT: i32 = SQRT_HALF - (1 << 23);

    let is_subnormal = !IS_NORMAL && x < f32::MIN_POSITIVE;
    let x = if is_subnormal { x * 33_554_432.0 } else { x };
    let bits = (x.to_bits() as i32).wrapping_sub(SQRT_HALF);
    let exponent = (bits >> 23) - if is_subnormal { 25 } else { 0 };
    let half = f32::from_bits(((bits & 0x007f_ffff) + HALF_OF_IT) as u32);
    (exponent as f32, half)
}

/// The power of |x|, computed in `f64`, which has the digits that the logarithm needs here.
#[inline(always)]
fn separate_f32<A: Rounding>(x: f32, y: f32) -> f32 {
    /// 1.5 · 2⁵² plus the exponent bias.
    const ROUND: f64 = 6_755_399_441_055_744.0 + 1023.0;

    let (k, f) = ln::split_f32(x.abs());
    let (k, f) = (f64::from(k), f64::from(f));
    let s = f / (2.0 + f);
    let z = s * s;
    // Found by Remez' exchange. The error in the logarithm to the base 2 of (1 + s) / (1 - s), over s, is at most
    // 2^-37.
    let p = horner!(z;
        3.407_404_663_870_363e-1, 4.116_721_089_230_196e-1, 5.770_835_961_913_725e-1, 9.617_966_732_757_096e-1,
        2.885_390_081_790_146_8);
    let t = f64::from(y) * A::multiply_add(s, p, k);
    // Beyond these bounds the result is 0 or ∞ anyway. The comparisons let NaN pass.
    let t = if t > 129.0 { 129.0 } else { t };
    let t = if t < -151.0 { -151.0 } else { t };
    let shifted = t + ROUND;
    let r = t - (shifted - ROUND);
    // Found by Remez' exchange. The error is at most 2^-34 of 2^r.
    let p = horner!(r;
        1.520_190_998_569_406_7e-5, 1.546_931_771_067_135_4e-4, 1.333_392_280_940_982_6e-3,
        9.618_027_171_363_642e-3, 5.550_410_352_909_799_4e-2, 2.402_265_119_876_525_2e-1,
        6.931_471_807_286_735e-1, 9.999_999_999_616_217e-1);
    (p * f64::from_bits(shifted.to_bits() << 52)) as f32
}

/// For `f64`.
#[inline(always)]
pub(super) fn f64<A: Rounding>(x: f64, y: f64) -> f64 {
    // As for `f32`.
    let bounded = if A::IS_NEAR || y <= MOST_F64 { y } else { MOST_F64 };
    let bounded = if A::IS_NEAR || bounded >= -MOST_F64 { bounded } else { -MOST_F64 };
    let power = if A::FUSES { fused_f64::<A>(x, bounded) } else { separate_f64::<A>(x, bounded) };
    if A::IS_NEAR { power } else { completed!(f64, u64, 4_503_599_627_370_496.0, x, y, power) }
}

/// As [`fused_f32`], with one more term of the logarithm in two parts, and with the rounding errors of squares.
#[inline(always)]
fn fused_f64<A: Rounding>(x: f64, y: f64) -> f64 {
    /// 2 / ln 2 and a third of it, and their rounding errors.
    const SLOPE: f64 = 2.0 * std::f64::consts::LOG2_E;
    const SLOPE_LOW: f64 = 4.071_054_748_186_206_6e-17;
    const THIRD: f64 = 9.617_966_939_259_756e-1;
    const THIRD_LOW: f64 = 5.057_761_664_812_591e-17;

    let (k, half) = if A::IS_NEAR { halves_f64::<true>(x) } else { halves_f64::<false>(x.abs()) };
    let f = half - 0.5;
    let s = f / (half + 0.5);
    let rest = A::multiply_add(-s, f, f - s);
    let z = s * s;
    let z_low = A::multiply_add(s, s, -z);
    // Found by Remez' exchange. The error is at most 2^-66 of the logarithm.
    let p = in_two_sums!(z;
        1.903_833_599_033_909_8e-1, (1.912_553_873_499_197_3e-1, 2.219_839_878_828_855e-1), (2.623_077_013_429_698e-1, 3.205_989_022_710_49e-1), (4.121_985_830_919_541e-1, 5.770_780_163_556_18e-1));
    let slope = A::multiply_add(z, THIRD, SLOPE);
    let low = A::multiply_add(z_low, THIRD, A::multiply_add(z, THIRD_LOW, SLOPE_LOW));
    let slope_low = A::multiply_add(z, THIRD, SLOPE - slope) + A::multiply_add(z * z, p, low);
    let log = A::multiply_add(s, slope, k);
    let low = A::multiply_add(s, slope_low, A::multiply_add(s, slope, k - log));
    // 2 / ln 2 over 1 + s, by the series up to the fifth power of s, which is enough.
    let w = A::multiply_add(-s, SLOPE, SLOPE);
    let low = A::multiply_add(rest, A::multiply_add(w, A::multiply_add(z, z, z), w), low);

    let shifted = A::multiply_add(y, log, exp::ROUND_F64);
    let n = shifted - exp::ROUND_F64;
    let r = A::multiply_add(y, low, A::multiply_add(y, log, -n));
    let r = if n.abs() <= 2000.0 { r } else { 0.0 };
    // The error is at most 2^-58 of 2^r for r up to 0.69. The rounding error of `slope` is why r can exceed a half.
    let p = in_two_sums!(r;
        (2.557_672_717_831_093_8e-11, 4.466_452_911_280_023e-10), (7.055_139_948_722_461e-9, 1.017_796_383_607_089_5e-7),
        (1.321_548_544_475_229_2e-6, 1.525_273_414_420_402_2e-5), (1.540_353_039_676_643_4e-4, 1.333_355_814_597_350_8e-3),
        (9.618_129_107_624_829e-3, 5.550_410_866_482_412e-2), (2.402_265_069_591_008_3e-1, std::f64::consts::LN_2));
    let p = A::multiply_add(p, r, 1.0);
    // Beyond these bounds the result is 0 or ∞ anyway.
    let shifted = if shifted > exp::ROUND_F64 + 1026.0 { exp::ROUND_F64 + 1026.0 } else { shifted };
    let shifted = if shifted < exp::ROUND_F64 - 1077.0 { exp::ROUND_F64 - 1077.0 } else { shifted };
    exp::scaled_f64(shifted, p)
}

/// As [`halves_f32`].
#[inline(always)]
fn halves_f64<const IS_NORMAL: bool>(x: f64) -> (f64, f64) {
    const SQRT_HALF: u64 = 0x3fe6_a09e_667f_3bcd;
    const HALF_OF_IT: u64 = SQRT_HALF - (1 << 52);

    let is_subnormal = !IS_NORMAL && x < f64::MIN_POSITIVE;
    let x = if is_subnormal { x * 18_014_398_509_481_984.0 } else { x };
    let bits = x.to_bits().wrapping_sub(SQRT_HALF);
    let half = f64::from_bits((bits & 0x000f_ffff_ffff_ffff).wrapping_add(HALF_OF_IT));
    (ln::exponent_f64(bits) - if is_subnormal { 54.0 } else { 0.0 }, half)
}

/// The power of |x|. The logarithm has two parts, as in msun's `e_pow.c` (Sun Microsystems, 1993): products of factors
/// of 26 bits are exact.
#[inline(always)]
fn separate_f64<A: Rounding>(x: f64, y: f64) -> f64 {
    let (k, f) = ln::split_f64(x.abs());
    let (log_high, log_low) = log2_separate::<A>(k, f);
    let y_high = head(y);
    let (main, small) = (y_high * log_high, A::multiply_add(y - y_high, log_high, y * log_low));
    let t = main + small;
    let is_far = t.abs() > 1100.0;
    let t = if t > 1100.0 { 1100.0 } else { t };
    let t = if t < -1100.0 { -1100.0 } else { t };
    let shifted = t + exp::ROUND_F64;
    let r = (main - (shifted - exp::ROUND_F64)) + small;
    let r = if is_far { 0.0 } else { r };
    let r = r * std::f64::consts::LN_2;
    exp::scaled_f64(shifted, A::one_plus(r, exp::second_in_two_sums_f64::<A>(r)))
}

/// 2 / (3 ln 2).
const SCALE: f64 = 9.617_966_939_259_756e-1;

/// The logarithm of 2^k · (1 + f) to the base 2, in two parts. The first part has few enough digits for exact products.
#[inline(always)]
fn log2_separate<A: Rounding>(k: f64, f: f64) -> (f64, f64) {
    /// [`SCALE`] in two parts.
    const SCALE_HIGH: f64 = 9.617_966_860_532_761e-1;
    const SCALE_LOW: f64 = 7.872_699_542_894_897e-9;

    // (m - 1) / (m + 1) for the mantissa m.
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

/// (L - 3 - z) / z², where L is the logarithm of (1 + s) / (1 - s) over 2/3 s, and z is s².
#[inline(always)]
fn atanh_rest<A: Rounding>(z: f64) -> f64 {
    // Found by Remez' exchange. The error is at most 2^-73 of the logarithm.
    in_two_sums!(z;
        (1.798_351_620_605_327e-1, 1.751_222_824_846_767_3e-1), (2.000_447_610_142_509e-1, 2.307_683_530_727_692e-1),
        (2.727_272_830_545_965e-1, 3.333_333_332_630_480_4e-1), (4.285_714_285_716_767e-1, 5.999_999_999_999_996e-1))
}

/// The upper 26 bits of a number's 53.
#[inline(always)]
fn head(x: f64) -> f64 {
    f64::from_bits(x.to_bits() & !((1 << 27) - 1))
}
