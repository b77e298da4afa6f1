//! Times cases on request, so that `turns.py` can compare several builds of the programs in turns.
//!
//! The first line printed names the cases. Each line read then holds the name of a case and a number of threads. The
//! answer is one line: the shortest time of some batches, in nanoseconds per call.

use std::collections::HashMap;
use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Duration;

use peers::program::{Program, calls_in, time};
use peers::{Case, programs};

/// Short enough for a batch to fall often between two disturbances.
const BATCH: Duration = Duration::from_micros(500);
const BATCHES: usize = 3;

fn main() -> ExitCode {
    match answer() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn answer() -> io::Result<()> {
    let cases: Vec<Case> =
        programs::CASES.iter().map(|(workload, extents)| Case::made(workload, extents)).collect();
    let names: Vec<String> = cases.iter().map(Case::name).collect();
    let mut out = io::stdout().lock();
    writeln!(out, "{}", names.join(" "))?;
    out.flush()?;
    let mut ready: HashMap<String, Box<dyn Program>> = HashMap::new();
    for line in io::stdin().lines() {
        let line = line?;
        let unknown =
            || io::Error::new(io::ErrorKind::InvalidInput, format!("`{line}`: no case, no threads"));
        let (name, threads) = line.split_once(' ').ok_or_else(unknown)?;
        let position = names.iter().position(|known| known == name).ok_or_else(unknown)?;
        mind::set_threads(threads.parse().map_err(|_| unknown())?);
        let program = ready
            .entry(name.to_owned())
            .or_insert_with(|| programs::prepare(&cases[position]).expect("each of the cases has a program"));
        let calls = calls_in(&mut **program, BATCH);
        let least = (0..BATCHES).map(|_| time(&mut **program, calls)).fold(f64::INFINITY, f64::min);
        writeln!(out, "{}", least * 1e3)?;
        out.flush()?;
    }
    Ok(())
}
