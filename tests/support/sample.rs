//! How many of its cases a test tries.

#![allow(dead_code, reason = "this file is part of several crates, of which few need all of it")]

use std::{
    env,
    io::{Write as _, stderr},
};

/// How much tests try, as `MIND_TESTS` asks.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Tier {
    /// Without the variable: minutes for all tests.
    Quick,
    /// `gate`, as in `.ci/run`.
    Gate,
    /// `all`, as in `ci/nightly`.
    All,
}

impl Tier {
    fn asked() -> Self {
        match env::var("MIND_TESTS").as_deref() {
            Ok("all") => Self::All,
            Ok("gate") => Self::Gate,
            Ok(which) => panic!("MIND_TESTS is {which:?}, needed `gate`, `all` or nothing"),
            Err(_) => Self::Quick,
        }
    }
}

/// One in twenty of the cases, in their order, one in five in the gate, or with `MIND_TESTS=all` every one: for cases that each
/// take much of the compiler's time, and for seeds of which there are thousands. How many there are is printed even for a
/// test that passes.
pub fn sample<T>(of: &str, cases: impl IntoIterator<Item = T>) -> Vec<T> {
    one_in([20, 5], of, cases)
}

/// One in fifty, or one in ten in the gate, likewise: for cases that each take a process, or rustc.
pub fn few<T>(of: &str, cases: impl IntoIterator<Item = T>) -> Vec<T> {
    one_in([50, 10], of, cases)
}

/// One in four, or in the gate every one, likewise: for cases that together take seconds.
pub fn some<T>(of: &str, cases: impl IntoIterator<Item = T>) -> Vec<T> {
    one_in([4, 1], of, cases)
}

fn one_in<T>([quick, gate]: [usize; 2], of: &str, cases: impl IntoIterator<Item = T>) -> Vec<T> {
    let cases: Vec<T> = cases.into_iter().collect();
    let count = cases.len();
    let so_many = match Tier::asked() {
        Tier::Quick => quick,
        Tier::Gate => gate,
        Tier::All => 1,
    };
    let numbered = cases.into_iter().enumerate();
    let taken: Vec<T> =
        numbered.filter(|(at, _)| is_taken(*at, count, so_many)).map(|(_, case)| case).collect();
    // The harness would keep what `eprintln` says.
    writeln!(stderr(), "    {} of {count} {of} (MIND_TESTS=all: every one)", taken.len())
        .expect("it can be written to");
    taken
}

/// Whether a case is the one that is taken of those around it, so many as one is taken of. It is at another place among them
/// each time: of cases from nested loops it would else have the same in the inner loop again and again.
fn is_taken(at: usize, count: usize, one_in: usize) -> bool {
    let (first, place) = (at - at % one_in, at % one_in);
    // Multiplied by what Knuth proposes for hashing, the upper bits of consecutive numbers are spread.
    let spread = ((first / one_in) as u32).wrapping_mul(0x9e37_79b9) >> 16;
    place == spread as usize % one_in.min(count - first)
}

/// One of several ways to try a case, or with `MIND_TESTS=all` all of them. `at` is the number of the case; the ways alternate.
pub fn in_turn<T>(at: usize, ways: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut ways: Vec<T> = ways.into_iter().collect();
    if every_case() { ways } else { vec![ways.swap_remove(at % ways.len())] }
}

/// Whether to run a test that takes minutes: only with `MIND_TESTS=all`. Otherwise it prints that the test is left out.
pub fn is_tried(what: &str) -> bool {
    is_in(Tier::All, "all", what)
}

/// Whether to run a test that compiles crates: in the gate, or with `MIND_TESTS=all`, likewise.
pub fn is_in_gate(what: &str) -> bool {
    is_in(Tier::Gate, "gate", what)
}

fn is_in(tier: Tier, name: &str, what: &str) -> bool {
    let tried = Tier::asked() >= tier;
    if !tried {
        writeln!(stderr(), "    not tried: {what} (MIND_TESTS={name}: tried)").expect("it can be written to");
    }
    tried
}

/// The length of a chain in a test for stack overflow: `all` with `MIND_TESTS=all`, else a quarter. A quarter of 10,000 levels of
/// recursion still overflows the stack of a test.
pub fn chain(all: usize) -> usize {
    if every_case() { all } else { all / 4 }
}

/// Whether tests try every case.
pub fn every_case() -> bool {
    Tier::asked() == Tier::All
}
