//! An axis of a template must be a number that is known to the macro. An extent is not.
use mind::{Tensor, mind};

fn main() {
    let x: Tensor![f32; 4, 3] = Tensor::zeros();
    let _ = mind!(nn::softmax(x, axis = extent(x, 0)));
}
