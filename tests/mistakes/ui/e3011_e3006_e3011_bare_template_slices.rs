//! Slices up to dimensions of a template are outside their operands, or empty.
use mind::{Tensor, mind};

mod layers {
    mind::mind! {
        pub fn first<N, K>(x: float[.., N], like: float[K]) { x[.., ..K] + like }
        pub fn rest<N, K>(x: float[.., N], like: float[K]) { x[.., K..] * sum(like) }
        pub fn rows<K>(x: float[..], like: float[K]) { slice(x, [K - 1, 0], [K, 2]) }
    }
}

fn main() {
    let x: Tensor![f32; 2, 3] = Tensor::zeros();
    let (four, three): (Tensor![f32; 4], Tensor![f32; 3]) = (Tensor::zeros(), Tensor::zeros());
    let _ = mind!(layers::first(x, four));
    let _ = mind!(layers::rest(x, three));
    let _ = mind!(1.0 + layers::rows(x, three));
}
