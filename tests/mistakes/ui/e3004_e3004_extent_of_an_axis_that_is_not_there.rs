//! `extent` takes an axis of its operand.
use mind::{Tensor, mind};

mind! {
    fn f(x: f32[3, 4]) -> f32 { sum(x) / extent(x, 2) }
}

fn main() {
    let x: Tensor![f32; 3] = Tensor::zeros();
    let _ = mind!(sum(x) / extent(x, -2));
}
