//! A mistake inside a template is reported at the call.

mind::mind! {
    fn total(x: float[..], const axis: axis = 0) { sum(x, axis = axis) }
    fn f(x: f32[2, 4]) -> f32[2] { total(x, axis = 2) }
}

fn main() {}
