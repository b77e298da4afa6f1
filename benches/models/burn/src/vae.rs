//! A variational autoencoder, given the noise.

use burn::module::Module;
use burn::nn::Linear;
use burn::optim::{AdamConfig, GradientsParams, ModuleOptimizer};
use burn::tensor::Tensor;
use burn::tensor::activation::{log_sigmoid, relu};

use crate::inputs::{noise, pictures};
use crate::serve::Model;
use crate::{norm, parameter, recorded, tensor};

const BATCHES: u32 = 16;

#[derive(Module, Debug)]
struct Networks {
    read: Linear,
    mean: Linear,
    spread: Linear,
    draw: Linear,
    ink: Linear,
}

impl Networks {
    fn new() -> Self {
        let device = recorded();
        let dense = |index, inputs, outputs| Linear {
            weight: parameter("w", index, [inputs, outputs], &device),
            bias: Some(parameter("b", index + 1, [outputs], &device)),
        };
        Self {
            read: dense(0, 64, 256),
            mean: dense(2, 256, 8),
            spread: dense(4, 256, 8),
            draw: dense(6, 8, 256),
            ink: dense(8, 256, 64),
        }
    }

    /// The loss. burn's binary cross-entropy takes integers, so its formula is written out.
    fn loss(&self, x: Tensor<2>, noise: Tensor<2>) -> Tensor<1> {
        let count = x.dims()[0] as f32;
        let h = relu(self.read.forward(x.clone()));
        let (m, log_variance) = (self.mean.forward(h.clone()), self.spread.forward(h));
        let z = m.clone() + (log_variance.clone() * 0.5).exp() * noise;
        let logits = self.ink.forward(relu(self.draw.forward(z)));
        let misfit = (x.neg() + 1.0) * logits.clone() - log_sigmoid(logits);
        let divergence = (m.square() + log_variance.clone().exp() - 1.0 - log_variance) * 0.5;
        (misfit.sum() + divergence.sum()) / count
    }
}

pub struct Training {
    /// Pictures and noise.
    batches: Vec<(Tensor<2>, Tensor<2>)>,
    net: Networks,
    optimiser: ModuleOptimizer,
    number: usize,
}

impl Training {
    pub fn new() -> Self {
        let device = recorded();
        let batch = |number| {
            let x = tensor(pictures(number), [64, 64], &device);
            (x, tensor(noise(number), [64, 8], &device))
        };
        Self {
            batches: (0..BATCHES).map(batch).collect(),
            net: Networks::new(),
            optimiser: AdamConfig::new().with_epsilon(1e-8).init(),
            number: 0,
        }
    }
}

impl Model for Training {
    const STEPS: u32 = 1;

    fn call(&mut self) -> f32 {
        let (x, noise) = self.batches[self.number % self.batches.len()].clone();
        self.number += 1;
        let loss = self.net.loss(x, noise);
        let gradients = GradientsParams::from_grads(loss.backward(), &self.net);
        self.net = self.optimiser.step(2e-3, self.net.clone(), gradients);
        loss.into_scalar()
    }

    fn values(&self) -> Vec<f32> {
        vec![norm(&self.net)]
    }
}
