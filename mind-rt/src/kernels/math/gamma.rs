//! The logarithm of the gamma function and its derivatives.
//!
//! - The logarithm uses a polynomial about 2, and Stirling's series beyond 2.5 (in `f64`, 2.4).
//! - The derivatives use sums up to where the asymptotic series of Abramowitz and Stegun, 6.3.18 and 6.4.11, are exact.
//! - Below 0 they use reflection. For `f32` this is computed in `f64`, because its differences need the digits.
//!
//! The polynomials are minimax ones, and so is the polynomial of Stirling's series.

use super::ln;
use super::polynomial::{horner, in_pairs, in_two_sums};
use super::rounding::Rounding;

/// The near or the far value, plus a multiple of the logarithm of x.
macro_rules! sum {
    ($x:ident, $from:literal, $is_low:ident, $near:expr, $far:expr, $log:expr) => {{
        let is_far = $x >= $from;
        // In the far case the logarithm is reduced by 1, so that it is small where much is subtracted.
        let log = $log(if is_far { 1.0 } else { 0.0 });
        let times = if $is_low { -1.0 } else { 0.0 };
        let times = if is_far { $x - 0.5 } else { times };
        A::multiply_add(times, log, if is_far { $far } else { $near })
    }};
}

/// The logarithm of |Γ(x)| for `f32`, computed in `f64` below 0.
#[inline(always)]
pub(super) fn ln_gamma_f32<A: Rounding>(x: f32) -> f32 {
    if A::IS_NEAR {
        return above_f32::<A>(x, ln::split_normal_f32(x));
    }
    let above = above_f32::<A>(x, ln::split_f32(x));
    let above = if (x == 0.0) | (x == f32::INFINITY) { f32::INFINITY } else { above };
    if x.is_sign_negative() { ln_gamma_f64::<A>(x.into()) as f32 } else { above }
}

/// The logarithm of Γ(x) for x above 0, where x is 2^k · (1 + f).
#[inline(always)]
fn above_f32<A: Rounding>(x: f32, (k, f): (f32, f32)) -> f32 {
    // About 2, for e from -1 to ½: the logarithm of Γ(2 + e), divided by e. Below 1.28 the logarithm of x is
    // subtracted.
    let is_low = x < 1.28;
    let e = x - if is_low { 1.0 } else { 2.0 };
    let p = in_pairs!(e, e * e;
        -2.420_935_9e-4, (-1.167_436e-4, -2.018_895_9e-4), (6.265_339e-4, -1.166_788_9e-3),
        (2.870_957_4e-3, -7.392_008_3e-3), (2.058_184_7e-2, -6.735_186e-2));
    // The last terms are added one by one, because the subtraction loses digits.
    let p = horner!(e; p, 3.224_670_3e-1, 4.227_843_3e-1);
    // Stirling's series.
    let inverse = 1.0 / x;
    let rest = horner!(inverse * inverse; 6.362_166_6e-4, -2.762_003_8e-3, 8.333_282e-2);
    let far = A::multiply_add(rest, inverse, 4.189_385_3e-1);
    sum!(x, 2.5, is_low, e * p, far, |less| ln::less_f32::<A>(k, f, less))
}

/// The logarithm of |Γ(x)| for `f64`.
#[inline(always)]
pub(super) fn ln_gamma_f64<A: Rounding>(x: f64) -> f64 {
    if A::IS_NEAR {
        return above_f64::<A>(x, ln::split_normal_f64);
    }
    let size = x.abs();
    let is_negative = x.is_sign_negative();
    // Γ(-a) Γ(1 + a) is π / sin(-πa), and Γ(1 + a) is a Γ(a).
    let is_little = is_negative & (size < 0.5);
    let at = if is_little { 1.0 + size } else { size };
    let y = above_f64::<A>(at, ln::split_f64);
    let r = fraction(size);
    let factor = if is_little { 1.0 } else { size };
    let reflected = -ln::f64::<A>(factor * r.abs() * sine::<A>(r)) - y;
    let y = if is_negative { reflected } else { y };
    let is_pole = (size == 0.0) | (is_negative & (r == 0.0));
    if is_pole | (size == f64::INFINITY) { f64::INFINITY } else { y }
}

/// As [`above_f32`], given the function that splits numbers. The error of the polynomials is at most 2^-54 of the
/// result.
#[inline(always)]
fn above_f64<A: Rounding>(x: f64, split: impl Fn(f64) -> (f64, f64)) -> f64 {
    // About 2, for e from -0.6 to 0.4. Below 0.4, Γ(x) is Γ(x + 2) / (x (x + 1)), and the logarithm of x (x + 1) is
    // subtracted.
    let (is_little, is_low) = (x < 0.4, x < 1.4);
    let (k, f) = split(if is_little { A::multiply_add(x, x, x) } else { x });
    let whole = if is_low { 1.0 } else { 2.0 };
    let e = x - if is_little { 0.0 } else { whole };
    let p = in_two_sums!(e;
        (7.255_926_589_672_589e-7, -1.326_769_483_993_512e-7), (7.325_572_370_900_119e-7, -2.269_380_959_867_347_7e-6),
        (4.396_233_922_955_010_5e-6, -9.376_655_245_763_521e-6), (2.051_167_829_617_646e-5, -4.493_506_505_803_228e-5),
        (9.945_629_584_451_497e-5, -2.231_540_676_137_593e-4), (5.096_696_367_310_223e-4, -1.192_753_941_544_364_6e-3),
        (2.890_510_326_037_381e-3, -7.385_551_028_023_897e-3), (2.058_080_842_786_765e-2, -6.735_230_105_320_368e-2),
        (3.224_670_334_241_128e-1, 4.227_843_350_984_671_3e-1));
    let inverse = 1.0 / x;
    let rest = in_two_sums!(inverse * inverse;
        4.411_560_339_812_724e-2, (-5.762_020_495_909_713_6e-2, 3.603_834_554_179_971_6e-2), (-1.507_598_139_169_527_9e-2, 5.202_981_567_087_262e-3),
        (-1.841_044_365_349_673_5e-3, 8.382_979_818_373_783e-4), (-5.951_339_233_051_73e-4, 7.936_488_694_321_572e-4), (-2.777_777_759_045_741e-3, 8.333_333_333_326_51e-2));
    let far = A::multiply_add(rest, inverse, 0.418_938_533_204_672_7);
    sum!(x, 2.4, is_low, e * p, far, |less| ln::less_f64::<A>(k, f, less))
}

