//! A pattern must name all fields of the state, and no others.
use mind::{Tensor, mind, optim::Adam};

mod nets {
    mind::mind! {
        #[derive(Clone)]
        pub struct Net { pub w: f32[3] }
        #[derive(Clone)]
        pub struct Line { pub a: f32, pub b: f32[2] }
    }
}

fn main() {
    let net = nets::Net { w: Tensor::zeros() };
    let state = Adam::zeros_like(&net);
    let _ = mind! { let optim::Adam { men, .. } = state; men.w };
    let _ = mind! { let optim::Adam { mean, steps } = state; (mean.w, steps) };
}
