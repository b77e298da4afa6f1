//! Times the project on the cases of a folder. Prints one line of JSON per case, as every peer does.
//!
//! Environment variables:
//!
//! - `PEERS_DATA`: the folder with `cases.txt`
//! - `PEERS_THREADS`: the number of threads
//! - `PEERS_ONLY`: a part of the names of the wanted cases
//! - `PEERS_BATCH_MS` and `PEERS_REPEATS`: length and number of the timed batches
//! - `PEERS_SUFFIX`: a suffix of the peer's name

use std::env;
use std::path::PathBuf;
use std::process::ExitCode;
use std::str::FromStr;
use std::time::Duration;

use peers::{Case, Timing, program, programs};

/// The largest accepted distance of a result from its reference.
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

/// Runs a case and returns the fields of its line.
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

/// The value of an environment variable, or the default if it is not set or cannot be parsed.
fn variable<T: FromStr>(name: &str, default: T) -> T {
    env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}
