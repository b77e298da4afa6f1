use mind::{Rng, Tensor, Xoshiro256, mind};

mind! {
    /// Sets elements to 0 where `kept` is false, and scales up the others.
    fn dropout(x: float[..], kept: bool[..], rate: float) {
        where(kept, x / (1.0 - rate), 0.0)
    }

    #[grad(w)]
    fn loss<N>(x: f32[N, 4], w: f32[4, 3], kept: bool[N, 3], rate: f32) -> f32 {
        let h = dropout(relu(x @ w), kept, rate);
        mean(h * h)
    }
}

/// A mask. Each element is false with a probability of `rate`.
fn kept(rate: f32, rng: &mut impl Rng) -> Tensor![bool; 2, 3] {
    // The upper 24 bits give a number from 0 to 1, excluding 1.
    Tensor::from_fn(|_| (rng.next_u64() >> 40) as f32 / (1 << 24) as f32 >= rate)
}

fn main() {
    let mut rng = Xoshiro256::new(1);
    let x = Tensor::from([[1.0, 2.0, 3.0, 4.0], [4.0, 3.0, 2.0, 1.0]]);
    let kept = kept(0.5, &mut rng);
    let (value, dw) = loss_grad(&x, &Tensor::full(0.25), &kept, 0.5);
    println!("{kept}\n{value:.3}\n{dw:.2}");
}
