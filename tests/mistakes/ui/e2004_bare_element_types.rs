use mind::{Tensor, mind};

fn main() {
    let x: Tensor![f32; 3] = Tensor::zeros();
    let factor = 2.0_f64;
    let _ = mind!(factor * x);
}
