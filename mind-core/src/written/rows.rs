//! What is known of an operation before there are types, whichever it is.

use std::ops::Range;

use super::{
    Extents,
    extents::{leading, operands},
};
use crate::{
    dim::Dim,
    map::{Gives, Map},
    ty::DType,
};

/// What is known of an operation before there are types.
pub(super) struct Row {
    pub(super) kind: Kind,
    /// The operands that are *witnesses*: only their types are read.
    pub(super) witnesses: Range<usize>,
    /// What has the element type of the result.
    pub(super) elements: Elements,
    /// The operand whose shape the result has.
    pub(super) like: Option<usize>,
    /// How many axes the result has; nothing of an input.
    pub(super) axes: Option<Axes>,
    /// The extents of the result as they are written, if they are; one may be -1.
    pub(super) extents: Option<Vec<i64>>,
    /// Those of the witnesses of which extents stand in attributes.
    pub(super) lenders: Range<usize>,
}

/// What has the element type of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Elements {
    /// All operands.
    All,
    /// This operand alone.
    Only(usize),
    /// The operands from this one on; those before are of truth values.
    From(usize),
    /// It is this one, whatever that of the operands is, which all have.
    Own(DType),
}

/// How many axes a result has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Axes {
    /// So many.
    Known(usize),
    /// So many, and with them those of each of these operands without so many of its last.
    Listed(usize, Vec<(usize, usize)>),
    /// As many as this operand.
    Of(usize),
    /// So many less than the first operand.
    Less(usize),
    /// So many more than the first operand.
    More(usize),
    /// As the first two operands, broadcast.
    Broadcast,
    /// As all operands, broadcast.
    BroadcastAll,
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
    pub(super) fn of(kind: Kind) -> Self {
        Self {
            kind,
            witnesses: 0..0,
            elements: Elements::All,
            like: None,
            axes: Some(Axes::Of(0)),
            extents: None,
            lenders: 0..0,
        }
    }

    pub(super) fn kernel() -> Self {
        Self::of(Kind::Kernel)
    }

    pub(super) fn map(map: Map) -> Self {
        let row = map.row();
        let elements = match (row.gives, row.leading()) {
            (Gives::Type(dtype), _) => Elements::Own(dtype),
            (Gives::Operand, 0) => Elements::All,
            (Gives::Operand, leading) => Elements::From(leading),
        };
        Self { elements, ..Self::of(if row.cost.is_series() { Kind::Dear } else { Kind::Cheap }) }
    }

    pub(super) fn axes(self, axes: Axes) -> Self {
        Self { axes: Some(axes), ..self }
    }

    /// Of the shape of the first operand, whatever it is.
    pub(super) fn same(self) -> Self {
        Self { like: Some(0), ..self }
    }

    /// With an operand of which only the type is read.
    pub(super) fn witness(self, witness: usize) -> Self {
        Self { witnesses: witness..witness + 1, ..self }
    }

    /// Of the shape of this operand, where of all but the first only the types are read.
    pub(super) fn like_last(self, last: usize) -> Self {
        Self { witnesses: 1..last + 1, ..self.like(last) }
    }

    /// Of the shape of an operand of which nothing else is read.
    pub(super) fn like(self, witness: usize) -> Self {
        Self { like: Some(witness), ..self.witness(witness).axes(Axes::Of(witness)) }
    }

    /// Of these extents.
    pub(super) fn extents(self, extents: Vec<i64>) -> Self {
        Self { axes: Some(Axes::Known(extents.len())), extents: Some(extents), ..self }
    }

    /// Of these extents.
    pub(super) fn written(self, shape: &[Dim]) -> Self {
        let row = match shape.iter().map(Dim::as_literal).collect::<Option<Vec<_>>>() {
            Some(extents) => self.extents(extents),
            None => {
                let packs: Vec<_> = shape.iter().filter_map(leading).collect();
                let known = shape.len() - packs.len();
                self.axes(if packs.is_empty() { Axes::Known(known) } else { Axes::Listed(known, packs) })
            }
        };
        row.over(shape)
    }

    /// With dims in attributes, made of extents of the operands behind the first: these are witnesses.
    pub(super) fn over<'d>(self, dims: impl IntoIterator<Item = &'d Dim>) -> Self {
        match operands(dims) {
            0 | 1 => self,
            count => {
                let witnesses = 1..self.witnesses.end.max(count);
                Self { witnesses, lenders: 1..count, ..self.alone(0) }
            }
        }
    }

    /// Of this shape, which may be that of the operand here.
    pub(super) fn shaped(self, shape: &Extents, witness: usize) -> Self {
        match shape {
            Extents::Written(_) => self,
            Extents::Like => self.like(witness),
        }
    }

    /// With an operand of indices, or more: only this one has the element type of the result.
    pub(super) fn alone(self, operand: usize) -> Self {
        Self { elements: Elements::Only(operand), ..self }
    }
}
