//! A mistake inside a template is reported at the call. The message names the template's own operation.
use mind::{Tensor, mind};

fn main() {
    let x: Tensor![f32; 4, 3] = Tensor::zeros();
    let _ = mind!(1.0 + nn::softmax(x, axis = 2));
}
