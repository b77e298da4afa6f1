use mind::{Tensor, mind};

mind! {
    /// One step of a damped oscillator, in place.
    fn swing(x: &mut f64[2], v: &mut f64[2], dt: f64) {
        let a = -x - 0.1 * v;
        v += dt * a;
        x += dt * (v + dt * a);
    }

    /// The balance of an account after each of `N` days.
    fn balance<N>(paid: f64[N]) -> f64[N] { cumsum(paid, axis = 0) }

    fn turn(h: f64[2], x: f64[2], w: f64[2, 2]) -> f64[2] { tanh(h @ w + x) }

    /// The states of a cell over `T` steps, and a gradient through all of them.
    #[grad(w)]
    fn last<T>(xs: f64[T, 2], w: f64[2, 2]) -> f64 {
        let h = fold h = [0.0, 0.0] for x in xs { turn(h, x, w) };
        sum(h)
    }

    fn states<T>(xs: f64[T, 2], w: f64[2, 2]) -> f64[T, 2] {
        let (_, hs) = scan h = [0.0, 0.0] for x in xs {
            let h = turn(h, x, w);
            (h, h)
        };
        hs
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
    let w = Tensor::from([[0.5, -0.5], [0.25, 1.0]]);
    let (value, dw) = last_grad(&xs, &w);
    println!("{value:.4}\n{dw:.4}\n{:.4}", states(&xs, &w));
}
