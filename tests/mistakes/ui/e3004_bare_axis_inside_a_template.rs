//! A mistake inside of a template is told at the call, in the template's words.
use mind::{Tensor, mind};

fn main() {
    let x: Tensor![f32; 4, 3] = Tensor::zeros();
    let _ = mind!(1.0 + nn::softmax(x, axis = 2));
}
