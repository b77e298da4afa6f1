//! The parameters of a struct of a block are dimensions, not structs.

mind::mind! {
    struct Net<N> { w: f32[N] }
    struct Pair<N> { w: f32[N] }
    fn f(pair: Pair<Net<3>>) -> f32 { 1.0 }
}

fn main() {}
