use mind::{Tensor, mind};

fn main() {
    let x: Tensor![f32; 3] = Tensor::zeros();
    let name = "a tensor";
    let _ = mind!(x + name);
}
