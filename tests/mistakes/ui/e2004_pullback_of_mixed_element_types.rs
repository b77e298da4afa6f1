//! A pullback combines numbers of two element types.

mind::mind! {
    fn scaled<N>(x: f32[N]) -> f32[N] {
        x * 2.0
    } pullback(_, dy) {
        dy * f64(x)
    }
}

fn main() {}
