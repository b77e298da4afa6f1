//! A transform such as `grad` takes a function, not a template.

mind::mind! {
    fn energy(x: float[..]) { sum(x * x) }
    fn f(x: f32[2]) -> f32[2] { grad(energy, wrt = x)(x) }
}

fn main() {}
