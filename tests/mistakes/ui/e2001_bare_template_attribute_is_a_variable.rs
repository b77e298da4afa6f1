//! An attribute of a template is known where the macro is, as no variable is.
use mind::{Tensor, mind};

fn main() {
    let (x, axis): (Tensor![f32; 4, 3], i64) = (Tensor::zeros(), 1);
    let _ = mind!(nn::softmax(x, axis = axis));
}
