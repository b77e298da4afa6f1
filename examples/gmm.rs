//! The Gaussian mixture objective of ADBench, written in Knossos, and its gradient. The gradient is checked against
//! central differences and then timed.
//!
//! ```text
//! cargo run --release --features knossos --example gmm
//! ```
//!
//! The same objective is also written in `mind!`, as a function of the inverse covariances, whose Cholesky factors it
//! computes. Its value and gradients are compared with those of Knossos: the derivatives pass through `linalg::cholesky`
//! and through the product that makes the matrices from the parameters.

#[path = "support/differences.rs"]
mod differences;

use std::{hint::black_box, time::Instant};

use mind::{Tensor, mind};

mind::include_ks!("gmm.ks", export = [objective], grad = [objective]);

mind! {
    /// The log-likelihood with the Wishart prior, as in `gmm.ks`, by Cholesky factors of the inverse covariances. A row
    /// of `icf` has the logarithms of the diagonal of a factor, then the elements below it, row by row.
    #[grad(x, alphas, means, icf, gamma)]
    fn by_cholesky<N, K, D, M>(
        x: f64[N, D],
        alphas: f64[K],
        means: f64[K, D],
        icf: f64[K, M],
        gamma: f64,
        m: i64,
    ) -> f64 {
        let (row, column) = (iota([D, D], axis = 0), iota([D, D], axis = 1));
        let at = where(column < row, D + row * (row - 1) / 2 + column, row);
        let elements = icf[.., at];
        let given = where(column < row, elements, where(column == row, exp(elements), 0.0));
        let inverse = given.mT @ given;
        let factor = linalg::cholesky(inverse);
        let half_logs = sum(log(num::diagonal(factor)), axis = 1);
        let scaled = (x - means[.., _, 0..D]) @ factor;
        let scores = (alphas + half_logs)[.., _] - 0.5 * sum(scaled * scaled, axis = 2);
        let points = sum(nn::logsumexp(scores, axis = 0));
        let prior = 0.5 * gamma * gamma * sum(num::diagonal(inverse)) - f64(m) * sum(half_logs);
        points - f64(N) * nn::logsumexp(alphas) + prior
    }
}

/// The points, the parameters of the mixture, and the parameters `gamma` and `m` of the prior.
struct Problem {
    x: Tensor![f64; ?, ?],
    alphas: Tensor![f64; ?],
    means: Tensor![f64; ?, ?],
    icf: Tensor![f64; ?, ?],
    gamma: f64,
    m: i64,
}

impl Problem {
    /// `n` random points in `d` dimensions, and a random mixture of `k` components.
    fn random(n: usize, d: usize, k: usize) -> Self {
        let mut noise = noise();
        let mut matrix = |rows, columns| Tensor::from_fn_with((rows, columns), |_| noise());
        let (x, means, icf) = (matrix(n, d), matrix(k, d), matrix(k, d + d * (d - 1) / 2));
        let alphas = Tensor::from_fn_with((k,), |_| noise());
        Self { x, alphas, means, icf, gamma: 1.0, m: 0 }
    }

    fn objective(&self) -> f64 {
        let Self { x, alphas, means, icf, gamma, m } = self;
        objective(x, alphas, means, icf, *gamma, *m)
    }
}

