//! Only templates have leading dimensions. Functions and expressions write all dimensions out.
use mind::{Tensor, mind};

mind! {
    fn merged<N, H, D>(x: f32[N, H, D]) -> f32[N, H * D] { reshape(x, [..N, H * D]) }
}

fn main() {
    let x: Tensor![f32; 4, 3] = Tensor::zeros();
    let _ = mind!(reshape(x, [..B, 1]));
}
