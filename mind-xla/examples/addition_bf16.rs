//! Trains the network of the example `addition` on XLA twice, with products in `f32` and in bfloat16 by
//! `Program::compute`, and compares the losses.
//!
//! ```text
//! MIND_PJRT_PLUGIN=xla_cpu_pjrt.so cargo run --release -p mind-xla --example addition_bf16
//! ```
//!
//! The trainings of a seed start from the same parameters and take the same sums. A third one, in `f32`, starts from
//! parameters that were rounded to bfloat16 once, to tell how much one such error changes a loss.
//!
//! A column tells how many steps bfloat16 is behind `f32`: the loss of bfloat16 after 200 steps is that of `f32` after
//! fewer or more steps. The example fails if the mean losses of 200 steps differ by more than 1 %, or do not differ at
//! all. It takes three minutes.

#[path = "../../examples/addition/sums.rs"]
#[allow(dead_code, reason = "the example `addition` uses all of it")]
mod sums;

use std::error::Error;
use std::rc::Rc;

use mind::optim::Adam;
use mind::{Const, ElementsMut, Parameters, Tensor, Xoshiro256, mind};
use mind_xla::{Client, Compute, Plugin, Program};

use sums::{QUESTION, Sum};

mind! {
    const SYMBOLS: dim = 12;
    const PLACES: dim = 11;
    const DIGITS: dim = 4;
    const WIDTH: dim = 64;
    const INNER: dim = 256;

    #[derive(Clone)]
    struct Block {
        scale1: f32[WIDTH], bias1: f32[WIDTH],
        wq: f32[WIDTH, WIDTH], wk: f32[WIDTH, WIDTH], wv: f32[WIDTH, WIDTH], wo: f32[WIDTH, WIDTH],
        scale2: f32[WIDTH], bias2: f32[WIDTH],
        w1: f32[WIDTH, INNER], b1: f32[INNER], w2: f32[INNER, WIDTH], b2: f32[WIDTH],
    }

    #[derive(Clone)]
    struct Gpt {
        symbols: f32[SYMBOLS, WIDTH], places: f32[PLACES, WIDTH], blocks: Block[2],
        scale: f32[WIDTH], bias: f32[WIDTH], head: f32[WIDTH, SYMBOLS],
    }

    fn loss<N>(x: i64[N, PLACES], y: i64[N, DIGITS], gpt: Gpt) -> f32 {
        let h = fold h = nn::embedding(x, gpt.symbols) + gpt.places for block in gpt.blocks {
            nn::transformer_block_causal(h, block, heads = 4)
        };
        nn::cross_entropy(nn::layer_norm(h[0.., -DIGITS..], gpt.scale, gpt.bias) @ gpt.head, y)
    }

    fn step<N>(x: i64[N, PLACES], y: i64[N, DIGITS], gpt: &mut Gpt, state: &mut optim::Adam<Gpt>) -> f32 {
        let (l, g) = value_and_grad(loss, wrt = gpt)(x, y, gpt);
        let rate = optim::warmup_cosine(f32(state.steps + 1), 3e-3, 50.0, 800.0);
        let (new, next) = optim::adamw_step(gpt, optim::clip_by_global_norm(g, 1.0), state, rate, b2 = 0.98);
        gpt = new;
        state = next;
        l
    }
}

const STEPS: usize = 200;
/// The further steps in which `f32` may reach the loss of bfloat16.
const MORE_STEPS: usize = 20;
/// The numbers of steps after which the networks are compared, beside those around [`STEPS`].
const EARLY: usize = 100;
const BATCH: usize = 256;
/// The number of unseen sums on which the networks are compared.
const UNSEEN: usize = 4096;

/// A training.
#[derive(Clone, Copy, PartialEq)]
enum Training {
    F32,
    /// In `f32`, from parameters that were rounded to bfloat16 once.
    RoundedOnce,
    Bf16,
}

/// The losses of a training.
struct Losses {
    /// The mean of the losses of the first 200 steps.
    mean: f32,
    /// The loss on unseen sums in `f32`, after 100 steps.
    early: f32,
    /// The losses on unseen sums in `f32`, after 180 to 220 steps.
    late: Vec<f32>,
}

impl Losses {
    /// The loss after 200 steps.
    fn last(&self) -> f32 {
        self.late[MORE_STEPS]
    }

