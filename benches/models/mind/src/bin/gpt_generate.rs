//! The GPT of `gpt` writes 64 tokens, each the most likely one, with a cache of keys and values.

use std::io;

use mind::{Tensor, mind};
use models::fill;
use models::gpt::Gpt;
use models::serve::{Model, serve};

mind! {
    use models::gpt::{CONTEXT, Gpt, HEADS, LAYERS, VOCABULARY, WIDTH};

    /// The number of features of each head.
    const SIZE: dim = WIDTH / HEADS;
    const EPS: float = 1e-5;

    /// The keys and values of the positions that were read so far, for each block and head.
    struct Cache {
        keys: f32[LAYERS, 1, HEADS, CONTEXT, SIZE],
        values: f32[LAYERS, 1, HEADS, CONTEXT, SIZE],
    }

    /// Reads one token at position `place`, and returns the logits of the next. It writes the keys and values of this
    /// position to the cache, and attends to those of earlier positions there.
    fn read(token: i64[1], place: i64, gpt: Gpt, cache: &mut Cache) -> f32[1, VOCABULARY] {
        let h = nn::embedding(reshape(token, [1, 1]), gpt.tokens) + gpt.places[place];
        let see = iota([CONTEXT], axis = 0) <= place;
        let (h, (keys, values)) = scan h = h for (block, keys, values) in (gpt.blocks, cache.keys, cache.values) {
            let x = nn::layer_norm(h, block.scale1, block.bias1, eps = EPS);
            let k = nn::split_heads(x @ block.wk, heads = HEADS);
            let v = nn::split_heads(x @ block.wv, heads = HEADS);
            let keys = replace(keys[0.., 0.., place ..+ 1], k);
            let values = replace(values[0.., 0.., place ..+ 1], v);
            let q = nn::split_heads(x @ block.wq, heads = HEADS);
            let h = h + nn::merge_heads(nn::attention_masked(q, keys, values, see)) @ block.wo;
            let x = nn::layer_norm(h, block.scale2, block.bias2, eps = EPS);
            (h + nn::feed_forward(x, block.w1, block.b1, block.w2, block.b2), (k, v))
        };
        cache.keys[0.., 0.., 0.., place ..+ 1] = keys;
        cache.values[0.., 0.., 0.., place ..+ 1] = values;
        nn::layer_norm(h[0.., 0], gpt.scale, gpt.bias, eps = EPS) @ gpt.head
    }

    /// The most likely token.
    fn most_likely(logits: f32[1, VOCABULARY]) -> i64[1] { argmax(logits, axis = -1) }
}

/// The number of tokens to write, which is also the length of the cache.
const WRITTEN: usize = 64;

struct Generation {
    gpt: Gpt,
    cache: Cache,
    tokens: Vec<f32>,
}

impl Model for Generation {
    const STEPS: u32 = WRITTEN as u32;

    fn call(&mut self) -> f32 {
        let mut token = Tensor::from([1]);
        self.tokens.clear();
        for place in 0..WRITTEN {
            token = most_likely(&read(&token, place as i64, &self.gpt, &mut self.cache));
            self.tokens.push(token[[0]] as f32);
        }
        token[[0]] as f32
    }

    fn values(&self) -> Vec<f32> {
        self.tokens.clone()
    }
}

fn main() -> io::Result<()> {
    serve(Generation { gpt: fill(Gpt::zeros()), cache: Cache::zeros(), tokens: Vec::new() })
}
