//! The natural logarithm, and parts of it for other functions.

use super::polynomial::{horner, in_pairs};
use super::rounding::Rounding;

/// For `f32`.
#[inline(always)]
pub(super) fn f32<A: Rounding>(x: f32) -> f32 {
    let (k, f) = split_f32(x);
    of_f32(x, sum_f32::<A>(k, f))
}

/// ln 2 in two parts. Products of the first part with exponents are exact.
pub(super) const LN2_HIGH_F32: f32 = 6.931_381e-1;
pub(super) const LN2_LOW_F32: f32 = 9.058_001e-6;

/// The logarithm of 2^k · (1 + f).
#[inline(always)]
pub(super) fn sum_f32<A: Rounding>(k: f32, f: f32) -> f32 {
    A::multiply_add(k, LN2_HIGH_F32, rest_f32::<A>(f, A::multiply_add(k, LN2_LOW_F32, f)))
}

/// The logarithm of 2^k · (1 + f) minus `less`, which keeps its digits if both are about as large.
#[inline(always)]
pub(super) fn less_f32<A: Rounding>(k: f32, f: f32, less: f32) -> f32 {
    rest_f32::<A>(f, A::multiply_add(k, std::f32::consts::LN_2, -less) + f)
}

/// `sum` plus the logarithm of 1 + f, minus f.
#[inline(always)]
pub(super) fn rest_f32<A: Rounding>(f: f32, sum: f32) -> f32 {
    let z = f * f;
    A::multiply_add(z, A::multiply_add(f, third_f32::<A>(f, z), -0.5), sum)
}

/// (ln(1 + f) - f + f² / 2) / f³, where z is f².
#[inline(always)]
fn third_f32<A: Rounding>(f: f32, z: f32) -> f32 {
    // Found by `ci/remez`. The error is at most 2^-27 of the logarithm. The quotient in the series for `f64` takes
    // longer than all of this.
    in_pairs!(f, z;
        (-7.634_637_5e-2, 1.276_163_3e-1), (-1.316_015_1e-1, 1.420_174_7e-1), (-1.662_336e-1, 2.000_122_8e-1),
        (-2.500_082e-1, 3.333_333e-1))
}

/// Splits a number into 2^k · (1 + f), where 1 + f is between √½ and √2.
#[inline(always)]
pub(super) fn split_f32(x: f32) -> (f32, f32) {
    let subnormal = x < f32::MIN_POSITIVE;
    let (k, f) = split_normal_f32(if subnormal { x * 33_554_432.0 } else { x });
    (k - if subnormal { 25.0 } else { 0.0 }, f)
}

/// As [`split_f32`], for a normal number.
#[inline(always)]
pub(super) fn split_normal_f32(x: f32) -> (f32, f32) {
    const SQRT_HALF: i32 = 0x3f35_04f3;

    let bits = (x.to_bits() as i32).wrapping_sub(SQRT_HALF);
    let mantissa = f32::from_bits(((bits & 0x007f_ffff) + SQRT_HALF) as u32);
    (exponent_f32(bits as u32), mantissa - 1.0)
}

/// The exponent relative to that of √½, from the bits relative to those of √½.
#[inline(always)]
pub(super) fn exponent_f32(bits: u32) -> f32 {
    (bits as i32 >> 23) as f32
}

/// `s`, `t` and f² / 2, where the logarithm of 1 + f is s · t - f² / 2 + f.
#[inline(always)]
pub(super) fn series_f32<A: Rounding>(f: f32) -> (f32, f32, f32) {
    let z = f * f;
    (f * z, third_f32::<A>(f, z), 0.5 * z)
}

/// A logarithm of x. `y` is its value if x is positive and finite.
#[inline(always)]
pub(super) fn of_f32(x: f32, y: f32) -> f32 {
    // +∞ and NaN stay.
    let y = if x < f32::INFINITY { y } else { x };
    // A number below 0 gives NaN, by an arithmetic shift of the sign.
    let y = f32::from_bits(y.to_bits() | (x.to_bits() as i32 >> 31) as u32);
    if x == 0.0 { f32::NEG_INFINITY } else { y }
}

/// For `f64`.
#[inline(always)]
pub(super) fn f64<A: Rounding>(x: f64) -> f64 {
    let (k, f) = split_f64(x);
    of_f64(x, sum_f64::<A>(k, f, 0.0))
}

