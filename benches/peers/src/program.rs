//! Programs: cases that are ready to be called, and how they are checked and timed.

use std::hint::black_box;
use std::time::{Duration, Instant};

use crate::Case;

/// The results of a call, by name.
pub type Outputs = Vec<(&'static str, Vec<f32>)>;

/// A case that is ready to be called repeatedly.
pub trait Program {
    /// Calls the program once and returns its results.
    fn outputs(&mut self) -> Outputs;
    /// Calls the program `times` times and drops the results.
    fn run(&mut self, times: usize);
}

/// The program that calls `call` on `state`. `outputs` reads the results from the return value of the call and from the
/// state after it.
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
            // The result is passed by reference. Passing it by value would move it first, which users do not do.
            black_box(&(self.call)(black_box(&mut self.state)));
        }
    }
}

/// The time of a call in microseconds: the time of a batch of calls divided by their number.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// The time in the fastest batch.
    pub best: f64,
    /// The time in the median batch.
    pub median: f64,
}

impl Timing {
    /// Times `batches` batches. Each has as many calls as fill `length`.
    pub fn of(program: &mut dyn Program, length: Duration, batches: usize) -> Self {
        let calls = calls_in(program, length);
        Self::of_batches((0..batches.max(1)).map(|_| time(program, calls)).collect())
    }

    /// Summarises the times of batches, each in microseconds per call.
    pub fn of_batches(mut times: Vec<f64>) -> Self {
        times.sort_by(f64::total_cmp);
        Self { best: times[0], median: times[times.len() / 2] }
    }
}

/// The shortest time of each program over several rounds, in microseconds per call. Each round times a batch of each,
/// so that a slow spell of the machine affects them alike.
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

/// The number of calls that fill a batch of this length.
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

/// Runs a batch of `calls` calls and returns microseconds per call.
pub fn time(program: &mut dyn Program, calls: usize) -> f64 {
    let start = Instant::now();
    program.run(calls);
    start.elapsed().as_secs_f64() * 1e6 / calls as f64
}

/// The largest absolute difference from the references, divided by the largest reference value. It is infinite if a
/// result is NaN or infinite. Outputs without a reference are ignored.
///
/// # Panics
///
/// A reference cannot be read or its length differs from the output's.
pub fn error(case: &Case, outputs: &Outputs) -> f64 {
    let errors = outputs.iter().filter_map(|(name, got)| {
        let want = case.reference(name)?;
        let want = want.unwrap_or_else(|error| panic!("{}: the reference of {name}: {error}", case.name()));
        Some(difference(got, &want))
    });
    errors.fold(0.0, f64::max)
}

/// Panics unless the results of all programs equal those of the first, except for rounding.
pub fn check_alike(case: &Case, programs: &mut [Box<dyn Program>]) {
    /// The largest accepted difference, relative to the largest result.
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

/// The largest absolute difference between two results, divided by the largest absolute value of the second.
///
/// # Panics
///
/// The lengths differ.
pub fn difference(got: &[f32], want: &[f32]) -> f64 {
    assert_eq!(got.len(), want.len(), "results of different lengths");
    let top = want.iter().fold(0.0_f64, |top, value| top.max(f64::from(value.abs())));
    let errors = got.iter().zip(want).map(|(got, want)| (f64::from(*got) - f64::from(*want)).abs() / top);
    errors.fold(0.0, |worst, error| if error.is_finite() { worst.max(error) } else { f64::INFINITY })
}
