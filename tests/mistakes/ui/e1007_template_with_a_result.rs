//! A template declares a result.

mind::mind! {
    fn twice(x: float[..]) -> f32[2] { x + x }
}

fn main() {}
