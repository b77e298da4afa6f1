//! Networks of convolutions with batch norm: LeNet, and a residual network that learns and reads.

use candle_core::{Device, Result, Tensor, Var};
use candle_nn::{
    AdamW, BatchNorm, Conv2d, Conv2dConfig, Linear, Module, ModuleT, Optimizer, ParamsAdamW, SGD, loss,
};

use crate::inputs::{integers, numbers, pictures};
use crate::serve::Model;
use crate::{norm, parameter};

const BATCHES: u32 = 16;

/// The parameters, in the order that all libraries number them in.
#[derive(Default)]
struct Parameters(Vec<Var>);

impl Parameters {
    /// The next parameter, with its elements in another order.
    fn next(
        &mut self,
        name: &str,
        dims: &[usize],
        ordered: impl Fn(&Tensor) -> Result<Tensor>,
    ) -> Result<Tensor> {
        let elements = parameter(name, self.0.len() as u32, dims)?;
        let kept = Var::from_tensor(&ordered(&elements)?.contiguous()?)?;
        self.0.push(kept.clone());
        Ok(kept.as_tensor().clone())
    }

    /// A convolution, padded by one pixel on every side if its filters are 3×3.
    fn conv(&mut self, size: usize, inner: usize, outer: usize, stride: usize) -> Result<Conv2d> {
        let filters = self.next("f", &[size, size, inner, outer], |f| f.permute((3, 2, 0, 1)))?;
        let config = Conv2dConfig { padding: size / 2, stride, ..Conv2dConfig::default() };
        Ok(Conv2d::new(filters, None, config))
    }

    /// Batch norm, with given moments or with those of each batch.
    fn norm(&mut self, size: usize, has_moments: bool) -> Result<BatchNorm> {
        let mut part = |name| self.next(name, &[size], |part| Ok(part.clone()));
        let (scale, bias) = (part("scale")?, part("bias")?);
        let (center, variance) = if has_moments {
            (part("center")?, part("variance")?)
        } else {
            (bias.zeros_like()?, scale.ones_like()?)
        };
        BatchNorm::new(size, center, variance, scale, bias, 1e-5)
    }

    /// A dense layer with its inputs in another order. candle transposes weights.
    fn dense(
        &mut self,
        inputs: usize,
        outputs: usize,
        ordered: impl Fn(&Tensor) -> Result<Tensor>,
    ) -> Result<Linear> {
        let w = self.next("w", &[inputs, outputs], |w| ordered(w)?.t())?;
        let b = self.next("b", &[outputs], |b| Ok(b.clone()))?;
        Ok(Linear::new(w, Some(b)))
    }
}

fn labels(seed: u32, count: usize) -> Result<Tensor> {
    Tensor::from_vec(integers(seed, count, 10), count, &Device::Cpu)
}

/// A training step of a network of two convolutions.
pub struct LeNet {
    batches: Vec<(Tensor, Tensor)>,
    conv1: Conv2d,
    norm1: BatchNorm,
    conv2: Conv2d,
    norm2: BatchNorm,
    dense1: Linear,
    dense2: Linear,
    parameters: Vec<Var>,
    optimiser: AdamW,
    number: usize,
}

impl LeNet {
    pub fn new() -> Result<Self> {
        let mut parts = Parameters::default();
        let (conv1, norm1) = (parts.conv(3, 1, 16, 1)?, parts.norm(16, false)?);
        let (conv2, norm2) = (parts.conv(3, 16, 32, 1)?, parts.norm(32, false)?);
        // The features of a pixel are together in the rows of the weights, those of a channel here.
        let by_channel = |w: &Tensor| w.reshape((16, 32, 128))?.transpose(0, 1)?.reshape((512, 128));
        let (dense1, dense2) = (parts.dense(512, 128, by_channel)?, parts.dense(128, 10, |w| Ok(w.clone()))?);
        let batches: Result<_> = (0..BATCHES)
            .map(|number| {
                let x = Tensor::from_vec(pictures(number), (64, 1, 8, 8), &Device::Cpu)?;
                Ok((x, labels(7000 + number, 64)?))
            })
            .collect();
        let Parameters(parameters) = parts;
        let settings = ParamsAdamW { lr: 1e-4, weight_decay: 0.01, ..ParamsAdamW::default() };
        let optimiser = AdamW::new(parameters.clone(), settings)?;
        let batches = batches?;
        Ok(Self { batches, conv1, norm1, conv2, norm2, dense1, dense2, parameters, optimiser, number: 0 })
    }

    fn step(&mut self) -> Result<f32> {
        let (x, y) = &self.batches[self.number % self.batches.len()];
        let h = self.norm1.forward_train(&self.conv1.forward(x)?)?.relu()?;
        let h = self.norm2.forward_train(&self.conv2.forward(&h)?.max_pool2d(2)?)?.relu()?;
        let h = self.dense1.forward(&h.flatten_from(1)?)?.relu()?;
        let loss = loss::cross_entropy(&self.dense2.forward(&h)?, y)?;
        self.number += 1;
        self.optimiser.backward_step(&loss)?;
        loss.to_scalar()
    }
}

