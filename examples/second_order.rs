//! Newton's method on Rosenbrock's curved valley. The Hessian is a gradient of a gradient, and a whole Newton step is
//! one function. Gradient descent takes thousands of steps here, Newton's method a handful.
//!
//! ```text
//! cargo run --release --example second_order
//! ```

use mind::{Tensor, mind};

mind! {
    /// Rosenbrock's function; its only minimum is 0, at (1, 1).
    fn rosenbrock(p: f64[2]) -> f64 {
        let a = 1.0 - p[0];
        let b = p[1] - p[0] * p[0];
        a * a + 100.0 * b * b
    }

    /// The derivative of `rosenbrock` at `p` along `direction`.
    fn slope(p: f64[2], direction: f64[2]) -> f64 {
        dot(grad(rosenbrock, wrt = p)(p), direction)
    }

    /// The Hessian at `p` times `direction`: the gradient of the slope.
    fn bend(p: f64[2], direction: f64[2]) -> f64[2] {
        grad(slope, wrt = p)(p, direction)
    }

    /// One Newton step, in place: solves `hessian @ s == gradient` by Cramer's rule and subtracts `s` from `p`. Returns
    /// the value before the step.
    fn newton(p: &mut f64[2]) -> f64 {
        let (value, g) = value_and_grad(rosenbrock, wrt = p)(p);
        let (e0, e1) = ([1.0, 0.0], [0.0, 1.0]);
        let (h0, h1) = (bend(p, e0), bend(p, e1));
        let determinant = h0[0] * h1[1] - h1[0] * h0[1];
        let s0 = (g[0] * h1[1] - h1[0] * g[1]) / determinant;
        let s1 = (h0[0] * g[1] - g[0] * h0[1]) / determinant;
        p -= s0 * e0 + s1 * e1;
        value
    }
}

fn main() {
    let mut p = Tensor::from([-1.2, 1.0]);
    let [column0, column1] = [[1.0, 0.0], [0.0, 1.0]].map(|axis| bend(&p, &Tensor::from(axis)));
    println!("Hessian at {p}: columns {column0} and {column1}\n");
    for step in 0..8 {
        let at = p.clone();
        let value = newton(&mut p);
        println!("step {step}: rosenbrock({at:.6}) = {value:.3e}");
    }
    println!("end:    {p:.6}");
    assert!(rosenbrock(&p) < 1e-20);
}
