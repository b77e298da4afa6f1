use mind::{Tensor, mind};

fn main() {
    let x: Tensor![i64; 3] = Tensor::zeros();
    let _ = mind!(x + iota(3, axis = 1));
}
