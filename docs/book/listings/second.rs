use mind::{Tensor, mind};

mind! {
    /// Rosenbrock's function; its only minimum is 0, at (1, 1).
    fn valley(p: f64[2]) -> f64 {
        let a = 1.0 - p[0];
        let b = p[1] - p[0] * p[0];
        a * a + 100.0 * b * b
    }

    fn slope(p: f64[2], direction: f64[2]) -> f64 {
        dot(grad(valley, wrt = p)(p), direction)
    }

    /// The Hessian at `p` times `direction`: the gradient of the slope.
    fn bend(p: f64[2], direction: f64[2]) -> f64[2] {
        grad(slope, wrt = p)(p, direction)
    }
}

fn main() {
    let p = Tensor::from([-1.2, 1.0]);
    println!("{}", bend(&p, &Tensor::from([1.0, 0.0])));
    println!("{}", bend(&p, &Tensor::from([0.0, 1.0])));
}
