//! Both transformers: training, and generation with a cache of keys and values.

use burn::module::{Module, ModuleVisitor, Param};
use burn::nn::loss::CrossEntropyLossConfig;
use burn::nn::{Embedding, LayerNorm, LayerNormConfig, Linear};
use burn::optim::{AdamWConfig, GradientsParams, ModuleOptimizer};
use burn::tensor::ops::AttentionModuleOptions;
use burn::tensor::{Device, Int, Tensor, TensorData, activation, module};

use crate::serve::Model;
use crate::sizes::{ADDITION, GPT, Sizes, addition_batch, addition_rate, gpt_batch};
use crate::{inputs, norm, recorded, tensor};

const BATCHES: u32 = 16;

/// The parameters of all layers, by their names.
struct Parameters<'a> {
    shapes: Vec<(String, Vec<usize>)>,
    device: &'a Device,
}

impl Parameters<'_> {
    fn whole<const D: usize>(&self, name: &str) -> Param<Tensor<D>> {
        self.part(name, 0)
    }

    /// The part of block `layer`, or a parameter that is not part of a block.
    fn part<const D: usize>(&self, name: &str, layer: usize) -> Param<Tensor<D>> {
        let at = self.shapes.iter().position(|(found, _)| found == name).expect("the name is in the list");
        let dims = &self.shapes[at].1;
        let elements = inputs::parameter(name, at as u32, dims.iter().product());
        let dims: [usize; D] = std::array::from_fn(|axis| dims[axis + dims.len() - D]);
        let count: usize = dims.iter().product();
        Param::from_tensor(tensor(elements[layer * count..][..count].to_vec(), dims, self.device))
    }

    fn layer_norm(&self, scale: &str, bias: &str, layer: usize) -> LayerNorm {
        let gamma: Param<Tensor<1>> = self.part(scale, layer);
        let mut norm = LayerNormConfig::new(gamma.dims()[0]).init(self.device);
        norm.gamma = gamma;
        norm.beta = Some(self.part(bias, layer));
        norm
    }

    fn linear(&self, w: &str, b: Option<&str>, layer: usize) -> Linear {
        Linear { weight: self.part(w, layer), bias: b.map(|b| self.part(b, layer)) }
    }
}

#[derive(Module, Debug)]
struct Block {
    norm1: LayerNorm,
    norm2: LayerNorm,
    q: Linear,
    k: Linear,
    v: Linear,
    o: Linear,
    inner: Linear,
    outer: Linear,
    heads: usize,
}

/// The keys and values of the positions that a block has read.
type Cache = Option<(Tensor<4>, Tensor<4>)>;

impl Block {
    fn new(sizes: &Sizes, p: &Parameters, layer: usize) -> Self {
        Self {
            norm1: p.layer_norm("blocks.scale1", "blocks.bias1", layer),
            norm2: p.layer_norm("blocks.scale2", "blocks.bias2", layer),
            q: p.linear("blocks.wq", None, layer),
            k: p.linear("blocks.wk", None, layer),
            v: p.linear("blocks.wv", None, layer),
            o: p.linear("blocks.wo", None, layer),
            inner: p.linear("blocks.w1", Some("blocks.b1"), layer),
            outer: p.linear("blocks.w2", Some("blocks.b2"), layer),
            heads: sizes.heads,
        }
    }

    /// The block, which sees earlier positions in the cache and adds its own.
    fn forward(&self, x: Tensor<3>, cache: &mut Cache) -> Tensor<3> {
        let [count, places, width] = x.dims();
        let h = self.norm1.forward(x.clone());
        let heads = |layer: &Linear| {
            layer.forward(h.clone()).reshape([count, places, self.heads, width / self.heads]).swap_dims(1, 2)
        };
        let (q, mut k, mut v) = (heads(&self.q), heads(&self.k), heads(&self.v));
        if let Some((keys, values)) = cache.take() {
            k = Tensor::cat(vec![keys, k], 2);
            v = Tensor::cat(vec![values, v], 2);
        }
        *cache = Some((k.clone(), v.clone()));
        let options = AttentionModuleOptions { is_causal: places > 1, ..AttentionModuleOptions::default() };
        let seen = module::attention(q, k, v, None, None, options);
        let x = x + self.o.forward(seen.swap_dims(1, 2).reshape([count, places, width]));
        let h = self.inner.forward(self.norm2.forward(x.clone()));
        x + self.outer.forward(activation::gelu(h))
    }
}

#[derive(Module, Debug)]
struct Gpt {
    tokens: Embedding,
    places: Param<Tensor<2>>,
    blocks: Vec<Block>,
    norm: LayerNorm,
    head: Linear,
    last: usize,
}

impl Gpt {
    fn new(sizes: &Sizes, device: &Device) -> Self {
        let p = Parameters { shapes: sizes.shapes(), device };
        Self {
            tokens: Embedding { weight: p.whole(sizes.tokens) },
            places: p.whole("places"),
            blocks: (0..sizes.layers).map(|layer| Block::new(sizes, &p, layer)).collect(),
            norm: p.layer_norm("scale", "bias", 0),
            head: p.linear("head", None, 0),
            last: sizes.last,
        }
    }

