//! The project's own table: each case by the project, by ndarray and by the gemm crate with loops around it, and the
//! shortest time that the machine allows. All run in one process, in turns.
//!
//! `cargo bench -p mind-benches --bench table` in the project's root builds and runs this. The arguments are parts of
//! the names of the wanted cases.
//!
//! - `MIND_NUM_THREADS`: the number of threads of the project
//! - `RAYON_NUM_THREADS`: the number of threads of the loops around the gemm crate; ndarray's products use one thread
//! - `TABLE_ROUNDS`: how often each case is timed (15)

use std::time::Duration;

use peers::program::{check_alike, least_times};
use peers::{Case, Cost, Limits, programs};
use table::{arrays, loops};

/// The length of a batch of calls.
const BATCH: Duration = Duration::from_millis(4);

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let rounds = std::env::var("TABLE_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(15);
    let (mut limits, mut rows) = (Limits::default(), Vec::new());
    for (workload, extents) in programs::CASES {
        let case = Case::made(workload, extents);
        if wanted.is_empty() || wanted.iter().any(|part| case.name().contains(part)) {
            limits.measure();
            rows.push((Row::measure(&case, rounds), case));
        }
    }
    println!("{limits}\n");
    print(&rows, &limits);
}

fn print(rows: &[(Row, Case)], limits: &Limits) {
    println!(
        "{:<31}{:>10}{:>10}{:>10}{:>10}{:>14}{:>11}{:>10}",
        "least time in µs", "mind", "ndarray", "gemm", "limit", "ndarray/mind", "gemm/mind", "of limit"
    );
    let mut ratios = [Vec::new(), Vec::new()];
    for (Row([mind, ndarray, gemm]), case) in rows {
        let limit = limits.time(&Cost::of(case));
        println!(
            "{:<31}{mind:>10.3}{ndarray:>10.3}{gemm:>10.3}{limit:>10.3}{:>14.2}{:>11.2}{:>9.0}%",
            format!("{} {}", case.workload, case.size()),
            ndarray / mind,
            gemm / mind,
            100.0 * limit / mind,
        );
        ratios[0].push(ndarray / mind);
        ratios[1].push(gemm / mind);
    }
    let [ndarray, gemm] = ratios.map(|ratios| geometric_mean(&ratios));
    println!("{:<71}{ndarray:>14.2}{gemm:>11.2}", "geometric mean");
}

/// The shortest times of the project, of ndarray and of the loops around the gemm crate, in microseconds per call.
struct Row([f64; 3]);

impl Row {
    fn measure(case: &Case, rounds: usize) -> Self {
        let programs = [programs::prepare(case), arrays::prepare(case), loops::prepare(case)];
        let mut programs = programs.map(|program| program.expect("each implements all cases"));
        check_alike(case, &mut programs);
        Self(least_times(&mut programs, BATCH, rounds))
    }
}

fn geometric_mean(ratios: &[f64]) -> f64 {
    (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp()
}
