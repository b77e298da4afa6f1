use mind::mind;

mind! {
    pub fn f(x: f32[32, 784], w: f32[784, 256]) -> f32[32, 256] {
        x @ w
    }
}

fn main() {
    let x: mind::Tensor![f32; 32, 783] = mind::Tensor::zeros();
    let w: mind::Tensor![f32; 784, 256] = mind::Tensor::zeros();
    f(&x, &w);
}
