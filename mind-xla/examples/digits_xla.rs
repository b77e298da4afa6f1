//! Learns to read handwritten digits on XLA: the program of the example `digits`, data-parallel over 8 devices of a
//! plugin.
//!
//! ```text
//! MIND_PJRT_PLUGIN=xla_cpu_pjrt.so cargo run --release -p mind-xla --example digits_xla
//! ```
//!
//! The example compares XLA with the Rust code of the same function, which runs twice:
//!
//! - an independent run trains its own network from the first step;
//! - a second run starts each epoch with the network of the devices.
//!
//! The example fails if losses differ by more than 1e-4 in the first 20 epochs of the independent run or in any step of
//! the second, or if fewer than 97 % of the test digits are classified correctly. Independent runs of 100 epochs differ
//! more: XLA rounds sums in another order, and with `relu` a rounding error can change a derivative from 0 to 1.

#[path = "../../examples/digits/data.rs"]
mod data;
#[path = "../../examples/support/digits.rs"]
#[expect(dead_code, reason = "the path to the file is that from another package")]
mod digits;
#[path = "../../examples/digits/network.rs"]
mod network;
#[path = "../../examples/support/program.rs"]
mod program;

use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use mind::{Const, Tensor};
use mind_xla::{Client, ClientOption, Executable, OnDevices, Plugin, Program};

use data::Random;
use digits::{CLASSES, Digit, PIXELS};
use network::{Network, scores, step};
use program::Outcome;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/data/digits.csv.gz");
const SEED: u64 = 1;
const DEVICES: usize = 8;
const EPOCHS: usize = 100;
const BATCH: usize = 32;
/// The learning rate of the first epoch, and its factor from one epoch to the next.
const RATE: (f32, f32) = (0.4, 0.97);
/// The largest accepted difference between a loss on XLA and in Rust.
const LARGEST_DIFFERENCE: f32 = 1e-4;
/// The number of epochs in which the independent run is compared.
const COMPARED_EPOCHS: usize = 20;
/// The smallest accepted accuracy on the test digits, in percent.
const ACCURACY: f32 = 97.0;

fn main() -> ExitCode {
    program::run(run)
}

fn run() -> Outcome {
    let plugin = Plugin::from_env()?;
    let client = plugin.client(&[("cpu_device_count", ClientOption::Int(DEVICES as i64))])?;
    let mut random = Random(SEED);
    let (training, test) = data::split(digits::load(Path::new(FILE))?, &mut random);
    println!(
        "{DEVICES} of {} devices of {}, {} digits to learn from, {} to be tested on",
        client.device_count(),
        client.platform()?,
        training.len(),
        test.len()
    );
    let net = Network::he_uniform(&mut random);
    let (net, history) = train(&client, net, &training, &mut random)?;
    println!(
        "{EPOCHS} epochs, {} steps: {:.1} s on XLA, {:.1} s as Rust",
        history.steps,
        history.on_devices.as_secs_f64(),
        history.here.as_secs_f64()
    );
    println!("loss of the last epoch: {:.6}", history.last);
    println!(
        "largest difference of losses: {:.1e} in the first {COMPARED_EPOCHS} epochs, {:.1e} in a step",
        history.alone, history.steps_apart
    );
    let accuracy = accuracy(&net, &test);
    println!("test accuracy: {accuracy:.1} %");
    let apart = greater(history.alone, history.steps_apart);
    if apart.is_nan() || apart > LARGEST_DIFFERENCE {
        return Err(format!("losses are {apart:e} apart, needed at most {LARGEST_DIFFERENCE:e}").into());
    }
    if accuracy < ACCURACY {
        return Err(format!("the accuracy is {accuracy:.1} %, needed {ACCURACY} % or more").into());
    }
    Ok(())
}

/// Compiles the step for batches of `pictures` pictures. A batch is split over the devices if their number divides it;
/// otherwise every device computes the whole batch.
fn compile(client: &Client, pictures: usize) -> Outcome<Executable> {
    let program = Program::from_mic(step::MIC, step::UPDATES)?.extent("N", pictures).axis("d", DEVICES);
    let is_even = pictures.is_multiple_of(DEVICES);
    let program = if is_even { program.split("x", &["d", "_"]).split("y", &["d"]) } else { program };
    Ok(client.compile(&program)?)
}

