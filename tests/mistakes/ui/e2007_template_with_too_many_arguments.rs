//! A template is given an argument too many.

mind::mind! {
    fn halved(x: float[..]) { x / 2.0 }
    fn f(x: f32[4]) -> f32[4] { halved(x, x) }
}

fn main() {}
