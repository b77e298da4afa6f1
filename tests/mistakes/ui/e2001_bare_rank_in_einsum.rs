use mind::{Tensor, mind};

fn main() {
    let (x, w): (Tensor![f32; 2, 3], Tensor![f32; 3, 5]) = (Tensor::zeros(), Tensor::zeros());
    let _ = mind!(einsum("ijk,jk->ik", x, w));
}
