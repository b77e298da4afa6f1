use mind::{Tensor, mind};

mod layers {
    mind::mind! {
        pub struct Dense { pub w: f32[2, 3], pub b: f32[3] }
    }
}

fn main() {
    let p = layers::Dense { w: Tensor::zeros(), b: Tensor::zeros() };
    let _ = mind! { use layers::Dense; let Dense { weights, .. } = p; weights * 2.0 };
    let _ = mind! { use layers::Dense; let Dense { w } = p; w * 2.0 };
}
