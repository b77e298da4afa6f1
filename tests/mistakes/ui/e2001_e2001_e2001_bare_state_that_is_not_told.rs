//! An expression must declare which of its variables are structs.

use mind::{Tensor, mind, optim::Adam};

mind! {
    #[derive(Clone)]
    struct Net { w: f32[3] }
}

fn main() {
    let net = Net { w: Tensor::zeros() };
    let state = Adam::zeros_like(&net);
    let _ = mind!(optim::adam_step(net.w, net.w, state, 0.1));
}
