use mind::mind;

mind! {
    pub fn total<N, M>(x: f32[N, M]) -> f32 {
        sum(x)
    }
}

fn main() {
    let x: mind::Tensor![f32; 3] = mind::Tensor::zeros();
    total(&x);
}
