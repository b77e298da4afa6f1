//! A variational autoencoder, given the noise.

use candle_core::{Device, Result, Tensor, Var};
use candle_nn::{AdamW, Linear, Module, Optimizer, ParamsAdamW, loss};

use crate::inputs::{noise, pictures};
use crate::serve::Model;
use crate::{norm, parameter};

const BATCHES: u32 = 16;

pub struct Training {
    /// Pictures and noise.
    batches: Vec<(Tensor, Tensor)>,
    read: Linear,
    mean: Linear,
    spread: Linear,
    draw: Linear,
    ink: Linear,
    parameters: Vec<Var>,
    optimiser: AdamW,
    number: usize,
}

impl Training {
    pub fn new() -> Result<Self> {
        let mut parameters = Vec::new();
        let mut dense = |inputs, outputs| {
            let index = parameters.len() as u32;
            // Candle transposes weights, so they are made and then transposed.
            let w = Var::from_tensor(&parameter("w", index, &[inputs, outputs])?.t()?.contiguous()?)?;
            let b = parameter("b", index + 1, &[outputs])?;
            let layer = Linear::new(w.as_tensor().clone(), Some(b.as_tensor().clone()));
            parameters.extend([w, b]);
            Result::Ok(layer)
        };
        let (read, mean, spread) = (dense(64, 256)?, dense(256, 8)?, dense(256, 8)?);
        let (draw, ink) = (dense(8, 256)?, dense(256, 64)?);
        let batches: Result<_> = (0..BATCHES)
            .map(|number| {
                let x = Tensor::from_vec(pictures(number), (64, 64), &Device::Cpu)?;
                Ok((x, Tensor::from_vec(noise(number), (64, 8), &Device::Cpu)?))
            })
            .collect();
        let settings = ParamsAdamW { lr: 2e-3, weight_decay: 0.0, ..ParamsAdamW::default() };
        let optimiser = AdamW::new(parameters.clone(), settings)?;
        Ok(Self { batches: batches?, read, mean, spread, draw, ink, parameters, optimiser, number: 0 })
    }

    fn loss(&self, x: &Tensor, noise: &Tensor) -> Result<Tensor> {
        let h = self.read.forward(x)?.relu()?;
        let (m, log_variance) = (self.mean.forward(&h)?, self.spread.forward(&h)?);
        let z = (&m + ((&log_variance * 0.5)?.exp()? * noise)?)?;
        let logits = self.ink.forward(&self.draw.forward(&z)?.relu()?)?;
        let misfit = (loss::binary_cross_entropy_with_logit(&logits, x)? * x.dim(1)? as f64)?;
        let divergence = ((m.sqr()? + log_variance.exp()?)? - (log_variance + 1.0)?)?;
        misfit + (divergence.sum_all()? * (0.5 / x.dim(0)? as f64))?
    }

    fn step(&mut self) -> Result<f32> {
        let (x, noise) = &self.batches[self.number % self.batches.len()];
        let loss = self.loss(x, noise)?;
        self.number += 1;
        self.optimiser.backward_step(&loss)?;
        loss.to_scalar()
    }
}

impl Model for Training {
    const STEPS: u32 = 1;

    fn call(&mut self) -> f32 {
        self.step().expect("shapes agree")
    }

    fn values(&self) -> Vec<f32> {
        vec![norm(&self.parameters).expect("parameters are f32")]
    }
}
