use mind::mind;

mind! {
    pub fn add<N>(x: f32[N], y: f32[N]) -> f32[N] {
        x + y
    }
}

mind::dim!(Batch);
mind::dim!(Features);

fn main() {
    let x: mind::Tensor![f32; Batch] = mind::Tensor::zeros_with((Batch(3),));
    let y: mind::Tensor![f32; Features] = mind::Tensor::zeros_with((Features(3),));
    add(&x, &y);
}
