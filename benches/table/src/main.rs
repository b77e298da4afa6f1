//! The project's own table: each case as a program of the project, by ndarray, by the gemm crate with loops around it, and
//! the least that the machine needs, all in one process and in turns.
//!
//! `cargo bench --bench table` in the project's root builds and runs this. Arguments: parts of the names of the cases wanted.
//! `MIND_NUM_THREADS` and `RAYON_NUM_THREADS` say how many threads the first and the third may use; ndarray's products have one.
//! `TABLE_ROUNDS` says how often each case is timed (15).

use std::time::Duration;

use peers::program::{check_alike, least_times};
use peers::{Case, programs};
use table::{Cost, Limits, arrays, loops};

/// Workloads and the extents at which they are measured; in the order of `gen.py` of the peers.
const CASES: [(&str, &[usize]); 30] = [
    ("null", &[1]),
    ("layer", &[1, 4, 8]),
    ("layer", &[32, 64, 32]),
    ("layer", &[32, 784, 256]),
    ("layer", &[128, 784, 512]),
    ("layer", &[256, 1024, 1024]),
    ("mlp_fwd", &[1, 4, 8, 2]),
    ("mlp_fwd", &[32, 64, 32, 10]),
    ("mlp_fwd", &[32, 784, 256, 10]),
    ("mlp_fwd", &[128, 784, 512, 10]),
    ("mlp_grad", &[1, 4, 8, 2]),
    ("mlp_grad", &[32, 64, 32, 10]),
    ("mlp_grad", &[32, 784, 256, 10]),
    ("mlp_grad", &[128, 784, 512, 10]),
    ("mlp_step", &[1, 4, 8, 2]),
    ("mlp_step", &[32, 64, 32, 10]),
    ("mlp_step", &[32, 784, 256, 10]),
    ("mlp_step", &[128, 784, 512, 10]),
    ("chain", &[1000]),
    ("chain_grad", &[1000]),
    ("chain", &[1_000_000]),
    ("chain_grad", &[1_000_000]),
    ("softmax_xent", &[128, 10]),
    ("softmax_xent", &[512, 1000]),
    ("conv_fwd", &[8, 28, 28, 1, 16, 3]),
    ("conv_grad", &[8, 28, 28, 1, 16, 3]),
    ("conv_fwd", &[8, 28, 28, 16, 32, 3]),
    ("conv_grad", &[8, 28, 28, 16, 32, 3]),
    ("layernorm", &[512, 768]),
    ("layernorm_grad", &[512, 768]),
];

/// How long a batch of calls takes.
const BATCH: Duration = Duration::from_millis(4);

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let rounds = std::env::var("TABLE_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(15);
    let (mut limits, mut rows) = (Limits::default(), Vec::new());
    for (workload, extents) in CASES {
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

/// The least times of the project, of ndarray and of loops around the gemm crate, in microseconds a call.
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
