//! Tensors that are no indices of another one.

use mind::{Tensor, mind};

fn main() {
    let (x, m): (Tensor![f32; 2, 3], Tensor![bool; 2]) = (Tensor::zeros(), Tensor::from([true, false]));
    let (i, j) = (Tensor::from([0, 1]), Tensor::from([0_i64, 1, 0]));
    let _ = mind!(x[m]);
    let _ = mind!(x[.., i, j, 0..]);
    let _ = mind!(x[i, j]);
}
