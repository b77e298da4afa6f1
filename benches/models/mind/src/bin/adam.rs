//! A step of Adam for a network with a million parameters, given its gradient.

use std::io;

use mind::{mind, optim::Adam};
use models::serve::{Model, serve};
use models::{fill, norm};

mind! {
    const RATE: float = 1e-3;

    /// 10⁶ parameters.
    #[derive(Clone)]
    struct Net { w1: f32[1499, 499], b1: f32[499], w2: f32[499, 503], b2: f32[503] }

    fn step(net: &mut Net, gradient: Net, state: &mut optim::Adam<Net>) {
        let (new, next) = optim::adam_step(net, gradient, state, RATE);
        net = new;
        state = next;
    }
}

struct Training {
    net: Net,
    gradient: Net,
    state: Adam<Net>,
}

impl Model for Training {
    const STEPS: u32 = 1;

    fn call(&mut self) -> f32 {
        step(&mut self.net, &self.gradient, &mut self.state);
        self.net.w1[[0, 0]]
    }

    fn values(&self) -> Vec<f32> {
        vec![norm(&self.net), self.net.b2[[502]]]
    }
}

fn main() -> io::Result<()> {
    let net = fill(Net::zeros());
    // The gradient of half the squared norm, so that it has the size of the parameters.
    serve(Training { gradient: net.clone(), state: Adam::zeros_like(&net), net })
}
