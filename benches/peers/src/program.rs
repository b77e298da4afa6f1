//! Programs: cases made ready, how they are checked and timed.

use std::hint::black_box;
use std::time::{Duration, Instant};

use crate::Case;

/// The results of a call by name.
pub type Outputs = Vec<(&'static str, Vec<f32>)>;

/// A case made ready to be called again and again.
pub trait Program {
    /// Calls once.
    fn outputs(&mut self) -> Outputs;
    /// Calls `times` times and drops the results.
    fn run(&mut self, times: usize);
}

/// The program that calls `call` on `state`; `outputs` reads the results from what the call returns and the state it
/// leaves behind.
pub fn program<S: 'static, R: 'static>(
    state: S,
    call: impl FnMut(&mut S) -> R + 'static,
    outputs: impl Fn(&S, R) -> Outputs + 'static,
) -> Box<dyn Program> {
    Box::new(Calls { state, call, outputs })
}

struct Calls<S, C, O> {
    state: S,
    call: C,
    outputs: O,
}

impl<S, R, C: FnMut(&mut S) -> R, O: Fn(&S, R) -> Outputs> Program for Calls<S, C, O> {
    fn outputs(&mut self) -> Outputs {
        let result = (self.call)(&mut self.state);
        (self.outputs)(&self.state, result)
    }

    fn run(&mut self, times: usize) {
        for _ in 0..times {
            // Where it was made: handed over by value it would be moved first, which users do not do.
            black_box(&(self.call)(black_box(&mut self.state)));
        }
    }
}

/// How long a call takes, in microseconds: over batches of calls, the time of a batch divided by its calls.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// Of the fastest batch.
    pub best: f64,
    /// Of the batch in the middle.
    pub median: f64,
}

impl Timing {
    /// Times `batches` batches, each of as many calls as fill `length`.
    pub fn of(program: &mut dyn Program, length: Duration, batches: usize) -> Self {
        let calls = calls_in(program, length);
        Self::of_batches((0..batches.max(1)).map(|_| time(program, calls)).collect())
    }

    /// What the times of batches say, each in microseconds a call.
    pub fn of_batches(mut times: Vec<f64>) -> Self {
        times.sort_by(f64::total_cmp);
        Self { best: times[0], median: times[times.len() / 2] }
    }
}

/// The least time of each program over several rounds, in microseconds a call. Each round times a batch of each, so that a slow
/// spell of the machine hits them alike.
pub fn least_times<const N: usize>(
    programs: &mut [Box<dyn Program>; N],
    batch: Duration,
    rounds: usize,
) -> [f64; N] {
    let calls = programs.each_mut().map(|program| calls_in(&mut **program, batch));
    let mut least = [f64::INFINITY; N];
    for _ in 0..rounds.max(1) {
        for ((program, &calls), least) in programs.iter_mut().zip(&calls).zip(&mut least) {
            *least = least.min(time(&mut **program, calls));
        }
    }
    least
}

/// How many calls fill a batch of that length.
pub fn calls_in(program: &mut dyn Program, length: Duration) -> usize {
    let target = length.as_secs_f64() * 1e6;
    let mut calls = 1;
    loop {
        let took = time(program, calls) * calls as f64;
        if took >= target {
            return calls;
        }
        calls = (calls + 1).max((calls as f64 * (1.2 * target / took.max(1e-3)).min(10.0)) as usize);
    }
}

/// Microseconds a call in a batch of that many calls.
pub fn time(program: &mut dyn Program, calls: usize) -> f64 {
    let start = Instant::now();
    program.run(calls);
    start.elapsed().as_secs_f64() * 1e6 / calls as f64
}

/// The largest absolute difference from the references over the largest reference value; infinite where a result is no
/// number. Outputs that the case has no reference for are not looked at.
///
/// # Panics
///
/// If a reference cannot be read or has another length than the output.
pub fn error(case: &Case, outputs: &Outputs) -> f64 {
    let errors = outputs.iter().filter_map(|(name, got)| {
        let want = case.reference(name)?;
        let want = want.unwrap_or_else(|error| panic!("{}: the reference of {name}: {error}", case.name()));
        Some(difference(got, &want))
    });
    errors.fold(0.0, f64::max)
}

/// Panics unless all programs have the results of the first, but for rounding.
pub fn check_alike(case: &Case, programs: &mut [Box<dyn Program>]) {
    /// Results that differ by more than this, relative to the largest, are mistakes.
    const TOLERANCE: f64 = 1e-3;
    let [first, others @ ..] = programs else { return };
    let want = first.outputs();
    for program in others {
        for ((name, want), (_, got)) in want.iter().zip(program.outputs()) {
            let error = difference(&got, want);
            assert!(error < TOLERANCE, "{}: {name} differs by {error:.1e}", case.name());
        }
    }
}

/// The largest absolute difference between two results over the largest absolute value of the second.
///
/// # Panics
///
/// If the lengths differ.
pub fn difference(got: &[f32], want: &[f32]) -> f64 {
    assert_eq!(got.len(), want.len(), "results of different lengths");
    let top = want.iter().fold(0.0_f64, |top, value| top.max(f64::from(value.abs())));
    let errors = got.iter().zip(want).map(|(got, want)| (f64::from(*got) - f64::from(*want)).abs() / top);
    errors.fold(0.0, |worst, error| if error.is_finite() { worst.max(error) } else { f64::INFINITY })
}
