//! A dimension is not declared.

mind::mind! {
    fn rows(x: float[.., D]) { sum(x, axis = -1) }
    fn f(x: f32[2, 3]) -> f32[2] { rows(x) }
}

fn main() {}
