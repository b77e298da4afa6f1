//! One argument determines an extent, and another argument has a different one.

mind::mind! {
    fn dense<I, O>(x: float[.., I], w: float[I, O], b: float[O]) { x @ w + b }
    fn f(x: f32[4, 3], w: f32[2, 5], b: f32[5]) -> f32[4, 5] { dense(x, w, b) }
}

fn main() {}
