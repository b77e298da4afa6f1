//! The scaled complementary error function, `e^(x²) · erfc(x)`, and its derivatives.
//!
//! The derivative of order `n` is `(-1)^n · (2 / √π) · ∫ (2t)^n e^(-t² - 2xt) dt` over t from 0 (7.2.5 and 7.2.9 of
//! Abramowitz and Stegun). The integral gives all derivatives without cancellation. In terms of the function they are
//! differences of large numbers: at 10⁸ both `2x · erfcx(x)` and `2 / √π` have the same sixteen digits.

use std::f64::consts::{FRAC_2_SQRT_PI, PI};

/// `e^(x²)`, without the rounding error of the square.
fn exp_of_square(x: f64) -> f64 {
    let square = x * x;
    let power = square.exp();
    if power.is_finite() { power + power * x.mul_add(x, -square) } else { power }
}

/// `e^(x²) · erfc(x)`: infinity for x up to -26.7, 0 at infinity.
#[must_use]
pub fn erfcx(x: f64) -> f64 {
    if x < 4.0 {
        return exp_of_square(x) * libm::erfc(x);
    }
    // (2 / π) ∫ e^(-t²) / (x + t² / x) dt over t from 0.
    midpoints(|t| 1.0 / (x + t * t / x)) * (2.0 / PI)
}

/// The logarithm of the distribution function of the standard normal distribution.
#[must_use]
pub fn log_ndtr(x: f64) -> f64 {
    let half = erfcx(x.abs() * std::f64::consts::FRAC_1_SQRT_2) / 2.0;
    if x < 0.0 {
        return half.ln() - 0.5 * x * x;
    }
    let square = x * x;
    let power = (-square / 2.0).exp();
    let power = if power > 0.0 { power - power * (x.mul_add(x, -square) / 2.0) } else { power };
    (-(power * half)).ln_1p()
}

/// The absolute value of the derivative of order `n` of [`erfcx`], whose sign is `(-1)^n`. NaN for n below 0 and from
/// 100.
#[must_use]
pub fn erfcx_derivative(n: i64, x: f64) -> f64 {
    if !(0..100).contains(&n) || x.is_nan() {
        return f64::NAN;
    }
    if x < 0.0 {
        // The recurrence: all its terms are positive for negative `x`.
        let (mut before, mut last) = (0.0, erfcx(x));
        for order in 1..=n {
            let constant = if order == 1 { FRAC_2_SQRT_PI } else { 0.0 };
            let next = constant - 2.0 * x * last + 2.0 * (order - 1) as f64 * before;
            (before, last) = (last, next);
        }
        return last;
    }
    match n {
        _ if x == f64::INFINITY => 0.0,
        0 => erfcx(x),
        1 => first(x),
        2 => second(x),
        _ if x < 0.25 => series(n, x),
        _ => {
            let mut result = erfcx(x);
            for ratio in ratios(n, x) {
                result *= ratio;
            }
            result
        }
    }
}

/// The distance from the real axis up to which a pole of the integrand adds an error to [`midpoints`] that needs
/// correction. The error from poles farther away is negligible.
const POLE: f64 = 5.0;

/// The width of an interval of [`midpoints`].
const WIDTH: f64 = 0.4;

/// The error that [`midpoints`] makes for a pole at `ix` shrinks like `e^(-TURN · x)`.
const TURN: f64 = 2.0 * PI / WIDTH;

/// `∫ e^(-t²) f(t) dt` over t from 0, for an even function, by the midpoint rule. The error is less than e^-61, apart
/// from the error that poles of `f` cause.
fn midpoints(f: impl Fn(f64) -> f64) -> f64 {
    // Adds the smallest terms first.
    let points = (0..16).rev().map(|i| (f64::from(i) + 0.5) * WIDTH);
    points.map(|t| (-t * t).exp() * f(t)).sum::<f64>() * WIDTH
}

/// The absolute value of the first derivative: `(4 / π) ∫ e^(-t²) t² / (x² + t²) dt`.
fn first(x: f64) -> f64 {
    let seen = midpoints(|t| t * t / (x * x + t * t)) * (4.0 / PI);
    let missed = if x < POLE { 4.0 * x * (x * x).exp() / (1.0 + (TURN * x).exp()) } else { 0.0 };
    seen - missed
}

/// The second derivative: the derivative of the negated [`first`].
fn second(x: f64) -> f64 {
    // The quotient is computed first, since its divisor would overflow before the quotient does.
    let seen = midpoints(|t| t * t * (x / (x * x + t * t)) / (x * x + t * t)) * (8.0 / PI);
    if x >= POLE {
        return seen;
    }
    let power = (TURN * x).exp();
    let (fraction, other) = (1.0 / (1.0 + power), power / (1.0 + power));
    seen + 4.0 * (x * x).exp() * fraction * (1.0 + 2.0 * x * x - TURN * x * other)
}