fn main() {
    let small = Problem { gamma: 0.7, m: 2, ..Problem::random(20, 4, 3) };
    let Problem { x, alphas, means, icf, gamma, m } = &small;
    println!("20 points, 4 dimensions, 3 components: log-likelihood {:.6}", small.objective());
    let (dx, d_alphas, d_means, d_icf, d_gamma, ()) = rev_objective(x, alphas, means, icf, *gamma, *m, 1.0);
    differences::check("points", x, &dx, |x| objective(x, alphas, means, icf, *gamma, *m));
    differences::check("alphas", alphas, &d_alphas, |alphas| objective(x, alphas, means, icf, *gamma, *m));
    differences::check("means", means, &d_means, |means| objective(x, alphas, means, icf, *gamma, *m));
    differences::check("icf", icf, &d_icf, |icf| objective(x, alphas, means, icf, *gamma, *m));
    let gamma_alone = |gamma: f64| Tensor::from([gamma]);
    differences::check("gamma", &gamma_alone(*gamma), &gamma_alone(d_gamma), |gamma| {
        objective(x, alphas, means, icf, gamma.as_slice()[0], *m)
    });

    compare(&small);

    let large = Problem::random(1000, 10, 25);
    println!("1000 points, 10 dimensions, 25 components: log-likelihood {:.6}", large.objective());
    let Problem { x, alphas, means, icf, gamma, m } = &large;
    let forward = least_seconds(|| _ = black_box(black_box(&large).objective()));
    let reverse = least_seconds(|| {
        _ = black_box(rev_objective(black_box(x), alphas, means, icf, *gamma, *m, 1.0));
    });
    println!(
        "timing: objective {:.2} ms, gradient {:.2} ms, {:.1} times as long",
        forward * 1e3,
        reverse * 1e3,
        reverse / forward
    );
    compare(&large);
    let reverse = least_seconds(|| {
        _ = black_box(by_cholesky_grad(black_box(x), alphas, means, icf, *gamma, *m));
    });
    println!("timing: gradient by Cholesky factors {:.2} ms", reverse * 1e3);
}

/// Compares the value and the gradients of both objectives.
fn compare(problem: &Problem) {
    let Problem { x, alphas, means, icf, gamma, m } = problem;
    let (value, gradients) = by_cholesky_grad(x, alphas, means, icf, *gamma, *m);
    let (dx, d_alphas, d_means, d_icf, d_gamma) = gradients;
    let (ks_x, ks_alphas, ks_means, ks_icf, ks_gamma, ()) =
        rev_objective(x, alphas, means, icf, *gamma, *m, 1.0);
    let expected = problem.objective();
    let pairs: [(&str, &[f64], &[f64]); 6] = [
        ("value", &[value], &[expected]),
        ("points", dx.as_slice(), ks_x.as_slice()),
        ("alphas", d_alphas.as_slice(), ks_alphas.as_slice()),
        ("means", d_means.as_slice(), ks_means.as_slice()),
        ("icf", d_icf.as_slice(), ks_icf.as_slice()),
        ("gamma", &[d_gamma], &[ks_gamma]),
    ];
    let mut farthest = 0.0_f64;
    for (name, found, expected) in pairs {
        let largest = expected.iter().fold(0.0_f64, |largest, x| largest.max(x.abs()));
        let apart =
            found.iter().zip(expected).fold(0.0_f64, |most, (a, b)| most.max((a - b).abs())) / largest;
        assert!(
            found.len() == expected.len() && apart < 1e-12,
            "{name} by Cholesky factors differs by {apart:e}"
        );
        farthest = farthest.max(apart);
    }
    println!(
        "by Cholesky factors: value and gradients agree, except for a fraction of {farthest:.0e} at most"
    );
}

/// The shortest time of ten runs.
fn least_seconds(mut run: impl FnMut()) -> f64 {
    let times = (0..10).map(|_| {
        let start = Instant::now();
        run();
        start.elapsed().as_secs_f64()
    });
    times.fold(f64::INFINITY, f64::min)
}

/// Uniform pseudorandom numbers from -1 to 1, the same on every machine.
fn noise() -> impl FnMut() -> f64 {
    let mut state = 7_u64;
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / (1_u64 << 30) as f64 - 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_languages_give_the_same_value_and_gradients() {
        compare(&Problem { gamma: 0.7, m: 2, ..Problem::random(20, 4, 3) });
        compare(&Problem { gamma: 1.3, m: 1, ..Problem::random(7, 1, 2) });
    }
}
