//! A training step of the example `vae`: an autoencoder of pictures of 64 pixels, 64 per step. The noise is an input.

use std::io;

use mind::optim::Adam;
use mind::{Const, Error, Tensor, mind};
use models::inputs::{noise, pictures};
use models::serve::{Model, serve};
use models::{fill, norm};

mind! {
    const RATE: float = 2e-3;

    /// The network that reads pictures, and the network that draws them.
    #[derive(Clone)]
    struct Networks {
        read: Dense<64, 256>, mean: Dense<256, 8>, spread: Dense<256, 8>,
        draw: Dense<8, 256>, ink: Dense<256, 64>,
    }

    #[derive(Clone)]
    struct Dense<I, O> { w: f32[I, O], b: f32[O] }

    fn dense<N, I, O>(x: f32[N, I], layer: Dense<I, O>) -> f32[N, O] { nn::dense(x, layer.w, layer.b) }

    /// The logit of the ink of each pixel.
    fn drawn<N>(z: f32[N, 8], net: Networks) -> f32[N, 64] { dense(relu(dense(z, net.draw)), net.ink) }

    /// The negative evidence lower bound in nats, the mean over the pictures.
    fn loss<N>(x: f32[N, 64], noise: f32[N, 8], net: Networks) -> f32 {
        let h = relu(dense(x, net.read));
        let (m, log_variance) = (dense(h, net.mean), dense(h, net.spread));
        let z = m + exp(0.5 * log_variance) * noise;
        let logits = drawn(z, net);
        let fit = x * nn::log_sigmoid(logits) + (1.0 - x) * nn::log_sigmoid(-logits);
        let divergence = 0.5 * (m * m + exp(log_variance) - 1.0 - log_variance);
        -mean(sum(fit, axis = 1) - sum(divergence, axis = 1))
    }

    /// One step of Adam, in place; returns the loss before it.
    fn step<N>(x: f32[N, 64], noise: f32[N, 8], net: &mut Networks, state: &mut optim::Adam<Networks>) -> f32 {
        let (l, gradient) = value_and_grad(loss, wrt = net)(x, noise, net);
        let (new, next) = optim::adam_step(net, gradient, state, RATE);
        net = new;
        state = next;
        l
    }
}

/// The number of batches, which are used in turn.
const BATCHES: u32 = 16;

type Pictures = Tensor![f32; ?, 64];
type Noise = Tensor![f32; ?, 8];

struct Training {
    batches: Vec<(Pictures, Noise)>,
    net: Networks,
    state: Adam<Networks>,
    number: usize,
}

impl Training {
    fn new() -> Result<Self, Error> {
        let net = fill(Networks::zeros());
        let batches: Result<_, _> = (0..BATCHES).map(batch).collect();
        Ok(Self { batches: batches?, state: Adam::zeros_like(&net), net, number: 0 })
    }
}

fn batch(number: u32) -> Result<(Pictures, Noise), Error> {
    let x = Tensor::from_vec((64, Const), pictures(number))?;
    Ok((x, Tensor::from_vec((64, Const), noise(number))?))
}

impl Model for Training {
    const STEPS: u32 = 1;

    fn call(&mut self) -> f32 {
        let (x, noise) = &self.batches[self.number % self.batches.len()];
        self.number += 1;
        step(x, noise, &mut self.net, &mut self.state)
    }

    fn values(&self) -> Vec<f32> {
        vec![norm(&self.net)]
    }
}

fn main() -> io::Result<()> {
    serve(Training::new().map_err(io::Error::other)?)
}
