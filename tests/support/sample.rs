//! How many of its cases a test tries.

use std::{
    env,
    io::{Write as _, stderr},
};

/// One case in this many is tried where the environment does not ask for all.
const ONE_IN: usize = 5;

/// Some of the cases, from the first to the last, or with `MIND_TESTS=all` in the environment every one: for cases that each
/// take a process or much of the compiler's time, and for seeds of which there are thousands. How many there are
/// is said even of a test that passes.
pub fn sample<T>(of: &str, cases: impl IntoIterator<Item = T>) -> Vec<T> {
    let cases: Vec<T> = cases.into_iter().collect();
    let count = cases.len();
    let taken: Vec<T> = cases.into_iter().step_by(if every_case() { 1 } else { ONE_IN }).collect();
    // The harness would keep what `eprintln` says.
    writeln!(stderr(), "    {} of {count} {of} (MIND_TESTS=all: every one)", taken.len())
        .expect("it can be written to");
    taken
}

fn every_case() -> bool {
    match env::var("MIND_TESTS") {
        Ok(which) => {
            assert!(which == "all", "MIND_TESTS is {which:?}, needed `all` or nothing");
            true
        }
        Err(_) => false,
    }
}
