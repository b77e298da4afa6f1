use mind::{Tensor, mind};

fn main() {
    let (x, y): (Tensor![f32; 2, 3], Tensor![f32; 2, 4]) = (Tensor::zeros(), Tensor::zeros());
    let _ = mind!(sum(stack([x, x, y])));
}
