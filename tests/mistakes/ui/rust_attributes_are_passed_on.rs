#![deny(unused_must_use)]

use mind::mind;

mind! {
    #[must_use = "the new weights are the result"]
    pub fn decayed(w: f32[3]) -> f32[3] {
        w * 0.5
    }
}

fn main() {
    let w: mind::Tensor![f32; 3] = mind::Tensor::zeros();
    decayed(&w);
}
