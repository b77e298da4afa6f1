//! Time as a function of size: a layer, a training step and a chain of elementwise operations from 2² to 2²² elements.
//! They are computed by the project with dynamic shapes, by ndarray, and by loops around the gemm crate, and compared
//! with the machine's limit.
//!
//! Prints one line of JSON per point, and the progress on standard error. `benches/plots/run.sh` draws the results.

use std::time::Duration;

use peers::program::{check_alike, least_times};
use peers::{Case, Cost, Limits, programs::dynamic};
use table::{arrays, loops};

const BATCH: Duration = Duration::from_millis(4);
const ROUNDS: usize = 5;

/// The number of rows in the batch of a training step, and the number of outputs of its network.
const STEP: (usize, usize) = (32, 10);

fn main() {
    let mut limits = Limits::default();
    let points: Vec<_> = points()
        .into_iter()
        .map(|(elements, case)| {
            eprintln!("{}", case.name());
            limits.measure();
            (elements, measure(&case), case)
        })
        .collect();
    for (elements, times, case) in points {
        let limit = limits.time(&Cost::of(&case));
        for (peer, time) in
            [("mind", times[0]), ("ndarray", times[1]), ("gemm+loops", times[2]), ("limit", limit)]
        {
            println!(
                r#"{{"peer": "{peer}", "workload": "{}", "size": "{}", "elements": {elements}, "threads": 1, "best_us": {time:.6}}}"#,
                case.workload,
                case.size()
            );
        }
    }
}

/// The cases, each with the number of elements by which it is drawn: the elements of a square layer's result, of a
/// network's square hidden weights, or of a chain's operand.
fn points() -> Vec<(usize, Case)> {
    let (batch, outputs) = STEP;
    let sides = || (1..=11).map(|exponent| 1_usize << exponent);
    let layers = sides().map(|side| (side * side, Case::made("layer", &[side, side, side])));
    let steps = sides().map(|side| (side * side, Case::made("mlp_step", &[batch, side, side, outputs])));
    let chains = (2..=22).map(|exponent| (1 << exponent, Case::made("chain", &[1 << exponent])));
    layers.chain(steps).chain(chains).collect()
}

fn measure(case: &Case) -> [f64; 3] {
    let programs = [dynamic::prepare(case), arrays::prepare(case), loops::prepare(case)];
    let mut programs = programs.map(|program| program.expect("each implements these workloads"));
    check_alike(case, &mut programs);
    least_times(&mut programs, BATCH, ROUNDS)
}