    /// The number of steps after 200 at which the loss is `loss`. It is below 0 for a loss that was there before.
    fn steps_to(&self, loss: f32) -> Option<f32> {
        let segments = self.late.windows(2).enumerate();
        let mut crossed = segments.filter(|(_, pair)| pair[0] >= loss && loss >= pair[1]);
        let (position, pair) = crossed.next()?;
        Some(
            position as f32 + (pair[0] - loss) / (pair[0] - pair[1]).max(f32::MIN_POSITIVE)
                - MORE_STEPS as f32,
        )
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let client = Plugin::from_env()?.client(&[])?;
    println!("| seed | loss | `f32` | rounded once | bfloat16 | steps behind |");
    println!("| --- | --- | --- | --- | --- | --- |");
    let mut largest = 0.0_f32;
    for seed in 1..=3 {
        let trainings = [Training::F32, Training::RoundedOnce, Training::Bf16];
        let [exact, once, bf16] = trainings.map(|training| train(&client, seed, training));
        let (exact, once, bf16) = (exact?, once?, bf16?);
        let row = |label: &str, loss: fn(&Losses) -> f32, steps: &str| {
            let [exact, once, bf16] = [&exact, &once, &bf16].map(loss);
            let [of_once, of_bf16] = [once, bf16].map(|loss| (loss - exact) / exact);
            let percent = 100.0;
            println!(
                "| {seed} | {label} | {exact:.4} | {:+.2} % | {:+.2} % | {steps} |",
                percent * of_once,
                percent * of_bf16
            );
            of_bf16.abs()
        };
        row(&format!("after {EARLY} steps"), |losses| losses.early, "");
        let steps = exact.steps_to(bf16.last());
        let steps = steps.map_or_else(|| format!("over {MORE_STEPS}"), |steps| format!("{:+.1}", -steps));
        row(&format!("after {STEPS} steps"), Losses::last, &steps);
        largest = largest.max(row(&format!("mean of {STEPS} steps"), |losses| losses.mean, ""));
    }
    if largest == 0.0 || largest > 0.01 {
        return Err(format!("the mean losses differ by {largest}, needed at most 0.01").into());
    }
    Ok(())
}

fn train(client: &Client, seed: u64, training: Training) -> Result<Losses, mind_xla::Error> {
    let mut random = Xoshiro256::new(seed);
    let unseen: Vec<_> = (0..UNSEEN).map(|_| Sum::draw(&mut random, true)).collect();
    let mut gpt = Gpt::glorot_uniform(&mut random);
    gpt.blocks.scale1 = Tensor::full(1.0);
    gpt.blocks.scale2 = Tensor::full(1.0);
    gpt.scale = Tensor::full(1.0);
    if training == Training::RoundedOnce {
        gpt.visit_mut(&mut |part| {
            if let ElementsMut::F32(elements) = part.elements {
                elements.iter_mut().for_each(|element| *element = bfloat16(*element));
            }
        });
    }
    let compute = if training == Training::Bf16 { Compute::Bf16 } else { Compute::F32 };
    let program =
        |mic, updates, rows| Program::from_mic(mic, updates).map(|program| program.extent("N", rows));
    let steps = client.compile(&program(step::MIC, step::UPDATES, BATCH)?.compute(compute))?;
    let judge = client.compile(&program(loss::MIC, loss::UPDATES, UNSEEN)?)?;
    let mut state = steps.load("state", &Adam::zeros_like(&gpt))?;
    let mut gpt = steps.load("gpt", &gpt)?;
    let mut unseen = judge.loader(["x", "y"], [batch(&unseen)]);
    let [x, y] = unseen.next().expect("it has one batch")?;
    let batches = (0..STEPS + MORE_STEPS).map(|_| {
        let sums: Vec<_> = (0..BATCH).map(|_| Sum::draw(&mut random, false)).collect();
        batch(&sums)
    });
    let (mut losses, mut early, mut late) = (Vec::new(), 0.0, Vec::new());
    for (number, batch) in steps.loader(["x", "y"], batches).enumerate() {
        let [questions, answers] = batch?;
        let call = steps.call().lend("x", &questions).lend("y", &answers);
        losses.extend(call.update("gpt", &mut gpt).update("state", &mut state).start()?);
        let taken = number + 1;
        if taken == EARLY || taken >= STEPS - MORE_STEPS {
            let results = judge.call().lend("x", &x).lend("y", &y).lend("gpt", &gpt).run()?;
            let loss: f32 = results[0].number()?;
            if taken == EARLY { early = loss } else { late.push(loss) }
        }
    }
    let losses = losses[..STEPS].iter().map(|loss| loss.number::<f32>()).collect::<Result<Vec<_>, _>>()?;
    Ok(Losses { mean: losses.iter().sum::<f32>() / STEPS as f32, early, late })
}

/// The nearest number of bfloat16, of two equally near ones that with an even last bit.
fn bfloat16(number: f32) -> f32 {
    let bits = number.to_bits();
    f32::from_bits((bits + 0x7fff + (bits >> 16 & 1)) & 0xffff_0000)
}

/// Texts without their last symbol, and the answers.
fn batch(sums: &[Sum]) -> [Rc<dyn Parameters>; 2] {
    let tokens = |sum: &Sum| sums::tokens(&(sum.question() + &sum.answer())).collect();
    let texts: Vec<Vec<i64>> = sums.iter().map(tokens).collect();
    let x: Tensor![i64; ?, 11] = Tensor::from_fn_with((sums.len(), Const), |[row, place]| texts[row][place]);
    let y: Tensor![i64; ?, 4] =
        Tensor::from_fn_with((sums.len(), Const), |[row, place]| texts[row][QUESTION + place]);
    [Rc::new(x), Rc::new(y)]
}
