//! A template is applied to each field of a struct and does not accept one of them.

mind::mind! {
    struct Layer<N> { w: f32[N, 3], b: f32[N] }
    fn centred(x: float[.., 3]) { x - mean(x, axis = -1, keepdims = true) }
    fn f<N>(layer: Layer<N>) -> Layer<N> { centred(layer) }
}

fn main() {}
