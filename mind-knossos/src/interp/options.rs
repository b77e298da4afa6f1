//! Options for runs and for printing values.

use mind_core::memory;

use super::Precision;

/// The options of a run.
#[derive(Clone, Debug)]
pub struct Options {
    /// The precision of Floats.
    pub precision: Precision,
    /// The format of a Bool in `print`.
    pub bools: Bools,
    /// The format of a Float in `print`.
    pub floats: Floats,
    /// The maximum number of active calls.
    pub most_calls: usize,
    /// The maximum number of elements of a tensor and of iterations of a loop.
    pub most_elements: usize,
    /// The maximum number of bytes that values use at once. Memory is measured only occasionally, so a run may already
    /// fail at fifteen sixteenths of this limit.
    pub most_bytes: u64,
    /// The maximum number of instructions. If it is set, an instruction over a tensor counts once for each element.
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

/// The format of a Bool in `print`. The result of a run is always shown in the syntax of programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bools {
    /// `1` and `0`, as printed by programs compiled with ksc.
    Digits,
    /// `true` and `false`.
    Words,
}

/// The format of a Float in `print`. The result of a run is always shown with all digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Floats {
    /// Six significant digits, as printed by programs compiled with ksc: `10`, `0.333333`.
    Six,
    /// The shortest digits that identify the number, in the syntax of programs: `10.0`, `0.3333333333333333`.
    Exact,
}

/// The format of values.
#[derive(Clone, Copy, Debug)]
pub(super) struct Style {
    pub(super) precision: Precision,
    pub(super) bools: Bools,
    pub(super) floats: Floats,
}
