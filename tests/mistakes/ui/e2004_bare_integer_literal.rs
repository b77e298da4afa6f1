use mind::{Tensor, mind};

fn main() {
    let x: Tensor![f32; 3] = Tensor::zeros();
    let _ = mind!(2 * x);
}