    fn forward(&self, x: Tensor<2, Int>) -> Tensor<3> {
        let mut h = self.tokens.forward(x) + self.places.val().unsqueeze();
        for block in &self.blocks {
            h = block.forward(h, &mut None);
        }
        let places = h.dims()[1];
        self.head.forward(self.norm.forward(h.narrow(1, places - self.last, self.last)))
    }

    /// The most likely token after `token` at position `place`.
    fn read(&self, token: Tensor<2, Int>, place: usize, caches: &mut [Cache]) -> Tensor<2, Int> {
        let mut h = self.tokens.forward(token) + self.places.val().narrow(0, place, 1).unsqueeze();
        for (block, cache) in self.blocks.iter().zip(caches) {
            h = block.forward(h, cache);
        }
        self.head.forward(self.norm.forward(h)).argmax(2).squeeze_dim(2)
    }
}

/// Training by AdamW.
pub struct Training {
    batches: Vec<(Tensor<2, Int>, Tensor<1, Int>)>,
    gpt: Gpt,
    optimiser: ModuleOptimizer,
    /// The learning rate at each step.
    rate: fn(f64) -> f64,
    /// The largest norm of a gradient.
    limit: Option<f32>,
    number: usize,
}

impl Training {
    pub fn gpt() -> Self {
        Self::new(&GPT, gpt_batch, |_| 3e-4, None, 0.999)
    }

    pub fn addition() -> Self {
        Self::new(&ADDITION, addition_batch, addition_rate, Some(1.0), 0.98)
    }

    fn new(
        sizes: &Sizes,
        batch: fn(u32) -> (Vec<u32>, Vec<u32>),
        rate: fn(f64) -> f64,
        limit: Option<f32>,
        beta_2: f32,
    ) -> Self {
        let device = recorded();
        let batches = (0..BATCHES).map(|number| {
            let (x, y) = batch(number);
            let (texts, count) = (x.len() / sizes.places, y.len());
            let (x, y): (Vec<_>, Vec<_>) =
                (x.into_iter().map(i64::from).collect(), y.into_iter().map(i64::from).collect());
            let x = Tensor::from_data(TensorData::new(x, [texts, sizes.places]), &device);
            (x, Tensor::from_data(TensorData::new(y, [count]), &device))
        });
        let config = AdamWConfig::new().with_beta_2(beta_2).with_epsilon(1e-8).with_weight_decay(0.01);
        Self {
            batches: batches.collect(),
            gpt: Gpt::new(sizes, &device),
            optimiser: config.init(),
            rate,
            limit,
            number: 0,
        }
    }
}

/// burn's optimisers clip the gradient of each parameter, so these clip the gradient as a whole.
struct Squares<'a>(&'a GradientsParams, f32);

impl ModuleVisitor for Squares<'_> {
    fn visit_float<const D: usize>(&mut self, parameter: &Param<Tensor<D>>) {
        if let Some(gradient) = self.0.get::<D>(parameter.id) {
            self.1 += gradient.square().sum().into_scalar::<f32>();
        }
    }
}

struct Scale<'a>(&'a mut GradientsParams, f32);

impl ModuleVisitor for Scale<'_> {
    fn visit_float<const D: usize>(&mut self, parameter: &Param<Tensor<D>>) {
        if let Some(gradient) = self.0.remove::<D>(parameter.id) {
            self.0.register(parameter.id, gradient * self.1);
        }
    }
}

impl Model for Training {
    const STEPS: u32 = 1;

    fn call(&mut self) -> f32 {
        let (x, y) = self.batches[self.number % self.batches.len()].clone();
        self.number += 1;
        let scores = self.gpt.forward(x).flatten::<2>(0, 1);
        let loss = CrossEntropyLossConfig::new().init(&scores.device()).forward(scores, y);
        let mut gradients = GradientsParams::from_grads(loss.backward(), &self.gpt);
        if let Some(limit) = self.limit {
            let mut squares = Squares(&gradients, 0.0);
            self.gpt.visit(&mut squares);
            let factor = (limit / squares.1.sqrt()).min(1.0);
            self.gpt.visit(&mut Scale(&mut gradients, factor));
        }
        self.gpt = self.optimiser.step((self.rate)(self.number as f64), self.gpt.clone(), gradients);
        loss.into_scalar()
    }

    fn values(&self) -> Vec<f32> {
        vec![norm(&self.gpt)]
    }
}

/// Writes 64 tokens, each the most likely one.
pub struct Generation {
    gpt: Gpt,
    device: Device,
    written: Vec<f32>,
}

impl Generation {
    pub fn new() -> Self {
        let device = Device::flex();
        Self { gpt: Gpt::new(&GPT, &device), device, written: Vec::new() }
    }
}

impl Model for Generation {
    const STEPS: u32 = 64;

    fn call(&mut self) -> f32 {
        let mut caches: Vec<Cache> = vec![None; GPT.layers];
        let mut token = Tensor::from_data(TensorData::new(vec![1_i64], [1, 1]), &self.device);
        self.written.clear();
        for place in 0..64 {
            token = self.gpt.read(token, place, &mut caches);
            self.written.push(token.clone().into_scalar::<i64>() as f32);
        }
        self.written[63]
    }

    fn values(&self) -> Vec<f32> {
        self.written.clone()
    }
}
