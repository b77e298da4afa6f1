use mind::{Tensor, mind};

fn main() {
    let x: Tensor![f32; 3] = Tensor::zeros();
    let w: Tensor![f32; 3] = Tensor::zeros();
    let _ = mind!(grad(sum(x * x), wrt = (x, w)));
}
