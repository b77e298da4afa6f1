use mind::{Tensor, mind};

fn main() {
    let x: Tensor![f32; 1, 1, 1, 1, 1, 1, 1, 3] = Tensor::zeros();
    let _ = mind!(x[.., _] * 2.0);
}
