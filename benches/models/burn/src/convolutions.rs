//! Networks of convolutions with batch norm: LeNet, and a residual network that learns and reads.

use burn::module::{Module, Param, RunningState};
use burn::nn::conv::{Conv2d, Conv2dConfig};
use burn::nn::loss::{CrossEntropyLoss, CrossEntropyLossConfig};
use burn::nn::pool::MaxPool2dConfig;
use burn::nn::{BatchNorm, BatchNormConfig, Linear, PaddingConfig2d};
use burn::optim::{AdamWConfig, GradientsParams, ModuleOptimizer, SgdConfig};
use burn::tensor::activation::relu;
use burn::tensor::{Device, Int, Tensor, TensorData};

use crate::inputs::{integers, numbers, pictures};
use crate::serve::Model;
use crate::{elements, norm, parameter, recorded, tensor};

const BATCHES: u32 = 16;

/// Makes the parts of a network. All libraries number the parameters in the same order.
struct Parts {
    device: Device,
    number: u32,
    /// Whether batch norm has given moments, and not those of each batch.
    has_moments: bool,
}

impl Parts {
    fn next<const D: usize>(&mut self, name: &str, dims: [usize; D]) -> Param<Tensor<D>> {
        self.number += 1;
        parameter(name, self.number - 1, dims, &self.device)
    }

    /// A convolution, padded by one pixel on every side if its filters are 3×3.
    fn conv(&mut self, size: usize, inner: usize, outer: usize, stride: usize) -> Conv2d {
        let side = size / 2;
        let filters = self.next("f", [size, size, inner, outer]);
        let mut layer = Conv2dConfig::new([inner, outer], [size, size])
            .with_stride([stride, stride])
            .with_padding(PaddingConfig2d::Explicit(side, side, side, side))
            .with_bias(false)
            .init(&self.device);
        layer.weight = Param::from_tensor(filters.val().permute([3, 2, 0, 1]).detach());
        layer
    }

    fn norm(&mut self, size: usize) -> BatchNorm {
        let mut layer = BatchNormConfig::new(size).init(&self.device);
        (layer.gamma, layer.beta) = (self.next("scale", [size]), self.next("bias", [size]));
        if self.has_moments {
            layer.running_mean = RunningState::new(self.next("center", [size]).val());
            layer.running_var = RunningState::new(self.next("variance", [size]).val());
            layer.training = Param::from_bool(false);
        }
        layer
    }

    fn dense(&mut self, inputs: usize, outputs: usize) -> Linear {
        let (weight, bias) = (self.next("w", [inputs, outputs]), self.next("b", [outputs]));
        Linear { weight, bias: Some(bias) }
    }
}

fn labels(seed: u32, count: usize, device: &Device) -> Tensor<1, Int> {
    let labels: Vec<_> = integers(seed, count, 10).into_iter().map(i64::from).collect();
    Tensor::from_data(TensorData::new(labels, [count]), device)
}

/// A network of two convolutions.
#[derive(Module, Debug)]
struct LeNetwork {
    conv1: Conv2d,
    norm1: BatchNorm,
    conv2: Conv2d,
    norm2: BatchNorm,
    dense1: Linear,
    dense2: Linear,
}

impl LeNetwork {
    fn new(device: &Device) -> Self {
        let mut parts = Parts { device: device.clone(), number: 0, has_moments: false };
        let (conv1, norm1) = (parts.conv(3, 1, 16, 1), parts.norm(16));
        let (conv2, norm2) = (parts.conv(3, 16, 32, 1), parts.norm(32));
        let (mut dense1, dense2) = (parts.dense(512, 128), parts.dense(128, 10));
        // The features of a pixel are together in the rows of the weights, those of a channel here.
        let by_channel = dense1.weight.val().reshape([16, 32, 128]).swap_dims(0, 1).reshape([512, 128]);
        dense1.weight = Param::from_tensor(by_channel.detach());
        Self { conv1, norm1, conv2, norm2, dense1, dense2 }
    }

    fn forward(&self, x: Tensor<4>) -> Tensor<2> {
        let h = relu(self.norm1.forward(self.conv1.forward(x)));
        let h = MaxPool2dConfig::new([2, 2]).init().forward(self.conv2.forward(h));
        let h: Tensor<2> = relu(self.norm2.forward(h)).flatten(1, 3);
        self.dense2.forward(relu(self.dense1.forward(h)))
    }
}

/// A training step of LeNet.
pub struct LeNet {
    batches: Vec<(Tensor<4>, Tensor<1, Int>)>,
    net: LeNetwork,
    loss: CrossEntropyLoss,
    optimiser: ModuleOptimizer,
    number: usize,
}

impl LeNet {
    pub fn new() -> Self {
        let device = recorded();
        let batch =
            |number| (tensor(pictures(number), [64, 1, 8, 8], &device), labels(7000 + number, 64, &device));
        Self {
            batches: (0..BATCHES).map(batch).collect(),
            net: LeNetwork::new(&device),
            loss: CrossEntropyLossConfig::new().init(&device),
            optimiser: AdamWConfig::new().with_epsilon(1e-8).with_weight_decay(0.01).init(),
            number: 0,
        }
    }
}

