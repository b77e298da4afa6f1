//! The message is at the wrong argument. It names the argument from which the extent is known.
use mind::{Tensor, mind};

mod layers {
    mind::mind! {
        pub fn dense<I, O>(x: float[.., I], w: float[I, O], b: float[O]) { x @ w + b }
        pub fn beside<..B>(x: float[..B, 2], y: float[..B]) { x[.., 0] + y }
    }
}

fn main() {
    let (x, w, b): (Tensor![f32; 4, 3], Tensor![f32; 2, 5], Tensor![f32; 5]) =
        (Tensor::zeros(), Tensor::zeros(), Tensor::zeros());
    let _ = mind!(layers::dense(x, w, b));
    let _ = mind!(layers::dense(b[0], w, b));
    let _ = mind!(layers::beside(w.T, x));
}
