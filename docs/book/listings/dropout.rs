use mind::{Tensor, mind};

mind! {
    #[grad(w)]
    fn loss<N>(x: f32[N, 4], w: f32[4, 3], key: i64, rate: f32) -> f32 {
        let h = nn::dropout(relu(x @ w), key, rate);
        mean(h * h)
    }
}

fn main() {
    let x = Tensor::from([[1.0, 2.0, 3.0, 4.0], [4.0, 3.0, 2.0, 1.0]]);
    for key in [1, 2] {
        let (value, dw) = loss_grad(&x, &Tensor::full(0.25), key, 0.5);
        println!("{value:.3}\n{dw:.2}");
    }
}
