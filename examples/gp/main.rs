//! Gaussian process regression: the width of handwritten ones as a function of their lean.
//!
//! ```text
//! cargo run --release --example gp
//! ```
//!
//! Each picture of a one has a lean, the shear of its ink, and a width, the standard deviation of its ink along the
//! rows. The covariance of widths is that of a squared exponential kernel with noise. Its amplitude, length and noise
//! maximise the marginal likelihood of the data, by Newton's method with the gradient and the Hessian that the compiler
//! derives through `linalg::cholesky` and `linalg::solve_triangular`.
//!
//! The program prints the steps, the kernel and its likelihood, and draws the posterior mean with a band of two standard
//! deviations. It fails if its numbers differ from those of SciPy for the same data, which `ci/gp` records. See
//! Rasmussen and Williams, *Gaussian Processes for Machine Learning*, 2006, chapters 2 and 5.

mod data;
#[allow(dead_code, reason = "this example uses a part of it")]
#[path = "../support/digits.rs"]
mod digits;
mod pictures;
#[path = "../support/program.rs"]
mod program;
#[path = "../support/svg.rs"]
mod svg;

use std::path::Path;
use std::process::ExitCode;

use mind::{Tensor, mind};

use data::Data;
use program::Outcome;

mind! {
    /// The covariances of the values at the points `x` and at the points `z`. `kernel` has the logarithms of the
    /// amplitude, the length and the noise; the covariances are without noise.
    fn covariance<N, M>(x: f64[N], z: f64[M], kernel: f64[3]) -> f64[N, M] {
        let distance = (x[.., _] - z) * exp(-kernel[1]);
        exp(2.0 * kernel[0] - 0.5 * distance * distance)
    }

    /// The Cholesky factor of the covariance of the values `y` with noise, and `y` divided by it.
    fn whitened<N>(x: f64[N], y: f64[N], kernel: f64[3]) -> (f64[N, N], f64[N]) {
        let clean = covariance(x, x, kernel);
        let factor = linalg::cholesky(clean + exp(2.0 * kernel[2]) * num::eye_like(clean));
        (factor, linalg::solve_triangular(factor, y, lower = true))
    }

    /// The negative logarithm of the marginal likelihood.
    #[grad(kernel)]
    fn loss<N>(x: f64[N], y: f64[N], kernel: f64[3]) -> f64 {
        let (factor, z) = whitened(x, y, kernel);
        0.5 * sum(z * z) + sum(log(num::diagonal(factor))) + 0.9189385332046727 * f64(N)
    }

    fn bend<N>(x: f64[N], y: f64[N], kernel: f64[3]) -> f64[3, 3] { hessian(loss, wrt = kernel)(x, y, kernel) }

    /// The solution of `hessian @ step = gradient`, and the least eigenvalue of the Hessian.
    fn newton(hessian: f64[3, 3], gradient: f64[3]) -> (f64[3], f64) {
        let w = linalg::eigvalsh(hessian);
        (linalg::solve(hessian, gradient), w[0])
    }

    /// The mean and the standard deviation of the values without noise at the points `z`.
    fn posterior<N, M>(x: f64[N], y: f64[N], z: f64[M], kernel: f64[3]) -> (f64[M], f64[M]) {
        let (factor, white) = whitened(x, y, kernel);
        let v = linalg::solve_triangular(factor, covariance(x, z, kernel), lower = true);
        let variance = exp(2.0 * kernel[0]) - sum(v * v, axis = 0);
        (v.T @ white, sqrt(maximum(variance, 0.0)))
    }
}

const PICTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/target/gp/band.svg");
const RECORDED: &str = include_str!("scipy.txt");
/// The largest accepted difference from a recorded number.
const TOLERANCE: f64 = 1e-7;
/// The logarithms of amplitude, length and noise before the first step, in standard deviations of the widths.
const START: [f64; 3] = [0.0, -1.0, -0.5];
/// The largest number of steps, and the largest slope that counts as 0.
const STEPS: usize = 50;
const FLAT: f64 = 1e-9;

type Kernel = Tensor![f64; 3];

fn main() -> ExitCode {
    program::run(run)
}

