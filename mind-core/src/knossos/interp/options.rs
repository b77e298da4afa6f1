//! How a program is run, and how values are written.

use super::Precision;
use crate::memory;

/// How a program is run.
#[derive(Clone, Debug)]
pub struct Options {
    /// What a Float is.
    pub precision: Precision,
    /// How `print` writes a Bool.
    pub bools: Bools,
    /// How `print` writes a Float.
    pub floats: Floats,
    /// How many calls may be under way at once.
    pub most_calls: usize,
    /// How many elements a tensor may have, and how many turns a loop.
    pub most_elements: usize,
    /// The most bytes that values may take at once. What they take is measured now and then, so a run may stop where it
    /// holds fifteen sixteenths of it.
    pub most_bytes: u64,
    /// How many instructions may run; where there is a limit, what goes through a tensor counts as often as it has elements.
    pub most_steps: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            precision: Precision::F64,
            bools: Bools::Digits,
            floats: Floats::Six,
            most_calls: 10_000,
            most_elements: 1 << 28,
            most_bytes: memory::DEFAULT,
            most_steps: u64::MAX,
        }
    }
}

/// How `print` writes a Bool. A value that a run gives is shown as programs write it, whatever is chosen here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bools {
    /// `1` and `0`, as programs that ksc compiles print them.
    Digits,
    /// `true` and `false`.
    Words,
}

/// How `print` writes a Float. A value that a run gives is shown in all its digits, whatever is chosen here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Floats {
    /// In six significant digits, as programs that ksc compiles print them: `10`, `0.333333`.
    Six,
    /// In the digits that tell it from others, as programs write it: `10.0`, `0.3333333333333333`.
    Exact,
}

/// How values are written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Style {
    pub(super) precision: Precision,
    pub(super) bools: Bools,
    pub(super) floats: Floats,
}
