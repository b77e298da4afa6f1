//! Axes of `...` that do not fit.

use mind::{Tensor, mind};

fn main() {
    let (x, w, b): (Tensor![f32; 2, 3, 4], Tensor![f32; 3, 4, 5], Tensor![f32; 4]) =
        (Tensor::zeros(), Tensor::zeros(), Tensor::zeros());
    let _ = mind!(einsum("...ij,...jk->...ik", x, w));
    let _ = mind!(einsum("...i,i...j->...", x, b));
}
