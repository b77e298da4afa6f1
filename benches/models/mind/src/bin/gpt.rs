//! A training step of a GPT with six blocks: forward, backward and AdamW, for 8 texts of 64 tokens.

use std::io;

use mind::optim::Adam;
use mind::{Tensor, mind};
use models::gpt::Gpt;
use models::inputs::integers;
use models::serve::{Model, serve};
use models::{fill, norm, tokens};

mind! {
    use models::gpt::{CONTEXT, Gpt, HEADS, VOCABULARY};

    const RATE: float = 3e-4;

    /// The logits of the next token at each position.
    fn logits<N>(x: i64[N, CONTEXT], gpt: Gpt) -> f32[N, CONTEXT, VOCABULARY] {
        let h = fold h = nn::embedding(x, gpt.tokens) + gpt.places for block in gpt.blocks {
            nn::transformer_block_causal(h, block, heads = HEADS)
        };
        nn::layer_norm(h, gpt.scale, gpt.bias) @ gpt.head
    }

    fn loss<N>(x: i64[N, CONTEXT], y: i64[N, CONTEXT], gpt: Gpt) -> f32 { nn::cross_entropy(logits(x, gpt), y) }

    /// One step of AdamW, in place; returns the loss before it.
    fn step<N>(x: i64[N, CONTEXT], y: i64[N, CONTEXT], gpt: &mut Gpt, state: &mut optim::Adam<Gpt>) -> f32 {
        let (l, g) = value_and_grad(loss, wrt = gpt)(x, y, gpt);
        let (new, next) = optim::adamw_step(gpt, g, state, RATE);
        gpt = new;
        state = next;
        l
    }
}

const TEXTS: usize = 8;
/// The number of batches, which are used in turn.
const BATCHES: u32 = 16;

type Tokens = Tensor![i64; ?, 64];

struct Training {
    batches: Vec<(Tokens, Tokens)>,
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

/// The texts of a batch without their last token, and without their first.
fn batch(number: u32) -> (Tokens, Tokens) {
    let texts = tokens::<65>(&integers(1000 + number, TEXTS * 65, 65));
    let from =
        |first: usize| Tensor::from_fn_with((TEXTS, mind::Const), |[text, at]| texts[[text, first + at]]);
    (from(0), from(1))
}

impl Model for Training {
    const STEPS: u32 = 1;

    fn call(&mut self) -> f32 {
        let (x, y) = &self.batches[self.number % self.batches.len()];
        self.number += 1;
        step(x, y, &mut self.gpt, &mut self.state)
    }

    fn values(&self) -> Vec<f32> {
        vec![norm(&self.gpt)]
    }
}

fn main() -> io::Result<()> {
    serve(Training::new())
}
