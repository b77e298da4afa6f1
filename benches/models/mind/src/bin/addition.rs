//! A training step of the example `addition`: a GPT with two blocks learns to add, from 256 sums per step.

use std::io;

use mind::optim::Adam;
use mind::{Const, Tensor, mind};
use models::inputs::integers;
use models::serve::{Model, serve};
use models::{fill, norm};

mind! {
    use models::transformer::Block;

    const SYMBOLS: dim = 12;
    const PLACES: dim = 11;
    const DIGITS: dim = 4;
    const WIDTH: dim = 64;
    const HEADS: dim = 4;
    const INNER: dim = 256;
    const LAYERS: dim = 2;
    const RATE: float = 3e-3;

    #[derive(Clone)]
    struct Gpt {
        symbols: f32[SYMBOLS, WIDTH],
        places: f32[PLACES, WIDTH],
        blocks: Block<WIDTH, INNER>[LAYERS],
        scale: f32[WIDTH],
        bias: f32[WIDTH],
        head: f32[WIDTH, SYMBOLS],
    }

    /// The logits of each symbol at each position of the answer.
    fn scores<N>(x: i64[N, PLACES], gpt: Gpt) -> f32[N, DIGITS, SYMBOLS] {
        let h = fold h = nn::embedding(x, gpt.symbols) + gpt.places for block in gpt.blocks {
            nn::transformer_block_causal(h, block, heads = HEADS)
        };
        nn::layer_norm(h[0.., -DIGITS..], gpt.scale, gpt.bias) @ gpt.head
    }

    fn loss<N>(x: i64[N, PLACES], y: i64[N, DIGITS], gpt: Gpt) -> f32 { nn::cross_entropy(scores(x, gpt), y) }

    /// One of `steps` steps of AdamW, in place; returns the loss before it.
    fn step<N>(
        x: i64[N, PLACES], y: i64[N, DIGITS], gpt: &mut Gpt, state: &mut optim::Adam<Gpt>, steps: f32
    ) -> f32 {
        let (l, g) = value_and_grad(loss, wrt = gpt)(x, y, gpt);
        let rate = optim::warmup_cosine(f32(state.steps + 1), RATE, 50.0, steps);
        let (new, next) = optim::adamw_step(gpt, optim::clip_by_global_norm(g, 1.0), state, rate, b2 = 0.98);
        gpt = new;
        state = next;
        l
    }
}

const SUMS: usize = 256;
/// The number of batches, which are used in turn.
const BATCHES: u32 = 16;
/// The number of steps over which the rate decays.
const STEPS: f32 = 800.0;

type Texts = Tensor![i64; ?, 11];
type Answers = Tensor![i64; ?, 4];

struct Training {
    batches: Vec<(Texts, Answers)>,
    gpt: Gpt,
    state: Adam<Gpt>,
    number: usize,
}

impl Training {
    fn new() -> Self {
        let gpt = fill(Gpt::zeros());
        Self { batches: (0..BATCHES).map(batch).collect(), state: Adam::zeros_like(&gpt), gpt, number: 0 }
    }
}

/// Texts such as `123+456=975`, without the last symbol, and the answers, whose digits are in reverse order.
fn batch(number: u32) -> (Texts, Answers) {
    let (a, b) = (integers(3000 + number, SUMS, 1000), integers(4000 + number, SUMS, 1000));
    let digit = |n: u32, power: u32| i64::from(n / 10_u32.pow(power) % 10);
    let x = Tensor::from_fn_with((SUMS, Const), |[text, place]| match place {
        0..3 => digit(a[text], 2 - place as u32),
        3 => 10,
        4..7 => digit(b[text], 6 - place as u32),
        7 => 11,
        _ => digit(a[text] + b[text], place as u32 - 8),
    });
    (x, Tensor::from_fn_with((SUMS, Const), |[text, power]| digit(a[text] + b[text], power as u32)))
}

impl Model for Training {
    const STEPS: u32 = 1;

    fn call(&mut self) -> f32 {
        let (x, y) = &self.batches[self.number % self.batches.len()];
        self.number += 1;
        step(x, y, &mut self.gpt, &mut self.state, STEPS)
    }

    fn values(&self) -> Vec<f32> {
        vec![norm(&self.gpt)]
    }
}

fn main() -> io::Result<()> {
    serve(Training::new())
}
