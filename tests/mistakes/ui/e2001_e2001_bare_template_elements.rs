//! A template does not accept the element types of the arguments.
use mind::{Tensor, mind};

mod layers {
    mind::mind! {
        pub fn mixed<T: float>(x: T[..], y: T[..]) { x + y }
    }
}

fn main() {
    let (x, y, i): (Tensor![f32; 3], Tensor![f64; 3], Tensor![i64; 3]) =
        (Tensor::zeros(), Tensor::zeros(), Tensor::zeros());
    let _ = mind!(layers::mixed(x, y));
    let _ = mind!(layers::mixed(x, i));
}
