//! Loops.

use super::{ExprId, Pattern};

/// The head of a loop.
#[derive(Clone, Debug)]
pub struct Loop {
    /// Its kind, which decides its results.
    pub kind: LoopKind,
    /// The carry `h` and its first value `h0`; `None` for [`LoopKind::For`].
    pub carry: Option<(Pattern, ExprId)>,
    /// `x`
    pub element: Pattern,
    /// `xs`, or the `a` of `a..b`.
    pub over: ExprId,
    /// The `b` of `a..b`.
    pub end: Option<ExprId>,
    /// Whether the loop runs from the last element to the first: `reverse = true`.
    pub reverse: bool,
    /// The steps between two kept carries: `checkpoint = 16`.
    pub checkpoint: Option<ExprId>,
}

/// The results of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoopKind {
    /// The last carry.
    Fold,
    /// The last carry, and the second results of all steps, stacked.
    Scan,
    /// The results of all steps, stacked; there is no carry.
    For,
}

impl LoopKind {
    /// As written in programs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fold => "fold",
            Self::Scan => "scan",
            Self::For => "for",
        }
    }
}
