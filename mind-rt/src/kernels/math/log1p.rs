//! The logarithm of 1 and a number: that of 2^k · (1 + f), where f is found without the sum, whose rounding would be felt close
//! to 0.

use super::ln;
use super::rounding::Rounding;

/// Of `f32`. Without what `f` lacks: felt by half a unit in the last place where the sum is close to √½ or √2, and a tenth of
/// the time.
#[inline(always)]
pub(super) fn f32<A: Rounding>(x: f32) -> f32 {
    const FOUR: u32 = 4_f32.to_bits();
    const EXPONENT: u32 = f32::INFINITY.to_bits() | f32::NEG_INFINITY.to_bits();
    /// Below √2, by as little as it can be.
    const BELOW_SQRT_2: u32 = 0x3fb5_04f2;

    // The sum as 2^-n times a number between √½ and √2. It is never subnormal.
    let u = 1.0 + x;
    let below = BELOW_SQRT_2.wrapping_sub(u.to_bits());
    let n = (below as i32 >> 23) as f32;
    // The number and 4 times that power, which is in range. Where it is 1, both are exact, and f is -0 where x is.
    let scaled = f32::from_bits(x.to_bits().wrapping_add(below & EXPONENT));
    let four = f32::from_bits(FOUR.wrapping_add(below & EXPONENT));
    let f = scaled - A::multiply_add(four, -0.25, 1.0);
    // All products with n are -0 where it is 0: -0 stays. Of a sum of 0 `four` is -0, so that f is as far below 0 as can be, and
    // y is -∞.
    let y = ln::rest_f32::<A>(f, A::multiply_add(n, -ln::LN2_LOW_F32, f));
    let y = A::multiply_add(n, -ln::LN2_HIGH_F32, y);
    // +∞ and NaN stay; below 0 it is NaN, by an arithmetic shift of the sign.
    let y = if u < f32::INFINITY { y } else { u };
    f32::from_bits(y.to_bits() | (u.to_bits() as i32 >> 31) as u32)
}

/// Of `f64`.
#[inline(always)]
pub(super) fn f64<A: Rounding>(x: f64) -> f64 {
    const SIGN: u64 = (-0.0_f64).to_bits();
    const TWO: u64 = 2_f64.to_bits();
    const SQRT_HALF: u64 = 0x3fe6_a09e_667f_3bcd;
    const EXPONENT: u64 = f64::INFINITY.to_bits() | f64::NEG_INFINITY.to_bits();

    // As above, but with 2^k.
    let u = 1.0 + x;
    let above = u.to_bits().wrapping_sub(SQRT_HALF);
    let exponent = above & EXPONENT;
    // The number and 1 over that power, which is half of one that is in range. Where it is 1, both are exact.
    let scaled = f64::from_bits(x.to_bits().wrapping_sub(exponent));
    let twice = f64::from_bits(TWO.wrapping_sub(exponent));
    let short = A::multiply_add(twice, 0.5, -1.0);
    let f = scaled + short;
    let lost = scaled - (f - short);
    let y = ln::sum_f64::<A>(ln::exponent_f64(above), f, lost);
    // +∞ and NaN stay.
    let y = if u < f64::INFINITY { y } else { u };
    let y = if u == 0.0 { f64::NEG_INFINITY } else { y };
    // Below 0 it is NaN. The sign is that of x anyway, but for -0, which stays.
    let beyond = if u < 0.0 { u64::MAX } else { 0 };
    f64::from_bits(y.to_bits() | (x.to_bits() & SIGN) | beyond)
}
