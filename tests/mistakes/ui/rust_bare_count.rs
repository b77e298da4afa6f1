use mind::{Tensor, mind};

fn main() {
    let x: Tensor![f32; 2, 3] = Tensor::zeros();
    let n = x.len();
    let _ = mind!(sum(x) / n);
}
