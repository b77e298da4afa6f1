//! Three regressions on handwritten digits by Newton's method, with standard errors of the coefficients: a logistic, a
//! Poisson and a robust (Huber) regression.
//!
//! ```text
//! cargo run --release --example regression
//! ```
//!
//! The results are compared with those of statsmodels for the same data.

#[path = "../support/canvas.rs"]
mod canvas;
mod data;
#[path = "../support/digits.rs"]
mod digits;
mod newton;
mod pictures;
#[path = "../support/program.rs"]
mod program;
mod report;
mod robust;

use std::path::Path;
use std::process::ExitCode;

use mind::{Tensor, Xoshiro256, mind};

use data::{Model, Problem, Vector};
use newton::{Fit, Objective, Stuck};
use program::Outcome;
use report::Estimate;

mind! {
    /// The negative log likelihood of `y`, each 0 or 1, where the log odds are `x @ w`.
    #[grad(w)]
    fn logistic<N, P>(x: f64[N, P], y: f64[N], w: f64[P]) -> f64 {
        -sum(stats::bernoulli_logits_logpmf(y, x @ w))
    }

    /// The negative log likelihood of the counts `y`, where the logs of their means are `x @ w`.
    #[grad(w)]
    fn poisson<N, P>(x: f64[N, P], y: f64[N], w: f64[P]) -> f64 {
        -sum(stats::poisson_logpmf(y, exp(x @ w)))
    }

    /// The Huber loss: quadratic in small errors of `x @ w` and linear in large ones. `delta` is `robust::THRESHOLD`.
    #[grad(w)]
    fn huber<N, P>(x: f64[N, P], y: f64[N], w: f64[P], scale: f64) -> f64 {
        f64(N) * nn::huber(x @ w / scale, y / scale, delta = 1.345)
    }

    // For each function: the derivative along a direction, and its gradient, the Hessian times that direction.

    fn logistic_slope<N, P>(x: f64[N, P], y: f64[N], w: f64[P], direction: f64[P]) -> f64 {
        dot(grad(logistic, wrt = w)(x, y, w), direction)
    }
    fn logistic_bend<N, P>(x: f64[N, P], y: f64[N], w: f64[P], direction: f64[P]) -> f64[P] {
        grad(logistic_slope, wrt = w)(x, y, w, direction)
    }

    fn poisson_slope<N, P>(x: f64[N, P], y: f64[N], w: f64[P], direction: f64[P]) -> f64 {
        dot(grad(poisson, wrt = w)(x, y, w), direction)
    }
    fn poisson_bend<N, P>(x: f64[N, P], y: f64[N], w: f64[P], direction: f64[P]) -> f64[P] {
        grad(poisson_slope, wrt = w)(x, y, w, direction)
    }

    fn huber_slope<N, P>(x: f64[N, P], y: f64[N], w: f64[P], scale: f64, direction: f64[P]) -> f64 {
        dot(grad(huber, wrt = w)(x, y, w, scale), direction)
    }
    fn huber_bend<N, P>(x: f64[N, P], y: f64[N], w: f64[P], scale: f64, direction: f64[P]) -> f64[P] {
        grad(huber_slope, wrt = w)(x, y, w, scale, direction)
    }
}

const PICTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/target/regression/coefficients.png");
const RECORDED: &str = include_str!("statsmodels.txt");
/// The largest accepted difference from a coefficient or error of statsmodels, in standard errors.
const TOLERANCE: f64 = 1e-6;
const SEED: u64 = 1;
/// The number of bootstrap samples that are fitted as well.
const SAMPLES: usize = 300;

fn main() -> ExitCode {
    program::run(run)
}

