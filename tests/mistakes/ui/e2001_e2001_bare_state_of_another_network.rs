//! A state must be for the struct that is updated, and of the optimiser that updates it.
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
    let line = nets::Line::zeros();
    let _ = mind!(
        use self::nets::{Line, Net};
        optim::adam_step((line: Line), (line: Line), (state: optim::Adam<Net>), 0.1)
    );
    let _ = mind!(
        use self::nets::Net;
        optim::lion_step((net: Net), (net: Net), (state: optim::Adam<Net>), 0.1)
    );
}