impl Model for LeNet {
    const STEPS: u32 = 1;

    fn call(&mut self) -> f32 {
        let (x, y) = self.batches[self.number % self.batches.len()].clone();
        self.number += 1;
        let loss = self.loss.forward(self.net.forward(x), y);
        let gradients = GradientsParams::from_grads(loss.backward(), &self.net);
        self.net = self.optimiser.step(1e-4, self.net.clone(), gradients);
        loss.into_scalar()
    }

    fn values(&self) -> Vec<f32> {
        vec![norm(&self.net)]
    }
}

/// A block of two convolutions, and one beside them where the extents change.
#[derive(Module, Debug)]
struct Block {
    conv1: Conv2d,
    norm1: BatchNorm,
    conv2: Conv2d,
    norm2: BatchNorm,
    beside: Option<(Conv2d, BatchNorm)>,
}

impl Block {
    fn new(parts: &mut Parts, inner: usize, outer: usize) -> Self {
        let stride = if inner == outer { 1 } else { 2 };
        let (conv1, norm1) = (parts.conv(3, inner, outer, stride), parts.norm(outer));
        let (conv2, norm2) = (parts.conv(3, outer, outer, 1), parts.norm(outer));
        let beside = (stride == 2).then(|| (parts.conv(1, inner, outer, stride), parts.norm(outer)));
        Self { conv1, norm1, conv2, norm2, beside }
    }

    fn forward(&self, x: Tensor<4>) -> Tensor<4> {
        let h = relu(self.norm1.forward(self.conv1.forward(x.clone())));
        let h = self.norm2.forward(self.conv2.forward(h));
        let beside = match &self.beside {
            Some((conv, norm)) => norm.forward(conv.forward(x)),
            None => x,
        };
        relu(beside + h)
    }
}

/// A residual network of three blocks.
#[derive(Module, Debug)]
struct Network {
    conv: Conv2d,
    norm: BatchNorm,
    blocks: Vec<Block>,
    head: Linear,
}

impl Network {
    fn new(device: &Device, has_moments: bool) -> Self {
        let mut parts = Parts { device: device.clone(), number: 0, has_moments };
        let (conv, norm) = (parts.conv(3, 3, 16, 1), parts.norm(16));
        let blocks = [(16, 16), (16, 32), (32, 64)];
        let blocks = blocks.into_iter().map(|(inner, outer)| Block::new(&mut parts, inner, outer)).collect();
        Self { conv, norm, blocks, head: parts.dense(64, 10) }
    }

    fn forward(&self, x: Tensor<4>) -> Tensor<2> {
        let h = relu(self.norm.forward(self.conv.forward(x)));
        let h = self.blocks.iter().fold(h, |h, block| block.forward(h));
        self.head.forward(h.mean_dims(&[2, 3]).flatten(1, 3))
    }
}

/// Pictures of 32×32 pixels and 3 channels.
fn large(number: u32, count: usize, device: &Device) -> Tensor<4> {
    let pixels = numbers(8000 + number, count * 32 * 32 * 3, 1.0);
    let order = |at: usize| {
        let (picture, channel, pixel) = (at / (3 * 1024), at / 1024 % 3, at % 1024);
        (picture * 1024 + pixel) * 3 + channel
    };
    tensor((0..pixels.len()).map(|at| pixels[order(at)]).collect(), [count, 3, 32, 32], device)
}

/// A training step of the residual network by gradient descent.
pub struct Resnet {
    batches: Vec<(Tensor<4>, Tensor<1, Int>)>,
    net: Network,
    loss: CrossEntropyLoss,
    optimiser: ModuleOptimizer,
    number: usize,
}

impl Resnet {
    pub fn new() -> Self {
        let device = recorded();
        let batch = |number| (large(number, 16, &device), labels(9000 + number, 16, &device));
        Self {
            batches: (0..BATCHES).map(batch).collect(),
            net: Network::new(&device, false),
            loss: CrossEntropyLossConfig::new().init(&device),
            optimiser: SgdConfig::new().init(),
            number: 0,
        }
    }
}

impl Model for Resnet {
    const STEPS: u32 = 1;

    fn call(&mut self) -> f32 {
        let (x, y) = self.batches[self.number % self.batches.len()].clone();
        self.number += 1;
        let loss = self.loss.forward(self.net.forward(x), y);
        let gradients = GradientsParams::from_grads(loss.backward(), &self.net);
        self.net = self.optimiser.step(0.02, self.net.clone(), gradients);
        loss.into_scalar()
    }

    fn values(&self) -> Vec<f32> {
        vec![norm(&self.net)]
    }
}

/// The residual network reads one picture.
pub struct ResnetOne {
    picture: Tensor<4>,
    net: Network,
    scores: Vec<f32>,
}

impl ResnetOne {
    pub fn new() -> Self {
        let device = Device::flex();
        Self { picture: large(0, 1, &device), net: Network::new(&device, true), scores: Vec::new() }
    }
}

impl Model for ResnetOne {
    const STEPS: u32 = 1;

    fn call(&mut self) -> f32 {
        self.scores = elements(self.net.forward(self.picture.clone()));
        self.scores[0]
    }

    fn values(&self) -> Vec<f32> {
        self.scores.clone()
    }
}