impl Model for LeNet {
    const STEPS: u32 = 1;

    fn call(&mut self) -> f32 {
        self.step().expect("shapes agree")
    }

    fn values(&self) -> Vec<f32> {
        vec![norm(&self.parameters).expect("parameters are f32")]
    }
}

/// A block of two convolutions, and one beside them where the extents change.
struct Block {
    conv1: Conv2d,
    norm1: BatchNorm,
    conv2: Conv2d,
    norm2: BatchNorm,
    beside: Option<(Conv2d, BatchNorm)>,
}

impl Block {
    fn new(parts: &mut Parameters, inner: usize, outer: usize, has_moments: bool) -> Result<Self> {
        let stride = if inner == outer { 1 } else { 2 };
        let (conv1, norm1) = (parts.conv(3, inner, outer, stride)?, parts.norm(outer, has_moments)?);
        let (conv2, norm2) = (parts.conv(3, outer, outer, 1)?, parts.norm(outer, has_moments)?);
        let beside = match stride {
            1 => None,
            _ => Some((parts.conv(1, inner, outer, stride)?, parts.norm(outer, has_moments)?)),
        };
        Ok(Self { conv1, norm1, conv2, norm2, beside })
    }

    fn forward(&self, x: &Tensor, learns: bool) -> Result<Tensor> {
        let h = self.norm1.forward_t(&self.conv1.forward(x)?, learns)?.relu()?;
        let h = self.norm2.forward_t(&self.conv2.forward(&h)?, learns)?;
        let beside = match &self.beside {
            Some((conv, norm)) => norm.forward_t(&conv.forward(x)?, learns)?,
            None => x.clone(),
        };
        (beside + h)?.relu()
    }
}

/// A residual network of three blocks.
struct Network {
    conv: Conv2d,
    norm: BatchNorm,
    blocks: [Block; 3],
    head: Linear,
    parameters: Vec<Var>,
}

impl Network {
    fn new(has_moments: bool) -> Result<Self> {
        let mut parts = Parameters::default();
        let (conv, norm) = (parts.conv(3, 3, 16, 1)?, parts.norm(16, has_moments)?);
        let first = Block::new(&mut parts, 16, 16, has_moments)?;
        let second = Block::new(&mut parts, 16, 32, has_moments)?;
        let third = Block::new(&mut parts, 32, 64, has_moments)?;
        let head = parts.dense(64, 10, |w| Ok(w.clone()))?;
        Ok(Self { conv, norm, blocks: [first, second, third], head, parameters: parts.0 })
    }

    fn forward(&self, x: &Tensor, learns: bool) -> Result<Tensor> {
        let mut h = self.norm.forward_t(&self.conv.forward(x)?, learns)?.relu()?;
        for block in &self.blocks {
            h = block.forward(&h, learns)?;
        }
        self.head.forward(&h.mean((2, 3))?)
    }
}

/// Pictures of 32×32 pixels and 3 channels.
fn large(number: u32, count: usize) -> Result<Tensor> {
    let pixels = numbers(8000 + number, count * 32 * 32 * 3, 1.0);
    Tensor::from_vec(pixels, (count, 32, 32, 3), &Device::Cpu)?.permute((0, 3, 1, 2))?.contiguous()
}

/// A training step of the residual network by gradient descent.
pub struct Resnet {
    batches: Vec<(Tensor, Tensor)>,
    net: Network,
    optimiser: SGD,
    number: usize,
}

impl Resnet {
    pub fn new() -> Result<Self> {
        let net = Network::new(false)?;
        let batches: Result<_> =
            (0..BATCHES).map(|number| Ok((large(number, 16)?, labels(9000 + number, 16)?))).collect();
        let optimiser = SGD::new(net.parameters.clone(), 0.02)?;
        Ok(Self { batches: batches?, net, optimiser, number: 0 })
    }

    fn step(&mut self) -> Result<f32> {
        let (x, y) = &self.batches[self.number % self.batches.len()];
        let loss = loss::cross_entropy(&self.net.forward(x, true)?, y)?;
        self.number += 1;
        self.optimiser.backward_step(&loss)?;
        loss.to_scalar()
    }
}

impl Model for Resnet {
    const STEPS: u32 = 1;

    fn call(&mut self) -> f32 {
        self.step().expect("shapes agree")
    }

    fn values(&self) -> Vec<f32> {
        vec![norm(&self.net.parameters).expect("parameters are f32")]
    }
}

/// The residual network reads one picture.
pub struct ResnetOne {
    picture: Tensor,
    net: Network,
    scores: Vec<f32>,
}

impl ResnetOne {
    pub fn new() -> Result<Self> {
        Ok(Self { picture: large(0, 1)?, net: Network::new(true)?, scores: Vec::new() })
    }
}

impl Model for ResnetOne {
    const STEPS: u32 = 1;

    fn call(&mut self) -> f32 {
        let scores = self.net.forward(&self.picture, false).and_then(|scores| scores.get(0)?.to_vec1());
        self.scores = scores.expect("shapes agree");
        self.scores[0]
    }

    fn values(&self) -> Vec<f32> {
        self.scores.clone()
    }
}
