//! A number attribute of a template must be known at compile time.

mind::mind! {
    fn leaky(x: float[..], const slope: float = 0.01) { where(x < 0.0, slope * x, x) }
    fn f(x: f32[4], s: f32) -> f32[4] { leaky(x, slope = s) }
}

fn main() {}
