//! The marginal likelihood of a Gaussian process for 300 points, its gradient by the kernel, and a step along it, in
//! `f64`.

use std::io;

use mind::{Tensor, mind};
use models::inputs::numbers;
use models::serve::{Model, serve};

mind! {
    const RATE: float = 1e-4;

    /// The negative logarithm of the marginal likelihood. `kernel` has the logarithms of the amplitude, the length and
    /// the noise of a squared exponential kernel.
    fn loss<N>(x: f64[N], y: f64[N], kernel: f64[3]) -> f64 {
        let distance = (x[.., _] - x) * exp(-kernel[1]);
        let clean = exp(2.0 * kernel[0] - 0.5 * distance * distance);
        let factor = linalg::cholesky(clean + exp(2.0 * kernel[2]) * num::eye_like(clean));
        let z = linalg::solve_triangular(factor, y[.., _], lower = true);
        0.5 * sum(z * z) + sum(log(num::diagonal(factor)))
    }

    /// One step of gradient descent, in place; returns the loss before it.
    fn step<N>(x: f64[N], y: f64[N], kernel: &mut f64[3]) -> f64 {
        let (l, gradient) = value_and_grad(loss, wrt = kernel)(x, y, kernel);
        kernel -= RATE * gradient;
        l
    }
}

/// The number of points.
const COUNT: usize = 300;

struct Training {
    x: Tensor![f64; ?],
    y: Tensor![f64; ?],
    kernel: Tensor![f64; 3],
}

impl Training {
    fn new() -> Self {
        let (places, noise) = (numbers(2000, COUNT, 1.0), numbers(2001, COUNT, 1.0));
        let x = |at: usize| f64::from(places[at]);
        Self {
            x: Tensor::from_fn_with((COUNT,), |[at]| x(at)),
            y: Tensor::from_fn_with((COUNT,), |[at]| (5.0 * x(at)).sin() + 0.2 * f64::from(noise[at])),
            kernel: Tensor::from([0.0, -1.0, -1.0]),
        }
    }
}

impl Model for Training {
    const STEPS: u32 = 1;

    fn call(&mut self) -> f32 {
        step(&self.x, &self.y, &mut self.kernel) as f32
    }

    fn values(&self) -> Vec<f32> {
        self.kernel.as_slice().iter().map(|part| *part as f32).collect()
    }
}

fn main() -> io::Result<()> {
    serve(Training::new())
}
