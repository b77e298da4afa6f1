//! Nothing in the expression says which struct of parameters the state is for.
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
    let _ = mind! { use self::nets::Net; optim::Adam { steps: 1i64, ..state } };
}
