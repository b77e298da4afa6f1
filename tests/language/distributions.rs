//! Distributions of `random` whose numbers are drawn until one is accepted: compared with their densities, and drawn in
//! loops, transforms and gradients.

use mind::{Const, Tensor, mind};

mind! {
    fn gammas(key: i64, a: f64) -> f64[20000] { random::gamma(key, a, [20000]) }

    fn loggammas(key: i64, a: f64) -> f64[20000] { random::loggamma(key, a, [20000]) }

    fn narrow(key: i64, a: f32) -> f32[20000] { random::loggamma(key, a, [20000]) }

    fn betas(key: i64, a: f64, b: f64) -> f64[20000] { random::beta(key, a, b, [20000]) }

    fn vectors(key: i64, alpha: f64[3]) -> f64[20000, 3] { random::dirichlet(key, alpha, [20000, 3]) }

    fn squares(key: i64, freedom: f64) -> f64[20000] { random::chisquare(key, freedom, [20000]) }

    fn students(key: i64, freedom: f64) -> f64[20000] { random::student_t(key, freedom, [20000]) }

    fn between(key: i64, low: f64, high: f64) -> f64[20000] {
        random::truncated_normal(key, low, high, [20000])
    }

    #[allow(deprecated)]
    fn others(key: i64) -> (f64[20000], f64[20000], f64[20000], i32[20000]) {
        (
            random::laplace(key, [20000], dtype = f64),
            random::logistic(key, [20000], dtype = f64),
            random::cauchy(key, [20000], dtype = f64),
            random::rademacher(key, [20000]),
        )
    }

    fn counts(key: i64, rate: f64) -> i32[20000] { random::poisson(key, rate, [20000]) }
}

/// Checks by the test of Kolmogorov and Smirnov that numbers have a density, given by its logarithm up to a constant.
/// A wrong density passes with a probability that is small, and the right one, since keys are fixed, always or never.
fn have_density(
    what: &str,
    numbers: impl IntoIterator<Item = f64>,
    [low, high]: [f64; 2],
    log_density: impl Fn(f64) -> f64,
) {
    let mut numbers: Vec<f64> = numbers.into_iter().collect();
    numbers.sort_by(f64::total_cmp);
    let is_within = numbers.iter().all(|number| (low..=high).contains(number));
    assert!(is_within, "{what}: from {:e} to {:e}", numbers[0], numbers[numbers.len() - 1]);
    let step = (high - low) / 1e6;
    let density = |node: usize| log_density(low + step * node as f64).exp();
    let (mut sums, mut sum) = (vec![0.0], 0.0);
    for node in 0..1_000_000 {
        sum += 0.5 * (density(node) + density(node + 1));
        sums.push(sum);
    }
    let count = numbers.len() as f64;
    let distance = numbers.iter().enumerate().fold(0.0_f64, |distance, (place, number)| {
        let at = sums[((number - low) / step) as usize] / sum;
        distance.max((at - place as f64 / count).abs()).max((at - (place + 1) as f64 / count).abs())
    });
    // The distance times this root exceeds 1.95 with a probability of 0.001.
    assert!(distance * count.sqrt() < 1.95, "{what}: {}", distance * count.sqrt());
}

/// The variable is the logarithm of a gamma number: its density has no pole at small parameters.
fn log_gamma(a: f64) -> impl Fn(f64) -> f64 {
    move |y: f64| a * y - y.exp() - (a * a.ln() - a)
}

/// The density of `ln(x / (1 - x))` for a beta number `x`.
fn logit_of_beta(a: f64, b: f64) -> impl Fn(f64) -> f64 {
    move |y: f64| a * y.min(0.0) - b * y.max(0.0) - (a + b) * (-y.abs()).exp().ln_1p()
}

fn logit(x: &f64) -> f64 {
    x.ln() - (-x).ln_1p()
}

#[test]
fn gamma_numbers_have_their_density() {
    for (key, a) in [0.02_f64, 0.3, 0.9, 1.0, 1.5, 4.0, 60.0, 5000.0].into_iter().enumerate() {
        let range = [-60.0 / a.min(2.0), 6.0_f64.max(a.ln() + 1.0)];
        let narrow_range = if a < 0.1 { None } else { Some(range) };
        have_density(
            &format!("loggamma, {a}"),
            loggammas(key as i64, a).as_slice().iter().copied(),
            range,
            log_gamma(a),
        );
        if let Some(range) = narrow_range {
            let numbers = narrow(-1 - key as i64, a as f32);
            let numbers = numbers.as_slice().iter().map(|number| f64::from(*number));
            have_density(&format!("loggamma, f32, {a}"), numbers, range, log_gamma(a));
        }
        let (numbers, logarithms) = (gammas(7, a), loggammas(7, a));
        for (number, logarithm) in numbers.as_slice().iter().zip(logarithms.as_slice()) {
            let expected = logarithm.exp();
            assert!((number - expected).abs() <= 1e-12 * expected + 1e-300, "{a}: {number}, {expected}");
        }
    }
    let numbers = squares(3, 5.0);
    have_density(
        "chisquare",
        numbers.as_slice().iter().map(|x| (0.5 * x).ln()),
        [-30.0, 6.0],
        log_gamma(2.5),
    );
}

