//! Time against size: a layer, a training step and a chain of elementwise operations from 2² to 2²² elements, by programs of
//! the project whose shapes are known when they run, by ndarray, by loops around the gemm crate, and the machine's limit.
//!
//! Prints a line of JSON a point, and on standard error how far it is. `benches/plots/run.sh` makes pictures of them.

use std::time::Duration;

use peers::program::{check_alike, least_times};
use peers::{Case, Cost, Limits, programs::dynamic};
use table::{arrays, loops};

const BATCH: Duration = Duration::from_millis(4);
const ROUNDS: usize = 5;

/// Rows of the batch in a training step, and its network's outputs.
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

/// The cases, and by how many elements each is drawn: of a square layer's result, of a network's square hidden weights, of
/// a chain's operands.
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
