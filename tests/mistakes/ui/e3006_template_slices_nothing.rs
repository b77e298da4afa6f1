//! A slice by dimensions of a template is empty.

mind::mind! {
    fn rest<N, K>(x: float[.., N], like: float[K]) { x[.., K..] * sum(like) }
    fn f(x: f32[2, 3], like: f32[3]) -> f32[2, 3] { rest(x, like) }
}

fn main() {}
