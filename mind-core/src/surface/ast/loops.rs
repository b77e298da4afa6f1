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
    /// What follows the iterated value.
    pub options: LoopOptions,
}

/// The options of a loop. `None` if an option is not given.
#[derive(Clone, Debug, Default)]
pub struct LoopOptions {
    /// Whether the loop runs from the last element to the first: `reverse = true`.
    pub reverse: Option<bool>,
    /// The steps between two kept carries: `checkpoint = 16`.
    pub checkpoint: Option<ExprId>,
    /// The axis of the iterated tensors along which the elements are: `axis = 1`.
    pub axis: Option<i64>,
    /// The axis of the stacked results along which the steps are: `out = 1`.
    pub out: Option<i64>,
}

impl LoopOptions {
    /// The options of a loop of this kind that are not given, each with an example of its value.
    pub(crate) fn missing_options(&self, kind: LoopKind) -> Vec<(&'static str, &'static str)> {
        let all = [
            (self.reverse.is_none(), ("reverse", "true")),
            (self.checkpoint.is_none(), ("checkpoint", "16")),
            (self.axis.is_none(), ("axis", "1")),
            (self.out.is_none() && kind != LoopKind::Fold, ("out", "1")),
        ];
        all.into_iter().filter_map(|(is_left, option)| is_left.then_some(option)).collect()
    }
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
