//! Learns to read handwritten digits on several processes: the program of the example `digits`, under MPI.
//!
//! The program uses `tanh` instead of the `relu` of `digits`. Losses then agree to 6 digits for any number of ranks,
//! however long the run is. Sums are rounded in an order that depends on the number of ranks. With `relu`, a rounding
//! error can change a derivative from 0 to 1.
//!
//! ```text
//! cargo build --release --example digits_mpi
//! MIND_NUM_THREADS=1 mpirun -n 2 target/release/examples/digits_mpi [--epochs 100] [--batch 32] [--checkpoint FILE] \
//!     [--losses FILE]
//! ```
//!
//! With `--checkpoint`, the program saves a checkpoint after each epoch, and a killed run resumes from it. With
//! `--losses`, it writes the mean loss of each epoch to a file, one per line.

#[path = "../../examples/digits/data.rs"]
mod data;
#[path = "../../examples/support/digits.rs"]
#[expect(dead_code, reason = "the path to the file is that from another package")]
mod digits;
#[path = "../../examples/digits/network.rs"]
#[allow(dead_code, reason = "the program uses the struct only")]
mod network;
#[path = "../../examples/support/program.rs"]
mod program;

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use mind::{Const, Rng, Tensor, mind};
use mind_mpi::{DataParallel, World};

use data::Random;
use digits::{CLASSES, Digit, PIXELS};
use network::Network;
use program::Outcome;

mind! {
    use crate::network::Network;

    /// The score of each digit for each picture of `x`.
    fn scores<N>(x: f32[N, 64], net: Network) -> f32[N, 10] {
        nn::dense(tanh(nn::dense(x, net.w1, net.b1)), net.w2, net.b2)
    }

    /// Mean cross-entropy of the softmax of `scores` against the digits `y`.
    fn loss<N>(x: f32[N, 64], y: i64[N], net: Network) -> f32 {
        nn::cross_entropy(scores(x, net), y)
    }

    /// The loss of a share of the batch and its gradient.
    fn gradient<N>(x: f32[N, 64], y: i64[N], net: Network) -> (f32, Network) {
        value_and_grad(loss, wrt = net)(x, y, net)
    }

    /// One step of gradient descent, in place.
    fn descend(net: &mut Network, gradient: Network, rate: f32) {
        net = optim::sgd(net, gradient, rate);
    }
}

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/data/digits.csv.gz");
const SEED: u64 = 1;
/// The learning rate of the first epoch, and its factor from one epoch to the next.
const RATE: (f32, f32) = (0.4, 0.97);

fn main() -> ExitCode {
    mind_mpi::run(run)
}

/// The options of the command line.
struct Options {
    epochs: usize,
    batch: usize,
    checkpoint: Option<PathBuf>,
    losses: Option<PathBuf>,
}

impl Options {
    fn read() -> Outcome<Self> {
        let mut options = Self { epochs: 100, batch: 32, checkpoint: None, losses: None };
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            let value = words.next().ok_or_else(|| format!("`{word}` needs a value"))?;
            let number =
                || value.parse::<NonZero<usize>>().map_err(|error| format!("`{word} {value}`: {error}"));
            match &*word {
                "--epochs" => options.epochs = number()?.get(),
                "--batch" => options.batch = number()?.get(),
                "--checkpoint" => options.checkpoint = Some(value.into()),
                "--losses" => options.losses = Some(value.into()),
                _ => return Err(format!("unknown option `{word}`").into()),
            }
        }
        Ok(options)
    }
}

