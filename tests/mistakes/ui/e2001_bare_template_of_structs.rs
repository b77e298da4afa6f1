//! A template takes a struct and gets a tensor.
use mind::{Tensor, mind};

mod layers {
    mind::mind! {
        pub fn decayed<P: params>(p: P) { p * 0.5 }
    }
}

fn main() {
    let x: Tensor![f32; 4, 3] = Tensor::zeros();
    let _ = mind!(layers::decayed(x));
}
