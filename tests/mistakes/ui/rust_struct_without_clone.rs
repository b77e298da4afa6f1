use mind::{Tensor, mind};

mind! {
    struct Layer { w: f32[3, 3], b: f32[3] }

    fn layer<N>(x: f32[N, 3], p: Layer) -> f32[N, 3] { x @ p.w + p.b }
}

fn main() {
    let p = Layer { w: Tensor::zeros(), b: Tensor::zeros() };
    let q = p.clone();
    layer(&Tensor::from([[1.0, 2.0, 3.0]]), &q);
}
