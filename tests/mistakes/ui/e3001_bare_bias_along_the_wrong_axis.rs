use mind::{Tensor, mind};

fn main() {
    let (x, b): (Tensor![f32; 2, 3], Tensor![f32; 2]) = (Tensor::zeros(), Tensor::zeros());
    let _ = mind!(x + b);
}
