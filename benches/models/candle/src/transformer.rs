//! Both transformers: training, and generation with candle's cache of keys and values.

use std::collections::HashMap;

use candle_core::{D, Device, IndexOp, Result, Tensor, Var};
use candle_nn::kv_cache::KvCache;
use candle_nn::{AdamW, Embedding, Linear, Module, Optimizer, ParamsAdamW, loss, ops};

use crate::serve::Model;
use crate::sizes::{ADDITION, GPT, Sizes, addition_batch, addition_rate, gpt_batch};
use crate::{norm, parameter};

const BATCHES: u32 = 16;

/// The parameters that are not yet part of a layer, and those that are.
struct Parameters {
    made: HashMap<String, Var>,
    used: Vec<Var>,
}

impl Parameters {
    fn new(sizes: &Sizes) -> Result<Self> {
        let shapes = sizes.shapes();
        let made: Result<_> = (0..)
            .zip(shapes)
            .map(|(index, (name, dims))| Ok((name.clone(), parameter(&name, index, &dims)?)))
            .collect();
        Ok(Self { made: made?, used: Vec::new() })
    }

    fn take(&mut self, tensor: &Tensor) -> Result<Tensor> {
        let var = Var::from_tensor(&tensor.contiguous()?)?;
        self.used.push(var.clone());
        Ok(var.as_tensor().clone())
    }

    fn whole(&mut self, name: &str) -> Result<Tensor> {
        let tensor = self.made[name].as_tensor().clone();
        self.take(&tensor)
    }

    /// The part of block `layer`. A matrix is transposed, as layers of candle have it.
    fn part(&mut self, layer: usize, name: &str) -> Result<Tensor> {
        let part = self.made[&format!("blocks.{name}")].i(layer)?;
        self.take(&if part.rank() == 2 { part.t()? } else { part })
    }
}

/// A layer norm with scale and bias.
struct Norm(Tensor, Tensor);

impl Norm {
    /// The crate's fast layer norm has no gradient.
    fn forward(&self, x: &Tensor, trained: bool) -> Result<Tensor> {
        if trained {
            ops::layer_norm_slow(x, &self.0, &self.1, 1e-5)
        } else {
            ops::layer_norm(x, &self.0, &self.1, 1e-5)
        }
    }
}

struct Block {
    norms: [Norm; 2],
    qkvo: [Linear; 4],
    inner: Linear,
    outer: Linear,
    heads: usize,
}

impl Block {
    fn new(sizes: &Sizes, p: &mut Parameters, layer: usize) -> Result<Self> {
        let mut part = |name: &str| p.part(layer, name);
        Ok(Self {
            norms: [Norm(part("scale1")?, part("bias1")?), Norm(part("scale2")?, part("bias2")?)],
            qkvo: [
                Linear::new(part("wq")?, None),
                Linear::new(part("wk")?, None),
                Linear::new(part("wv")?, None),
                Linear::new(part("wo")?, None),
            ],
            inner: Linear::new(part("w1")?, Some(part("b1")?)),
            outer: Linear::new(part("w2")?, Some(part("b2")?)),
            heads: sizes.heads,
        })
    }

    /// The block with a mask of positions in training, and with a cache of earlier positions in generation.
    fn forward(&self, x: &Tensor, mask: Option<&Tensor>, cache: Option<&mut KvCache>) -> Result<Tensor> {
        let trained = cache.is_none();
        let (count, places, width) = x.dims3()?;
        let size = width / self.heads;
        let h = self.norms[0].forward(x, trained)?;
        let heads = |layer: &Linear| {
            layer.forward(&h)?.reshape((count, places, self.heads, size))?.transpose(1, 2)?.contiguous()
        };
        let [q, k, v, o] = &self.qkvo;
        let (q, mut k, mut v) = (heads(q)?, heads(k)?, heads(v)?);
        if let Some(cache) = cache {
            (k, v) = cache.append(&k, &v)?;
        }
        let mut scores = (q.matmul(&k.t()?.contiguous()?)? / (size as f64).sqrt())?;
        if let Some(mask) = mask {
            scores = scores.broadcast_add(mask)?;
        }
        let weights =
            if trained { ops::softmax(&scores, D::Minus1)? } else { ops::softmax_last_dim(&scores)? };
        let seen = weights.matmul(&v.contiguous()?)?;
        let x = (x + o.forward(&seen.transpose(1, 2)?.reshape((count, places, width))?)?)?;
        let h = self.inner.forward(&self.norms[1].forward(&x, trained)?)?.gelu_erf()?;
        &x + self.outer.forward(&h)?
    }
}

struct Gpt {
    tokens: Embedding,
    places: Tensor,
    blocks: Vec<Block>,
    norm: Norm,
    head: Linear,
    mask: Tensor,
    last: usize,
    parameters: Vec<Var>,
}

