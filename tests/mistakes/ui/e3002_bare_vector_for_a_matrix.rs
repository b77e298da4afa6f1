use mind::{Tensor, mind};

fn main() {
    let x: Tensor![f32; 2, 3] = Tensor::zeros();
    let v: Vec<f32> = vec![1.0; 3];
    let _ = mind!(matmul(x, v));
}
