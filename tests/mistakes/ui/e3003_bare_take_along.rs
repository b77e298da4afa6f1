use mind::{Tensor, mind};

fn main() {
    let (x, i): (Tensor![f32; 2, 3], Tensor![i64; 3, 1]) = (Tensor::zeros(), Tensor::zeros());
    let _ = mind!(take_along(x, i, axis = 1));
}
