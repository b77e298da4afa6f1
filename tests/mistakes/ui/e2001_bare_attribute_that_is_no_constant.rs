//! An attribute must be known at compile time.
use mind::{Tensor, mind};

fn main() {
    let (x, n): (Tensor![f32; 4, 3], i64) = (Tensor::zeros(), 1);
    let _ = mind!(nn::softmax(x, axis = n));
}
