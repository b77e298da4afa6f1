//! An integer argument of a template has no gradient.
use mind::{Tensor, mind};

mod layers {
    mind::mind! {
        pub fn counted(x: float[..], i: int[..]) { sum(x) + sum(f32(i)) }
    }
}

fn main() {
    let (x, i): (Tensor![f32; 3], Tensor![i64; 3]) = (Tensor::zeros(), Tensor::zeros());
    let _ = mind!(grad(layers::counted(x, i), wrt = i));
}
