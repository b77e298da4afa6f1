//! A small GPT learns, from strings alone, to add numbers of three digits. Training takes about half a minute.
//!
//! ```text
//! cargo run --release --example addition
//! ```
//!
//! It reads `123+456=` and writes the digits of the sum in reverse order: `9750`. The layers come from the language's
//! standard library (`docs/library.md`). An argument sets the number of training steps.

#[cfg(test)]
#[path = "../support/along.rs"]
mod along;
#[path = "../support/canvas.rs"]
mod canvas;
mod pictures;
#[path = "../support/program.rs"]
mod program;
mod report;
mod sums;

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use mind::optim::Adam;
use mind::{Const, Tensor, Xoshiro256, mind};

use program::Outcome;
use report::Mistakes;
use sums::{ANSWER, QUESTION, Sum};

mind! {
    /// The number of symbols: ten digits, `+` and `=`.
    const SYMBOLS: dim = 12;
    /// The length of an input: the positions of a text that have a next symbol, all but the last.
    const PLACES: dim = 11;
    /// The number of digits in an answer.
    const DIGITS: dim = 4;
    /// The number of features of each position.
    const WIDTH: dim = 64;
    /// The number of attention heads in each block.
    const HEADS: dim = 4;
    /// The number of features of each head.
    const SIZE: dim = WIDTH / HEADS;
    /// The width of the hidden layer of each block's feed-forward network.
    const INNER: dim = 256;
    /// The number of transformer blocks. A loop runs them, so a deeper network is the same program.
    const LAYERS: dim = 2;

    /// The parameters of a transformer block, with the fields that `nn::transformer_block_causal` reads.
    #[derive(Clone)]
    struct Block {
        scale1: f32[WIDTH],
        bias1: f32[WIDTH],
        wq: f32[WIDTH, WIDTH],
        wk: f32[WIDTH, WIDTH],
        wv: f32[WIDTH, WIDTH],
        wo: f32[WIDTH, WIDTH],
        scale2: f32[WIDTH],
        bias2: f32[WIDTH],
        w1: f32[WIDTH, INNER],
        b1: f32[INNER],
        w2: f32[INNER, WIDTH],
        b2: f32[WIDTH],
    }

    /// Embeddings of symbols and positions, the blocks, a final layer norm and the output layer.
    #[derive(Clone)]
    struct Gpt {
        symbols: f32[SYMBOLS, WIDTH],
        places: f32[PLACES, WIDTH],
        blocks: Block[LAYERS],
        scale: f32[WIDTH],
        bias: f32[WIDTH],
        head: f32[WIDTH, SYMBOLS],
    }

    /// The keys and values of the positions that were read so far, for each block and head.
    struct Cache<N> {
        keys: f32[LAYERS, N, HEADS, PLACES, SIZE],
        values: f32[LAYERS, N, HEADS, PLACES, SIZE],
    }

    fn embed<N>(x: i64[N, PLACES], gpt: Gpt) -> f32[N, PLACES, WIDTH] {
        nn::embedding(x, gpt.symbols) + gpt.places
    }

    /// The logits of each symbol at each position of the answer.
    fn scores<N>(x: i64[N, PLACES], gpt: Gpt) -> f32[N, DIGITS, SYMBOLS] {
        let h = fold h = embed(x, gpt) for block in gpt.blocks {
            nn::transformer_block_causal(h, block, heads = HEADS)
        };
        nn::layer_norm(h[0.., -DIGITS..], gpt.scale, gpt.bias) @ gpt.head
    }

    /// Reads one symbol of each text, at position `place`, and returns the logits of the next. It writes the keys and
    /// values of this position to the cache, and attends to those of earlier positions there.
    fn read<N>(symbol: i64[N], place: i64, gpt: Gpt, cache: &mut Cache<N>) -> f32[N, SYMBOLS] {
        let h = nn::embedding(reshape(symbol, [N, 1]), gpt.symbols) + gpt.places[place];
        let see = iota([PLACES], axis = 0) <= place;
        let (h, (keys, values)) = scan h = h for (block, keys, values) in (gpt.blocks, cache.keys, cache.values) {
            let x = nn::layer_norm(h, block.scale1, block.bias1);
            let k = nn::split_heads(x @ block.wk, heads = HEADS);
            let v = nn::split_heads(x @ block.wv, heads = HEADS);
            let keys = replace(keys[0.., 0.., place ..+ 1], k);
            let values = replace(values[0.., 0.., place ..+ 1], v);
            let q = nn::split_heads(x @ block.wq, heads = HEADS);
            let h = h + nn::merge_heads(nn::attention_masked(q, keys, values, see)) @ block.wo;
            let x = nn::layer_norm(h, block.scale2, block.bias2);
            (h + nn::feed_forward(x, block.w1, block.b1, block.w2, block.b2), (k, v))
        };
        cache.keys[0.., 0.., 0.., place ..+ 1] = keys;
        cache.values[0.., 0.., 0.., place ..+ 1] = values;
        nn::layer_norm(h[0.., 0], gpt.scale, gpt.bias) @ gpt.head
    }

    /// The most likely symbol.
    fn most_likely<N>(logits: f32[N, SYMBOLS]) -> i64[N] { argmax(logits, axis = -1) }

    /// The mean cross-entropy against the answers' symbols `y`, and the share of answers with all symbols right.
    #[grad(gpt)]
    fn loss<N>(x: i64[N, PLACES], y: i64[N, DIGITS], gpt: Gpt) -> (f32, f32) {
        let z = scores(x, gpt);
        let right = all(argmax(z, axis = -1) == y, axis = -1);
        (nn::cross_entropy(z, y), mean(f32(right)))
    }

    /// One of `steps` steps of AdamW, in place: forward, backward, clipping and update are one program.
    fn step<N>(
        x: i64[N, PLACES], y: i64[N, DIGITS], gpt: &mut Gpt, state: &mut optim::Adam<Gpt>, steps: f32
    ) -> (f32, f32) {
        let ((l, right), g) = value_and_grad(loss, wrt = gpt)(x, y, gpt);
        let rate = optim::warmup_cosine(f32(state.steps + 1), 3e-3, 50.0, steps);
        let (new, next) = optim::adamw_step(gpt, optim::clip_by_global_norm(g, 1.0), state, rate, b2 = 0.98);
        gpt = new;
        state = next;
        (l, right)
    }

    /// The attention weights of a block: `[n, head, p, q]` is the weight that position `p` gives to position `q`.
    fn looks<N>(h: f32[N, PLACES, WIDTH], block: Block) -> f32[N, HEADS, PLACES, PLACES] {
        let x = nn::layer_norm(h, block.scale1, block.bias1);
        let (q, k) = (nn::split_heads(x @ block.wq, heads = HEADS), nn::split_heads(x @ block.wk, heads = HEADS));
        let see = iota([PLACES, PLACES], axis = 1) <= iota([PLACES, PLACES], axis = 0);
        nn::softmax(where(see, q @ k.mT / sqrt(f32(WIDTH / HEADS)), -inf))
    }

    /// The attention weights of each block for the input `x`.
    fn attention<N>(x: i64[N, PLACES], gpt: Gpt) -> f32[LAYERS, N, HEADS, PLACES, PLACES] {
        let (_, weights) = scan h = embed(x, gpt) for block in gpt.blocks {
            (nn::transformer_block_causal(h, block, heads = HEADS), looks(h, block))
        };
        weights
    }
}

const PICTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/target/addition/attention.png");
const SEED: u64 = 1;
const STEPS: usize = 800;
const BATCH: usize = 256;
/// The number of unseen sums in the test, which runs every `EVERY` steps.
const ASKED: usize = 5000;
const EVERY: usize = 200;

fn main() -> ExitCode {
    program::run(run)
}

fn run() -> Outcome {
    let steps = std::env::args().nth(1).map_or(Ok(STEPS), |steps| steps.parse())?;
    let mut random = Xoshiro256::new(SEED);
    let unseen: Vec<_> = (0..ASKED).map(|_| Sum::draw(&mut random, true)).collect();
    let mut gpt = Gpt::new(&mut random);
    println!("{steps} steps of {BATCH} sums, {ASKED} unseen ones to be asked");

    let start = Instant::now();
    let mistakes = train(&mut gpt, steps, &unseen, &mut random)?;
    println!("{steps} steps in {:.1} s\n\n{mistakes}", start.elapsed().as_secs_f64());
    println!("test accuracy: {:.2} %", mistakes.accuracy());
    println!("{} of {} unseen sums exactly right", mistakes.right(), mistakes.total());
    for (sum, said) in wrong(&gpt, &unseen).take(5) {
        println!("{}{}, not {}", sum.question(), sums::reversed(&said), sum.0 + sum.1);
    }

    let shown = Sum(657, 368);
    let text = (shown.question() + &shown.answer())[..QUESTION + ANSWER - 1].to_owned();
    let weights = attention(&batch(&[&text], 0), &gpt);
    let path = Path::new(PICTURE);
    pictures::attention(path, &text, LAYERS, weights.as_slice())?;
    println!("\nattention: {}", program::shown(path));
    Ok(())
}

