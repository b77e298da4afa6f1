//! What is wrong: data, told in words only where it is shown.

use crate::{
    rules::{Takes, Tie},
    ty::Type,
};

/// What a rule answers: the type of the result, or which rule is broken.
pub type TypeResult<'a> = Result<Type, Failure<'a>>;

/// A broken rule. [`Failure::message`] says it in words; the lists in it are the attributes that the rule was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure<'a> {
    pub(crate) problem: Problem<'a>,
}

/// What is wrong, without the operands' types: a message has them from its context. Positions of operands, axes and
/// numbers of things are `usize`, what is written or computed is `i64`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Problem<'a> {
    /// The type of the first operand is not what was declared.
    Mismatch { expected: Type },
    /// The first operand, an argument of a template, is of no type that is taken.
    Pattern { pattern: &'a str },
    /// An argument of a template has not in common with others what it has to; the extent it needs, if it is one.
    Tied { tie: Tie<'a>, needed: Option<i64> },
    /// The element types of two operands differ.
    Mixed,
    /// A literal, the first operand, is not of the element type of the second.
    LiteralKind { description: &'a str, help: &'a str },
    /// A literal is wrong in itself, as these words say.
    Literal { code: &'a str, message: &'a str },
    /// An operand is of an element type that is not taken.
    NotTaken { operand: usize, takes: Takes },
    /// The element types of two of several operands differ.
    MixedAmong { operands: [usize; 2] },

    /// Two extents do not broadcast.
    Broadcast { axis: usize, extents: [i64; 2] },
    /// A shape does not broadcast to one of lower rank.
    BroadcastRank { to: Extents<'a> },
    /// An extent does not broadcast to that of a shape.
    BroadcastTo { axis: usize, from: i64, to: i64 },

    /// An operand of `dot` is neither a vector nor a matrix.
    DotRank { operand: usize },
    /// An operand of `matmul` is no matrix.
    MatMulRank { operand: usize },
    /// An operand has not the rank it needs.
    Rank { operand: usize, needed: usize },
    /// There are no last two axes to swap.
    NoMatrix,
    /// The table of `gather` has no rows.
    GatherRank,
    /// The inner dimensions of a product differ.
    Inner { extents: [i64; 2] },
    /// The shapes of two operands differ.
    ShapesDiffer { operands: [usize; 2] },
    /// The extents of two operands differ along an axis where they must not.
    Unlike { axis: usize, extents: [i64; 2], operands: [usize; 2] },
    /// An operand has not the shape it needs.
    Shape { operand: usize, needed: Type },

    /// An axis is out of range.
    AxisOutOfRange { axis: i64, rank: usize },
    /// An axis stands twice.
    AxisTwice { axis: i64, axes: &'a [i64] },
    /// A reduction over no axis.
    NoAxis,
    /// A permutation is none.
    Permutation { permutation: &'a [i64], rank: usize, fault: crate::AxisFault },
    /// A squeezed axis is not of extent 1.
    NotOne { axis: usize, extent: i64 },

    /// An extent of a written shape is below 1.
    NotPositive { axis: usize, shape: Extents<'a> },
    /// An extent of a type is below 1.
    TypeNotPositive { axis: usize, ty: Type },
    /// More than one extent of a shape is left to be worked out.
    ManyOpen { count: usize, shape: &'a [i64] },
    /// The count of elements is beyond 64 bits.
    OpenOverflow,
    /// The count of elements is no multiple of that of the written extents.
    Indivisible { count: i64, others: i64 },
    /// The counts of elements differ.
    Counts { from: i64, to: i64, shape: Extents<'a> },

    /// A rank is beyond the limit.
    RankLimit { rank: usize },
    /// A type has more than 2^63 elements.
    CountLimit { ty: Type },
    /// A written shape has more than 2^63 elements.
    ShapeLimit { shape: Extents<'a> },
    /// Arithmetic on extents leaves 64 bits.
    Overflow,

    /// The lists of a slice have not one entry an axis.
    SliceLengths { starts: usize, ends: usize, steps: usize },
    /// A step is below 1.
    Step { axis: usize, step: i64 },
    /// The start of a slice is outside.
    Start { axis: usize, start: i64 },
    /// The end of a slice is outside.
    End { axis: usize, end: i64 },
    /// Nothing is between the bounds.
    Empty { axis: usize, start: Bound, end: Bound },
    /// More indices than axes.
    IndexCount { written: usize },
    /// An index is outside.
    IndexOutside { axis: usize, index: i64 },
    /// A bound of an index expression is outside.
    BoundOutside { axis: usize, bound: i64 },

    /// Indices are not integers.
    IndexType { operand: usize },
    /// The channels of image and filter differ.
    Channels { image: i64, filter: i64 },
    /// Strides are not two of at least 1.
    Strides { strides: &'a [i64] },
    /// Padding is not two pairs of at least 0.
    Padding { pairs: &'a [[i64; 2]] },
    /// There is not an amount of padding for each axis.
    AmountCount { low: usize, high: usize },
    /// An amount of padding is below 0.
    Amount { axis: usize, amount: i64 },
    /// A window is larger than what it moves over.
    Window { axis: usize, extent: i64, window: i64, positions: i64 },

    /// What is differentiated is not a single float.
    NotScalar,
    /// What is differentiated by is not of floats.
    NotDifferentiable,
}

/// A written shape, one extent of which may have been worked out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extents<'a> {
    pub(crate) written: &'a [i64],
    /// The axis that was left open, and its extent.
    pub(crate) open: Option<(usize, i64)>,
}

impl Extents<'_> {
    pub(crate) const fn extent(&self, axis: usize) -> i64 {
        match self.open {
            Some((open, extent)) if open == axis => extent,
            Some(_) | None => self.written[axis],
        }
    }
}

/// A resolved bound: a position, or one relative to the end of an axis of unknown extent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bound {
    At(i64),
    /// The extent plus this, which is at most 0.
    FromEnd(i64),
}

impl<'a> Failure<'a> {
    pub(crate) const fn new(problem: Problem<'a>) -> Self {
        Self { problem }
    }

    /// The number of the rule, as `E3003`.
    pub const fn code(&self) -> &'a str {
        match self.problem {
            Problem::Literal { code, .. } => code,
            Problem::RankLimit { .. }
            | Problem::CountLimit { .. }
            | Problem::ShapeLimit { .. }
            | Problem::Overflow => "E1008",
            Problem::Mismatch { .. } | Problem::Pattern { .. } | Problem::Tied { .. } => "E2001",
            Problem::Mixed | Problem::MixedAmong { .. } | Problem::LiteralKind { .. } => "E2004",
            Problem::NotTaken { .. } => "E2005",
            Problem::Broadcast { .. } | Problem::BroadcastRank { .. } | Problem::BroadcastTo { .. } => {
                "E3001"
            }
            Problem::DotRank { .. }
            | Problem::MatMulRank { .. }
            | Problem::Rank { .. }
            | Problem::NoMatrix
            | Problem::GatherRank
            | Problem::NoAxis => "E3002",
            Problem::Inner { .. }
            | Problem::ShapesDiffer { .. }
            | Problem::Unlike { .. }
            | Problem::Shape { .. } => "E3003",
            Problem::AxisOutOfRange { .. } => "E3004",
            Problem::AxisTwice { .. } => "E3005",
            Problem::NotPositive { .. }
            | Problem::TypeNotPositive { .. }
            | Problem::Empty { .. }
            | Problem::Window { .. } => "E3006",
            Problem::ManyOpen { .. }
            | Problem::OpenOverflow
            | Problem::Indivisible { .. }
            | Problem::Counts { .. } => "E3007",
            Problem::Permutation { .. } => "E3008",
            Problem::NotOne { .. } => "E3009",
            Problem::Start { .. }
            | Problem::End { .. }
            | Problem::IndexOutside { .. }
            | Problem::BoundOutside { .. } => "E3011",
            Problem::IndexCount { .. } => "E4006",
            Problem::SliceLengths { .. } => "E4007",
            Problem::Step { .. } => "E4008",
            Problem::Channels { .. } => "E4009",
            Problem::Strides { .. }
            | Problem::Padding { .. }
            | Problem::AmountCount { .. }
            | Problem::Amount { .. } => "E4010",
            Problem::IndexType { .. } => "E4011",
            Problem::NotScalar => "E5004",
            Problem::NotDifferentiable => "E5005",
        }
    }

    /// Whether this part is at fault; `rank` is that of the first operand.
    pub const fn is_about(&self, written: Written<'_>, rank: usize) -> bool {
        match written {
            Written::Attribute(name) => {
                let (about, mut i) = (self.place(rank).attributes, 0);
                while i < about.len() {
                    if same_text(about[i], name) {
                        return true;
                    }
                    i += 1;
                }
                false
            }
            Written::Subscript(place) => match self.place(rank).subscript {
                Some((position, count)) => {
                    position as i64 == if place < 0 { place + count as i64 } else { place }
                }
                None => false,
            },
        }
    }

    /// What is at fault beside the operands and the operation. A new problem has to be listed.
    const fn place(&self, rank: usize) -> Fault {
        match self.problem {
            Problem::Literal { .. } | Problem::NotTaken { .. } => Fault::attributes(&["constant"]),
            Problem::NoAxis
            | Problem::AxisOutOfRange { .. }
            | Problem::AxisTwice { .. }
            | Problem::NotOne { .. } => Fault::attributes(&["axes", "axis"]),
            Problem::BroadcastRank { .. }
            | Problem::BroadcastTo { .. }
            | Problem::NotPositive { .. }
            | Problem::TypeNotPositive { .. }
            | Problem::ManyOpen { .. }
            | Problem::OpenOverflow
            | Problem::Indivisible { .. }
            | Problem::Counts { .. }
            | Problem::ShapeLimit { .. } => Fault::attributes(&["shape"]),
            Problem::Permutation { .. } => Fault::attributes(&["permutation"]),
            Problem::Strides { .. } => Fault::attributes(&["strides"]),
            Problem::Padding { .. } => Fault::attributes(&["padding"]),
            Problem::AmountCount { .. } | Problem::Amount { .. } => Fault::attributes(&["low"]),
            Problem::Start { axis, .. } => Fault { attributes: &["starts"], subscript: Some((axis, rank)) },
            Problem::End { axis, .. } | Problem::Empty { axis, .. } => {
                Fault { attributes: &["ends"], subscript: Some((axis, rank)) }
            }
            Problem::Step { axis, .. } => Fault { attributes: &["steps"], subscript: Some((axis, rank)) },
            Problem::IndexOutside { axis, .. } | Problem::BoundOutside { axis, .. } => {
                Fault { attributes: &[], subscript: Some((axis, rank)) }
            }
            // The first subscript without an axis.
            Problem::IndexCount { written } => Fault { attributes: &[], subscript: Some((rank, written)) },
            Problem::Mismatch { .. }
            | Problem::Pattern { .. }
            | Problem::Tied { .. }
            | Problem::Mixed
            | Problem::LiteralKind { .. }
            | Problem::MixedAmong { .. }
            | Problem::Broadcast { .. }
            | Problem::DotRank { .. }
            | Problem::MatMulRank { .. }
            | Problem::Rank { .. }
            | Problem::NoMatrix
            | Problem::GatherRank
            | Problem::Inner { .. }
            | Problem::ShapesDiffer { .. }
            | Problem::Unlike { .. }
            | Problem::Shape { .. }
            | Problem::RankLimit { .. }
            | Problem::CountLimit { .. }
            | Problem::Overflow
            | Problem::SliceLengths { .. }
            | Problem::IndexType { .. }
            | Problem::Channels { .. }
            | Problem::Window { .. }
            | Problem::NotScalar
            | Problem::NotDifferentiable => Fault::attributes(&[]),
        }
    }
}

/// What is at fault in an operation as it is written.
struct Fault {
    /// The attributes that may be at fault.
    attributes: &'static [&'static str],
    /// The position of the subscript at fault, and the number of subscripts that negative positions count from.
    subscript: Option<(usize, usize)>,
}

impl Fault {
    const fn attributes(attributes: &'static [&'static str]) -> Self {
        Self { attributes, subscript: None }
    }
}

/// A part of what is written of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written<'a> {
    /// The attribute of this name.
    Attribute(&'a str),
    /// The subscript of this axis in an index expression; a negative axis counts from the end.
    Subscript(i64),
}

pub(crate) const fn same_text(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut i = 0;
    while i < a.len() && i < b.len() {
        if a[i] != b[i] {
            return false;
        }
        i += 1;
    }
    a.len() == b.len()
}
