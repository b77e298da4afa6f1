//! A comparison cannot be an operand of another comparison.

mind::mind! {
    fn inside<N>(x: f32[N]) -> bool[N] {
        0.0 < x < 1.0
    }
}

fn main() {}
