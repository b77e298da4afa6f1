use mind::{Tensor, mind};

fn main() {
    let x: Tensor![f32; 3] = Tensor::zeros();
    let bias: Option<Tensor![f32; 3]> = None;
    let _ = mind!(x + bias);
}
