//! The extent of an axis that the argument does not have.

mind::mind! {
    fn scaled(x: float[..]) { x / extent(x, 1) }
    fn f(x: f32[4]) -> f32[4] { scaled(x) }
}

fn main() {}
