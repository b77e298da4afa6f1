use mind::mind;

mind! {
    fn g(x: f32[2]) -> f32[2] {
        x
    }

    fn g_into(x: f32[2]) -> f32[2] {
        g(x)
    }
}

fn main() {
    g(&mind::Tensor::zeros());
}
