//! The logarithm of the gamma function and its derivatives: by a polynomial about 2 and Stirling's series beyond 2.5, or by sums
//! up to where the asymptotic series of Abramowitz and Stegun, 6.3.18 and 6.4.11, are exact, and below 0 by reflection, of `f32`
//! too in `f64`, whose digits the differences there need. The polynomials are minimax ones, also that of Stirling's series.

use super::{MultiplyAdd, horner, in_two_sums, ln};

/// The logarithm of |Γ(x)| of `f32`, below 0 in `f64`.
#[inline(always)]
pub(super) fn ln_gamma_f32<A: MultiplyAdd>(x: f32) -> f32 {
    if A::IS_NEAR {
        return above_f32::<A>(x, ln::split_normal_f32(x));
    }
    let above = above_f32::<A>(x, ln::split_f32(x));
    let above = if (x == 0.0) | (x == f32::INFINITY) { f32::INFINITY } else { above };
    if x.is_sign_negative() { ln_gamma_f64::<A>(x.into()) as f32 } else { above }
}

/// That of a number above 0, which is 2^k · (1 + f).
#[inline(always)]
fn above_f32<A: MultiplyAdd>(x: f32, (k, f): (f32, f32)) -> f32 {
    let (whole, rest) = ln::parts_f32::<A>(k, f);
    // About 2, from -1 to ½: the logarithm of Γ(2 + e), over e.
    let is_low = x < 1.28;
    let e = x - if is_low { 1.0 } else { 2.0 };
    let p = horner!(e;
        -2.420_935_9e-4, -1.167_436e-4, -2.018_895_9e-4, 6.265_339e-4, -1.166_788_9e-3, 2.870_957_4e-3,
        -7.392_008_3e-3, 2.058_184_7e-2, -6.735_186e-2, 3.224_670_3e-1, 4.227_843_3e-1);
    // About 1 it is f that is taken away of more, and nothing of it is lost.
    let low = A::multiply_add(e, p, -f) - (rest + whole);
    let y = if is_low { low } else { e * p };
    // Stirling's series. The logarithm of x, less 1, is small where much else is taken away.
    let log = ((whole - 1.0) + f) + rest;
    let inverse = 1.0 / x;
    let p = horner!(inverse * inverse; 6.362_166_6e-4, -2.762_003_8e-3, 8.333_282e-2);
    let far = A::multiply_add(x - 0.5, log, A::multiply_add(p, inverse, 4.189_385_3e-1));
    if x >= 2.5 { far } else { y }
}

/// The logarithm of |Γ(x)| of `f64`.
#[inline(always)]
pub(super) fn ln_gamma_f64<A: MultiplyAdd>(x: f64) -> f64 {
    if A::IS_NEAR {
        return above_f64::<A>(x, ln::split_normal_f64(x));
    }
    let size = x.abs();
    let is_negative = x.is_sign_negative();
    // Γ(-a) Γ(1 + a) is π / sin(-πa), and Γ(1 + a) is a Γ(a).
    let is_little = is_negative & (size < 0.5);
    let at = if is_little { 1.0 + size } else { size };
    let y = above_f64::<A>(at, ln::split_f64(at));
    let r = fraction(size);
    let factor = if is_little { 1.0 } else { size };
    let reflected = -ln::f64::<A>(factor * r.abs() * sine::<A>(r)) - y;
    let y = if is_negative { reflected } else { y };
    let is_pole = (size == 0.0) | (is_negative & (r == 0.0));
    if is_pole | (size == f64::INFINITY) { f64::INFINITY } else { y }
}

/// As [`above_f32`]. The polynomials are within 2^-55 of the result, relatively.
#[inline(always)]
fn above_f64<A: MultiplyAdd>(x: f64, (k, f): (f64, f64)) -> f64 {
    let (whole, rest) = ln::parts_f64::<A>(k, f);
    let is_low = x < 1.3;
    let e = x - if is_low { 1.0 } else { 2.0 };
    let p = in_two_sums!(e;
        (1.415_381_869_713_248_3e-7, 5.370_400_816_411_018e-7), (7.622_773_988_699_175e-7, 1.328_282_901_421_297_7e-7),
        (-6.022_738_364_321_277e-7, -6.694_297_464_465_55e-7), (3.075_385_012_755_597_5e-7, -1.321_495_844_663_704_4e-7),
        (1.025_632_479_073_712_6e-6, -2.120_034_212_381_605_8e-6), (4.338_701_004_716_949e-6, -9.429_177_772_286_718e-6),
        (2.051_485_924_742_449_4e-5, -4.492_673_972_746_307e-5), (9.945_662_826_550_08e-5, -2.231_547_810_096_038_4e-4),
        (5.096_695_829_160_704e-4, -1.192_753_908_003_579_2e-3), (2.890_510_328_672_452_3e-3, -7.385_551_028_818_708_5e-3),
        (2.058_080_842_781_860_6e-2, -6.735_230_105_319_627e-2), (3.224_670_334_241_130_4e-1, 4.227_843_350_984_671_3e-1));
    let low = A::multiply_add(e, p, -f) - (rest + whole);
    let y = if is_low { low } else { e * p };
    let log = ((whole - 1.0) + f) + rest;
    let inverse = 1.0 / x;
    let p = horner!(inverse * inverse;
        5.861_941_883_417_866e-2, -7.094_682_052_995_452e-2, 4.134_391_408_912_979_6e-2, -1.627_436_466_850_430_7e-2,
        5.371_843_272_680_226e-3, -1.856_413_419_871_694_4e-3, 8.392_020_821_579_158e-4, -5.951_673_142_889_172e-4,
        7.936_495_933_056_47e-4, -2.777_777_767_073_375e-3, 8.333_333_333_329_77e-2);
    let far = A::multiply_add(x - 0.5, log, A::multiply_add(p, inverse, 0.418_938_533_204_672_7));
    if x >= 2.5 { far } else { y }
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
