//! A template sees none of the names around its calls.

mind::mind! {
    fn shifted(x: float[..]) { x + offset }
    fn f(x: f32[2], offset: f32) -> f32[2] { shifted(x) }
}

fn main() {}
