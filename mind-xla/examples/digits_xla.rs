//! Learns to read handwritten digits on XLA: the program of the example `digits`, data-parallel over 8 devices of a plugin.
//!
//! ```text
//! MIND_PJRT_PLUGIN=xla_cpu_pjrt.so cargo run --release -p mind-xla --example digits_xla
//! ```
//!
//! Beside it the same function runs as Rust, twice: on its own from the first step on, and from the network that is on the devices
//! when an epoch begins. It fails where losses are more than 1e-4 apart, those of the first 20 epochs or those of any step, or where
//! fewer than 97 % of the test digits are read right. Runs of 100 epochs are not the same to 1e-4: sums round in another order on
//! XLA, and at the kink of `relu` that decides on a whole derivative now and then.

#[path = "../../examples/digits/data.rs"]
mod data;
#[path = "../../examples/support/digits.rs"]
#[expect(dead_code, reason = "the path to the file is that from another package")]
mod digits;
#[path = "../../examples/support/program.rs"]
mod program;

use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use mind::{Const, Tensor, mind};
use mind_xla::{Client, ClientOption, Executable, OnDevices, Plugin, Program};

use data::Random;
use digits::{CLASSES, Digit, PIXELS};
use program::Outcome;

mind! {
    /// Two layers of weights and biases.
    struct Network {
        w1: f32[64, 256],
        b1: f32[256],
        w2: f32[256, 10],
        b2: f32[10],
    }

    /// How much each picture of `x` looks like each digit.
    fn scores<N>(x: f32[N, 64], net: Network) -> f32[N, 10] {
        nn::dense(relu(nn::dense(x, net.w1, net.b1)), net.w2, net.b2)
    }

    /// Mean cross-entropy of the softmax of `scores` against the digits `y`.
    fn loss<N>(x: f32[N, 64], y: i64[N], net: Network) -> f32 {
        nn::cross_entropy(scores(x, net), y)
    }

    /// One step of gradient descent, in place: forward, backward and update are one program.
    fn step<N>(x: f32[N, 64], y: i64[N], net: &mut Network, rate: f32) -> f32 {
        let (l, gradient) = value_and_grad(loss, wrt = net)(x, y, net);
        net = optim::sgd(net, gradient, rate);
        l
    }
}

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/data/digits.csv.gz");
const SEED: u64 = 1;
const DEVICES: usize = 8;
const EPOCHS: usize = 100;
const BATCH: usize = 32;
/// The learning rate of the first epoch, and by what each epoch multiplies it.
const RATE: (f32, f32) = (0.4, 0.97);
/// How far losses may be from those of the program as Rust.
const NEAR: f32 = 1e-4;
/// For so many epochs from the first step on.
const ALIKE: usize = 20;
/// The part of the test digits that has to be read right, in percent.
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
        "losses of the first {ALIKE} epochs are at most {:.1e} from those as Rust, those of steps at most {:.1e}",
        history.alone, history.steps_apart
    );
    let accuracy = accuracy(&net, &test);
    println!("test accuracy: {accuracy:.1} %");
    let apart = greater(history.alone, history.steps_apart);
    if apart.is_nan() || apart > NEAR {
        return Err(format!("losses are {apart:e} apart, needed at most {NEAR:e}").into());
    }
    if accuracy < ACCURACY {
        return Err(format!("the accuracy is {accuracy:.1} %, needed {ACCURACY} % or more").into());
    }
    Ok(())
}

/// The step for batches of so many pictures, compiled: split over the devices where they divide the batch, else whole on each.
fn compile(client: &Client, pictures: usize) -> Outcome<Executable> {
    let program = Program::from_mic(step::MIC, step::UPDATES)?.extent("N", pictures).axis("d", DEVICES);
    let is_even = pictures.is_multiple_of(DEVICES);
    let program = if is_even { program.split("x", &["d", "_"]).split("y", &["d"]) } else { program };
    Ok(client.compile(&program)?)
}

/// How learning went.
#[derive(Default)]
struct History {
    steps: usize,
    /// The time of all steps on XLA, and as Rust.
    on_devices: Duration,
    here: Duration,
    /// The loss of the last epoch.
    last: f32,
    /// The furthest that the losses of the first epochs are from those of the program on its own.
    alone: f32,
    /// The furthest that the losses of steps are apart.
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
        if epoch < ALIKE {
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

/// A step whose network stays on the devices.
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

/// The part of the digits that are read right, in percent.
fn accuracy(net: &Network, test: &[Digit]) -> f32 {
    let scores = scores(&batch(test, |digit| digit.pixels).0, net);
    let right = scores.as_slice().chunks(CLASSES).zip(test).filter(|(scores, digit)| {
        let greatest = scores.iter().enumerate().max_by(|(_, a), (_, b)| a.total_cmp(b));
        greatest.is_some_and(|(class, _)| class == digit.label)
    });
    100.0 * right.count() as f32 / test.len() as f32
}

/// As many pictures as there are, a row each.
type Pictures = Tensor![f32; ?, 64];
/// The digits that they show.
type Labels = Tensor![i64; ?];

fn batch(digits: &[Digit], pixels: impl FnMut(&Digit) -> [f32; PIXELS]) -> (Pictures, Labels) {
    let pictures: Vec<_> = digits.iter().map(pixels).collect();
    let x = Tensor::from_fn_with((digits.len(), Const), |[row, pixel]| pictures[row][pixel]);
    let y = Tensor::from_fn_with((digits.len(),), |[row]| digits[row].label as i64);
    (x, y)
}
