//! A comparison is no operand of another.

mind::mind! {
    fn inside<N>(x: f32[N]) -> bool[N] {
        0.0 < x < 1.0
    }
}

fn main() {}
