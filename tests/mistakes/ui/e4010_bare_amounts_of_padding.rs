use mind::{Tensor, mind};

fn main() {
    let x: Tensor![f32; 2, 3] = Tensor::zeros();
    let _ = mind!(sum(pad(x, [0, -1], [0, 0])));
}
