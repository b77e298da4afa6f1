use mind::{Tensor, mind};

fn main() {
    let x: Tensor![f32; 3] = Tensor::zeros();
    let _ = mind!(one_hot(x + 1.0, 3));
}
