//! The protocol between a program and the driver `run`; `python/peer.py` implements it too.
//!
//! 1. After the first call, the program prints `started`. The time until then is the start-up time.
//! 2. After further calls, the program prints the values that all libraries must agree on, in one line.
//! 3. For each number of seconds that it reads, the program runs batches of steps for so long. It prints the seconds
//!    per step of the fastest batch.

use std::io::{self, Write};
use std::time::{Duration, Instant};

/// The number of calls before values are compared.
const CHECKED: usize = 4;
/// A batch takes at least this long, so that the resolution of the clock does not matter.
const BATCH: Duration = Duration::from_millis(5);

/// A model whose steps are timed.
pub trait Model {
    /// The number of steps in a call.
    const STEPS: u32;

    /// Runs `STEPS` steps and returns a value to compare: a loss or a token.
    fn call(&mut self) -> f32;

    /// Further values to compare, after `CHECKED` calls.
    fn values(&self) -> Vec<f32>;
}

/// Runs a model until the driver closes the input.
pub fn serve<M: Model>(mut model: M) -> io::Result<()> {
    let mut values = vec![model.call()];
    say("started")?;
    values.extend((1..CHECKED).map(|_| model.call()));
    values.extend(model.values());
    say(&values.iter().map(f32::to_string).collect::<Vec<_>>().join(" "))?;
    for line in io::stdin().lines() {
        let seconds = line?.trim().parse().map_err(io::Error::other)?;
        say(&time(&mut model, Duration::from_secs_f64(seconds)).to_string())?;
    }
    Ok(())
}

/// The seconds per step of the fastest batch.
fn time<M: Model>(model: &mut M, limit: Duration) -> f64 {
    let start = Instant::now();
    let mut calls = 1;
    let mut least = f64::INFINITY;
    loop {
        let batch = Instant::now();
        for _ in 0..calls {
            model.call();
        }
        let elapsed = batch.elapsed();
        if elapsed >= BATCH || calls > 1 {
            least = least.min(elapsed.as_secs_f64() / f64::from(calls * M::STEPS));
        } else {
            calls = (BATCH.as_secs_f64() / elapsed.as_secs_f64()).ceil() as u32 + 1;
        }
        if start.elapsed() >= limit && least.is_finite() {
            return least;
        }
    }
}

fn say(line: &str) -> io::Result<()> {
    println!("{line}");
    io::stdout().flush()
}
