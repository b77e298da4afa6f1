//! A slice up to a dimension of a template ends outside its operand.

mind::mind! {
    fn first<N, K>(x: float[.., N], like: float[K]) { x[.., ..K] + like }
    fn f(x: f32[2, 3], like: f32[4]) -> f32[2, 4] { first(x, like) }
}

fn main() {}