impl Gpt {
    fn new(random: &mut Xoshiro256) -> Self {
        let mut gpt = Self::glorot_uniform(random);
        gpt.blocks.scale1 = Tensor::full(1.0);
        gpt.blocks.scale2 = Tensor::full(1.0);
        gpt.scale = Tensor::full(1.0);
        gpt
    }
}

fn train(gpt: &mut Gpt, steps: usize, unseen: &[Sum], random: &mut Xoshiro256) -> Outcome<Mistakes> {
    let bar = program::progress("learning", "step", steps)?;
    let mut mistakes = Mistakes::new(unseen);
    let mut state = Adam::zeros_like(gpt);
    for number in 1..=steps {
        let sums: Vec<_> = (0..BATCH).map(|_| Sum::draw(random, false)).collect();
        let (x, y) = questions(&sums);
        let (loss, right) = step(&x, &y, gpt, &mut state, steps as f32);
        bar.set_message(format!("loss {loss:.4}, {:.0} % right", 100.0 * right));
        bar.inc(1);
        if number % EVERY == 0 {
            mistakes.count(number, wrong(gpt, unseen).map(|(sum, _)| sum));
        }
    }
    bar.finish();
    Ok(mistakes)
}

/// Texts as tokens, one per row, without their last symbol.
type Texts = Tensor![i64; ?, 11];
/// The tokens of the answers, one answer per row.
type Answers = Tensor![i64; ?, 4];

/// The tokens of each text from position `from` on, one text per row. Short texts are padded with 0.
fn batch<const N: usize>(texts: &[impl AsRef<str>], from: usize) -> Tensor<i64, (usize, Const<N>)> {
    let rows: Vec<Vec<_>> =
        texts.iter().map(|text| sums::tokens(text.as_ref()).skip(from).collect()).collect();
    Tensor::from_fn_with((texts.len(), Const), |[row, place]| rows[row].get(place).copied().unwrap_or(0))
}

/// The inputs and targets of training: texts without their last symbol, and the answers.
fn questions(sums: &[Sum]) -> (Texts, Answers) {
    let texts: Vec<_> = sums.iter().map(|sum| sum.question() + &sum.answer()).collect();
    (batch(&texts, 0), batch(&texts, QUESTION))
}

/// The sums that the network answers wrong, with its answers.
fn wrong(gpt: &Gpt, sums: &[Sum]) -> impl Iterator<Item = (Sum, String)> {
    let said = answers(gpt, sums);
    let pairs: Vec<_> = sums.iter().copied().zip(said).filter(|(sum, said)| sum.answer() != *said).collect();
    pairs.into_iter()
}

/// The network's answers, generated one symbol at a time. Each symbol is read once, into the cache.
fn answers(gpt: &Gpt, sums: &[Sum]) -> Vec<String> {
    let mut answers = Vec::with_capacity(sums.len());
    for sums in sums.chunks(BATCH) {
        let mut texts: Vec<_> = sums.iter().map(|sum| sum.question()).collect();
        let mut cache = Cache::empty(sums.len());
        for place in 0..QUESTION + ANSWER - 1 {
            let last = symbols_at(&texts, place);
            let next = most_likely(&read(&last, place as i64, gpt, &mut cache));
            if place + 1 >= QUESTION {
                for (text, symbol) in texts.iter_mut().zip(next.as_slice()) {
                    text.push(sums::symbol(*symbol));
                }
            }
        }
        answers.extend(texts.into_iter().map(|text| text[QUESTION..].to_owned()));
    }
    answers
}

/// The token of each text at a position.
fn symbols_at(texts: &[String], place: usize) -> Tensor![i64; ?] {
    let tokens: Vec<_> = texts.iter().filter_map(|text| sums::tokens(text).nth(place)).collect();
    Tensor::from(tokens)
}