#[test]
fn beta_dirichlet_and_student_numbers_have_their_density() {
    for (key, (a, b)) in [(0.2, 0.3), (1.0, 1.0), (2.0, 3.0), (50.0, 0.7)].into_iter().enumerate() {
        let numbers = betas(key as i64, a, b);
        let numbers = numbers.as_slice().iter().filter(|x| (1e-13..1.0 - 1e-13).contains(*x)).map(logit);
        have_density(&format!("beta, {a}, {b}"), numbers, [-30.0, 30.0], |y| {
            if y.abs() < 29.9 { logit_of_beta(a, b)(y) } else { f64::NEG_INFINITY }
        });
    }
    let alpha = [0.8, 2.0, 5.0];
    let numbers = vectors(9, &Tensor::from(alpha));
    for row in numbers.as_slice().chunks_exact(3) {
        assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-14, "{row:?}");
    }
    for (column, a) in alpha.into_iter().enumerate() {
        let part = numbers.as_slice().iter().skip(column).step_by(3).map(logit);
        have_density(&format!("dirichlet, {column}"), part, [-60.0, 40.0], logit_of_beta(a, 7.8 - a));
    }
    for (key, freedom) in [1.5, 4.0, 90.0].into_iter().enumerate() {
        let numbers = students(key as i64, freedom);
        let numbers = numbers.as_slice().iter().map(|t| t.asinh());
        have_density(&format!("student_t, {freedom}"), numbers, [-30.0, 30.0], |y| {
            -0.5 * (freedom + 1.0) * (y.sinh().powi(2) / freedom).ln_1p() + y.cosh().ln()
        });
    }
}

#[test]
fn numbers_by_inversion_have_their_density() {
    let bounds = [(-1.0, 2.0), (-40.0, 0.5), (3.0, 3.5), (-30.0, -29.5), (9.0, 12.0), (0.1, 0.100_001)];
    for (key, (low, high)) in bounds.into_iter().enumerate() {
        let numbers = between(key as i64, low, high);
        let nearest = if low > 0.0 { low } else { high.min(0.0) };
        have_density(
            &format!("truncated_normal, {low}, {high}"),
            numbers.as_slice().iter().copied(),
            [low, high],
            |x| 0.5 * (nearest * nearest - x * x),
        );
    }
    let (laplace, logistic, cauchy, signs) = others(5);
    have_density("laplace", laplace.as_slice().iter().copied(), [-40.0, 40.0], |x| -x.abs());
    have_density("logistic", logistic.as_slice().iter().copied(), [-40.0, 40.0], |x| {
        -x.abs() - 2.0 * (-x.abs()).exp().ln_1p()
    });
    have_density("cauchy", cauchy.as_slice().iter().map(|x| x.asinh()), [-40.0, 40.0], |y| -y.cosh().ln());
    let sum: i32 = signs.as_slice().iter().sum();
    assert!(signs.as_slice().iter().all(|sign| sign.abs() == 1) && sum.abs() < 500, "{sum}");
}

/// The test by chi-square, over counts that are expected ten times or more, and the rest.
#[test]
fn counts_have_their_probabilities() {
    for (key, rate) in [0.1, 3.0, 9.9, 10.0, 31.0, 400.0, 1e5].into_iter().enumerate() {
        let counts = counts(key as i64, rate);
        let spread = 12.0 * f64::sqrt(rate) + 20.0;
        let (first, last) = ((rate - spread).max(0.0) as i32, (rate + spread) as i32);
        let mut logarithm = 0.0;
        let mut weights = vec![1.0];
        // Relative to the least count, of whose probability only ratios are needed.
        for count in first + 1..=last {
            logarithm += (rate / f64::from(count)).ln();
            weights.push(logarithm);
        }
        weights[0] = 0.0;
        let largest = weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = weights.iter().map(|weight| (weight - largest).exp()).collect();
        let total: f64 = weights.iter().sum();
        let mut found = vec![0.0; weights.len()];
        counts.as_slice().iter().for_each(|count| found[(count - first) as usize] += 1.0);
        let (mut statistic, mut cells, mut rest) = (0.0, 0.0, (0.0, 0.0));
        for (weight, found) in weights.iter().zip(found) {
            let expected = 20_000.0 * weight / total;
            if expected < 10.0 {
                rest = (rest.0 + expected, rest.1 + found);
            } else {
                statistic += (found - expected).powi(2) / expected;
                cells += 1.0;
            }
        }
        if rest.0 > 1.0 {
            statistic += (rest.1 - rest.0).powi(2) / rest.0;
        }
        assert!(
            statistic < cells + 4.0 * f64::sqrt(2.0 * cells) + 5.0,
            "{rate}: {statistic}, {cells} counts"
        );
    }
}

