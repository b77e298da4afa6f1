//! An argument of a template of the library is missing.
use mind::{Tensor, mind};

fn main() {
    let x: Tensor![f32; 4, 3] = Tensor::zeros();
    let _ = mind!(nn::dense(x));
}
