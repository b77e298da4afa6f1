//! A flag of a template is given as a number.

mind::mind! {
    fn total(x: float[..], const keepdims: bool = false) { sum(x, axis = 0, keepdims = keepdims) }
    fn f(x: f32[2, 4]) -> f32[4] { total(x, keepdims = 1) }
}

fn main() {}
