//! e to the power of a number.

use super::polynomial::{horner, in_two_sums};
use super::rounding::Rounding;

/// For `f32`.
#[inline(always)]
pub(super) fn f32<A: Rounding>(x: f32) -> f32 {
    // Beyond these bounds the result is 0 or ∞ anyway. The comparisons let NaN pass.
    let x = if x > 89.0 { 89.0 } else { x };
    let x = if x < -104.0 { -104.0 } else { x };
    let (shifted, r) = reduced_f32::<A>(x);
    raised_f32::<A>(shifted, r)
}

/// Splits x into a multiple of ln 2 and a rest. Returns the exponent of the power of 2, as [`raised_f32`] takes it, and
/// the rest.
#[inline(always)]
pub(super) fn reduced_f32<A: Rounding>(x: f32) -> (f32, f32) {
    /// ln 2 in two parts. Products of the first part with exponents are exact.
    const LN2_HIGH: f32 = 0.693_359_4;
    const LN2_LOW: f32 = -2.121_944_4e-4;

    let shifted = A::multiply_add(x, std::f32::consts::LOG2_E, ROUND_F32);
    let power = shifted - ROUND_F32;
    (shifted, A::multiply_add(power, -LN2_LOW, A::multiply_add(power, -LN2_HIGH, x)))
}

/// 1.5 · 2²³ plus twice the exponent bias. Adding it rounds a number to an integer, which is then in the low bits.
pub(super) const ROUND_F32: f32 = 12_582_912.0 + 254.0;

/// e^r times a power of 2. `shifted` is the exponent added to [`ROUND_F32`].
#[inline(always)]
pub(super) fn raised_f32<A: Rounding>(shifted: f32, r: f32) -> f32 {
    scaled_f32(shifted, A::one_plus(r, second_f32::<A>(r)))
}

/// (e^r - 1 - r) / r².
#[inline(always)]
pub(super) fn second_f32<A: Rounding>(r: f32) -> f32 {
    // Found by Remez' exchange. The relative error of exp is at most 3.1e-9.
    horner!(r; 1.381_454e-3, 8.368_745e-3, 4.166_839e-2, 1.666_652_1e-1, 4.999_999_4e-1)
}

/// A number times a power of 2. `shifted` is the exponent added to [`ROUND_F32`].
#[inline(always)]
pub(super) fn scaled_f32(shifted: f32, y: f32) -> f32 {
    // Scales in two steps, only the second of which can leave the normal range. Bits above the exponent are shifted
    // out.
    let biased = shifted.to_bits();
    let half = biased >> 1;
    y * f32::from_bits(half << 23) * f32::from_bits(biased.wrapping_sub(half) << 23)
}

/// For `f64`.
#[inline(always)]
pub(super) fn f64<A: Rounding>(x: f64) -> f64 {
    // Beyond these bounds the result is 0 or ∞ anyway. The comparisons let NaN pass.
    let x = if x > 710.0 { 710.0 } else { x };
    let x = if x < -746.0 { -746.0 } else { x };
    let (shifted, r) = reduced_f64::<A>(x);
    raised_f64::<A>(shifted, r)
}

/// As [`reduced_f32`].
#[inline(always)]
pub(super) fn reduced_f64<A: Rounding>(x: f64) -> (f64, f64) {
    /// ln 2 in two parts. Products of the first part with exponents are exact.
    const LN2_HIGH: f64 = 6.931_471_803_691_238e-1;
    const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;

    let shifted = A::multiply_add(x, std::f64::consts::LOG2_E, ROUND_F64);
    let power = shifted - ROUND_F64;
    (shifted, A::multiply_add(power, -LN2_LOW, A::multiply_add(power, -LN2_HIGH, x)))
}

/// 1.5 · 2⁵² plus twice the exponent bias. Adding it rounds a number to an integer, which is then in the low bits.
pub(super) const ROUND_F64: f64 = 6_755_399_441_055_744.0 + 2046.0;

/// As [`raised_f32`].
#[inline(always)]
pub(super) fn raised_f64<A: Rounding>(shifted: f64, r: f64) -> f64 {
    scaled_f64(shifted, A::one_plus(r, second_f64::<A>(r)))
}

/// As [`second_f32`].
#[inline(always)]
pub(super) fn second_f64<A: Rounding>(r: f64) -> f64 {
    // Taylor's series: |r| is at most (ln 2) / 2, where the first omitted term is 2^-57.
    horner!(r;
        1.0 / 6_227_020_800.0, 1.0 / 479_001_600.0, 1.0 / 39_916_800.0, 1.0 / 3_628_800.0, 1.0 / 362_880.0,
        1.0 / 40_320.0, 1.0 / 5_040.0, 1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5)
}

/// As [`second_f64`], in two sums.
#[inline(always)]
pub(super) fn second_in_two_sums_f64<A: Rounding>(r: f64) -> f64 {
    in_two_sums!(r;
        (1.0 / 6_227_020_800.0, 1.0 / 479_001_600.0), (1.0 / 39_916_800.0, 1.0 / 3_628_800.0), (1.0 / 362_880.0, 1.0 / 40_320.0),
        (1.0 / 5_040.0, 1.0 / 720.0), (1.0 / 120.0, 1.0 / 24.0), (1.0 / 6.0, 0.5))
}

/// As [`scaled_f32`].
#[inline(always)]
pub(super) fn scaled_f64(shifted: f64, y: f64) -> f64 {
    // As for `f32`.
    let biased = shifted.to_bits();
    let half = biased >> 1;
    y * f64::from_bits(half << 52) * f64::from_bits(biased.wrapping_sub(half) << 52)
}
