//! A template takes a struct and is given a tensor.

mind::mind! {
    struct Layer { w: f32[3] }
    fn decayed<P: params>(p: P, const rate: float = 0.5) { p * rate }
    fn f(layer: Layer) -> Layer { decayed(layer.w) }
}

fn main() {}
