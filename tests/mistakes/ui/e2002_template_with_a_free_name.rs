//! A template does not see the names of its callers.

mind::mind! {
    fn shifted(x: float[..]) { x + offset }
    fn f(x: f32[2], offset: f32) -> f32[2] { shifted(x) }
}

fn main() {}
