//! Numbers: what is checked of integers, and functions that the standard library does not have.

use std::f64::consts::PI;

use super::{
    fault::{At, Fault},
    view::{Extents, View},
};
use crate::Element;

/// `f32` or `f64`. What is not computed in the type itself is computed in `f64` and rounded.
pub trait Real: Element + PartialOrd {
    /// The nearest number.
    fn round(value: f64) -> Self;

    /// The same number.
    fn wide(self) -> f64;
}

impl Real for f64 {
    #[inline(always)]
    fn round(value: f64) -> Self {
        value
    }

    #[inline(always)]
    fn wide(self) -> f64 {
        self
    }
}

impl Real for f32 {
    #[inline(always)]
    fn round(value: f64) -> Self {
        value as Self
    }

    #[inline(always)]
    fn wide(self) -> f64 {
        f64::from(self)
    }
}

/// The quotient, towards zero.
///
/// # Errors
/// E6010 where the divisor is 0.
#[inline(always)]
pub fn divide(dividend: i64, divisor: i64, at: At) -> Result<i64, Fault> {
    if divisor == 0 {
        return Err(at.failure(&format!("{dividend} is divided by zero")));
    }
    Ok(dividend.wrapping_div(divisor))
}

/// An extent of a size.
///
/// # Errors
/// E6010 where it is negative.
#[inline(always)]
pub fn extent(extent: i64, at: At) -> Result<usize, Fault> {
    usize::try_from(extent).map_err(|_| at.failure(&format!("the size {extent} is negative")))
}

/// The number of elements of a size.
///
/// # Errors
/// E6004 where there are too many to count.
#[inline(always)]
pub fn total<S: Extents>(size: S, at: At) -> Result<usize, Fault> {
    let count = size.as_slice().iter().try_fold(1_usize, |count, extent| count.checked_mul(*extent));
    count.ok_or_else(|| at.no_memory(size.as_slice()))
}

/// The nearest number.
#[inline(always)]
pub fn from_integer<F: Real>(value: i64) -> F {
    F::round(value as f64)
}

/// The greater; the first where they are equal.
#[inline(always)]
pub fn maximum<F: Real>(x: F, y: F) -> F {
    if x >= y { x } else { y }
}

/// The smaller; the first where they are equal.
#[inline(always)]
pub fn minimum<F: Real>(x: F, y: F) -> F {
    if x <= y { x } else { y }
}

/// The first position of the greatest.
///
/// # Errors
/// E6010 of no elements.
#[inline]
pub fn arg_max<F: Real, S>(view: View<'_, F, S>, at: At) -> Result<i64, Fault> {
    let Some(first) = view.data.first() else {
        return Err(at.failure("the greatest of no elements"));
    };
    let mut best = (0, *first);
    for (position, element) in view.data.iter().enumerate() {
        if *element > best.1 {
            best = (position, *element);
        }
    }
    Ok(best.0 as i64)
}

/// A whole power by squaring.
#[inline]
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

/// The n-th derivative of digamma: recurrence (6.4.6), then the asymptotic series (6.3.18, 6.4.11) of Abramowitz and
/// Stegun.
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

/// The hash of `$ranhashdoub`: Numerical Recipes, third edition, section 7.1.4.
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
        close(erf(3.5), 0.999_999_256_901_627_7);
        close(lgamma(0.5), 0.572_364_942_924_700_1);
        close(lgamma(-1.5), 0.860_047_015_376_481_3);
        close(polygamma(0, 0.5), -1.963_510_026_021_423_5);
        close(polygamma(2, 1.0), -2.404_113_806_319_188_6);
        assert_eq!((power(0.0, 0), power(2.0, -2), power(-3.0, 3)), (1.0, 0.25, -27.0));
    }
}
