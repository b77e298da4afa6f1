mod model {
    mind::mind! {
        fn total(x: f32[3]) -> f32 {
            sum(x)
        }
    }
}

fn main() {
    let x: mind::Tensor![f32; 3] = mind::Tensor::zeros();
    model::total(&x);
}
