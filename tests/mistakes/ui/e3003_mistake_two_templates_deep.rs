//! The message names each of the calls that lead to the mistake.

mind::mind! {
    fn inner(x: float[..], w: float[..]) { x @ w }
    fn outer(x: float[..], w: float[..]) { inner(x, w) + 1.0 }
    fn f(x: f32[2, 3], w: f32[4, 5]) -> f32[2, 5] { outer(x, w) }
}

fn main() {}