impl Cache<usize> {
    /// A cache for `texts` texts, of which nothing was read.
    fn empty(texts: usize) -> Self {
        let zeros = || Tensor::zeros_with((Const, texts, Const, Const, Const));
        Self { keys: zeros(), values: zeros() }
    }
}

#[cfg(test)]
mod tests {
    use mind::gradcheck_some;

    use super::*;

    fn some(count: usize) -> (Gpt, Vec<Sum>) {
        let mut random = Xoshiro256::new(7);
        let gpt = Gpt::new(&mut random);
        (gpt, (0..count).map(|_| Sum::draw(&mut random, false)).collect())
    }

    #[test]
    fn the_gradient_is_that_of_the_loss() {
        let (mut gpt, sums) = some(2);
        let (x, y) = questions(&sums);
        let (_, gradient) = loss_grad(&x, &y, &gpt);
        // In f32 the loss has few digits for single elements, so this detects large errors only.
        gradcheck_some(&mut gpt, &gradient, 3, |gpt| loss(&x, &y, gpt).0).expect("they are the same");
        // The step is short enough for the quotient and long enough for the digits of the loss.
        along::check(&mut gpt, &gradient, 1e-2, 1e-3, |gpt| loss(&x, &y, gpt).0);
    }

    #[test]
    fn a_few_steps_lower_the_loss_and_the_same_seed_gives_the_same_weights() {
        let learn = || {
            let (mut gpt, sums) = some(4);
            let mut state = Adam::zeros_like(&gpt);
            let (x, y) = questions(&sums);
            let losses: Vec<_> = (0..12).map(|_| step(&x, &y, &mut gpt, &mut state, 40.0).0).collect();
            (gpt, state, losses)
        };
        let (gpt, state, losses) = learn();
        assert_eq!(state.steps, 12);
        assert!(losses[11] < 0.7 * losses[0], "{losses:?}");
        let (again, remembered, same) = learn();
        assert_eq!(
            (losses, gpt.head, state.square.blocks.w1),
            (same, again.head, remembered.square.blocks.w1)
        );
    }

    #[test]
    fn what_the_cache_gives_is_what_the_whole_text_gives() {
        let (gpt, sums) = some(3);
        let texts: Vec<_> = sums.iter().map(|sum| sum.question() + &sum.answer()).collect();
        let whole = scores(&batch(&texts, 0), &gpt);
        let mut cache = Cache::empty(texts.len());
        for place in 0..QUESTION + ANSWER - 1 {
            let logits = read(&symbols_at(&texts, place), place as i64, &gpt, &mut cache);
            if let Some(digit) = (place + 1).checked_sub(QUESTION) {
                for (row, symbol) in (0..texts.len()).flat_map(|row| (0..12).map(move |symbol| (row, symbol)))
                {
                    let (one, all) = (logits[[row, symbol]], whole[[row, digit, symbol]]);
                    assert!(
                        (one - all).abs() < 1e-5,
                        "row {row}, digit {digit}, symbol {symbol}: {one} {all}"
                    );
                }
            }
        }
    }

    #[test]
    fn what_is_said_is_what_fits_best_behind_what_was_said() {
        let (gpt, sums) = some(3);
        for (sum, said) in sums.iter().zip(answers(&gpt, &sums)) {
            let text = [sum.question() + &said];
            let scores = scores(&batch(&text, 0), &gpt);
            let answer: Answers = batch(&text, QUESTION);
            for (digit, symbol) in answer.as_slice().iter().enumerate() {
                let best = scores[[0, digit, *symbol as usize]];
                assert!((0..12).all(|other| scores[[0, digit, other]] <= best + 1e-5));
            }
        }
    }

    #[test]
    fn each_place_looks_at_itself_and_those_before_it() {
        let (gpt, sums) = some(2);
        for (row, looks) in attention(&questions(&sums).0, &gpt).as_slice().chunks(PLACES).enumerate() {
            let place = row % PLACES;
            assert!((looks.iter().sum::<f32>() - 1.0).abs() < 1e-5);
            assert!(looks[..=place].iter().all(|weight| *weight > 0.0), "{looks:?}");
            assert!(looks[place + 1..].iter().all(|weight| *weight == 0.0), "{looks:?}");
        }
    }
}