/// ln 2 in two parts, as for `f32`.
const LN2_HIGH_F64: f64 = 6.931_471_803_691_238e-1;
const LN2_LOW_F64: f64 = 1.908_214_929_270_587_7e-10;

/// As [`sum_f32`], where the exact value of `f` is `f + low`.
#[inline(always)]
pub(super) fn sum_f64<A: Rounding>(k: f64, f: f64, low: f64) -> f64 {
    let (s, rest, half_square) = series_f64::<A>(f);
    let rest = A::multiply_add(s, rest, A::multiply_add(k, LN2_LOW_F64, low)) - half_square;
    A::multiply_add(k, LN2_HIGH_F64, rest + f)
}

/// As [`less_f32`], by the formula of [`Quotient`]. This is shorter than [`series_f64`], which keeps f² / 2 separate,
/// and less exact.
#[inline(always)]
pub(super) fn less_f64<A: Rounding>(k: f64, f: f64, less: f64) -> f64 {
    let Quotient { s, z, w, odd, even } = quotient_f64::<A>(f);
    let rest = A::multiply_add(-w, even, A::multiply_add(-z, odd, f));
    (A::multiply_add(k, LN2_HIGH_F64, -less) + f) + A::multiply_add(-s, rest, k * LN2_LOW_F64)
}

/// As [`split_f32`].
#[inline(always)]
pub(super) fn split_f64(x: f64) -> (f64, f64) {
    let subnormal = x < f64::MIN_POSITIVE;
    let (k, f) = split_normal_f64(if subnormal { x * 18_014_398_509_481_984.0 } else { x });
    (k - if subnormal { 54.0 } else { 0.0 }, f)
}

/// As [`split_normal_f32`].
#[inline(always)]
pub(super) fn split_normal_f64(x: f64) -> (f64, f64) {
    const SQRT_HALF: u64 = 0x3fe6_a09e_667f_3bcd;

    let bits = x.to_bits().wrapping_sub(SQRT_HALF);
    let mantissa = f64::from_bits((bits & 0x000f_ffff_ffff_ffff).wrapping_add(SQRT_HALF));
    (exponent_f64(bits), mantissa - 1.0)
}

/// As [`exponent_f32`].
#[inline(always)]
pub(super) fn exponent_f64(bits: u64) -> f64 {
    /// 1.5 · 2⁵², and its bits.
    const ROUND: f64 = 6_755_399_441_055_744.0;
    const ROUND_BITS: u64 = ROUND.to_bits();

    // Biased to be positive, because SSE2 and AVX2 have no arithmetic shift and no conversion for integers of 64 bits.
    let biased = bits.wrapping_add(1024 << 52) >> 52;
    f64::from_bits(biased.wrapping_add(ROUND_BITS)) - (ROUND + 1024.0)
}

/// As [`series_f32`].
#[inline(always)]
pub(super) fn series_f64<A: Rounding>(f: f64) -> (f64, f64, f64) {
    let Quotient { s, z, w, odd, even } = quotient_f64::<A>(f);
    let half_square = 0.5 * f * f;
    (s, half_square + A::multiply_add(w, even, z * odd), half_square)
}

/// The logarithm of 1 + f is f - s (f - z · odd - w · even), where s is f / (2 + f), z is s², and w is z².
struct Quotient {
    s: f64,
    z: f64,
    w: f64,
    odd: f64,
    even: f64,
}

#[inline(always)]
fn quotient_f64<A: Rounding>(f: f64) -> Quotient {
    let s = f / (2.0 + f);
    let z = s * s;
    let w = z * z;
    let even = horner!(w; 1.531_383_769_920_937_3e-1, 2.222_219_843_214_978_4e-1, 3.999_999_999_940_942e-1);
    let odd = horner!(w;
        1.479_819_860_511_658_6e-1, 1.818_357_216_161_805e-1, 2.857_142_874_366_239e-1, 6.666_666_666_666_735e-1);
    Quotient { s, z, w, odd, even }
}

/// As [`of_f32`].
#[inline(always)]
pub(super) fn of_f64(x: f64, y: f64) -> f64 {
    let special = if x == 0.0 { f64::NEG_INFINITY } else { f64::NAN };
    let special = if x > 0.0 { x } else { special };
    let ordinary = x.to_bits().wrapping_sub(1) < f64::INFINITY.to_bits() - 1;
    if ordinary { y } else { special }
}
