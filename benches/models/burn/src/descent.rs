//! Adam over a million parameters, and logistic regression by gradient descent.

use burn::module::{Module, Param};
use burn::nn::loss::{BinaryCrossEntropyLoss, BinaryCrossEntropyLossConfig};
use burn::optim::{AdamConfig, GradientsParams, ModuleOptimizer, SgdConfig};
use burn::tensor::{Int, Tensor, TensorData};

use crate::inputs::{integers, numbers};
use crate::serve::Model;
use crate::{elements, norm, parameter, recorded, tensor};

#[derive(Module, Debug)]
struct Net {
    w1: Param<Tensor<2>>,
    b1: Param<Tensor<1>>,
    w2: Param<Tensor<2>>,
    b2: Param<Tensor<1>>,
}

/// A step of Adam, given the gradient.
pub struct Adam {
    net: Net,
    gradient: Net,
    optimiser: ModuleOptimizer,
}

impl Adam {
    pub fn new() -> Self {
        let net = |device| Net {
            w1: parameter("w1", 0, [1499, 499], &device),
            b1: parameter("b1", 1, [499], &device),
            w2: parameter("w2", 2, [499, 503], &device),
            b2: parameter("b2", 3, [503], &device),
        };
        let optimiser = AdamConfig::new().with_epsilon(1e-8).init();
        Self { net: net(recorded()), gradient: net(burn::tensor::Device::flex()), optimiser }
    }

    /// The gradient of each parameter. The tensors are shared, not copied.
    fn gradients(&self) -> GradientsParams {
        let mut gradients = GradientsParams::new();
        gradients.register(self.net.w1.id, self.gradient.w1.val());
        gradients.register(self.net.b1.id, self.gradient.b1.val());
        gradients.register(self.net.w2.id, self.gradient.w2.val());
        gradients.register(self.net.b2.id, self.gradient.b2.val());
        gradients
    }
}

impl Model for Adam {
    const STEPS: u32 = 1;

    fn call(&mut self) -> f32 {
        let gradients = self.gradients();
        self.net = self.optimiser.step(1e-3, self.net.clone(), gradients);
        self.net.w1.val().slice([0..1, 0..1]).into_scalar()
    }

    fn values(&self) -> Vec<f32> {
        vec![norm(&self.net), elements(self.net.b2.val())[502]]
    }
}

#[derive(Module, Debug)]
struct Line {
    w: Param<Tensor<2>>,
    b: Param<Tensor<1>>,
}

/// Logistic regression, 100 steps of gradient descent per call.
pub struct Logistic {
    x: Tensor<2>,
    y: Tensor<1, Int>,
    line: Line,
    loss: BinaryCrossEntropyLoss,
    optimiser: ModuleOptimizer,
}

impl Logistic {
    pub fn new() -> Self {
        let device = recorded();
        let labels: Vec<_> = integers(2001, 1000, 2).into_iter().map(i64::from).collect();
        Self {
            x: tensor(numbers(2000, 64_000, 1.0), [1000, 64], &device),
            y: Tensor::from_data(TensorData::new(labels, [1000]), &device),
            line: Line { w: parameter("w", 0, [64, 1], &device), b: parameter("b", 1, [1], &device) },
            loss: BinaryCrossEntropyLossConfig::new().with_logits(true).init(&device),
            optimiser: SgdConfig::new().init(),
        }
    }

    fn step(&mut self) -> Tensor<1> {
        let scores = self.x.clone().matmul(self.line.w.val()).flatten::<1>(0, 1) + self.line.b.val();
        let loss = self.loss.forward(scores, self.y.clone());
        let gradients = GradientsParams::from_grads(loss.backward(), &self.line);
        self.line = self.optimiser.step(0.1, self.line.clone(), gradients);
        loss
    }
}

impl Model for Logistic {
    const STEPS: u32 = 100;

    fn call(&mut self) -> f32 {
        (1..Self::STEPS).for_each(|_| drop(self.step()));
        self.step().into_scalar()
    }

    fn values(&self) -> Vec<f32> {
        vec![norm(&self.line)]
    }
}
