//! A long short-term memory cell, carried over a series by `scan`, learns to predict the next number. Its gradient runs
//! back through every step of the loop.
//!
//! ```text
//! cargo run --release --features knossos --example lstm
//! ```
//!
//! `lstm.ks` has the same cell in Knossos, written element by element, with a fold over the series. Both programs must
//! give the same error and the same gradient, before and after learning.

use std::time::{Duration, Instant};

use mind::{GradientMismatch, Tensor, Xoshiro256, gradcheck, mind, optim::Adam};

mod knossos {
    mind::include_ks!("lstm.ks", export = [error], grad = [error]);
}

mind! {
    const UNITS: dim = 8;

    /// A cell, and the weights of its outputs in a prediction. Each of the four gates has one row per unit: the weights
    /// of the previous outputs, the weight of the number, and a bias.
    #[derive(Clone)]
    struct Model { gates: f64[4 * UNITS, UNITS + 2], readout: f64[UNITS] }

    /// The output and the memory of the cell after the number `x`.
    fn cell(
        gates: f64[4 * UNITS, UNITS + 2], h: f64[UNITS], memory: f64[UNITS], x: f64,
    ) -> (f64[UNITS], f64[UNITS]) {
        let rows = gates[.., ..UNITS] @ h + gates[.., UNITS] * x + gates[.., UNITS + 1];
        let forget = nn::sigmoid(rows[..UNITS]);
        let input = nn::sigmoid(rows[UNITS..2 * UNITS]);
        let candidate = tanh(rows[2 * UNITS..3 * UNITS]);
        let output = nn::sigmoid(rows[3 * UNITS..]);
        let memory = forget * memory + input * candidate;
        (output * tanh(memory), memory)
    }

    /// The mean squared error of the predictions. Each number is predicted from those before it.
    #[grad(model)]
    fn error<T>(model: Model, series: f64[T]) -> f64 {
        let rest = zeros_like(model.readout);
        let (_, outputs) = scan (h, memory) = (rest, rest) for x in series[..T - 1] {
            let (h, memory) = cell(model.gates, h, memory, x);
            ((h, memory), h)
        };
        nn::mse(outputs @ model.readout, series[1..])
    }

    /// One step of Adam, in place; returns the error before it.
    fn step<T>(series: f64[T], model: &mut Model, state: &mut optim::Adam<Model>) -> f64 {
        let (e, gradient) = value_and_grad(error, wrt = model)(model, series);
        let (new, next) = optim::adam_step(model, gradient, state, 0.02);
        model = new;
        state = next;
        e
    }
}

/// The largest accepted difference between the two programs, as a fraction of the largest number. They add products in
/// different orders. The gradient after learning is small, and it is a sum of larger terms.
const TOLERANCE: f64 = 1e-10;
const STEPS: usize = 400;
const SEED: u64 = 7;

/// Numbers, and rows of numbers, with extents that are known at run time: the types of Knossos.
type Numbers = Tensor![f64; ?];
type Rows = Tensor![f64; ?, ?];

fn main() -> Result<(), GradientMismatch> {
    let series = series(100);
    let mut model = model();
    let (_, gradient) = error_grad(&model, &series);
    gradcheck(&mut model, &gradient, |model| error(model, &series))?;
    println!("gradient: all numbers agree with difference quotients");
    compare(&model, &series);

    let mut state = Adam::zeros_like(&model);
    for at in 0..=STEPS {
        let error = step(&series, &mut model, &mut state);
        if at % 100 == 0 {
            println!("step {at:>3}: error {error:.6}");
        }
    }
    compare(&model, &series);
    let last = error(&model, &series);
    assert!(last < 0.002, "the cell has not learnt the series: {last}");

    time(&model, &series);
    Ok(())
}

fn series(count: usize) -> Numbers {
    Tensor::from_fn_with((count,), |[t]| {
        let t = t as f64;
        0.6 * (0.3 * t).sin() + 0.4 * (0.8 * t).sin()
    })
}

fn model() -> Model {
    let mut random = Xoshiro256::new(SEED);
    let mut model = Model { gates: Tensor::randn(&mut random), readout: Tensor::randn(&mut random) };
    model.gates.map_inplace(|weight| *weight *= 0.3);
    model
}

/// Prints the difference between the two programs.
///
/// # Panics
/// It is larger than `TOLERANCE`.
fn compare(model: &Model, series: &Numbers) {
    let (value, gradient) = error_grad(model, series);
    let (gates, readout) = in_knossos(model);
    let (by_gates, by_readout, _) = knossos::rev_error(&gates, &readout, series, 1.0);
    let apart = [
        apart(&[value], &[knossos::error(&gates, &readout, series)]),
        apart(gradient.gates.as_slice(), by_gates.as_slice()),
        apart(gradient.readout.as_slice(), by_readout.as_slice()),
    ];
    let largest = apart.into_iter().fold(0.0, f64::max);
    println!("scan and Knossos differ by {largest:.0e} of the largest number at most");
    assert!(largest < TOLERANCE, "more than {TOLERANCE:e} was not expected");
}

/// The largest difference of two lists of numbers, as a fraction of the largest number.
fn apart(left: &[f64], right: &[f64]) -> f64 {
    let largest = left.iter().fold(0.0_f64, |largest, x| largest.max(x.abs()));
    left.iter().zip(right).fold(0.0_f64, |apart, (x, y)| apart.max((x - y).abs())) / largest
}

/// The tensors of a model with the shapes that functions of Knossos take.
fn in_knossos(model: &Model) -> (Rows, Numbers) {
    (model.gates.as_dyn().to_owned(), model.readout.as_dyn().to_owned())
}

/// Prints how long each of the programs takes.
fn time(model: &Model, series: &Numbers) {
    let (gates, readout) = in_knossos(model);
    let rows = [
        ("scan", fastest(|| error(model, series)), fastest(|| error_grad(model, series))),
        (
            "Knossos",
            fastest(|| knossos::error(&gates, &readout, series)),
            fastest(|| knossos::rev_error(&gates, &readout, series, 1.0)),
        ),
    ];
    for (name, forward, reverse) in rows {
        println!("timing: {name:<7} {forward:>6.1} µs, the gradient {reverse:>6.1} µs");
    }
}

/// The time of the fastest of some calls, in microseconds.
fn fastest<T>(mut call: impl FnMut() -> T) -> f64 {
    let mut fastest = Duration::MAX;
    for _ in 0..100 {
        let start = Instant::now();
        std::hint::black_box(call());
        fastest = fastest.min(start.elapsed());
    }
    fastest.as_secs_f64() * 1e6
}

#[cfg(test)]
mod tests {
    use mind::gradcheck_some;

    use super::*;

    #[test]
    fn both_programs_have_the_gradient_of_the_error() {
        let (series, mut model) = (series(20), model());
        compare(&model, &series);
        let (_, gradient) = error_grad(&model, &series);
        gradcheck_some(&mut model, &gradient, 20, |model| error(model, &series))
            .expect("the gradient is right");
    }
}
