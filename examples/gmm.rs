//! The Gaussian mixture objective of ADBench, written in Knossos, and its gradient. The gradient is checked against
//! central differences and then timed.
//!
//! ```text
//! cargo run --release --features knossos --example gmm
//! ```

#[path = "support/differences.rs"]
mod differences;

use std::{hint::black_box, time::Instant};

use mind::Tensor;

mind::include_ks!("gmm.ks", export = [objective], grad = [objective]);

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
