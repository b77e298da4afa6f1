use mind::{Tensor, mind};

mod layers {
    mind::mind! {
        pub struct Dense { pub w: f32[2, 3] }
    }
}

fn main() {
    let p = layers::Dense { w: Tensor::zeros() };
    let _ = mind! { let Dense { w } = p; w * 2.0 };
}
