//! Trains the network of the example `addition` on XLA twice, with products in `f32` and in bfloat16 by
//! `Program::compute`, and compares the losses.
//!
//! ```text
//! MIND_PJRT_PLUGIN=xla_cpu_pjrt.so cargo run --release -p mind-xla --example addition_bf16
//! ```
//!
//! Both trainings of a seed start from the same parameters and take the same sums. The example fails if the mean losses of
//! 200 steps differ by more than 1 %, or do not differ at all. It takes two minutes.

#[path = "../../examples/addition/sums.rs"]
#[allow(dead_code, reason = "the example `addition` uses all of it")]
mod sums;

use std::error::Error;
use std::rc::Rc;

use mind::optim::Adam;
use mind::{Const, Parameters, Tensor, Xoshiro256, mind};
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
/// The numbers of steps after which the networks are compared.
const JUDGED: [usize; 2] = [100, 200];
const BATCH: usize = 256;
/// The number of unseen sums on which both networks are compared.
const UNSEEN: usize = 4096;

/// The losses of a training.
struct Losses {
    /// The mean of the losses of all steps.
    mean: f32,
    /// The losses on unseen sums in `f32`, after each of `JUDGED`.
    unseen: [f32; JUDGED.len()],
}

fn main() -> Result<(), Box<dyn Error>> {
    let client = Plugin::from_env()?.client(&[])?;
    println!("| seed | loss | `f32` | bfloat16 | difference |\n| --- | --- | --- | --- | --- |");
    let mut largest = 0.0_f32;
    for seed in 1..=3 {
        let [exact, rounded] = [Compute::F32, Compute::Bf16].map(|compute| train(&client, seed, compute));
        let (exact, rounded) = (exact?, rounded?);
        let row = |label: &str, exact: f32, rounded: f32| {
            let difference = (rounded - exact) / exact;
            println!("| {seed} | {label} | {exact:.4} | {rounded:.4} | {:+.2} % |", 100.0 * difference);
            difference.abs()
        };
        for (steps, (exact, rounded)) in JUDGED.iter().zip(exact.unseen.iter().zip(rounded.unseen)) {
            row(&format!("after {steps} steps"), *exact, rounded);
        }
        largest = largest.max(row(&format!("mean of {STEPS} steps"), exact.mean, rounded.mean));
    }
    if largest == 0.0 || largest > 0.01 {
        return Err(format!("the mean losses differ by {largest}, needed at most 0.01").into());
    }
    Ok(())
}

fn train(client: &Client, seed: u64, compute: Compute) -> Result<Losses, mind_xla::Error> {
    let mut random = Xoshiro256::new(seed);
    let unseen: Vec<_> = (0..UNSEEN).map(|_| Sum::draw(&mut random, true)).collect();
    let mut gpt = Gpt::glorot_uniform(&mut random);
    gpt.blocks.scale1 = Tensor::full(1.0);
    gpt.blocks.scale2 = Tensor::full(1.0);
    gpt.scale = Tensor::full(1.0);
    let program =
        |mic, updates, rows| Program::from_mic(mic, updates).map(|program| program.extent("N", rows));
    let steps = client.compile(&program(step::MIC, step::UPDATES, BATCH)?.compute(compute))?;
    let judge = client.compile(&program(loss::MIC, loss::UPDATES, UNSEEN)?)?;
    let mut state = steps.load("state", &Adam::zeros_like(&gpt))?;
    let mut gpt = steps.load("gpt", &gpt)?;
    let mut unseen = judge.loader(["x", "y"], [batch(&unseen)]);
    let [x, y] = unseen.next().expect("it has one batch")?;
    let batches = (0..STEPS).map(|_| {
        let sums: Vec<_> = (0..BATCH).map(|_| Sum::draw(&mut random, false)).collect();
        batch(&sums)
    });
    let (mut losses, mut of_unseen) = (Vec::new(), [0.0; JUDGED.len()]);
    for (number, batch) in steps.loader(["x", "y"], batches).enumerate() {
        let [questions, answers] = batch?;
        let call = steps.call().lend("x", &questions).lend("y", &answers);
        losses.extend(call.update("gpt", &mut gpt).update("state", &mut state).start()?);
        if let Some(position) = JUDGED.iter().position(|steps| *steps == number + 1) {
            let results = judge.call().lend("x", &x).lend("y", &y).lend("gpt", &gpt).run()?;
            of_unseen[position] = results[0].number()?;
        }
    }
    let losses = losses.iter().map(|loss| loss.number::<f32>()).collect::<Result<Vec<_>, _>>()?;
    Ok(Losses { mean: losses.iter().sum::<f32>() / STEPS as f32, unseen: of_unseen })
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
