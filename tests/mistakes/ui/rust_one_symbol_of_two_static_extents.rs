use mind::mind;

mind! {
    pub fn add<N>(x: f32[N], y: f32[N]) -> f32[N] {
        x + y
    }
}

fn main() {
    let x: mind::Tensor![f32; 3] = mind::Tensor::zeros();
    let y: mind::Tensor![f32; 4] = mind::Tensor::zeros();
    add(&x, &y);
}
