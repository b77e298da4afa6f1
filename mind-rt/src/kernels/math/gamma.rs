//! The logarithm of the gamma function and its derivatives: by a polynomial about 2 and products up to it, or by sums up to
//! where the asymptotic series of Abramowitz and Stegun, 6.1.41, 6.3.18 and 6.4.11, are exact, and below 0 by reflection. The
//! polynomials are minimax ones. Of `f32` they are those of `f64`, whose digits the differences below 0 need.

use super::{MultiplyAdd, horner, ln};

/// The logarithm of |Γ(x)|.
#[inline(always)]
pub(super) fn ln_gamma<A: MultiplyAdd>(x: f64) -> f64 {
    let size = x.abs();
    let nearest = nearest(size);
    let is_far = size >= 6.5;
    // About 2, within 2^-71 relatively: the logarithm of Γ(2 + e), over e.
    let e = size - if is_far { size } else { nearest };
    let p = horner!(e;
        -7.888_297_984_787_427e-9, 1.517_100_576_575_634_6e-8, -2.047_469_249_947_242e-8, 4.482_778_755_066_73e-8,
        -1.014_457_053_992_444_5e-7, 2.131_221_717_416_906_7e-7, -4.489_618_304_452_775e-7,
        9.549_029_495_991_032e-7, -2.039_268_088_846_828e-6, 4.374_901_792_863_279e-6, -9.439_481_913_669_368e-6,
        2.050_720_941_920_647_2e-5, -4.492_623_724_484_758e-5, 9.945_751_298_787_177e-5,
        -2.231_547_584_280_584e-4, 5.096_695_247_353_329e-4, -1.192_753_911_704_018_7e-3,
        2.890_510_330_741_683e-3, -7.385_551_028_673_973_5e-3, 2.058_080_842_778_454_6e-2,
        -6.735_230_105_319_81e-2, 3.224_670_334_241_132e-1, 4.227_843_350_984_671_3e-1);
    // Products from there on, of which the logarithm is added, and quotients to there, of which it is taken away.
    let is_negative = !A::IS_NEAR && x.is_sign_negative();
    let sum = 1.0 + size;
    let lowest = if is_negative { sum } else { size * sum };
    let product = if nearest < 0.5 { lowest } else { size };
    let product = if nearest > 1.5 { 1.0 } else { product };
    let product = if nearest > 2.5 { size - 1.0 } else { product };
    let product = if nearest > 3.5 { product * (size - 2.0) } else { product };
    let product = if nearest > 4.5 { product * (size - 3.0) } else { product };
    let product = if nearest > 5.5 { product * (size - 4.0) } else { product };
    let log = ln::f64::<A>(if is_far { size } else { product });
    let log = if nearest < 1.5 { -log } else { log };
    let near = A::multiply_add(e, p, log);
    // Stirling's series, within 2^-61.
    let inverse = 1.0 / size;
    let rest = horner!(inverse * inverse;
        -1.781_428_844_559_966e-2, 6.015_728_163_525_483e-3, -1.910_147_757_386_573_9e-3, 8.416_723_416_582_053e-4,
        -5.952_376_360_384_349e-4, 7.936_507_923_231_534e-4, -2.777_777_777_776_310_7e-3, 8.333_333_333_333_333e-2);
    let far = A::multiply_add(size - 0.5, log - 1.0, A::multiply_add(rest, inverse, 0.418_938_533_204_672_7));
    let y = if is_far { far } else { near };
    // Γ(-a) Γ(1 + a) is π / sin(-πa).
    let r = fraction(size);
    let factor = if nearest < 0.5 { 1.0 } else { size };
    let reflected = -ln::f64::<A>(factor * r.abs() * sine::<A>(r)) - y;
    let y = if is_negative { reflected } else { y };
    let is_pole = is_negative & (r == 0.0);
    if is_pole | (size == f64::INFINITY) { f64::INFINITY } else { y }
}

/// The logarithmic derivative of the gamma function.
#[inline(always)]
pub(super) fn digamma<A: MultiplyAdd>(x: f64) -> f64 {
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
pub(super) fn trigamma<A: MultiplyAdd>(x: f64) -> f64 {
    let Shifted { is_negative, far, sum, cosecant, .. } = shifted::<A>(x, |x| x * x);
    let inverse = 1.0 / far;
    let w = inverse * inverse;
    let rest = horner!(w;
        -3617.0 / 510.0, 7.0 / 6.0, -691.0 / 2730.0, 5.0 / 66.0, -1.0 / 30.0, 1.0 / 42.0, -1.0 / 30.0, 1.0 / 6.0);
    let y = A::multiply_add(inverse * rest, w, 0.5 * w) + inverse + sum;
    if is_negative { A::multiply_add(cosecant, cosecant, -y) } else { y }
}

/// What the derivatives have in common.
struct Shifted {
    /// Whether the result is that of 1 and the absolute value, reflected.
    is_negative: bool,
    /// Whether the number is an integer below 0.
    is_pole: bool,
    /// Where the series is exact: the absolute value, or that and 12.
    far: f64,
    /// What is to be added to the series: of 1 / (a + i)^n from the number that the result is of up to there.
    sum: f64,
    /// π over the sine of π times the absolute value, and the cosine: both with another sign around odd numbers.
    cosecant: f64,
    cosine: f64,
}

#[inline(always)]
fn shifted<A: MultiplyAdd>(x: f64, power: impl Fn(f64) -> f64) -> Shifted {
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
    // Below 0 they are of 1 + a.
    let is_negative = !A::IS_NEAR && x.is_sign_negative();
    let count = if is_small { 1.0 } else { 0.0 } - if is_negative { 1.0 } else { 0.0 };
    let r = fraction(size);
    let is_pole = is_negative & (x != 0.0) & (r == 0.0);
    let cosecant = 1.0 / (r * sine::<A>(r));
    // Within 2^-57.
    let cosine = horner!(r * r;
        4.149_591_488_269_371e-6, -1.045_665_805_423_02e-4, 1.929_556_283_524_017_7e-3, -2.580_688_873_934_114_7e-2,
        2.353_306_301_298_074_8e-1, -1.335_262_768_843_463e0, 4.058_712_126_416_498, -4.934_802_200_544_676, 1.0);
    let first = count * power(1.0 / size);
    let first = if count == 0.0 { 0.0 } else { first };
    Shifted { is_negative, is_pole, far, sum: sum + first, cosecant, cosine }
}

/// sin(πr) / πr up to ½, within 2^-61 relatively.
#[inline(always)]
fn sine<A: MultiplyAdd>(r: f64) -> f64 {
    horner!(r * r;
        2.449_307_990_840_211_7e-7, -6.972_000_482_539_198e-6, 1.484_278_008_723_725_4e-4,
        -2.346_080_886_823_295_7e-3, 2.614_784_780_452_950_4e-2, -1.907_518_241_214_305e-1, 8.117_424_252_833_373e-1,
        -1.644_934_066_848_226_2, 1.0)
}

/// How far it is from the nearest integer to a number that is not negative.
#[inline(always)]
fn fraction(size: f64) -> f64 {
    size - nearest(size)
}

#[inline(always)]
fn nearest(size: f64) -> f64 {
    /// From it on every number is an integer.
    const WHOLE: f64 = 4_503_599_627_370_496.0;

    if size < WHOLE { (size + WHOLE) - WHOLE } else { size }
}
