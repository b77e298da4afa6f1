//! Two templates call each other.

mind::mind! {
    fn even(x: float[..]) { odd(x) }
    fn odd(x: float[..]) { even(x) }
    fn f(x: f32[2]) -> f32[2] { even(x) }
}

fn main() {}
