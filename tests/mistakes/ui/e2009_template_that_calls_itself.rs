//! A template calls itself.

mind::mind! {
    fn again(x: float[..]) { again(x) }
    fn f(x: f32[2]) -> f32[2] { again(x) }
}

fn main() {}
