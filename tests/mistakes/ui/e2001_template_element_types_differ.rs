//! Two arguments that must have the same element type have different ones.

mind::mind! {
    fn mixed<T: float>(x: T[..], y: T[..]) { x + y }
    fn f(x: f32[3], y: f64[3]) -> f32[3] { mixed(x, y) }
}

fn main() {}
