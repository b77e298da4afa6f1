use mind::{Tensor, mind};

fn main() {
    let x: Tensor![f32; 2, 3] = Tensor::zeros();
    let _: Tensor![f32; 2, 3] = mind!(x @ x.T : f32[2, 3]);
}
