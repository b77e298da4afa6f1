use mind::{Tensor, mind};

fn main() {
    let x: Tensor![f32; 32, 784] = Tensor::zeros();
    let (w, b): (Tensor![f32; 785, 256], Tensor![f32; 256]) = (Tensor::zeros(), Tensor::zeros());
    let _ = mind!(relu(x @ w + b));
}
