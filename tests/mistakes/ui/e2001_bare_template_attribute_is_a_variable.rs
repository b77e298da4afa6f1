//! An attribute of a template must be known to the macro. The value of a variable is not.
use mind::{Tensor, mind};

fn main() {
    let (x, axis): (Tensor![f32; 4, 3], i64) = (Tensor::zeros(), 1);
    let _ = mind!(nn::softmax(x, axis = axis));
}