/// The measurements of a training run.
#[derive(Default)]
struct History {
    steps: usize,
    /// The time of all steps on XLA.
    on_devices: Duration,
    /// The time of all steps in Rust.
    here: Duration,
    /// The loss of the last epoch.
    last: f32,
    /// The largest difference between the loss of an epoch on XLA and in the independent run.
    alone: f32,
    /// The largest difference between the loss of a step on XLA and in Rust.
    steps_apart: f32,
}

fn train(
    client: &Client,
    mut net: Network,
    training: &[Digit],
    random: &mut Random,
) -> Outcome<(Network, History)> {
    let full = compile(client, BATCH)?;
    let rest = match training.len() % BATCH {
        0 => None,
        pictures => Some(compile(client, pictures)?),
    };
    let mut on_devices = full.load("net", &net)?;
    let mut alone =
        Network { w1: net.w1.clone(), b1: net.b1.clone(), w2: net.w2.clone(), b2: net.b2.clone() };
    let bar = program::progress("learning", "epoch", EPOCHS)?;
    let (mut digits, mut rate) = (training.to_vec(), RATE.0);
    let mut history = History::default();
    for epoch in 0..EPOCHS {
        random.shuffle(&mut digits);
        on_devices.read_into(&mut net)?;
        let mut losses: Vec<[f32; 2]> = Vec::new();
        for digits in digits.chunks(BATCH) {
            let (x, y) = batch(digits, |digit| digit.askew(random));
            let executable = if digits.len() == BATCH { Some(&full) } else { rest.as_ref() };
            let executable = executable.ok_or("a batch is of a size that was not compiled")?;
            let start = Instant::now();
            let there = step_on_devices(executable, &x, &y, &mut on_devices, rate)?;
            history.on_devices += start.elapsed();
            let start = Instant::now();
            let here = step(&x, &y, &mut net, rate);
            history.here += start.elapsed();
            history.steps_apart = greater(history.steps_apart, (there - here).abs());
            losses.push([there, step(&x, &y, &mut alone, rate)]);
        }
        history.steps += losses.len();
        let means = [0, 1].map(|one| losses.iter().map(|both| both[one]).sum::<f32>() / losses.len() as f32);
        if epoch < COMPARED_EPOCHS {
            history.alone = greater(history.alone, (means[0] - means[1]).abs());
        }
        history.last = means[0];
        rate *= RATE.1;
        bar.set_message(format!("loss {:.4}", history.last));
        bar.inc(1);
    }
    bar.finish();
    on_devices.read_into(&mut net)?;
    Ok((net, history))
}

/// Runs a step whose network stays on the devices.
fn step_on_devices(
    executable: &Executable,
    x: &Pictures,
    y: &Labels,
    net: &mut OnDevices,
    rate: f32,
) -> Outcome<f32> {
    let call = executable.call().pass("x", x).pass("y", y).update("net", net).number("rate", rate);
    Ok(call.run()?[0].number()?)
}

/// The greater of two numbers; NaN if one is.
fn greater(a: f32, b: f32) -> f32 {
    if a >= b { a } else { b + 0.0 * a }
}

/// The percentage of the digits that are classified correctly.
fn accuracy(net: &Network, test: &[Digit]) -> f32 {
    let scores = scores(&batch(test, |digit| digit.pixels).0, net);
    let right = scores.as_slice().chunks(CLASSES).zip(test).filter(|(scores, digit)| {
        let greatest = scores.iter().enumerate().max_by(|(_, a), (_, b)| a.total_cmp(b));
        greatest.is_some_and(|(class, _)| class == digit.label)
    });
    100.0 * right.count() as f32 / test.len() as f32
}

/// A batch of pictures, one per row.
type Pictures = Tensor![f32; ?, 64];
/// The classes of a batch.
type Labels = Tensor![i64; ?];

fn batch(digits: &[Digit], pixels: impl FnMut(&Digit) -> [f32; PIXELS]) -> (Pictures, Labels) {
    let pictures: Vec<_> = digits.iter().map(pixels).collect();
    let x = Tensor::from_fn_with((digits.len(), Const), |[row, pixel]| pictures[row][pixel]);
    let y = Tensor::from_fn_with((digits.len(),), |[row]| digits[row].label as i64);
    (x, y)
}
