use mind::{Tensor, mind};

fn main() {
    let mut x: Tensor![f32; 3] = Tensor::zeros();
    let g: Tensor![f32; 3] = Tensor::zeros();
    mind!(x -= 0.02 * g);
}
