//! A fraction that is a number from 0 to 1, and is not.

mind::mind! {
    fn f<N>(x: f32[N]) -> f32 { num::quantile(x, 1.5) }

    fn g<N>(x: f32[N]) -> f32 { num::quantile(x, -0.25) }

    fn share(x: float[..], const of: fraction) { of * x }

    fn h<N>(x: f32[N], q: f32) -> f32[N] { share(x, of = q) }
}

fn main() {}