/// The absolute value of a derivative near 0, by its Taylor series.
fn series(n: i64, x: f64) -> f64 {
    let (mut sum, mut falling) = (0.0, (1..=n).map(|i| i as f64).product::<f64>());
    let mut power = 1.0;
    for i in 0..60 {
        sum += falling * power / libm::tgamma((n + i) as f64 / 2.0 + 1.0);
        power *= -x;
        falling *= (n + i + 1) as f64 / (i + 1) as f64;
    }
    sum
}

/// The ratio of the absolute value of each derivative up to order `n` to that of the order before: a continued
/// fraction.
fn ratios(n: i64, x: f64) -> Vec<f64> {
    // The first term is far enough out that its start value does not affect the result.
    let steps = n + 10 + (20.0 / x).powi(2) as i64;
    let mut ratio = 0.0;
    let mut ratios = Vec::new();
    for order in (1..=steps).rev() {
        ratio = 2.0 * order as f64 / (2.0 * x + ratio);
        if order <= n {
            ratios.push(ratio);
        }
    }
    ratios.reverse();
    ratios
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of mpmath with 60 digits: `x`, and the absolute values of the derivatives of orders 0 to 4.
    #[allow(clippy::approx_constant, reason = "a recorded value")]
    const VALUES: &[(f64, [f64; 5])] = &[
        (
            -26.0,
            [
                7.657724931490568e+293,
                3.9820169643750954e+295,
                2.072180366461348e+297,
                1.0791265973456508e+299,
                5.623891388396153e+300,
            ],
        ),
        (
            -20.0,
            [
                1.0442939379528289e+174,
                4.1771757518113154e+175,
                1.6729588886004316e+177,
                6.708544257408972e+178,
                2.6934554562951914e+180,
            ],
        ),
        (
            -5.5,
            [
                27443409954929.71,
                301877509504227.94,
                3375539424456366.5,
                3.833844370703694e+16,
                4.419761173241446e+17,
            ],
        ),
        (
            -1.25,
            [9.173643447482844, 24.062487785802624, 78.50350635947225, 292.5087170418911, 1202.2928307615612],
        ),
        (
            -0.1,
            [1.1236433541992095, 1.3531078379353545, 2.51790827598549, 5.916013006938516, 16.290652257300643],
        ),
        (-1e-20, [1.0, 1.1283791670955126, 2.0, 4.51351666838205, 12.0]),
        (0.0, [1.0, 1.1283791670955126, 2.0, 4.51351666838205, 12.0]),
        (1e-300, [1.0, 1.1283791670955126, 2.0, 4.51351666838205, 12.0]),
        (
            1e-09,
            [
                0.9999999988716208,
                1.1283791650955126,
                1.9999999954864833,
                4.51351665638205,
                11.999999963891867,
            ],
        ),
        (
            0.1,
            [
                0.8964569799691267,
                0.9490877711016872,
                1.6030964057179158,
                3.475731803263166,
                8.923432073654862,
            ],
        ),
        (
            0.2,
            [
                0.8090195199015807,
                0.8047713591348803,
                1.2961304961492093,
                2.7006332380798375,
                6.696529681663321,
            ],
        ),
        (
            0.24,
            [
                0.7778374616558896,
                0.7550171855006855,
                1.1932666742714502,
                2.447300738352446,
                5.984895691219527,
            ],
        ),
        (
            0.26,
            [
                0.7629725476714625,
                0.7316334423063521,
                1.1454957053436219,
                2.330876002446725,
                5.660918710789434,
            ],
        ),
        (
            0.5,
            [
                0.6156903441929259,
                0.5126888229025867,
                0.718691865483265,
                1.3320634261270818,
                2.9800877667725088,
            ],
        ),
        (
            1.0,
            [
                0.427583576155807,
                0.27321201478389856,
                0.3087431227438169,
                0.4753618136479605,
                0.9017351091669803,
            ],
        ),
        (
            2.0,
            [
                0.25539567631050575,
                0.1067964618534896,
                0.0836055052070531,
                0.09276382658574601,
                0.1305777248993345,
            ],
        ),
        (
            3.5,
            [
                0.1552936556088943,
                0.041323577833252495,
                0.02132226638502115,
                0.016038446637861917,
                0.015664471845093488,
            ],
        ),
        (
            3.999,
            [
                0.1370318485982712,
                0.03239844200653944,
                0.01494095802823993,
                0.010095985716294813,
                0.008898054410513664,
            ],
        ),
        (
            4.0,
            [
                0.13699945762506138,
                0.032383506095021455,
                0.014930866489951141,
                0.010087092460476687,
                0.008888459255893355,
            ],
        ),
        (
            4.999,
            [
                0.11072597456427541,
                0.021340873401887162,
                0.008085896856482979,
                0.00452069683643184,
                0.003317454168252336,
            ],
        ),
        (
            5.001,
            [
                0.11068330898323994,
                0.02132471064514659,
                0.008076862093723693,
                0.004514067919161982,
                0.003311465234884004,
            ],
        ),
        (
            7.0,
            [
                0.07980005432915294,
                0.011178406487371504,
                0.0031024178351047966,
                0.00127977625801887,
                0.0006976393983646001,
            ],
        ),
        (
            20.0,
            [
                0.02817434874105132,
                0.0014052174534598012,
                0.00013999934371059262,
                2.0896065415499418e-05,
                4.15344564357909e-06,
            ],
        ),
        (
            10000.0,
            [
                5.641895807268084e-05,
                5.641895750849127e-09,
                1.1283791332441388e-12,
                3.3851373320296714e-16,
                1.354054898960497e-19,
            ],
        ),
        (
            100000000.0,
            [
                5.641895835477562e-09,
                5.641895835477562e-17,
                1.1283791670955122e-24,
                3.385137501286536e-32,
                1.3540550005146141e-39,
            ],
        ),
        (
            1000000000000000.0,
            [
                5.641895835477563e-16,
                5.641895835477563e-31,
                1.1283791670955125e-45,
                3.385137501286538e-60,
                1.354055000514615e-74,
            ],
        ),
    ];

    /// Values of mpmath with 60 digits.
    const LOG_NDTR: &[(f64, f64)] = &[
        (-1000000.0, -500000000014.73444),
        (-40.0, -804.6084420137538),
        (-10.0, -53.23128515051247),
        (-5.0, -15.064998393988725),
        (-1.0, -1.8410216450092636),
        (-0.001, -0.6939453834669652),
        (0.001, -0.6923496142726883),
        (0.5, -0.3689464152886564),
        (1.0, -0.17275377902344988),
        (3.0, -0.0013508099647481938),
        (8.0, -6.220960574271786e-16),
        (20.0, -2.7536241186062337e-89),
        (37.0, -5.725571222524577e-300),
        (38.4, -6.4e-323),
    ];

    fn off(found: f64, expected: f64) -> f64 {
        (found - expected).abs() / (expected.abs() * f64::EPSILON)
    }

    #[test]
    fn derivatives_are_those_of_mpmath() {
        for (x, values) in VALUES {
            for (n, expected) in (0..).zip(values) {
                let found = erfcx_derivative(n, *x);
                let error = off(found, *expected);
                assert!(
                    error < 8.0 || found == *expected,
                    "{n} at {x}: {found:e}, not {expected:e}: {error}"
                );
            }
            assert!(off(erfcx(*x), values[0]) < 3.0 || erfcx(*x) == values[0], "{x}");
        }
    }

    #[test]
    fn log_ndtr_is_that_of_mpmath() {
        for (x, expected) in LOG_NDTR {
            let found = log_ndtr(*x);
            assert!(off(found, *expected) < 3.0 || found == *expected, "{x}: {found:e}, not {expected:e}");
        }
    }

    #[test]
    fn special_values_are_limits() {
        assert_eq!((erfcx(f64::INFINITY), erfcx(f64::NEG_INFINITY)), (0.0, f64::INFINITY));
        assert_eq!((log_ndtr(f64::INFINITY), log_ndtr(f64::NEG_INFINITY)), (0.0, f64::NEG_INFINITY));
        assert_eq!((log_ndtr(0.0), erfcx(0.0)), (-std::f64::consts::LN_2, 1.0));
        for n in 0..6 {
            assert_eq!(erfcx_derivative(n, f64::INFINITY), 0.0, "{n}");
            assert_eq!(erfcx_derivative(n, f64::MAX), if n == 0 { erfcx(f64::MAX) } else { 0.0 }, "{n}");
            assert_eq!(erfcx_derivative(n, f64::NEG_INFINITY), f64::INFINITY, "{n}");
            assert!(erfcx_derivative(n, f64::NAN).is_nan(), "{n}");
        }
        assert!(
            erfcx(f64::NAN).is_nan() && log_ndtr(f64::NAN).is_nan() && erfcx_derivative(-1, 1.0).is_nan()
        );
    }
}
