use mind::{Tensor, mind};

fn main() {
    let x: Tensor![f32; 8, 64] = Tensor::zeros();
    let r: Tensor![f32; 8] = Tensor::zeros();
    let mut w: Tensor![f32; 64] = Tensor::zeros();
    w = mind!(x.T @ r);
    println!("{:?}", w.as_slice());
}
