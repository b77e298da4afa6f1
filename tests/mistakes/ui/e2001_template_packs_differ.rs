//! Leading dimensions with the same name differ.

mind::mind! {
    fn dot<..B, D, T: float>(x: T[..B, D], y: T[..B, D]) { sum(x * y, axis = -1) }
    fn f(x: f32[2, 4], y: f32[3, 4]) -> f32[2] { dot(x, y) }
}

fn main() {}
