//! An attribute of a template must be known at compile time.

mind::mind! {
    fn total(x: float[..], const axis: axis = 0) { sum(x, axis = axis) }
    fn f(x: f32[2, 4], n: i64) -> f32[2] { total(x, axis = n) }
}

fn main() {}
