//! Leading dimensions cannot be axes, bounds or tensors in expressions over Rust variables either.
use mind::{Tensor, mind};

mod layers {
    mind::mind! {
        pub fn summed<..B>(x: float[..B]) { sum(x, axis = [..B]) }
        pub fn first<..B>(x: float[..B], y: float[..]) { slice(y, [0], [..B]) }
        pub fn shape<..B>(x: float[..B]) { [..B, 2] + 1 }
    }
}

fn main() {
    let x: Tensor![f32; 2] = Tensor::zeros();
    let _ = mind!(layers::summed(x));
    let _ = mind!(layers::first(x, x));
    let _ = mind!(layers::shape(x));
}
