//! How many of its cases a test tries.

use std::{
    env,
    io::{Write as _, stderr},
};

/// One case in this many is tried where the environment does not ask for all.
const ONE_IN: usize = 5;

/// Some of the cases, in their order, or with `MIND_TESTS=all` in the environment every one: for cases that each
/// take a process or much of the compiler's time, and for seeds of which there are thousands. How many there are
/// is said even of a test that passes.
pub fn sample<T>(of: &str, cases: impl IntoIterator<Item = T>) -> Vec<T> {
    let cases: Vec<T> = cases.into_iter().collect();
    let count = cases.len();
    let every = every_case();
    let numbered = cases.into_iter().enumerate();
    let taken: Vec<T> =
        numbered.filter(|(at, _)| every || is_taken(*at, count)).map(|(_, case)| case).collect();
    // The harness would keep what `eprintln` says.
    writeln!(stderr(), "    {} of {count} {of} (MIND_TESTS=all: every one)", taken.len())
        .expect("it can be written to");
    taken
}

/// Whether a case is the one that is taken of those around it, so many as one is taken of. It is at another place among them
/// each time: of cases from nested loops it would else have the same in the inner loop again and again.
fn is_taken(at: usize, count: usize) -> bool {
    let (first, place) = (at - at % ONE_IN, at % ONE_IN);
    // Multiplied by what Knuth proposes for hashing, the upper bits of consecutive numbers are spread.
    let spread = ((first / ONE_IN) as u32).wrapping_mul(0x9e37_79b9) >> 16;
    place == spread as usize % ONE_IN.min(count - first)
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