fn run() -> Outcome {
    let path = std::env::args_os().nth(1);
    let digits = digits::load(path.as_deref().map_or(Path::new(digits::SHIPPED), Path::new))?;
    let problems = data::problems(&digits);
    let bar = program::progress("fitting", "sample", problems.len() * SAMPLES)?;
    let mut random = Xoshiro256::new(SEED);
    let mut estimates = Vec::new();
    for problem in &problems {
        bar.set_message(problem.name);
        let found = fit(problem)?;
        let mut samples = Vec::with_capacity(SAMPLES);
        for _ in 0..SAMPLES {
            samples.push(fit(&problem.sample(&mut random))?.coefficients);
            bar.inc(1);
        }
        estimates.push(Estimate::new(problem, found, &samples));
    }
    bar.finish();

    estimates.iter().for_each(|estimate| println!("{estimate}"));
    let path = Path::new(PICTURE);
    pictures::coefficients(path, &estimates)?;
    println!("coefficients: {}", program::shown(path));
    // The record is of the shipped file; another file has other coefficients.
    if std::env::args_os().len() == 1 {
        let apart = report::apart(&estimates, RECORDED)?;
        println!("from those of statsmodels: {apart:.1e} standard errors at most");
        if apart > TOLERANCE {
            return Err(format!("more than {TOLERANCE:e} were not expected").into());
        }
    }
    Ok(())
}

/// The coefficients of greatest likelihood, or for `Huber` of least loss.
fn fit(problem: &Problem) -> Result<Fit, Stuck> {
    let Problem { x, y, columns, .. } = problem;
    let start = Tensor::zeros_with((columns.len(),));
    match problem.model {
        Model::Logistic => Objective {
            value: |w: &Vector| logistic_grad(x, y, w),
            bend: |w: &Vector, d: &Vector| logistic_bend(x, y, w, d),
        }
        .minimise(start),
        Model::Poisson => Objective {
            value: |w: &Vector| poisson_grad(x, y, w),
            bend: |w: &Vector, d: &Vector| poisson_bend(x, y, w, d),
        }
        .minimise(start),
        Model::Huber => robust::fit(x, y),
    }
}

#[cfg(test)]
mod tests {
    use mind::gradcheck;

    use super::*;

    fn problems() -> [Problem; 3] {
        data::problems(&digits::load(Path::new(digits::SHIPPED)).expect("the file is there"))
    }

    #[test]
    fn gradients_and_hessians_are_those_of_the_functions() {
        let [logistic_data, poisson_data, huber_data] = problems();
        fn check(
            problem: &Problem,
            value: impl Fn(&Vector) -> (f64, Vector),
            bend: impl Fn(&Vector, &Vector) -> Vector,
        ) {
            let size = problem.columns.len();
            let vector = |from: f64| Tensor::from_fn_with((size,), |[i]| 0.1 * (from + i as f64).sin());
            let (mut w, direction) = (vector(1.0), vector(2.0));
            gradcheck(&mut w.clone(), &value(&w).1, |w| value(w).0).expect("the gradient is right");
            // The Hessian times a direction is the gradient of the slope along that direction.
            let slope = |w: &Vector| {
                let (_, gradient) = value(w);
                (0..size).map(|i| gradient[[i]] * direction[[i]]).sum::<f64>()
            };
            let along = bend(&w, &direction);
            gradcheck(&mut w, &along, slope).expect("the Hessian is right");
        }
        let Problem { x, y, .. } = &logistic_data;
        check(&logistic_data, |w| logistic_grad(x, y, w), |w, d| logistic_bend(x, y, w, d));
        let Problem { x, y, .. } = &poisson_data;
        check(&poisson_data, |w| poisson_grad(x, y, w), |w, d| poisson_bend(x, y, w, d));
        let Problem { x, y, .. } = &huber_data;
        check(&huber_data, |w| huber_grad(x, y, w, 0.1), |w, d| huber_bend(x, y, w, 0.1, d));
    }

    #[test]
    fn coefficients_and_standard_errors_are_those_of_statsmodels() {
        let estimates = problems()
            .map(|problem| Estimate::new(&problem, fit(&problem).expect("there is a minimum"), &[]));
        let apart = report::apart(&estimates, RECORDED).expect("the record is of these problems");
        assert!(apart <= TOLERANCE, "{apart}");
    }

    #[test]
    fn pictures_that_do_not_tell_are_an_error() {
        let [mut problem, ..] = problems();
        let [count, columns] = problem.x.dims();
        problem.x = Tensor::from_fn_with((count, columns), |[i, j]| problem.x[[i, j.min(3)]]);
        assert_eq!(fit(&problem).map(|fit| fit.steps), Err(Stuck::Flat));
    }
}
