//! Special functions that the Rust standard library lacks, for the [mind-dsl](https://docs.rs/mind-dsl) tensor
//! language.
//!
//! This crate is a part of `mind-dsl`, and programs depend on `mind-dsl` instead. The interpreter of Knossos programs
//! and the run time of compiled programs both call these functions, so they compute the same bits. The tests compare
//! the functions with tabulated values.
#![forbid(unsafe_code)]

mod decimal;
mod erfcx;

use std::f64::consts::PI;

pub use decimal::six_digits;
pub use erfcx::{erfcx, erfcx_derivative, log_ndtr};
pub use libm::{erf, lgamma};

/// `base` raised to an integer power, by repeated squaring; 1 for the power 0.
#[inline]
#[must_use]
pub fn power(base: f64, exponent: i64) -> f64 {
    let (mut result, mut square, mut left) = (1.0, base, exponent.unsigned_abs());
    while left > 0 {
        if left & 1 == 1 {
            result *= square;
        }
        square *= square;
        left >>= 1;
    }
    if exponent < 0 { 1.0 / result } else { result }
}

/// The inverse of the error function, by Halley's method, accurate to rounding. Infinite at ±1, NaN beyond.
#[must_use]
pub fn erf_inv(x: f64) -> f64 {
    let size = x.abs();
    if !(1e-10..1.0).contains(&size) {
        let near = x * (PI.sqrt() / 2.0);
        return if size == 1.0 {
            x * f64::INFINITY
        } else if size > 1.0 {
            f64::NAN
        } else {
            near
        };
    }
    // The start value, within one percent: Winitzki, 2008.
    let log = ((1.0 - size) * (1.0 + size)).ln();
    let half = 2.0 / (PI * 0.147) + log / 2.0;
    let mut y = ((half * half - log / 0.147).sqrt() - half).sqrt();
    for _ in 0..6 {
        let error = if size < 0.5 { erf(y) - size } else { (1.0 - size) - libm::erfc(y) };
        let step = error * (PI.sqrt() / 2.0) * (y * y).exp();
        y -= step / (1.0 + y * step);
    }
    y.copysign(x)
}

/// The Bernoulli numbers B₂, B₄, ….
const BERNOULLI: [f64; 10] = [
    1.0 / 6.0,
    -1.0 / 30.0,
    1.0 / 42.0,
    -1.0 / 30.0,
    5.0 / 66.0,
    -691.0 / 2730.0,
    7.0 / 6.0,
    -3617.0 / 510.0,
    43_867.0 / 798.0,
    -174_611.0 / 330.0,
];

/// The n-th derivative of the digamma function; `n` = 0 is digamma itself.
///
/// Positive arguments use the recurrence (6.4.6), then the asymptotic series (6.3.18, 6.4.11) of Abramowitz and Stegun.
/// Arguments below zero use reflection (6.4.7) for n up to 2. The result is NaN:
///
/// - at negative integers, except for n = 1, which is infinite there;
/// - for n below 0 and from 100;
/// - for n from 3 also at zero and below -10⁶.
#[must_use]
pub fn polygamma(n: i64, x: f64) -> f64 {
    if !(0..100).contains(&n) {
        return f64::NAN;
    }
    if n < 3 && x.is_sign_negative() {
        return reflected(n, -x);
    }
    if n > 2 && (x <= 0.0 && x == x.floor() || x < -1e6) {
        return f64::NAN;
    }
    let order = n as f64;
    let factorial: f64 = (1..=n).map(|i| i as f64).product();
    let limit = 20.0 + order;
    let steps = if x < limit { (limit - x).ceil() as i32 } else { 0 };
    let z = x + f64::from(steps);
    let inverse = 1.0 / z;
    let mut sum = if n == 0 { 0.0 } else { factorial / order * power(inverse, n) };
    let mut rest = factorial / 2.0 * power(inverse, n + 1);
    for (position, bernoulli) in BERNOULLI.iter().enumerate() {
        let k = 2 * (position as i64 + 1);
        // (k + n - 1)! / k!
        let ratio: f64 = if n == 0 { 1.0 / k as f64 } else { (k + 1..k + n).map(|i| i as f64).product() };
        rest += bernoulli * ratio * power(inverse, k + n);
    }
    // Adds the smallest terms first.
    sum += rest;
    for i in (0..steps).rev() {
        sum += factorial * power(1.0 / (x + f64::from(i)), n + 1);
    }
    match n {
        0 => z.ln() - sum,
        _ if n % 2 == 0 => -sum,
        _ => sum,
    }
}

