//! Selects the cases that a test tries, as `MIND_TESTS` says.

#![allow(dead_code, reason = "this file is part of several crates, of which few need all of it")]

use std::{
    env,
    io::{Write as _, stderr},
};

/// How much the tests try, as `MIND_TESTS` says.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Tier {
    /// The variable is not set. All tests together take minutes.
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

/// Selects one in twenty cases in their order, one in ten in the gate, and every case with `MIND_TESTS=all`. It is for
/// cases that each take much compile time, and for thousands of seeds. It prints the number of selected cases, even if
/// the test passes.
pub fn sample<T>(of: &str, cases: impl IntoIterator<Item = T>) -> Vec<T> {
    one_in([20, 10], of, cases)
}

/// As [`sample`], one in fifty, or one in twenty in the gate. It is for cases that each start a process or rustc.
pub fn few<T>(of: &str, cases: impl IntoIterator<Item = T>) -> Vec<T> {
    one_in([50, 20], of, cases)
}

/// As [`sample`], one in ten, or one in four in the gate. It is for cases that are unlike each other, of which each
/// takes a fraction of a second.
pub fn a_quarter<T>(of: &str, cases: impl IntoIterator<Item = T>) -> Vec<T> {
    one_in([10, 4], of, cases)
}

/// As [`sample`], one in four, or every case in the gate. It is for cases that take seconds together.
pub fn some<T>(of: &str, cases: impl IntoIterator<Item = T>) -> Vec<T> {
    one_in([4, 1], of, cases)
}

fn one_in<T>([quick, gate]: [usize; 2], of: &str, cases: impl IntoIterator<Item = T>) -> Vec<T> {
    let cases: Vec<T> = cases.into_iter().collect();
    let count = cases.len();
    let group = match Tier::asked() {
        Tier::Quick => quick,
        Tier::Gate => gate,
        Tier::All => 1,
    };
    let numbered = cases.into_iter().enumerate();
    let taken: Vec<T> =
        numbered.filter(|(at, _)| is_taken(*at, count, group)).map(|(_, case)| case).collect();
    // The harness would capture `eprintln!`.
    writeln!(stderr(), "    {} of {count} {of} (MIND_TESTS=all: every one)", taken.len())
        .expect("it can be written to");
    taken
}

/// Whether a case is selected from its group of `one_in` consecutive cases. The position differs from group to group:
/// otherwise cases from nested loops would always have the same value in the inner loop.
fn is_taken(at: usize, count: usize, one_in: usize) -> bool {
    let (first, place) = (at - at % one_in, at % one_in);
    // Knuth's multiplicative hashing spreads the upper bits of consecutive numbers.
    let spread = ((first / one_in) as u32).wrapping_mul(0x9e37_79b9) >> 16;
    place == spread as usize % one_in.min(count - first)
}

/// Selects one of several ways to try a case, or all of them with `MIND_TESTS=all`. The ways alternate with `at`, the
/// number of the case.
pub fn in_turn<T>(at: usize, ways: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut ways: Vec<T> = ways.into_iter().collect();
    if every_case() { ways } else { vec![ways.swap_remove(at % ways.len())] }
}

/// Whether to run a test that takes minutes: only with `MIND_TESTS=all`. Otherwise it prints that the test is left out.
pub fn is_tried(what: &str) -> bool {
    is_in(Tier::All, "all", what)
}

/// Whether to run a test that compiles crates: in the gate, or with `MIND_TESTS=all`. Otherwise it prints that the test
/// is left out.
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

/// The length of a chain in a test for stack overflow: `all` with `MIND_TESTS=all`, else a quarter. Recursion of a
/// quarter of 10,000 levels still overflows the stack of a test.
pub fn chain(all: usize) -> usize {
    if every_case() { all } else { all / 4 }
}

/// Whether tests try every case.
pub fn every_case() -> bool {
    Tier::asked() == Tier::All
}
