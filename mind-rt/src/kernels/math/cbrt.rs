//! The cube root: a guess from a third of the exponent, which is then refined, as in msun's `s_cbrt.c` and `s_cbrtf.c`
//! (Sun Microsystems, 1993; FreeBSD).

use super::polynomial::horner;
use super::rounding::Rounding;

/// For `f32`, computed in `f64`.
#[inline(always)]
pub(super) fn f32(x: f32) -> f32 {
    /// The bits of a root minus a third of the bits of its cube.
    const THIRD: u32 = 709_958_130;

    let size = x.abs();
    let subnormal = size < f32::MIN_POSITIVE;
    let bits = if subnormal { size * 16_777_216.0 } else { size }.to_bits();
    let guess = third(bits.into()) as u32 + THIRD - if subnormal { 8 << 23 } else { 0 };
    let (x64, mut t) = (f64::from(size), f64::from(f32::from_bits(guess)));
    for _ in 0..2 {
        let cube = t * t * t;
        t = t * (x64 + x64 + cube) / (x64 + cube + cube);
    }
    let ordinary = size > 0.0 && size < f32::INFINITY;
    if ordinary { (t as f32).copysign(x) } else { x }
}

/// For `f64`.
#[inline(always)]
pub(super) fn f64<A: Rounding>(x: f64) -> f64 {
    /// As for `f32`, for the upper halves of the bits.
    const THIRD: u64 = 715_094_163;

    let size = x.abs();
    let subnormal = size < f64::MIN_POSITIVE;
    let bits = if subnormal { size * 18_014_398_509_481_984.0 } else { size }.to_bits();
    let guess = third(bits >> 32) + THIRD - if subnormal { 18 << 20 } else { 0 };
    let t = f64::from_bits(guess << 32);
    // Refines to 23 bits, by a polynomial of t³ / x.
    let r = (t * t) * (t / size);
    let low = horner!(r; 1.621_429_720_105_354_5, -1.884_979_795_433_771_7, 1.875_951_824_271_77);
    let high = A::multiply_add(r, 0.145_996_192_886_612_45, -0.758_397_934_778_766);
    let t = t * A::multiply_add((r * r) * r, high, low);
    // Rounded to so few bits that the square is exact.
    let t = f64::from_bits(t.to_bits().wrapping_add(0x8000_0000) & 0xffff_ffff_c000_0000);
    // One step of Newton's method.
    let r = size / (t * t);
    let t = A::multiply_add(t, (r - t) / (t + t + r), t);
    let ordinary = size > 0.0 && size < f64::INFINITY;
    if ordinary { t.copysign(x) } else { x }
}

/// A third of a number of 32 bits.
#[inline(always)]
fn third(n: u64) -> u64 {
    (n * 0xaaaa_aaab) >> 33
}
