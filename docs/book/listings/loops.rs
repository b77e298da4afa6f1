use mind::{Tensor, mind};

mind! {
    /// One step of a damped oscillator, in place.
    fn swing(x: &mut f64[2], v: &mut f64[2], dt: f64) {
        let a = -x - 0.1 * v;
        v += dt * a;
        x += dt * (v + dt * a);
    }

    /// What is in an account after each of `N` days.
    fn balance<N>(paid: f64[N]) -> f64[N] { cumsum(paid, axis = 0) }

    fn turn(h: f64[2], x: f64[2], w: f64[2, 2]) -> f64[2] { tanh(h @ w + x) }

    /// Three turns of a cell, with a gradient through all of them.
    #[grad(w)]
    fn last(xs: f64[3, 2], w: f64[2, 2]) -> f64 {
        let h = turn([0.0, 0.0], xs[0], w);
        let h = turn(h, xs[1], w);
        sum(turn(h, xs[2], w))
    }
}

fn main() {
    let (mut x, mut v) = (Tensor::from([1.0, 0.0]), Tensor::from([0.0, 1.0]));
    for _ in 0..100 {
        swing(&mut x, &mut v, 0.01);
    }
    println!("{x:.3} {v:.3}");
    println!("{}", balance(&Tensor::from([10.0, -3.0, 5.0])));

    let xs = Tensor::from([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]]);
    let (value, dw) = last_grad(&xs, &Tensor::from([[0.5, -0.5], [0.25, 1.0]]));
    println!("{value:.4}\n{dw:.4}");
}