/// `polygamma(n, -a)` for `a` of at least 0, by reflection from the value at `1 + a`.
fn reflected(n: i64, a: f64) -> f64 {
    let r = a - a.round();
    if r == 0.0 && a > 0.0 && n != 1 || a.is_infinite() {
        return f64::NAN;
    }
    // The cosine is computed as the sine of the complement, so that it is exactly 0 at half-integers.
    let (sine, cosine) = ((PI * r).sin(), (PI * (0.5 - r.abs())).sin());
    let cosecant = if r == 0.0 { f64::INFINITY } else { PI / sine };
    // Small `a`: the recurrence from `a` would cancel. Large `a`: the sum `1 + a` would lose the 1.
    let shifted = if a < 0.5 { polygamma(n, 1.0 + a) } else { less_first(n, a) };
    match n {
        0 => cosecant * cosine + shifted,
        1 => cosecant * cosecant - shifted,
        _ => 2.0 * cosecant * cosine * (cosecant * cosecant) + shifted,
    }
}

/// `polygamma(n, 1 + a)` for `n` up to 2, by the recurrence from the value at `a`.
fn less_first(n: i64, a: f64) -> f64 {
    let first = power(1.0 / a, n + 1);
    polygamma(n, a) + [first, -first, 2.0 * first][n as usize]
}

/// The hash `$ranhashdoub` of the low 32 bits of `n`, sign-extended: a number from 0 to 1. Source: Numerical Recipes,
/// third edition, section 7.1.4.
#[must_use]
pub fn random_hash(n: i64) -> f64 {
    let n = i64::from(n as i32) as u64;
    let mut v = n.wrapping_mul(3_935_559_000_370_003_845).wrapping_add(2_691_343_689_449_507_681);
    v ^= v >> 21;
    v ^= v << 37;
    v ^= v >> 4;
    v = v.wrapping_mul(4_768_777_513_237_032_717);
    v ^= v << 20;
    v ^= v >> 41;
    v ^= v << 5;
    5.421_010_862_427_522e-20 * v as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() <= 2e-14 * expected.abs().max(1.0), "{found} is not {expected}");
    }

    #[test]
    fn derivatives_of_digamma_below_0_are_those_of_mpmath_at_halves() {
        for (n, x, expected) in [
            (0, -2.5, 1.103156640645243),
            (2, -2.5, -0.1082040516417274),
            (0, -7195193.5, 15.788923861108973),
            (1, -7195193.5, 9.8696042621077),
            (2, -7195193.5, -1.9315901579077427e-14),
        ] {
            let found = polygamma(n, x);
            assert!(
                (found - expected).abs() <= 1e-13 * expected.abs(),
                "{n} at {x}: {found:e}, not {expected:e}"
            );
        }
    }

    #[test]
    fn the_inverse_of_the_error_function_is_its_inverse() {
        for x in [1e-300, 1e-12, 0.1, 0.499, 0.5, 0.9, 0.999_999, 1.0 - f64::EPSILON / 2.0] {
            let y = erf_inv(x);
            assert!((erf(y) - x).abs() <= 4e-16 * x && erf_inv(-x) == -y, "{x:e}: {y:e}");
        }
        close(erf_inv(0.5), 0.476_936_276_204_469_9);
        assert!(
            erf_inv(1.5).is_nan() && erf_inv(-1.0) == f64::NEG_INFINITY && erf_inv(-0.0).is_sign_negative()
        );
    }

    /// The expected values are from tables, to 16 digits.
    #[test]
    fn special_functions_have_the_values_of_tables() {
        close(polygamma(0, 1.0), -0.577_215_664_901_532_9);
        close(polygamma(0, 0.5), -1.963_510_026_021_423_5);
        close(polygamma(0, -0.5), 0.036_489_973_978_576_52);
        close(polygamma(1, 1.0), PI * PI / 6.0);
        close(polygamma(2, 1.0), -2.404_113_806_319_188_6);
        close(polygamma(1, -0.5), 8.934802200544679);
        close(polygamma(2, -1.25), 123.72136678366236);
        assert!(
            polygamma(0, f64::NAN).is_nan()
                && polygamma(0, -2.0).is_nan()
                && polygamma(1, -2.0).is_infinite()
        );
        assert_eq!((polygamma(0, 0.0), polygamma(0, -0.0)), (f64::NEG_INFINITY, f64::INFINITY));
        assert_eq!((polygamma(1, 0.0), polygamma(2, 0.0)), (f64::INFINITY, f64::NEG_INFINITY));
    }

    #[test]
    fn powers_are_whole() {
        assert_eq!((power(0.0, 0), power(2.0, -2), power(-3.0, 3)), (1.0, 0.25, -27.0));
    }
}
