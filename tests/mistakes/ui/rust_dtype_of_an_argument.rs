use mind::mind;

mind! {
    pub fn total(x: f32[3]) -> f32 {
        sum(x)
    }
}

fn main() {
    let x: mind::Tensor![f64; 3] = mind::Tensor::zeros();
    total(&x);
}
