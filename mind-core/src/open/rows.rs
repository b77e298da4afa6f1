//! What is known of each operation of open programs: one row an operation.

use super::Op;

/// What is known of an operation.
pub(super) struct Row {
    /// What kind of work it is.
    pub(super) kind: Kind,
    /// The operand that is a *witness*: only its type is read.
    pub(super) witness: Option<usize>,
    /// Whether all operands have the element type of the result; else the first alone has it, and a derivative flows to no
    /// other.
    pub(super) is_uniform: bool,
    /// The operand whose shape the result has.
    pub(super) like: Option<usize>,
}

/// What kind of work an operation is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Nothing: its elements are there.
    Given,
    /// Nothing: its elements are those of its operand.
    View,
    /// For each element by itself, as fast as reading one.
    Cheap,
    /// For each element by itself, slower.
    Dear,
    /// An element read or known, at another place: computed wherever it is needed.
    Free,
    /// A kernel of its own.
    Kernel,
}

impl Row {
    const fn of(kind: Kind) -> Self {
        Self { kind, witness: None, is_uniform: true, like: None }
    }

    /// Of the shape of an operand of which nothing else is read.
    const fn like(self, witness: usize) -> Self {
        Self { witness: Some(witness), like: Some(witness), ..self }
    }

    /// With an operand of indices.
    const fn indexed(self) -> Self {
        Self { is_uniform: false, ..self }
    }
}

impl Op {
    /// What is known of it.
    pub(super) fn row(&self) -> Row {
        match self {
            Self::Leaf(_) => Row::of(Kind::Given),
            Self::Constant(_) => Row { witness: Some(0), ..Row::of(Kind::Given) },
            Self::Map(map) => Row::of(if map.row().cost.is_series() { Kind::Dear } else { Kind::Cheap }),
            Self::Reshape { .. } | Self::ExpandDims { .. } | Self::Squeeze { .. } => Row::of(Kind::View),
            Self::ReshapeLike => Row::of(Kind::View).like(1),
            Self::BroadcastTo { .. } => Row::of(Kind::Free),
            Self::BroadcastLike => Row::of(Kind::Free).like(1),
            Self::FilledLike { .. } => Row::of(Kind::Free).like(0),
            Self::At
            | Self::MatMul
            | Self::Dot
            | Self::Reduce { .. }
            | Self::Transpose { .. }
            | Self::Subscript(_)
            | Self::Slice { .. }
            | Self::Conv2d(_) => Row::of(Kind::Kernel),
            Self::Gather => Row::of(Kind::Kernel).indexed(),
            Self::CountReduced { .. } => Row { witness: Some(0), ..Row::of(Kind::Kernel) },
            Self::SumLike
            | Self::SubscriptGrad(_)
            | Self::SliceGrad { .. }
            | Self::ProductGradLhs
            | Self::Conv2dGradInput(_) => Row::of(Kind::Kernel).like(1),
            Self::ProductGradRhs | Self::Conv2dGradFilter(_) => Row::of(Kind::Kernel).like(2),
            Self::GatherGrad => Row::of(Kind::Kernel).like(2).indexed(),
        }
    }

    /// Whether the elements of this operand are read; else it is a witness.
    pub fn reads(&self, position: usize) -> bool {
        self.row().witness != Some(position)
    }

    /// The operand whose shape the result has, whatever it is.
    pub fn like(&self) -> Option<usize> {
        self.row().like
    }

    /// Whether a result depends on this operand in a differentiable way.
    pub(super) fn flows(&self, position: usize) -> bool {
        if let Self::Map(map) = self {
            return map.row().flows_to(position);
        }
        self.reads(position) && (self.row().is_uniform || position == 0)
    }
}
