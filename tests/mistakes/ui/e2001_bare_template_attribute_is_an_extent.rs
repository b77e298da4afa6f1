//! An axis of a template is a number that is known where the macro is, as no extent is.
use mind::{Tensor, mind};

fn main() {
    let x: Tensor![f32; 4, 3] = Tensor::zeros();
    let _ = mind!(nn::softmax(x, axis = extent(x, 0)));
}
