//! A long short-term memory cell, written in Knossos and folded over time, learns to predict a series. Its gradient
//! runs back through every step of the fold and is first checked against central differences.
//!
//! ```text
//! cargo run --release --features knossos --example lstm
//! ```

#[path = "support/differences.rs"]
mod differences;

use std::time::{Duration, Instant};

use mind::Tensor;

mind::include_ks!("lstm.ks", export = [error], grad = [error]);

const UNITS: usize = 8;
const STEPS: usize = 400;

fn main() {
    let series = Tensor::from_fn_with((100,), |[t]| {
        let t = t as f64;
        0.6 * (0.3 * t).sin() + 0.4 * (0.8 * t).sin()
    });
    let mut noise = noise();
    let mut weights = Tensor::from_fn_with((4 * UNITS, UNITS + 2), |_| 0.5 * noise());
    let mut readout = Tensor::from_fn_with((UNITS,), |_| 0.5 * noise());

    let (d_weights, d_readout, _) = rev_error(&weights, &readout, &series, 1.0);
    differences::check("weights", &weights, &d_weights, |weights| error(weights, &readout, &series));
    differences::check("readout", &readout, &d_readout, |readout| error(&weights, readout, &series));

    let [mut speed_of_weights, mut speed_of_readout] =
        [weights.as_slice(), readout.as_slice()].map(|of| vec![0.0; of.len()]);
    let (mut forward, mut reverse) = (Duration::MAX, Duration::MAX);
    for step in 0..=STEPS {
        let start = Instant::now();
        let value = error(&weights, &readout, &series);
        forward = forward.min(start.elapsed());
        if step % 100 == 0 {
            println!("step {step:>3}: error {value:.6}");
        }
        let start = Instant::now();
        let (d_weights, d_readout, _) = rev_error(&weights, &readout, &series, 1.0);
        reverse = reverse.min(start.elapsed());
        descend(weights.as_mut_slice(), d_weights.as_slice(), &mut speed_of_weights);
        descend(readout.as_mut_slice(), d_readout.as_slice(), &mut speed_of_readout);
    }
    let last = error(&weights, &readout, &series);
    assert!(last < 0.01, "the cell has not learnt the series: {last}");
    println!(
        "timing: 100 steps of {UNITS} units in {:.1} µs, with the gradient in {:.1} µs",
        forward.as_secs_f64() * 1e6,
        reverse.as_secs_f64() * 1e6
    );
}

/// One step of gradient descent with momentum.
fn descend(numbers: &mut [f64], gradient: &[f64], speed: &mut [f64]) {
    for ((number, slope), speed) in numbers.iter_mut().zip(gradient).zip(speed) {
        *speed = 0.9 * *speed - 0.1 * slope;
        *number += *speed;
    }
}

/// Uniform pseudorandom numbers from -1 to 1, the same on every machine.
fn noise() -> impl FnMut() -> f64 {
    let mut state = 7_u64;
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / (1_u64 << 30) as f64 - 1.0
    }
}
