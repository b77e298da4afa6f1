//! A misspelt function of the library. An expression can call neither functions nor templates that call functions.
use mind::{Tensor, mind};

mod layers {
    mind::mind! {
        pub fn twice<N>(x: f32[N]) -> f32[N] { 2.0 * x }
        pub fn more(x: float[..]) { twice(x) + 1.0 }
    }
}

mind! {
    fn f(x: f32[3]) -> f32[3] { nn::sofmax(x) }
}

fn main() {
    let x: Tensor![f32; 3] = Tensor::zeros();
    let _ = mind!(layers::twice(x));
    let _ = mind!(layers::more(x));
}
