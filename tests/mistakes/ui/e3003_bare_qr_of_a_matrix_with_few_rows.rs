use mind::{Tensor, mind};

fn main() {
    let x: Tensor![f32; 2, 3] = Tensor::zeros();
    let _ = mind!(linalg::qr(x));
}
