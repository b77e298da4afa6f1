//! A template differentiates a function by a parameter that the function does not have.

mind::mind! {
    fn energy(x: f32[2]) -> f32 { sum(x * x) }
    fn slope(x: float[..]) { grad(energy, wrt = w)(x) }
    fn f(x: f32[2]) -> f32[2] { slope(x) }
}

fn main() {}
