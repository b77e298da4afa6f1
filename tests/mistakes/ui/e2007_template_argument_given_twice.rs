//! An argument of a template is given by position and by name.

mind::mind! {
    fn total(x: float[..], const axis: axis = 0) { sum(x, axis = axis) }
    fn f(x: f32[2, 4]) -> f32[4] { total(x, 0, axis = 1) }
}

fn main() {}