fn run(world: &mut World) -> Outcome {
    let options = Options::read()?;
    let mut random = Random(SEED);
    let (training, test) = data::split(digits::load(Path::new(FILE))?, &mut random);
    let mut net = Network::he_uniform(&mut random);
    let mut team = DataParallel::new(world, &format!("digits_mpi, batches of {}", options.batch), &mut net)?;
    let speaks = team.rank() == 0;
    let first = match &options.checkpoint {
        Some(path) => team.resume(path, &mut net)?.unwrap_or(0),
        None => 0,
    };
    if speaks {
        println!(
            "{} ranks, {} digits to learn from, {} to be tested on",
            team.ranks(),
            training.len(),
            test.len()
        );
        if first > 0 {
            println!("resuming after epoch {first}");
        }
    }

    let start = Instant::now();
    let mut losses = match &options.losses {
        Some(path) if speaks => Some(losses_from(path, first)?),
        _ => None,
    };
    let bar = if speaks { Some(program::progress("learning", "epoch", options.epochs)?) } else { None };
    for epoch in first..options.epochs as u64 {
        let rate = RATE.0 * RATE.1.powi(i32::try_from(epoch)?);
        let mean = learn(&mut team, &mut net, &training, options.batch, epoch, rate)?;
        if let Some(file) = &mut losses {
            writeln!(file, "{} {mean:.9e}", epoch + 1)?;
        }
        match &options.checkpoint {
            Some(path) => team.save(path, epoch + 1, &net)?,
            None => team.agree(&net)?,
        }
        if let Some(bar) = &bar {
            bar.set_position(epoch + 1);
            bar.set_message(format!("loss {mean:.4}"));
        }
    }
    if let Some(bar) = bar {
        bar.finish();
        let (times, taken) = (team.times(), start.elapsed().as_secs_f64());
        println!(
            "{} steps in {taken:.2} s: {:.0} steps/s, {:.1} % of the time in the all-reduce",
            times.steps,
            times.steps as f64 / taken,
            100.0 * times.reducing.as_secs_f64() / taken
        );
        println!("test accuracy: {:.1} %", 100.0 * accuracy(&net, &test));
    }
    team.finish()?;
    Ok(())
}

/// Trains for one epoch and returns its mean loss. The order of the digits and their rotations depend only on the
/// number of the epoch, not on ranks or earlier epochs.
fn learn(
    team: &mut DataParallel<&mut World>,
    net: &mut Network,
    training: &[Digit],
    batch_size: usize,
    epoch: u64,
    rate: f32,
) -> Outcome<f64> {
    let mut order: Vec<_> = (0..training.len()).collect();
    let mut seeds = Random(SEED + 1 + epoch);
    seeds.shuffle(&mut order);
    let order: Vec<_> = order.into_iter().map(|position| (position, seeds.next_u64())).collect();
    let mut total = 0.0;
    for step in order.chunks(batch_size) {
        let share = team.share(step.len())?;
        let rows: Vec<_> = step[share.rows()]
            .iter()
            .map(|(position, seed)| {
                (training[*position].askew(&mut Random(*seed)), training[*position].label)
            })
            .collect();
        let (x, y) = batch(&rows);
        let (loss, mut slope) = gradient(&x, &y, net);
        total += team.mean(&mut slope, loss, &share)? * step.len() as f64;
        descend(net, &slope, rate);
    }
    Ok(total / training.len() as f64)
}

/// The fraction of the digits that are classified correctly.
fn accuracy(net: &Network, test: &[Digit]) -> f64 {
    let rows: Vec<_> = test.iter().map(|digit| (digit.pixels, digit.label)).collect();
    let scores = scores(&batch(&rows).0, net);
    let right = scores.as_slice().chunks(CLASSES).zip(test).filter(|(scores, digit)| {
        let greatest = scores.iter().enumerate().max_by(|(_, a), (_, b)| a.total_cmp(b));
        greatest.is_some_and(|(class, _)| class == digit.label)
    });
    right.count() as f64 / test.len() as f64
}

/// Opens the file of losses and truncates it to the epochs before `first`.
fn losses_from(path: &Path, first: u64) -> Outcome<File> {
    let kept: String = match first {
        0 => String::new(),
        _ => std::fs::read_to_string(path)?.split_inclusive('\n').take(usize::try_from(first)?).collect(),
    };
    std::fs::write(path, kept)?;
    Ok(OpenOptions::new().append(true).open(path)?)
}

/// A batch of pictures, one per row.
type Pictures = Tensor![f32; ?, 64];
/// The classes of a batch.
type Labels = Tensor![i64; ?];

fn batch(rows: &[([f32; PIXELS], usize)]) -> (Pictures, Labels) {
    let x = Tensor::from_fn_with((rows.len(), Const), |[row, pixel]| rows[row].0[pixel]);
    let y = Tensor::from_fn_with((rows.len(),), |[row]| rows[row].1 as i64);
    (x, y)
}
