//! The properties of an operation that are known without types.

use std::ops::Range;

use super::{
    Extents,
    extents::{Pack, operands},
};
use crate::{
    dim::Dim,
    map::{Gives, Map},
    ty::DType,
};

/// The properties of an operation that are known without types.
pub(super) struct Row {
    pub(super) kind: WorkKind,
    /// The operands that are *witnesses*: their types are read, but not their elements.
    pub(super) witnesses: Range<usize>,
    /// The operands that have the element type of the result.
    pub(super) elements: TypedOperands,
    /// The operand whose shape the result has, if there is one.
    pub(super) like: Option<usize>,
    /// The rank of the result. `None` for an input.
    pub(super) axes: Option<Axes>,
    /// The extents of the result, if they are written as literals. One may be -1.
    pub(super) extents: Option<Vec<i64>>,
    /// The witnesses whose extents occur in attributes.
    pub(super) extent_witnesses: Range<usize>,
}

/// The operands that have the element type of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypedOperands {
    /// All operands.
    All,
    /// Only this operand.
    Only(usize),
    /// All operands except this one, which holds indices.
    Except(usize),
    /// The operands from this one on. Those before are `bool`.
    From(usize),
    /// The result has this element type. All operands have the same one, which does not matter.
    Own(DType),
}

/// The rank of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Axes {
    /// This number of axes.
    Known(usize),
    /// This number of axes, plus the axes of operands: each pair has an operand and the number of its axes that are
    /// left out.
    Listed(usize, Vec<(usize, usize)>),
    /// The rank of this operand.
    Of(usize),
    /// The rank of the first operand, less this number.
    Less(usize),
    /// The rank of the first operand, plus this number.
    More(usize),
    /// The rank of the first operand, but at least this number.
    AtLeast(usize),
    /// The rank of the first two operands, broadcast.
    Broadcast,
    /// The rank of all operands, broadcast.
    BroadcastAll,
    /// The rank of the product of the first two operands.
    Product,
    /// The rank of the second operand plus that of the first, less 1.
    Picked,
    /// The rank depends on extents.
    Any,
}

/// The kind of work that an operation does.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum WorkKind {
    /// No work: the elements exist already.
    Known,
    /// No work: the elements are those of the operand.
    View,
    /// An elementwise function that is about as fast as reading the element.
    Cheap,
    /// An elementwise function that is slower.
    Expensive,
    /// Each element is known, or is an element of the operand at another position. It is computed wherever it is
    /// needed.
    Free,
    /// An operation with its own kernel.
    Kernel,
}

impl Row {
    pub(super) fn of(kind: WorkKind) -> Self {
        Self {
            kind,
            witnesses: 0..0,
            elements: TypedOperands::All,
            like: None,
            axes: Some(Axes::Of(0)),
            extents: None,
            extent_witnesses: 0..0,
        }
    }

    pub(super) fn kernel() -> Self {
        Self::of(WorkKind::Kernel)
    }

    pub(super) fn map(map: Map) -> Self {
        let row = map.row();
        let elements = match (row.gives, row.leading()) {
            (Gives::Type(dtype), _) => TypedOperands::Own(dtype),
            (Gives::Operand, 0) => TypedOperands::All,
            (Gives::Operand, leading) => TypedOperands::From(leading),
        };
        Self {
            elements,
            ..Self::of(if row.cost.is_series() { WorkKind::Expensive } else { WorkKind::Cheap })
        }
    }

    pub(super) fn axes(self, axes: Axes) -> Self {
        Self { axes: Some(axes), ..self }
    }

    /// The result has the shape of the first operand.
    pub(super) fn same(self) -> Self {
        Self { like: Some(0), ..self }
    }

    /// This operand is a witness.
    pub(super) fn witness(self, witness: usize) -> Self {
        Self { witnesses: witness..witness + 1, ..self }
    }

    /// The result has the shape of this operand. All operands except the first are witnesses.
    pub(super) fn like_last(self, last: usize) -> Self {
        Self { witnesses: 1..last + 1, ..self.like(last) }
    }

    /// The result has the shape of this operand, a witness.
    pub(super) fn like(self, witness: usize) -> Self {
        Self { like: Some(witness), ..self.witness(witness).axes(Axes::Of(witness)) }
    }

    /// The result has these extents.
    pub(super) fn extents(self, extents: Vec<i64>) -> Self {
        Self { axes: Some(Axes::Known(extents.len())), extents: Some(extents), ..self }
    }

    /// The result has these extents.
    pub(super) fn written(self, shape: &[Dim]) -> Self {
        let row = match shape.iter().map(Dim::as_literal).collect::<Option<Vec<_>>>() {
            Some(extents) => self.extents(extents),
            None => {
                let packs = shape.iter().filter_map(Pack::of);
                let packs: Vec<_> = packs.map(|pack| (pack.operand, pack.others())).collect();
                let known = shape.len() - packs.len();
                self.axes(if packs.is_empty() { Axes::Known(known) } else { Axes::Listed(known, packs) })
            }
        };
        row.over(shape)
    }

    /// The attributes have these dims. The operands after the first whose extents occur in them are witnesses.
    pub(super) fn over<'d>(self, dims: impl IntoIterator<Item = &'d Dim>) -> Self {
        match operands(dims) {
            0 | 1 => self,
            count => {
                let witnesses = 1..self.witnesses.end.max(count);
                Self { witnesses, extent_witnesses: 1..count, ..self.alone(0) }
            }
        }
    }

    /// The result has this shape, which may be the shape of the operand `witness`.
    pub(super) fn shaped(self, shape: &Extents, witness: usize) -> Self {
        match shape {
            Extents::Written(_) => self,
            Extents::Like => self.like(witness),
        }
    }

    /// All operands except this one, which holds indices, have the element type of the result.
    pub(super) fn except(self, indices: usize) -> Self {
        Self { elements: TypedOperands::Except(indices), ..self }
    }

    /// Only this operand has the element type of the result. Others may be indices.
    pub(super) fn alone(self, operand: usize) -> Self {
        Self { elements: TypedOperands::Only(operand), ..self }
    }
}
