use mind::{Tensor, mind};

mind! {
    /// The height of a projectile after `t`, with drag, in steps of Euler's method.
    fn height(v: f64, drag: f64) -> f64 {
        let (h, _) = fold (h, v) = (0.0, v) for _i in 0..50 {
            (h + 0.02 * v, v - 0.02 * (9.81 + drag * v * abs(v)))
        };
        h
    }

    /// The heights for several speeds.
    fn heights<N>(vs: f64[N], drag: f64) -> f64[N] { vmap(height, over = v)(vs, drag) }

    /// How much each height changes with the drag.
    fn sensitivities<N>(vs: f64[N], drag: f64) -> (f64[N], f64[N]) {
        jvp(heights, wrt = drag)(vs, drag, 1.0)
    }

    /// Rosenbrock's function.
    fn valley(p: f64[2]) -> f64 {
        let a = 1.0 - p[0];
        let b = p[1] - p[0] * p[0];
        a * a + 100.0 * b * b
    }

    fn curvature(p: f64[2]) -> f64[2, 2] { hessian(valley, wrt = p)(p) }

    /// The loss of one example, and its gradient for each example of a batch.
    fn loss(w: f64[2], x: f64[2], y: f64) -> f64 { let miss = dot(w, x) - y; miss * miss }

    fn gradients<N>(w: f64[2], xs: f64[N, 2], ys: f64[N]) -> f64[N, 2] {
        vmap(grad(loss, wrt = w), over = (x, y))(w, xs, ys)
    }
}

fn main() {
    let (heights, slopes) = sensitivities(&Tensor::from([10.0, 20.0, 30.0]), 0.01);
    println!("heights {heights:.2}, by the drag {slopes:.2}");
    println!("{}", curvature(&Tensor::from([-1.2, 1.0])));
    let xs = Tensor::from([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]]);
    println!("{}", gradients(&Tensor::from([0.5, -0.5]), &xs, &Tensor::from([1.0, 2.0, 3.0])));
}
