//! A state of a struct that is not imported, of an unknown optimiser, and of no struct.
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
    let _ = mind!((state: optim::Adam<Net>) * 2.0);
    let _ = mind!(use self::nets::Net; (state: optim::Adagrad<Net>) * 2.0);
    let _ = mind!(use self::nets::Net; (state: optim::Adam) * 2.0);
}
