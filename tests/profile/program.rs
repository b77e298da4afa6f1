//! A program whose steps are timed if the environment of its build says so.

use mind::{Const, Tensor, mind};

mind! {
    pub fn layer<N>(x: f32[N, 300], w: f32[300, 70], b: f32[70]) -> (f32[N, 70], f32) {
        let h = relu(x @ w + b);
        (h, mean(exp(h) * 0.5))
    }
}

/// The bits of the results for 40 rows.
pub fn results() -> Vec<u32> {
    let x = Tensor::from_fn_with((40, Const), |[i, j]| ((i * 7 + j * 3) % 11) as f32 * 0.01);
    let w = Tensor::from_fn(|[i, j]| ((i * 5 + j) % 13) as f32 * 0.02 - 0.1);
    let (h, mean) = layer(&x, &w, &Tensor::full(0.1));
    h.iter().copied().chain([mean]).map(f32::to_bits).collect()
}
