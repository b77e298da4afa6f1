//! Broken rules as data. The message is built only where a failure is shown.

use crate::{
    rules::{Takes, Tie},
    ty::Type,
};

/// The result of a rule: a type, or the broken rule.
pub type TypeResult<'a> = Result<Type, Failure<'a>>;

/// A broken rule. [`Failure::message`] describes it in words. Its lists are attributes that the rule was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure<'a> {
    pub(crate) problem: Problem<'a>,
}

/// A problem without the types of the operands, which a message takes from its context. Positions of operands, axes and
/// counts are `usize`. Numbers that are written in the program or computed are `i64`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Problem<'a> {
    /// The type of the first operand is not the declared one.
    Mismatch { expected: Type },
    /// The first operand, an argument of a template, has a type that the template does not accept.
    Pattern { pattern: &'a str },
    /// An argument of a template does not have the extent or type that it must share with others. `needed` is the
    /// extent, if it is an extent.
    Tied { tie: Tie<'a>, needed: Option<i64> },
    /// The element types of two operands differ.
    Mixed,
    /// The first operand, a literal, is not of the second operand's element type.
    LiteralKind { description: &'a str, help: &'a str },
    /// A literal is wrong in itself, as `message` says.
    Literal { code: &'a str, message: &'a str },
    /// The element type of an operand is not accepted.
    NotTaken { operand: usize, takes: Takes },
    /// The element types of two of several operands differ.
    MixedAmong { operands: [usize; 2] },

    /// Two extents do not broadcast.
    Broadcast { axis: usize, extents: [i64; 2] },
    /// A shape does not broadcast to a shape of lower rank.
    BroadcastRank { to: Extents<'a> },
    /// An extent does not broadcast to the extent of a shape.
    BroadcastTo { axis: usize, from: i64, to: i64 },

    /// An operand of `dot` is neither a vector nor a matrix.
    DotRank { operand: usize },
    /// An operand of `matmul` is not a matrix.
    MatMulRank { operand: usize },
    /// An operand does not have the rank that it needs.
    Rank { operand: usize, needed: usize },
    /// There are no last two axes to swap.
    NoMatrix,
    /// The operand has rank 0, so it has no rows.
    NoRow,
    /// The inner dimensions of a product differ.
    Inner { extents: [i64; 2] },
    /// The shapes of two operands differ.
    ShapesDiffer { operands: [usize; 2] },
    /// The extents of two operands differ along an axis where they must be equal.
    Unlike { axis: usize, extents: [i64; 2], operands: [usize; 2] },
    /// An operand does not have the shape that it needs.
    Shape { operand: usize, needed: Type },

    /// An axis is out of range.
    AxisOutOfRange { axis: i64, rank: usize },
    /// An axis occurs twice.
    AxisTwice { axis: i64, axes: &'a [i64] },
    /// A reduction has an empty list of axes.
    NoAxis,
    /// A list is not a permutation.
    Permutation { permutation: &'a [i64], rank: usize, fault: crate::AxisFault },
    /// The extent of a squeezed axis is not 1.
    NotOne { axis: usize, extent: i64 },

    /// An extent of a written shape is below 1.
    NotPositive { axis: usize, shape: Extents<'a> },
    /// An extent of a type is below 1.
    TypeNotPositive { axis: usize, ty: Type },
    /// More than one extent of a shape is left open.
    ManyOpen { count: usize, shape: &'a [i64] },
    /// The number of elements exceeds 64 bits.
    OpenOverflow,
    /// The number of elements is not a multiple of the product of the written extents.
    Indivisible { count: i64, others: i64 },
    /// The numbers of elements differ.
    Counts { from: i64, to: i64, shape: Extents<'a> },

    /// A rank exceeds the limit.
    RankLimit { rank: usize },
    /// A type has more than 2^63 elements.
    CountLimit { ty: Type },
    /// A written shape has more than 2^63 elements.
    ShapeLimit { shape: Extents<'a> },
    /// Arithmetic on extents exceeds 64 bits.
    Overflow,

    /// The lists of a slice do not have one entry per axis.
    SliceLengths { starts: usize, ends: usize, steps: usize },
    /// A step is below 1.
    Step { axis: usize, step: i64 },
    /// The start of a slice is out of range.
    Start { axis: usize, start: i64 },
    /// The end of a slice is out of range.
    End { axis: usize, end: i64 },
    /// A range is empty.
    Empty { axis: usize, start: Bound, end: Bound },
    /// An index expression has more indices than axes.
    IndexCount { written: usize },
    /// An index is out of range.
    IndexOutside { axis: usize, index: i64 },
    /// A bound of an index expression is out of range.
    BoundOutside { axis: usize, bound: i64 },

    /// Indices are not integers.
    IndexType { operand: usize },
    /// The channels of image and filter differ.
    Channels { image: i64, filter: i64 },
    /// The strides are not two numbers of at least 1.
    Strides { strides: &'a [i64] },
    /// The padding is not a pair of numbers of at least 0 for each of `needed` axes.
    Padding { pairs: &'a [[i64; 2]], needed: usize },
    /// The number of amounts of padding is not the number of axes.
    AmountCount { low: usize, high: usize },
    /// An amount of padding is below 0.
    Amount { axis: usize, amount: i64 },
    /// A list does not have one number of at least 1 for each of `needed` axes.
    EachAxis { name: &'static str, list: &'a [i64], needed: usize },
    /// A window is larger than the extent over which it moves.
    Window { axis: usize, extent: i64, window: i64, positions: i64 },

    /// The value to differentiate is not a single float.
    NotScalar,
    /// The value to differentiate by does not hold floats.
    NotDifferentiable,
}

/// A written shape, of which one extent may have been computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extents<'a> {
    pub(crate) written: &'a [i64],
    /// The axis that was left open, and its computed extent.
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
    /// The extent plus this offset, which is at most 0.
    FromEnd(i64),
}

impl<'a> Failure<'a> {
    pub(crate) const fn new(problem: Problem<'a>) -> Self {
        Self { problem }
    }

    /// The code of the rule, such as `E3003`.
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
            | Problem::NoRow
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
            | Problem::EachAxis { .. }
            | Problem::AmountCount { .. }
            | Problem::Amount { .. } => "E4010",
            Problem::IndexType { .. } => "E4011",
            Problem::NotScalar => "E5004",
            Problem::NotDifferentiable => "E5005",
        }
    }

    /// Whether this part of the operation is at fault. `rank` is the rank of the first operand.
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

    /// The parts at fault, apart from the operands and the operation. Each new problem has to be listed here.
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
            Problem::Window { .. } => Fault::attributes(&["sizes"]),
            Problem::EachAxis { name, .. } => Fault::attributes(match name.as_bytes() {
                b"sizes" => &["sizes"],
                b"strides" => &["strides"],
                _ => &["dilations"],
            }),
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
            | Problem::NoRow
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
            | Problem::NotScalar
            | Problem::NotDifferentiable => Fault::attributes(&[]),
        }
    }
}

/// The parts of a written operation that are at fault.
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

/// A part of a written operation.
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
