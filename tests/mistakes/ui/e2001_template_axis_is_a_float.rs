//! An axis of a template is given as a float.

mind::mind! {
    fn total(x: float[..], const axis: axis = 0) { sum(x, axis = axis) }
    fn f(x: f32[2, 4]) -> f32[4] { total(x, axis = 0.5) }
}

fn main() {}
