use mind::{Tensor, mind};

fn main() {
    let x: Tensor![f32; ?] = Tensor::zeros_with((3,));
    let w: Tensor![f32; ?, ?] = Tensor::zeros_with((3, 3));
    let _ = mind!(matmul(x, w));
}
