//! A struct of the block takes dimensions, not what it is over.

mind::mind! {
    struct Net<N> { w: f32[N] }
    struct Pair<N> { w: f32[N] }
    fn f(pair: Pair<Net<3>>) -> f32 { 1.0 }
}

fn main() {}
