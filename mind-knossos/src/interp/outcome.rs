//! The outcome of a run.

use mind_core::diag::{Code, Diag};

use super::Value;
use crate::ir::Position;

/// The results of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The result. Tapes in it are empty.
    pub value: Value,
    /// The text that was printed.
    pub printed: String,
    /// The number of executed instructions.
    pub steps: u64,
}

/// The failure of a run.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// The stable error code, E6xxx.
    pub code: Code,
    /// The message.
    pub message: String,
    /// The position in the program.
    pub place: Position,
    /// The function that was running.
    pub function: String,
    /// The text that was printed before.
    pub printed: String,
}

impl Failure {
    /// The error for the program's text.
    pub fn diag(&self) -> Diag {
        Diag::new(self.code, self.place.into(), self.message.clone()).note(format!("in `{}`", self.function))
    }
}

/// A failure without a position, which the machine adds.
pub(super) type Fault = (Code, String);

pub(super) fn fault<T>(code: Code, message: impl Into<String>) -> Result<T, Fault> {
    Err((code, message.into()))
}
