use mind::{Tensor, mind};
use ndarray::Array1;

mind! {
    pub fn add<N>(x: f32[N], y: f32[N]) -> f32[N] {
        x + y
    }
}

fn main() {
    let y: Tensor![f32; 3] = Tensor::zeros();
    add(&Array1::zeros(3), &y);
}
