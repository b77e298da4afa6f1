use mind::{Tensor, mind};

fn main() {
    let mut w: Tensor![f32; 64] = Tensor::zeros();
    let g: Tensor![f32; 32] = Tensor::zeros();
    w = mind!(w - 0.02 * g);
    println!("{:?}", w.as_slice());
}
