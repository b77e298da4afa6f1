use mind::{Tensor, mind};

fn main() {
    let x: Tensor![f32; 2] = Tensor::zeros();
    let _ = mind!(rleu(x) + x * [1.0, [2.0]]);
}
