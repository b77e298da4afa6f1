//! A template has no argument of that name.

mind::mind! {
    fn total(x: float[..], const axis: axis = 0) { sum(x, axis = axis) }
    fn f(x: f32[2, 4]) -> f32[4] { total(x, axes = 0) }
}

fn main() {}
