//! Special functions of the mind tensor language that the standard library does not have.
//!
//! The interpreter of Knossos programs and the run time of compiled ones give the same bits, since both call these. Values of
//! tables are what they are tested against.
#![forbid(unsafe_code)]

use std::f64::consts::PI;

/// `base` to a whole power, by squaring; 1 for the power 0.
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

/// The error function: Abramowitz and Stegun 7.1.6 near 0, the continued fraction 7.1.14 of its complement beyond.
#[must_use]
pub fn erf(x: f64) -> f64 {
    let z = x.abs();
    if z.is_nan() {
        return x;
    }
    if z < 3.0 {
        let (mut term, mut sum, mut n) = (z, z, 0.0);
        while term > sum * 1e-17 {
            n += 1.0;
            term *= 2.0 * z * z / (2.0 * n + 1.0);
            sum += term;
        }
        return (2.0 / PI.sqrt() * (-z * z).exp() * sum).copysign(x);
    }
    let mut tail = z;
    for n in (1..=60).rev() {
        tail = z + f64::from(n) / 2.0 / tail;
    }
    (1.0 - (-z * z).exp() / PI.sqrt() / tail).copysign(x)
}

/// Bernoulli numbers B₂, B₄, ….
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

/// The logarithm of |Γ(x)|: reflection (6.1.17), then Stirling's series (6.1.40) of Abramowitz and Stegun.
#[must_use]
pub fn lgamma(x: f64) -> f64 {
    if x <= 0.0 && x == x.floor() {
        return f64::INFINITY;
    }
    if x < 0.5 {
        return (PI / (PI * x).sin().abs()).ln() - lgamma(1.0 - x);
    }
    let (mut z, mut shift) = (x, 1.0);
    while z < 15.0 {
        shift *= z;
        z += 1.0;
    }
    let (mut sum, mut power) = (0.0, 1.0 / z);
    for (position, bernoulli) in BERNOULLI.iter().enumerate() {
        let k = 2.0 * (position as f64 + 1.0);
        sum += bernoulli / (k * (k - 1.0)) * power;
        power /= z * z;
    }
    (z - 0.5) * z.ln() - z + 0.5 * (2.0 * PI).ln() + sum - shift.ln()
}

/// The n-th derivative of digamma, 0 for digamma itself: recurrence (6.4.6), then the asymptotic series (6.3.18, 6.4.11)
/// of Abramowitz and Stegun. NaN at poles, far below zero, and for n from 100.
#[must_use]
pub fn polygamma(n: i64, x: f64) -> f64 {
    let order = n as f64;
    if x <= 0.0 && x == x.floor() || x < -1e6 || !(0..100).contains(&n) {
        return f64::NAN;
    }
    let factorial: f64 = (1..=n).map(|i| i as f64).product();
    let sign = if n % 2 == 0 { 1.0 } else { -1.0 };
    let (mut z, mut shift) = (x, 0.0);
    while z < 20.0 + order {
        shift -= sign * factorial / power(z, n + 1);
        z += 1.0;
    }
    let mut sum = if n == 0 { -z.ln() } else { factorial / order / power(z, n) };
    sum += factorial / (2.0 * power(z, n + 1));
    for (position, bernoulli) in BERNOULLI.iter().enumerate() {
        let k = 2 * (position as i64 + 1);
        // (k + n - 1)! / k!
        let ratio: f64 = if n == 0 { 1.0 / k as f64 } else { (k + 1..k + n).map(|i| i as f64).product() };
        sum += bernoulli * ratio / power(z, k + n);
    }
    shift - sign * sum
}

/// The hash of `$ranhashdoub`, from 0 to 1, of the low 32 bits of `n`: Numerical Recipes, third edition, section 7.1.4.
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

    /// Values of tables to 16 digits.
    #[test]
    fn special_functions_have_the_values_of_tables() {
        close(erf(0.5), 0.520_499_877_813_046_5);
        close(erf(-2.0), -0.995_322_265_018_952_7);
        close(erf(3.5), 0.999_999_256_901_627_7);
        close(erf(10.0), 1.0);
        close(lgamma(0.5), 0.572_364_942_924_700_1);
        close(lgamma(1.0), 0.0);
        close(lgamma(10.5), 13.940_625_219_403_763);
        close(lgamma(-1.5), 0.860_047_015_376_481_3);
        close(polygamma(0, 1.0), -0.577_215_664_901_532_9);
        close(polygamma(0, 0.5), -1.963_510_026_021_423_5);
        close(polygamma(0, -0.5), 0.036_489_973_978_576_52);
        close(polygamma(1, 1.0), PI * PI / 6.0);
        close(polygamma(2, 1.0), -2.404_113_806_319_188_6);
        assert!(erf(f64::NAN).is_nan() && polygamma(0, -2.0).is_nan() && lgamma(-3.0).is_infinite());
    }

    #[test]
    fn powers_are_whole() {
        assert_eq!((power(0.0, 0), power(2.0, -2), power(-3.0, 3)), (1.0, 0.25, -27.0));
    }
}