/// The logarithmic derivative of the gamma function.
#[inline(always)]
pub(super) fn digamma<A: Rounding>(x: f64) -> f64 {
    let Shifted { is_negative, is_pole, far, sum, cosecant, cosine } = shifted::<A>(x, |x| x);
    let inverse = 1.0 / far;
    let w = inverse * inverse;
    let rest = horner!(w;
        1.0 / 12.0, -691.0 / 32_760.0, 1.0 / 132.0, -1.0 / 240.0, 1.0 / 252.0, -1.0 / 120.0, 1.0 / 12.0);
    let y = ln::f64::<A>(far) - A::multiply_add(rest, w, 0.5 * inverse) - sum;
    let y = if is_negative { A::multiply_add(cosecant, cosine, y) } else { y };
    if is_pole { f64::NAN } else { y }
}

/// The derivative of the digamma function.
#[inline(always)]
pub(super) fn trigamma<A: Rounding>(x: f64) -> f64 {
    let Shifted { is_negative, far, sum, cosecant, .. } = shifted::<A>(x, |x| x * x);
    let inverse = 1.0 / far;
    let w = inverse * inverse;
    let rest = horner!(w;
        -3617.0 / 510.0, 7.0 / 6.0, -691.0 / 2730.0, 5.0 / 66.0, -1.0 / 30.0, 1.0 / 42.0, -1.0 / 30.0, 1.0 / 6.0);
    let y = A::multiply_add(inverse * rest, w, 0.5 * w) + inverse + sum;
    if is_negative { A::multiply_add(cosecant, cosecant, -y) } else { y }
}

/// The common part of both derivatives.
struct Shifted {
    /// Whether the result is reflected from 1 plus the absolute value.
    is_negative: bool,
    /// Whether the number is an integer below 0.
    is_pole: bool,
    /// Where the series is exact: the absolute value, or 12 more.
    far: f64,
    /// The sum that is added to the series: of 1 / (a + i)^n, from the number for which the result is computed up to
    /// `far`.
    sum: f64,
    /// π over the sine of π · |x|, and the cosine of π · |x|. Both have the opposite sign around odd numbers.
    cosecant: f64,
    cosine: f64,
}

#[inline(always)]
fn shifted<A: Rounding>(x: f64, power: impl Fn(f64) -> f64) -> Shifted {
    let size = x.abs();
    let is_small = size < 12.0;
    let far = if is_small { size + 12.0 } else { size };
    let term = power(size + 1.0);
    let (mut numerator, mut denominator) = (1.0, term);
    for i in 2..12 {
        let term = power(size + f64::from(i));
        numerator = A::multiply_add(numerator, term, denominator);
        denominator *= term;
    }
    let sum = if is_small { numerator / denominator } else { 0.0 };
    // Below 0 the derivatives are taken at 1 + a.
    let is_negative = !A::IS_NEAR && x.is_sign_negative();
    let count = if is_small { 1.0 } else { 0.0 } - if is_negative { 1.0 } else { 0.0 };
    let r = fraction(size);
    let is_pole = is_negative & (x != 0.0) & (r == 0.0);
    let cosecant = 1.0 / (r * sine::<A>(r));
    // The error is at most 2^-57.
    let cosine = horner!(r * r;
        4.149_591_488_269_371e-6, -1.045_665_805_423_02e-4, 1.929_556_283_524_017_7e-3, -2.580_688_873_934_114_7e-2,
        2.353_306_301_298_074_8e-1, -1.335_262_768_843_463e0, 4.058_712_126_416_498, -4.934_802_200_544_676, 1.0);
    let first = count * power(1.0 / size);
    let first = if count == 0.0 { 0.0 } else { first };
    Shifted { is_negative, is_pole, far, sum: sum + first, cosecant, cosine }
}

/// sin(πr) / (πr) for r up to ½. The relative error is at most 2^-61.
#[inline(always)]
fn sine<A: Rounding>(r: f64) -> f64 {
    horner!(r * r;
        2.449_307_990_840_211_7e-7, -6.972_000_482_539_198e-6, 1.484_278_008_723_725_4e-4,
        -2.346_080_886_823_295_7e-3, 2.614_784_780_452_950_4e-2, -1.907_518_241_214_305e-1, 8.117_424_252_833_373e-1,
        -1.644_934_066_848_226_2, 1.0)
}

/// The signed distance of a number that is not negative from the nearest integer.
#[inline(always)]
fn fraction(size: f64) -> f64 {
    size - nearest(size)
}

#[inline(always)]
fn nearest(size: f64) -> f64 {
    /// From this number on, every `f64` is an integer.
    const WHOLE: f64 = 4_503_599_627_370_496.0;

    if size < WHOLE { (size + WHOLE) - WHOLE } else { size }
}
