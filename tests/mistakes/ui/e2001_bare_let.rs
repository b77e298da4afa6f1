use mind::{Tensor, mind};

fn main() {
    let x: Tensor![f32; 2, 3] = Tensor::zeros();
    let _ = mind!({ let h: f32[2, 2] = x * 2.0; relu(h) });
}
