//! Shows the steps of the cases' programs: the time of each, its arithmetic and memory traffic, and its share of what
//! one core can do.
//!
//! `cargo bench -p mind-benches --bench kernels -- mlp_step_32x784` in the project's root builds this with clocks
//! around the steps (`MIND_PROFILE`) and runs it. The arguments are parts of the names of the wanted cases. It runs on
//! one thread, unless `MIND_NUM_THREADS` says otherwise.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use mind::__private::profile::{self, Record};
use peers::program::{calls_in, time};
use peers::{Case, Cost, Limits, programs};

const BATCH: Duration = Duration::from_millis(4);
const BATCHES: usize = 50;

fn main() -> ExitCode {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let cases: Vec<Case> = programs::CASES
        .iter()
        .map(|(workload, extents)| Case::made(workload, extents))
        .filter(|case| wanted.iter().any(|part| case.name().contains(part)))
        .collect();
    if cases.is_empty() {
        eprintln!("name a case, or a part of its name:");
        programs::CASES
            .iter()
            .for_each(|(workload, extents)| eprintln!("  {}", Case::made(workload, extents).name()));
        return ExitCode::FAILURE;
    }
    let mut limits = Limits::default();
    for case in cases {
        limits.measure();
        let (call, records) = measure(&case);
        limits.measure();
        if records.is_empty() {
            eprintln!("the programs have no clocks: build with MIND_PROFILE=1 in a target folder of its own");
            return ExitCode::FAILURE;
        }
        print(&case, call, &records, &limits);
    }
    println!("\n{limits}");
    ExitCode::SUCCESS
}

/// The shortest time of a call in microseconds, and the shortest times of its steps.
fn measure(case: &Case) -> (f64, Vec<Record>) {
    let mut program = programs::prepare(case).expect("each of the cases has a program");
    let calls = calls_in(&mut *program, BATCH);
    // Discards the records of calls before the caches were warm.
    let _ = profile::take();
    let call = (0..BATCHES).map(|_| time(&mut *program, calls)).fold(f64::INFINITY, f64::min);
    (call, profile::take())
}

fn print(case: &Case, call: f64, records: &[Record], limits: &Limits) {
    let clock = clock();
    let times: Vec<f64> =
        records.iter().map(|record| (record.least.as_secs_f64() * 1e6 - clock).max(0.0)).collect();
    let sum: f64 = times.iter().sum();
    println!(
        "\n{}: {call:.3} µs a call with clocks, {sum:.3} µs in its steps\n{:>11}{:>7}{:>9}{:>9}{:>12}{:>9}  step",
        case.name(),
        "least µs",
        "share",
        "GFLOP/s",
        "GB/s",
        "bytes",
        "of limit"
    );
    for (Record { step, .. }, time) in records.iter().zip(times) {
        let cost = Cost::new(step.flops as f64, step.functions as f64, step.bytes as f64);
        let share = 100.0 * time / sum.max(f64::MIN_POSITIVE);
        // The speed of a step that takes no longer than reading the clock cannot be determined.
        let speeds = if time > clock {
            let (flops, bytes) = (step.flops as f64 / time / 1e3, cost.bytes / time / 1e3);
            [
                format!("{flops:.1}"),
                format!("{bytes:.1}"),
                format!("{:.0}%", 100.0 * limits.time(&cost) / time),
            ]
        } else {
            ["-"; 3].map(str::to_owned)
        };
        let [flops, bandwidth, part] = speeds;
        println!(
            "{time:>11.3}{share:>6.0}%{flops:>9}{bandwidth:>9}{:>12}{part:>9}  {}",
            step.bytes, step.title
        );
    }
}

/// The time of two reads of the clock, in microseconds.
fn clock() -> f64 {
    let least = (0..10_000).map(|_| Instant::now().elapsed()).min();
    least.unwrap_or_default().as_secs_f64() * 1e6
}
