use mind::{Tensor, mind};

fn main() {
    let x: Tensor![f32; 2, 3] = Tensor::zeros();
    let w: Tensor![f32; 4, 3] = Tensor::zeros();
    let y = mind!(relu((x: f32[2, 3]) @ (w: f32[4, 3])));
    println!("{:?}", y.as_slice());
}
