//! Times the project on the cases of a folder and prints a line of JSON a case, as every peer does.
//!
//! Environment: `PEERS_DATA`, the folder with `cases.txt`; `PEERS_THREADS`; `PEERS_ONLY`, a part of the names of the cases
//! wanted; `PEERS_BATCH_MS` and `PEERS_REPEATS`, length and number of the timed batches; `PEERS_SUFFIX`, what to add to
//! the peer's name.

use std::env;
use std::path::PathBuf;
use std::process::ExitCode;
use std::str::FromStr;
use std::time::Duration;

use peers::{Case, Timing, program, programs};

/// A result further from the reference than this is wrong.
const TOLERANCE: f64 = 1e-3;

fn main() -> ExitCode {
    let Some(folder) = env::var_os("PEERS_DATA").map(PathBuf::from) else {
        eprintln!("PEERS_DATA must name the folder of the cases");
        return ExitCode::FAILURE;
    };
    let cases = match Case::all(&folder) {
        Ok(cases) => cases,
        Err(error) => {
            eprintln!("{}: {error}", folder.display());
            return ExitCode::FAILURE;
        }
    };
    let (peer, threads) =
        (format!("mind{}", variable("PEERS_SUFFIX", String::new())), variable("PEERS_THREADS", 1));
    mind::set_threads(threads);
    let only = variable("PEERS_ONLY", String::new());
    for case in cases.iter().filter(|case| case.name().contains(&only)) {
        println!(
            r#"{{"peer": "{peer}", "workload": "{}", "size": "{}", "threads": {threads}, {}}}"#,
            case.workload,
            case.size(),
            measured(case)
        );
    }
    ExitCode::SUCCESS
}

/// The fields of a case's line that come from running it.
fn measured(case: &Case) -> String {
    let Some(mut program) = programs::prepare(case) else {
        return r#""ok": false, "error": "not expressible""#.to_owned();
    };
    let error = program::error(case, &program.outputs());
    let batch = Duration::from_secs_f64(variable("PEERS_BATCH_MS", 8.0) / 1e3);
    let timing = Timing::of(&mut *program, batch, variable("PEERS_REPEATS", 25));
    let relative = if error.is_finite() { format!("{error:.2e}") } else { "null".to_owned() };
    format!(
        r#""best_us": {:.3}, "median_us": {:.3}, "rel_err": {relative}, "ok": {}"#,
        timing.best,
        timing.median,
        error < TOLERANCE
    )
}

/// An environment variable, or the default where it is not set or cannot be read.
fn variable<T: FromStr>(name: &str, default: T) -> T {
    env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}
