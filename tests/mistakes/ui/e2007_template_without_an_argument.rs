//! An argument of a template is missing.

mind::mind! {
    fn dense<I, O>(x: float[.., I], w: float[I, O], b: float[O]) { x @ w + b }
    fn f(x: f32[4, 3], w: f32[3, 5]) -> f32[4, 5] { dense(x, w) }
}

fn main() {}
