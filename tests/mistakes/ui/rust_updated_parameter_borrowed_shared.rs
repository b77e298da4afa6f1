use mind::mind;

mind! {
    pub fn decay(w: &mut f32[3]) {
        w *= 0.5;
    }
}

fn main() {
    let w: mind::Tensor![f32; 3] = mind::Tensor::zeros();
    decay(&w);
}
