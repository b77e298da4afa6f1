//! A struct is taken field by field, and a field is not what the template takes.

mind::mind! {
    struct Layer<N> { w: f32[N, 3], b: f32[N] }
    fn centred(x: float[.., 3]) { x - mean(x, axis = -1, keepdims = true) }
    fn f<N>(layer: Layer<N>) -> Layer<N> { centred(layer) }
}

fn main() {}
