use mind::{Tensor, mind};

fn main() {
    let weights: Tensor![f32; 3] = Tensor::zeros();
    let _ = mind!(weight * 2.0);
}
