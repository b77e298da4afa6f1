//! The logarithm of 1 + x, as the logarithm of 2^k · (1 + f). f is computed without the rounded sum, whose rounding
//! error would be noticeable close to 0.

use super::ln;
use super::rounding::Rounding;

/// For `f32`. The rounding error of `f` is ignored. This costs half a unit in the last place where the sum is close to
/// √½ or √2, and saves a tenth of the time.
#[inline(always)]
pub(super) fn f32<A: Rounding>(x: f32) -> f32 {
    const FOUR: u32 = 4_f32.to_bits();
    const EXPONENT: u32 = f32::INFINITY.to_bits() | f32::NEG_INFINITY.to_bits();
    /// Just below √2.
    const BELOW_SQRT_2: u32 = 0x3fb5_04f2;

    // The sum is 2^-n times a number between √½ and √2. It is never subnormal.
    let u = 1.0 + x;
    let below = BELOW_SQRT_2.wrapping_sub(u.to_bits());
    let n = (below as i32 >> 23) as f32;
    // x · 2^n, and 4 · 2^n, which is in range. If n is 0, both are exact, and f is -0 if x is.
    let scaled = f32::from_bits(x.to_bits().wrapping_add(below & EXPONENT));
    let four = f32::from_bits(FOUR.wrapping_add(below & EXPONENT));
    let f = scaled - A::multiply_add(four, -0.25, 1.0);
    // If n is 0, all products with it are -0, so that -0 stays. If the sum is 0, `four` is -0, so that f is far below 0
    // and y is -∞.
    let y = ln::rest_f32::<A>(f, A::multiply_add(n, -ln::LN2_LOW_F32, f));
    let y = A::multiply_add(n, -ln::LN2_HIGH_F32, y);
    // +∞ and NaN stay. A sum below 0 gives NaN, by an arithmetic shift of the sign.
    let y = if u < f32::INFINITY { y } else { u };
    f32::from_bits(y.to_bits() | (u.to_bits() as i32 >> 31) as u32)
}

/// For `f64`.
#[inline(always)]
pub(super) fn f64<A: Rounding>(x: f64) -> f64 {
    const SIGN: u64 = (-0.0_f64).to_bits();
    const TWO: u64 = 2_f64.to_bits();
    const SQRT_HALF: u64 = 0x3fe6_a09e_667f_3bcd;
    const EXPONENT: u64 = f64::INFINITY.to_bits() | f64::NEG_INFINITY.to_bits();

    // As for `f32`, but with 2^k.
    let u = 1.0 + x;
    let above = u.to_bits().wrapping_sub(SQRT_HALF);
    let exponent = above & EXPONENT;
    // x · 2^-k, and 2 · 2^-k, which is in range. If k is 0, both are exact.
    let scaled = f64::from_bits(x.to_bits().wrapping_sub(exponent));
    let twice = f64::from_bits(TWO.wrapping_sub(exponent));
    let short = A::multiply_add(twice, 0.5, -1.0);
    let f = scaled + short;
    let lost = scaled - (f - short);
    let y = ln::sum_f64::<A>(ln::exponent_f64(above), f, lost);
    // +∞ and NaN stay.
    let y = if u < f64::INFINITY { y } else { u };
    let y = if u == 0.0 { f64::NEG_INFINITY } else { y };
    // A sum below 0 gives NaN. The sign is that of x anyway, except for -0, which stays.
    let beyond = if u < 0.0 { u64::MAX } else { 0 };
    f64::from_bits(y.to_bits() | (x.to_bits() & SIGN) | beyond)
}
