use mind::mind;

mind! {
    #[grad(x)]
    fn q(x: f32[2]) -> f32 {
        sum(x * x)
    }

    fn q_grad(x: f32[2]) -> f32[2] {
        2.0 * x
    }
}

fn main() {
    let (_value, _gradient) = q_grad(&mind::Tensor::zeros());
}