impl Gpt {
    fn new(sizes: &Sizes) -> Result<Self> {
        let mut p = Parameters::new(sizes)?;
        let places = sizes.places;
        let mask = |at: usize| if at % places > at / places { f32::NEG_INFINITY } else { 0.0 };
        let mask: Vec<_> = (0..places * places).map(mask).collect();
        let blocks: Result<_> = (0..sizes.layers).map(|layer| Block::new(sizes, &mut p, layer)).collect();
        let head = p.made["head"].t()?;
        Ok(Self {
            tokens: Embedding::new(p.whole(sizes.tokens)?, sizes.width),
            places: p.whole("places")?,
            blocks: blocks?,
            norm: Norm(p.whole("scale")?, p.whole("bias")?),
            head: Linear::new(p.take(&head)?, None),
            mask: Tensor::from_vec(mask, (places, places), &Device::Cpu)?,
            last: sizes.last,
            parameters: p.used,
        })
    }

    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let mut h = self.tokens.forward(x)?.broadcast_add(&self.places)?;
        for block in &self.blocks {
            h = block.forward(&h, Some(&self.mask), None)?;
        }
        let h = h.narrow(1, h.dim(1)? - self.last, self.last)?.contiguous()?;
        self.head.forward(&self.norm.forward(&h, true)?)
    }

    /// The most likely token after `token` at position `place`.
    fn read(&self, token: u32, place: usize, caches: &mut [KvCache]) -> Result<u32> {
        let token = Tensor::new(&[[token]], &Device::Cpu)?;
        let mut h = self.tokens.forward(&token)?.broadcast_add(&self.places.i(place)?)?;
        for (block, cache) in self.blocks.iter().zip(caches) {
            h = block.forward(&h, None, Some(cache))?;
        }
        let logits = self.head.forward(&self.norm.forward(&h, false)?)?;
        logits.flatten_all()?.argmax(0)?.to_scalar()
    }
}

/// Training by AdamW.
pub struct Training {
    batches: Vec<(Tensor, Tensor)>,
    gpt: Gpt,
    optimiser: AdamW,
    /// The learning rate at each step.
    rate: fn(f64) -> f64,
    /// The largest norm of a gradient.
    limit: Option<f64>,
    number: usize,
}

impl Training {
    pub fn gpt() -> Result<Self> {
        Self::new(&GPT, gpt_batch, |_| 3e-4, None, 0.999)
    }

    pub fn addition() -> Result<Self> {
        Self::new(&ADDITION, addition_batch, addition_rate, Some(1.0), 0.98)
    }

    fn new(
        sizes: &Sizes,
        batch: fn(u32) -> (Vec<u32>, Vec<u32>),
        rate: fn(f64) -> f64,
        limit: Option<f64>,
        beta2: f64,
    ) -> Result<Self> {
        let gpt = Gpt::new(sizes)?;
        let batches: Result<_> = (0..BATCHES)
            .map(|number| {
                let (x, y) = batch(number);
                let texts = x.len() / sizes.places;
                let count = y.len();
                let x = Tensor::from_vec(x, (texts, sizes.places), &Device::Cpu)?;
                Ok((x, Tensor::from_vec(y, count, &Device::Cpu)?))
            })
            .collect();
        let parameters = ParamsAdamW { beta2, weight_decay: 0.01, ..ParamsAdamW::default() };
        let optimiser = AdamW::new(gpt.parameters.clone(), parameters)?;
        Ok(Self { batches: batches?, gpt, optimiser, rate, limit, number: 0 })
    }

    fn step(&mut self) -> Result<f32> {
        let (x, y) = &self.batches[self.number % self.batches.len()];
        self.number += 1;
        let loss = loss::cross_entropy(&self.gpt.forward(x)?.flatten_to(1)?, y)?;
        let mut gradients = loss.backward()?;
        if let Some(limit) = self.limit {
            let mut squares = 0.0;
            for part in &self.gpt.parameters {
                if let Some(gradient) = gradients.get(part) {
                    squares += f64::from(gradient.sqr()?.sum_all()?.to_scalar::<f32>()?);
                }
            }
            let factor = (limit / squares.sqrt()).min(1.0);
            for part in &self.gpt.parameters {
                if let Some(gradient) = gradients.get(part) {
                    let clipped = (gradient * factor)?;
                    gradients.insert(part, clipped);
                }
            }
        }
        self.optimiser.set_learning_rate((self.rate)(self.number as f64));
        self.optimiser.step(&gradients)?;
        loss.to_scalar()
    }
}

impl Model for Training {
    const STEPS: u32 = 1;

    fn call(&mut self) -> f32 {
        self.step().expect("shapes agree")
    }

    fn values(&self) -> Vec<f32> {
        vec![norm(&self.gpt.parameters).expect("parameters are f32")]
    }
}

/// Writes 64 tokens, each the most likely one.
pub struct Generation {
    gpt: Gpt,
    caches: Vec<KvCache>,
    written: Vec<f32>,
}

impl Generation {
    pub fn new() -> Result<Self> {
        let caches = (0..GPT.layers).map(|_| KvCache::new(2, GPT.places)).collect();
        Ok(Self { gpt: Gpt::new(&GPT)?, caches, written: Vec::new() })
    }
}

impl Model for Generation {
    const STEPS: u32 = 64;

    fn call(&mut self) -> f32 {
        self.caches.iter_mut().for_each(KvCache::reset);
        self.written.clear();
        let mut token = 1;
        for place in 0..64 {
            token = self.gpt.read(token, place, &mut self.caches).expect("shapes agree");
            self.written.push(token as f32);
        }
        token as f32
    }

    fn values(&self) -> Vec<f32> {
        self.written.clone()
    }
}
