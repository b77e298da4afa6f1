use mind::{Tensor, mind};

mind! {
    #[grad(w, b)]
    fn loss<N>(x: f64[N, 2], y: f64[N], w: f64[2], b: f64) -> f64 {
        let miss = x @ w + b - y;
        mean(miss * miss)
    }

    /// The length of the gradient with respect to `w`: a function that takes a gradient.
    fn steepness<N>(x: f64[N, 2], y: f64[N], w: f64[2], b: f64) -> f64 {
        let g = grad(loss, wrt = w)(x, y, w, b);
        sqrt(sum(g * g))
    }
}

fn main() {
    let x = Tensor::from([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]]);
    let y = Tensor::from([1.0, 2.0, 3.0]);
    let w = Tensor::from([0.5, -0.5]);

    let (value, (dw, db)) = loss_grad(&x, &y, &w, 0.0);
    println!("loss {value:.4}, by w {dw:.4}, by b {db:.4}");
    println!("steepness {:.4}", steepness(&x, &y, &w, 0.0));

    // In an expression over Rust variables.
    let dx = mind!(grad(sum(exp(x @ w)), wrt = x));
    println!("{dx:.3}");
}