/// Rejection ends where no number can be accepted.
#[test]
fn parameters_out_of_range_end_at_once() {
    mind! {
        #[allow(deprecated)]
        fn odd(key: i64, x: f32[6]) -> (f32[6], f32[6], f32[6], i32[6], f32[6], f32[6]) {
            (
                random::gamma(key, x, [6]),
                random::beta(key, x, x, [6]),
                random::dirichlet(key, x, [6]),
                random::poisson(key, x, [6]),
                random::student_t(key, x, [6]),
                random::truncated_normal(key, x, x, [6]),
            )
        }
    }
    let x = Tensor::from([f32::NAN, -1.0, f32::NEG_INFINITY, -0.5, f32::INFINITY, 1e38]);
    let (gamma, beta, dirichlet, poisson, student, truncated) = odd(1, &x);
    let is_nan = |x: &Tensor<f32, (Const<6>,)>| x.as_slice().iter().map(|x| x.is_nan()).collect::<Vec<_>>();
    assert_eq!(is_nan(&gamma), [true, true, true, true, false, false]);
    assert_eq!(is_nan(&beta), [true, true, true, true, true, false]);
    assert_eq!(is_nan(&dirichlet), [true; 6]);
    assert_eq!(poisson.as_slice(), [-1; 6]);
    assert_eq!(is_nan(&student), [true, true, true, true, true, false]);
    assert_eq!(is_nan(&truncated), [true; 6]);
    assert_eq!(gamma.as_slice()[4], f32::INFINITY);
}

#[test]
fn draws_are_batched_and_repeated_and_have_gradients() {
    mind! {
        fn few(key: i64, a: f64) -> f64[4] { random::gamma(key, a, [4]) }

        fn batched(keys: i64[3], a: f64) -> f64[3, 4] { vmap(few, over = key)(keys, a) }

        fn all(keys: i64[3], a: f64) -> f64[3, 4] { for key in keys { few(key, a) } }

        #[grad(a)]
        fn total(keys: i64[3], a: f64) -> f64 { sum(all(keys, a)) }

        #[grad(a)]
        fn total_of_batch(keys: i64[3], a: f64) -> f64 { sum(batched(keys, a)) }

        fn slope(keys: i64[3], a: f64) -> f64 { grad(total, wrt = a)(keys, a) }

        fn bend(keys: i64[3], a: f64) -> f64 { grad(slope, wrt = a)(keys, a) }

        fn chances(keys: i64[3], a: f64) -> i32[3, 2] {
            vmap(few_counts, over = key)(keys, a)
        }

        fn few_counts(key: i64, a: f64) -> i32[2] { random::poisson(key, a, [2]) }
    }
    let keys = Tensor::from([1, -5, 1 << 50]);
    let (rows, again) = (batched(&keys, 0.7), all(&keys, 0.7));
    for (row, key) in keys.as_slice().iter().enumerate() {
        assert_eq!(rows.as_slice()[4 * row..][..4], *few(*key, 0.7).as_slice());
        assert_eq!(chances(&keys, 12.0).as_slice()[2 * row..][..2], *few_counts(*key, 12.0).as_slice());
    }
    assert_eq!(rows, again);
    let (_, by_loop) = total_grad(&keys, 0.7);
    let (_, by_batch) = total_of_batch_grad(&keys, 0.7);
    assert!((by_loop - by_batch).abs() < 1e-12 * by_loop, "{by_loop}, {by_batch}");
    // The mean of a gamma number is its parameter, so the mean of the derivatives is near 1.
    assert!((by_loop / 12.0 - 1.0).abs() < 0.5, "{by_loop}");
    // Numbers at another parameter are drawn otherwise, and so the second derivative is no difference of derivatives.
    // It is finite, and for the mean near 0.
    assert!(bend(&keys, 0.7).abs() / 12.0 < 1.0, "{}", bend(&keys, 0.7));
}
