//! The network of the example `addition` in candle. `addition-candle STEPS` prints the time of `STEPS` training steps.

use std::f64::consts::PI;
use std::time::Instant;

use candle_core::{D, DType, Device, Result, Tensor, Var};
use candle_nn::{
    AdamW, Embedding, Init, Linear, Module, Optimizer, ParamsAdamW, VarBuilder, VarMap, embedding, linear,
    linear_no_bias, loss, ops,
};
use rand::{Rng, SeedableRng, rngs::StdRng};

const SYMBOLS: usize = 12;
const PLACES: usize = 11;
const DIGITS: usize = 4;
const WIDTH: usize = 64;
const HEADS: usize = 4;
const INNER: usize = 256;
const BATCH: usize = 256;

/// A layer norm with scale and bias. The crate's own layer has no gradient.
struct Norm(Tensor, Tensor);

impl Norm {
    fn new(vb: VarBuilder) -> Result<Self> {
        Ok(Self(
            vb.get_with_hints(WIDTH, "scale", Init::Const(1.0))?,
            vb.get_with_hints(WIDTH, "bias", Init::Const(0.0))?,
        ))
    }

    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        ops::layer_norm_slow(x, &self.0, &self.1, 1e-5)
    }
}

struct Block {
    norms: [Norm; 2],
    qkvo: [Linear; 4],
    inner: Linear,
    outer: Linear,
}

impl Block {
    fn new(vb: VarBuilder) -> Result<Self> {
        let square = |name: &str| linear_no_bias(WIDTH, WIDTH, vb.pp(name));
        Ok(Self {
            norms: [Norm::new(vb.pp("norm1"))?, Norm::new(vb.pp("norm2"))?],
            qkvo: [square("q")?, square("k")?, square("v")?, square("o")?],
            inner: linear(WIDTH, INNER, vb.pp("inner"))?,
            outer: linear(INNER, WIDTH, vb.pp("outer"))?,
        })
    }

    fn forward(&self, x: &Tensor, mask: &Tensor) -> Result<Tensor> {
        let h = self.norms[0].forward(x)?;
        let count = x.dim(0)?;
        let heads = |layer: &Linear| {
            layer.forward(&h)?.reshape((count, PLACES, HEADS, WIDTH / HEADS))?.transpose(1, 2)?.contiguous()
        };
        let [q, k, v, o] = &self.qkvo;
        let (q, k, v) = (heads(q)?, heads(k)?, heads(v)?);
        let scores =
            (q.matmul(&k.t()?.contiguous()?)? / ((WIDTH / HEADS) as f64).sqrt())?.broadcast_add(mask)?;
        let seen = ops::softmax(&scores, D::Minus1)?.matmul(&v)?;
        let x = (x + o.forward(&seen.transpose(1, 2)?.reshape((count, PLACES, WIDTH))?)?)?;
        let h = self.inner.forward(&self.norms[1].forward(&x)?)?.gelu_erf()?;
        &x + self.outer.forward(&h)?
    }
}

struct Gpt {
    symbols: Embedding,
    places: Tensor,
    blocks: [Block; 2],
    norm: Norm,
    head: Linear,
    mask: Tensor,
}

impl Gpt {
    fn new(vb: VarBuilder) -> Result<Self> {
        let mask = |at: usize| if at % PLACES > at / PLACES { f32::NEG_INFINITY } else { 0.0 };
        let mask: Vec<_> = (0..PLACES * PLACES).map(mask).collect();
        Ok(Self {
            symbols: embedding(SYMBOLS, WIDTH, vb.pp("symbols"))?,
            places: vb.get_with_hints((PLACES, WIDTH), "places", Init::Randn { mean: 0.0, stdev: 0.1 })?,
            blocks: [Block::new(vb.pp("first"))?, Block::new(vb.pp("second"))?],
            norm: Norm::new(vb.pp("norm"))?,
            head: linear_no_bias(WIDTH, SYMBOLS, vb.pp("head"))?,
            mask: Tensor::from_vec(mask, (PLACES, PLACES), vb.device())?,
        })
    }

    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let mut h = self.symbols.forward(x)?.broadcast_add(&self.places)?;
        for block in &self.blocks {
            h = block.forward(&h, &self.mask)?;
        }
        self.head.forward(&self.norm.forward(&h.narrow(1, PLACES - DIGITS, DIGITS)?.contiguous()?)?)
    }
}

/// The inputs and targets of training: texts without their last symbol, and the answers.
fn questions(random: &mut StdRng) -> Result<(Tensor, Tensor)> {
    let (mut x, mut y) = (Vec::new(), Vec::new());
    for _ in 0..BATCH {
        let (a, b) = (random.random_range(0..1000_u32), random.random_range(0..1000_u32));
        let digits = |n: u32| [n / 100, n / 10 % 10, n % 10];
        let sum = a + b;
        let answer = [sum % 10, sum / 10 % 10, sum / 100 % 10, sum / 1000];
        x.extend(
            digits(a).into_iter().chain([10]).chain(digits(b)).chain([11]).chain(answer[..3].iter().copied()),
        );
        y.extend(answer);
    }
    let on = &Device::Cpu;
    Ok((Tensor::from_vec(x, (BATCH, PLACES), on)?, Tensor::from_vec(y, BATCH * DIGITS, on)?))
}

/// The same as `optim::warmup_cosine(t, 3e-3, 50, steps)`.
fn rate(t: f64, steps: f64) -> f64 {
    if t < 50.0 {
        3e-3 * t / 50.0
    } else {
        1.5e-3 * (1.0 + (PI * (t - 50.0) / (steps - 50.0).max(1.0)).cos())
    }
}

fn main() -> Result<()> {
    let steps: usize = std::env::args().nth(1).and_then(|steps| steps.parse().ok()).unwrap_or(150);
    let variables = VarMap::new();
    let gpt = Gpt::new(VarBuilder::from_varmap(&variables, DType::F32, &Device::Cpu))?;
    let all: Vec<Var> = variables.all_vars();
    let parameters = ParamsAdamW { beta2: 0.98, weight_decay: 0.01, ..ParamsAdamW::default() };
    let mut optimiser = AdamW::new(all.clone(), parameters)?;
    let mut random = StdRng::seed_from_u64(1);
    let (start, mut last) = (Instant::now(), 0.0);
    for t in 1..=steps {
        let (x, y) = questions(&mut random)?;
        let loss = loss::cross_entropy(&gpt.forward(&x)?.reshape((BATCH * DIGITS, SYMBOLS))?, &y)?;
        let mut gradients = loss.backward()?;
        let mut squares = 0.0;
        for variable in &all {
            if let Some(gradient) = gradients.get(variable) {
                squares += f64::from(gradient.sqr()?.sum_all()?.to_scalar::<f32>()?);
            }
        }
        let factor = (1.0 / squares.sqrt()).min(1.0);
        for variable in &all {
            if let Some(gradient) = gradients.get(variable) {
                let clipped = (gradient * factor)?;
                gradients.insert(variable, clipped);
            }
        }
        optimiser.set_learning_rate(rate(t as f64, steps as f64));
        optimiser.step(&gradients)?;
        last = loss.to_scalar::<f32>()?;
    }
    println!("{steps} steps in {:.2} s, loss {last:.4}", start.elapsed().as_secs_f64());
    Ok(())
}
