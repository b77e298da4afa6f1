//! A training step of the network of the example `lenet`, without dropout: 64 pictures of 64 pixels per step.

use std::io;

use mind::optim::Adam;
use mind::{Const, Error, Tensor, mind};
use models::inputs::{integers, pictures};
use models::serve::{Model, serve};
use models::{fill, norm};

mind! {
    const RATE: float = 1e-4;

    /// The filters have shape `[height, width, in, out]`. The scales and biases are those of batch norm.
    #[derive(Clone)]
    struct Network {
        f1: f32[3, 3, 1, 16], scale1: f32[16], bias1: f32[16],
        f2: f32[3, 3, 16, 32], scale2: f32[32], bias2: f32[32],
        w1: f32[512, 128], b1: f32[128],
        w2: f32[128, 10], b2: f32[10],
    }

    /// The moving averages of the moments before each batch norm.
    struct Moments { m1: f32[16], v1: f32[16], m2: f32[32], v2: f32[32] }

    /// Mean cross-entropy, and the moments of the batch.
    fn loss<N>(x: f32[N, 64], y: i64[N], net: Network) -> (f32, Moments) {
        let h = conv2d(reshape(x, [N, 8, 8, 1]), net.f1, padding = same);
        let (h, m1, v1) = nn::batch_norm(h, net.scale1, net.bias1);
        let h = max_pool(conv2d(relu(h), net.f2, padding = same), [2, 2], strides = [2, 2]);
        let (h, m2, v2) = nn::batch_norm(h, net.scale2, net.bias2);
        let h = relu(nn::dense(reshape(relu(h), [N, 512]), net.w1, net.b1));
        (nn::cross_entropy(nn::dense(h, net.w2, net.b2), y), Moments { m1: m1, v1: v1, m2: m2, v2: v2 })
    }

    /// One step of AdamW, in place; returns the loss before it.
    fn step<N>(
        x: f32[N, 64],
        y: i64[N],
        net: &mut Network,
        state: &mut optim::Adam<Network>,
        seen: &mut Moments,
    ) -> f32 {
        let ((l, moments), gradient) = value_and_grad(loss, wrt = net)(x, y, net);
        let (new, next) = optim::adamw_step(net, gradient, state, RATE);
        net = new;
        state = next;
        seen += 0.1 * (moments - seen);
        l
    }
}

/// The number of batches, which are used in turn.
const BATCHES: u32 = 16;

type Pictures = Tensor![f32; ?, 64];
type Labels = Tensor![i64; ?];

struct Training {
    batches: Vec<(Pictures, Labels)>,
    net: Network,
    state: Adam<Network>,
    seen: Moments,
    number: usize,
}

impl Training {
    fn new() -> Result<Self, Error> {
        let net = fill(Network::zeros());
        let batches: Result<_, _> = (0..BATCHES).map(batch).collect();
        let state = Adam::zeros_like(&net);
        Ok(Self { batches: batches?, state, net, seen: Moments::zeros(), number: 0 })
    }
}

fn batch(number: u32) -> Result<(Pictures, Labels), Error> {
    let labels = integers(7000 + number, 64, 10);
    let y = Tensor::from_fn_with((64,), |[at]| i64::from(labels[at]));
    Ok((Tensor::from_vec((64, Const), pictures(number))?, y))
}

impl Model for Training {
    const STEPS: u32 = 1;

    fn call(&mut self) -> f32 {
        let (x, y) = &self.batches[self.number % self.batches.len()];
        self.number += 1;
        step(x, y, &mut self.net, &mut self.state, &mut self.seen)
    }

    fn values(&self) -> Vec<f32> {
        vec![norm(&self.net)]
    }
}

fn main() -> io::Result<()> {
    serve(Training::new().map_err(io::Error::other)?)
}
