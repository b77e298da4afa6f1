//! Learns to read handwritten digits: 1,797 real digits, a network of two layers, a few seconds of training.
//!
//! ```text
//! cargo run --release --example digits
//! ```
//!
//! An argument names another file in the same format.

#[path = "../support/canvas.rs"]
mod canvas;
mod data;
#[path = "../support/digits.rs"]
mod digits;
#[cfg(test)]
mod gradient_tests;
mod network;
mod pictures;
#[path = "../support/program.rs"]
mod program;
#[cfg(test)]
mod reading_tests;
mod report;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use mind::{Const, Tensor};

use data::Random;
use digits::{CLASSES, Digit, PIXELS};
use network::{Network, loss, scores, step};
use pictures::History;
use program::{Outcome, shown};
use report::{Answer, Confusion};

const PICTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/target/digits");
const SEED: u64 = 1;
const EPOCHS: usize = 100;
const BATCH: usize = 32;
/// The learning rate of the first epoch, and the factor that each epoch multiplies it by.
const RATE: (f32, f32) = (0.4, 0.97);

fn main() -> ExitCode {
    program::run(run)
}

fn run() -> Outcome {
    let path = std::env::args_os().nth(1).map_or_else(|| PathBuf::from(digits::SHIPPED), PathBuf::from);
    let mut random = Random(SEED);
    let (training, test) = data::split(digits::load(&path)?, &mut random);
    println!("{} handwritten digits to learn from, {} to be tested on", training.len(), test.len());

    let mut net = Network::he_uniform(&mut random);
    let start = Instant::now();
    let history = train(&mut net, &training, &test, &mut random)?;
    println!("{EPOCHS} epochs, {} steps in {:.1} s", history.steps.len(), start.elapsed().as_secs_f64());

    let answers = read(&net, &test);
    let confusion = Confusion::new(&test, &answers);
    println!("\n{confusion}");
    println!("test accuracy: {:.1} %", confusion.accuracy());
    println!("{} of {} test digits read right\n", confusion.right(), confusion.total());

    let [curve, misread] = ["loss.png", "misread.png"].map(|name| Path::new(PICTURES).join(name));
    pictures::loss_curve(&curve, &history)?;
    pictures::misread(&misread, &test, &answers)?;
    println!("loss curve:     {}", shown(&curve));
    println!("misread digits: {}", shown(&misread));
    Ok(())
}

/// The network's answer for each digit.
fn read(net: &Network, digits: &[Digit]) -> Vec<Answer> {
    let (x, _) = batch(digits, |digit| digit.pixels);
    scores(&x, net).as_slice().chunks(CLASSES).map(Answer::new).collect()
}

/// Any number of pictures, one per row.
type Pictures = Tensor![f32; ?, 64];
/// The digits that the pictures show.
type Labels = Tensor![i64; ?];

fn batch(digits: &[Digit], pixels: impl FnMut(&Digit) -> [f32; PIXELS]) -> (Pictures, Labels) {
    let pictures: Vec<_> = digits.iter().map(pixels).collect();
    let x = Tensor::from_fn_with((digits.len(), Const), |[row, pixel]| pictures[row][pixel]);
    let y = Tensor::from_fn_with((digits.len(),), |[row]| digits[row].label as i64);
    (x, y)
}

fn train(net: &mut Network, training: &[Digit], test: &[Digit], random: &mut Random) -> Outcome<History> {
    let bar = program::progress("learning", "epoch", EPOCHS)?;
    let (mut digits, mut rate) = (training.to_vec(), RATE.0);
    let mut history = History::default();
    let (test_x, test_y) = batch(test, |digit| digit.pixels);
    for _ in 0..EPOCHS {
        random.shuffle(&mut digits);
        let before = history.steps.len();
        for digits in digits.chunks(BATCH) {
            let (x, y) = batch(digits, |digit| digit.askew(random));
            history.steps.push(step(&x, &y, net, rate));
        }
        let epoch = &history.steps[before..];
        history.training.push(epoch.iter().sum::<f32>() / epoch.len() as f32);
        history.test.push(loss(&test_x, &test_y, net));
        rate *= RATE.1;
        bar.set_message(format!("loss {:.4}", history.training[history.training.len() - 1]));
        bar.inc(1);
    }
    bar.finish();
    Ok(history)
}
