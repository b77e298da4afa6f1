//! What is known of each operation before there are types: one row an operation.

use super::{Extents, Op, Own, Subscript, literals};
use crate::{
    ir::{Arrange, Part, Product, Reduction, Rows, Window},
    map::Shapes,
};

/// What is known of an operation.
struct Row {
    kind: Kind,
    /// The operand that is a *witness*: only its type is read.
    witness: Option<usize>,
    /// The operand that has the element type of the result where not all have it.
    alone: Option<usize>,
    /// The operand whose shape the result has.
    like: Option<usize>,
}

/// How many axes a result has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axes {
    /// So many.
    Known(usize),
    /// As many as this operand.
    Of(usize),
    /// So many less than the first operand.
    Less(usize),
    /// So many more than the first operand.
    More(usize),
    /// As the first two operands, broadcast.
    Broadcast,
    /// As the product of the first two operands.
    Product,
    /// As the second operand, and one less than the first.
    Picked,
    /// Extents decide.
    Any,
}

/// What kind of work an operation is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
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
        Self { kind, witness: None, alone: None, like: None }
    }

    /// Of the shape of an operand of which nothing else is read.
    const fn like(self, witness: usize) -> Self {
        Self { witness: Some(witness), like: Some(witness), ..self }
    }

    /// Of this shape, which may be that of the operand here.
    const fn shaped(self, shape: &Extents, witness: usize) -> Self {
        match shape {
            Extents::Written(_) => self,
            Extents::Like => self.like(witness),
        }
    }

    /// With an operand of indices, or more: only this one has the element type of the result.
    const fn alone(self, operand: usize) -> Self {
        Self { alone: Some(operand), ..self }
    }
}

/// What is known of an operation.
fn row(op: &Op) -> Row {
    match op {
        Op::Input { .. } => Row::of(Kind::Given),
        Op::Const(_) => Row { witness: Some(0), ..Row::of(Kind::Given) },
        Op::Map(map) => Row::of(if map.row().cost.is_series() { Kind::Dear } else { Kind::Cheap }),
        Op::Arrange(Arrange::Reshape { shape }) => Row::of(Kind::View).shaped(shape, 1),
        Op::Arrange(Arrange::ExpandDims { .. }) | Op::Arrange(Arrange::Squeeze { .. }) => Row::of(Kind::View),
        Op::Arrange(Arrange::BroadcastTo { shape }) => Row::of(Kind::Free).shaped(shape, 1),
        Op::Product(Product::Dot)
        | Op::Product(Product::MatMul)
        | Op::Reduce(..)
        | Op::Arrange(Arrange::Transpose { .. })
        | Op::Part(Part::Index { .. })
        | Op::Part(Part::Slice(_))
        | Op::Window(Window::Conv2d(_)) => Row::of(Kind::Kernel),
        Op::Rows(Rows::Gather) => Row::of(Kind::Kernel).alone(0),
        Op::Part(Part::SliceGrad { shape, .. }) => Row::of(Kind::Kernel).shaped(shape, 1),
        Op::Rows(Rows::ScatterAdd { shape }) => Row::of(Kind::Kernel).alone(1).shaped(shape, 2),
        Op::Window(Window::Conv2dGradInput { shape, .. })
        | Op::Window(Window::Conv2dGradFilter { shape, .. }) => Row::of(Kind::Kernel).shaped(shape, 2),
        Op::Own(own) => match own {
            Own::At => Row::of(Kind::Kernel),
            Own::FilledLike { .. } => Row::of(Kind::Free).like(0),
            Own::CountReduced { .. } => Row { witness: Some(0), ..Row::of(Kind::Kernel) },
            Own::SumLike | Own::IndexGrad(_) | Own::ProductGradLhs => Row::of(Kind::Kernel).like(1),
            Own::ProductGradRhs => Row::of(Kind::Kernel).like(2),
        },
    }
}

impl Op {
    /// Whether the elements of this operand are read; else it is a witness.
    pub fn reads(&self, position: usize) -> bool {
        row(self).witness != Some(position)
    }

    /// The operand whose shape the result has, whatever it is.
    pub fn like(&self) -> Option<usize> {
        row(self).like
    }

    /// What kind of work it is.
    pub(crate) fn kind(&self) -> Kind {
        row(self).kind
    }

    /// The operand that has the element type of the result where not all have it, and alone has a derivative.
    pub(crate) fn alone(&self) -> Option<usize> {
        row(self).alone
    }

    /// How many axes the result has; nothing of an input.
    pub fn axes(&self) -> Option<Axes> {
        if let Some(like) = self.like() {
            return Some(Axes::Of(like));
        }
        Some(match self {
            Self::Input { .. } => return None,
            Self::Const(constant) => Axes::Known(constant.shape.len()),
            Self::Map(map) if map.row().arity() > 1 && map.row().shapes == Shapes::Broadcast => {
                Axes::Broadcast
            }
            Self::Reduce(_, Reduction { axes: None, keepdims: false })
            | Self::Own(Own::CountReduced { .. }) => Axes::Known(0),
            Self::Reduce(_, Reduction { axes: Some(axes), keepdims: false }) => Axes::Less(axes.len()),
            Self::Arrange(Arrange::Squeeze { axes }) => {
                axes.as_ref().map_or(Axes::Any, |axes| Axes::Less(axes.len()))
            }
            Self::Arrange(Arrange::ExpandDims { axes }) => Axes::More(axes.len()),
            Self::Part(Part::Index { indices }) => {
                Axes::Less(indices.iter().filter(|part| matches!(part, Subscript::At(_))).count())
            }
            Self::Product(_) | Self::Own(Own::At) => Axes::Product,
            Self::Rows(Rows::Gather) => Axes::Picked,
            _ => match self.extents() {
                Some(extents) => Axes::Known(extents.len()),
                None => Axes::Of(0),
            },
        })
    }

    /// The extents of the result as they are written, if they are; one may be -1.
    pub(crate) fn extents(&self) -> Option<Vec<i64>> {
        match self {
            Self::Const(constant) => Some(constant.shape.clone()),
            Self::Arrange(Arrange::Reshape { shape: Extents::Written(shape) })
            | Self::Arrange(Arrange::BroadcastTo { shape: Extents::Written(shape) }) => Some(literals(shape)),
            _ => None,
        }
    }

    /// Whether a result depends on this operand in a differentiable way.
    pub(crate) fn flows(&self, position: usize) -> bool {
        if let Self::Map(map) = self {
            return map.row().flows_to(position);
        }
        self.reads(position) && self.alone().is_none_or(|alone| alone == position)
    }
}