fn run() -> Outcome {
    let data = Data::new(&digits::load(Path::new(digits::SHIPPED))?);
    println!("{} handwritten ones", data.x.as_slice().len());
    let kernel = fit(&data, |step, loss, slope| {
        println!("step {step:>2}: log likelihood {:.6}, steepest slope {slope:.0e}", -loss);
    })?;
    let found = data.results(&kernel);
    let [amplitude, length, noise] = [0, 1, 2].map(|at| kernel[[at]].exp());
    println!("\namplitude {:.4}, noise {:.4} pixels of width", amplitude * data.scale, noise * data.scale);
    println!("length {length:.4} of lean\n");

    let path = Path::new(PICTURE);
    pictures::band(&data, &kernel).save(path)?;
    println!("posterior mean and band: {}", program::shown(path));
    let apart = data::apart(&found, RECORDED)?;
    println!("from the numbers of SciPy: {apart:.0e} at most");
    if apart > TOLERANCE {
        return Err(format!("needed {TOLERANCE:e} or less").into());
    }
    Ok(())
}

/// The kernel of greatest likelihood, by Newton's method. `show` is called with the number of each step, the loss and
/// the steepest slope before it.
fn fit(data: &Data, mut show: impl FnMut(usize, f64, f64)) -> Outcome<Kernel> {
    let Data { x, y, .. } = data;
    let mut kernel = Kernel::from(START);
    for at in 0..STEPS {
        let (value, gradient) = loss_grad(x, y, &kernel);
        let steepest = gradient.as_slice().iter().fold(0.0_f64, |steepest, slope| steepest.max(slope.abs()));
        show(at, value, steepest);
        if steepest < FLAT * value.abs() {
            return Ok(kernel);
        }
        let (step, least) = newton(&bend(x, y, &kernel), &gradient);
        // Where the loss does not curve upwards along all directions, the gradient leads downwards.
        let step = if least > 0.0 { step } else { mind!(gradient / steepest) };
        let mut share = 1.0;
        kernel = loop {
            let next: Kernel = mind!(kernel - share * step);
            if loss(x, y, &next) <= value || share < 1e-8 {
                break next;
            }
            share *= 0.5;
        };
    }
    Err(format!("no maximum was found in {STEPS} steps").into())
}

#[cfg(test)]
mod tests {
    use mind::gradcheck;

    use super::*;

    fn data(count: usize) -> Data {
        let mut data = Data::new(&digits::load(Path::new(digits::SHIPPED)).expect("the file is there"));
        let first = |v: &data::Vector| Tensor::from_fn_with((count,), |[i]| v[[i]]);
        (data.x, data.y) = (first(&data.x), first(&data.y));
        data
    }

    #[test]
    fn gradient_and_hessian_are_those_of_the_likelihood() {
        let Data { x, y, .. } = data(30);
        let mut kernel = Kernel::from(START);
        let gradient = loss_grad(&x, &y, &kernel).1;
        gradcheck(&mut kernel.clone(), &gradient, |kernel| loss(&x, &y, kernel))
            .expect("the gradient is right");
        let hessian = bend(&x, &y, &kernel);
        for row in 0..3 {
            let slopes = Kernel::from([0, 1, 2].map(|column| hessian[[row, column]]));
            gradcheck(&mut kernel, &slopes, |kernel| loss_grad(&x, &y, kernel).1[[row]])
                .expect("the Hessian is right");
        }
    }

    /// The product of the conditional densities of each value given those before it is the joint density.
    #[test]
    fn the_likelihood_is_that_of_each_value_given_those_before_it() {
        let (all, kernel) = (data(12), Kernel::from(START));
        let mut total = loss(&data(1).x, &data(1).y, &kernel);
        for count in 1..12 {
            let (before, at) = (data(count), Tensor::from_fn_with((1,), |_| all.x[[count]]));
            let (mean, deviation) = posterior(&before.x, &before.y, &at, &kernel);
            let variance = deviation[[0]].powi(2) + (2.0 * START[2]).exp();
            let miss = all.y[[count]] - mean[[0]];
            total += 0.5 * (miss * miss / variance + (std::f64::consts::TAU * variance).ln());
        }
        let joint = loss(&all.x, &all.y, &kernel);
        assert!((total - joint).abs() < 1e-10, "{total}, not {joint}");
    }

    #[test]
    fn the_numbers_are_those_of_scipy() {
        let data = Data::new(&digits::load(Path::new(digits::SHIPPED)).expect("the file is there"));
        let recorded = data::recorded_kernel(RECORDED).expect("the record has a kernel");
        let apart = data::apart(&data.results(&recorded), RECORDED).expect("the record is whole");
        assert!(apart <= TOLERANCE, "{apart}");
    }
}
