use mind::{Tensor, mind};

fn main() {
    let (x, key) = (Tensor::from([1.0_f32, 2.0]), 42_i64);
    let _ = mind!(nn::dropout(x, key, 1.5));
}
