//! How a run ends.

use super::Value;
use crate::{
    diag::{Code, Diag},
    knossos::ir::Position,
};

/// What a run left.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The result; tapes in it are empty.
    pub value: Value,
    /// What was printed.
    pub printed: String,
    /// How many instructions ran.
    pub steps: u64,
}

/// Why a run did not end well.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// The stable number, E6xxx.
    pub code: Code,
    /// What happened.
    pub message: String,
    /// Where the program asks for it.
    pub place: Position,
    /// The function that was running.
    pub function: String,
    /// What was printed before.
    pub printed: String,
}

impl Failure {
    /// As a mistake of the program's text.
    pub fn diag(&self) -> Diag {
        Diag::new(self.code, self.place.into(), self.message.clone()).note(format!("in `{}`", self.function))
    }
}

/// What went wrong, before the machine says where.
pub(super) type Fault = (Code, String);

pub(super) fn fault<T>(code: Code, message: impl Into<String>) -> Result<T, Fault> {
    Err((code, message.into()))
}
