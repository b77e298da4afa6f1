//! Two arguments of one element type have two.

mind::mind! {
    fn mixed<T: float>(x: T[..], y: T[..]) { x + y }
    fn f(x: f32[3], y: f64[3]) -> f32[3] { mixed(x, y) }
}

fn main() {}
