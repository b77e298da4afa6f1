//! A template takes a tensor and is given a tuple.

mind::mind! {
    fn doubled(x: float[..]) { x + x }
    fn f(x: f32[3]) -> f32[3] { doubled((x, x)) }
}

fn main() {}
