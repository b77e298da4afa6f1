//! The written form of operations ([`Op<Written>`](crate::ir::Op)). Expressions use it before types are known.
//!
//! Attributes are stored as written. Where Core IR has a shape, an operand may take its place. `table.rs` has a row for
//! each operation, and the operations of Core IR that it becomes when types are known.

mod arguments;
mod calls;
mod composite;
mod constant;
mod core;
pub(crate) mod einsum;
mod extents;
mod resolve;
mod rows;
mod table;

use std::fmt;

use mind_shape::rules;

use crate::{
    dim::Dim,
    ir::{self, Form},
};

pub use arguments::{RuleArgument, Text, Texts};
pub(crate) use calls::{AttributeForm, GivenAttributes, WrittenFunction};
pub(crate) use composite::{CompositeOp, avg_pool, of_float_type, one_hot};
pub use constant::{Constant, Misfit, NumberKind};
pub use core::of_call;
pub(crate) use extents::{ExtentRef, extent_symbol};
pub(crate) use resolve::Unresolved;
pub(crate) use rows::WorkKind;
pub use rows::{Axes, TypedOperands};
pub(crate) use table::{
    FUNCTIONS, POOLING, PRIVATE_FUNCTIONS, convolved, convolved_back, convolved_by_channel, each, expanded,
    folded, multiplied, part, permuted_by, reshaped_to, resolve, rule, sliced_by, spread, squeeze, squeezed,
    summed,
};
pub use table::{check_text, kernel_text, rule_text};

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u32);

        impl $name {
            /// The id with this position.
            ///
            /// # Panics
            /// If the position exceeds 32 bits, which no program that fits in memory reaches.
            pub fn new(position: usize) -> Self {
                Self(u32::try_from(position).expect("a program has fewer than 2^32 parts"))
            }

            /// The position of the id.
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    )+};
}
pub(crate) use ids;

ids! {
    /// The leaf of a program that an input reads, by its position.
    LeafId
}

/// The form of programs without types. Attributes are stored as written, and a shape may be that of a witness.
///
/// A *witness* is an operand whose type is read but not its elements, see [`Op::reads`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Written {}

impl Form for Written {
    type Name = LeafId;
    /// It has the element type of the witness, if there is one, or [`Constant::dtype`].
    type Const = Box<Constant>;
    type Shape = Extents;
    /// Negative axes count from the end. If left out, they mean every axis; for a squeeze, every axis of extent 1.
    type Axes = Option<Vec<i64>>;
    type Permutation = Permutation;
    type Indices = Vec<Subscript>;
    type Bound = Dim;
    type Own = Own;
}

/// An operation. Its operands are those of the node.
pub type Op = ir::Op<Written>;

/// The axes of a reduction, as written.
pub type Reduction = ir::Reduction<Option<Vec<i64>>>;

/// The order of the axes in a transpose, as in [`mind_shape::rules::Permutation`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Permutation {
    /// As written. Negative axes count from the end.
    Written(Vec<i64>),
    /// All axes in reverse order.
    Reversed,
    /// The last two axes swapped.
    Matrices,
    /// One axis at another position. Negative axes count from the end.
    Moved {
        /// The position in the operand.
        from: i64,
        /// The position in the result.
        to: i64,
    },
}

/// A shape before types are known.
#[derive(Clone, PartialEq, Eq, Hash)]
pub enum Extents {
    /// As written. One extent of a reshape may be -1.
    Written(Vec<Dim>),
    /// The shape of the last operand, a witness.
    Like,
}

/// Writes `[2, -1]`, or `like`.
impl fmt::Debug for Extents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Written(dims) => dims.fmt(f),
            Self::Like => f.write_str("like"),
        }
    }
}

/// One part of an index expression. Its bounds may contain extents of operands.
pub type Subscript = rules::Subscript<Dim>;

/// Operations that only programs without types have. Their meaning depends on the types of operands.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Own {
    /// `(a, b)`: `a @ b`, a matrix product, or `dot` if an operand has rank 1.
    At,
    /// `(like)`: zeros or ones with the type of the witness.
    FilledLike {
        /// Whether the elements are ones.
        one: bool,
    },
    /// `(like)`: the number of elements of the witness that a reduction combines into one, as a single number of its
    /// element type.
    CountReduced {
        /// The axes, as in a reduction.
        axes: Option<Vec<i64>>,
    },
    /// `(like, x, y, …)`: a number computed from extents of the operands, in the element type of the first. All
    /// operands are witnesses.
    Extent {
        /// The number, as a dim over extents of operands.
        number: Dim,
    },
    /// `(x)`: whether any element is true, or all are, over axes. Elements other than 0 are true.
    Truths {
        /// Whether all elements have to be true.
        all: bool,
        /// The axes.
        reduction: Reduction,
    },
    /// `(v, like)`: `v` summed over the axes that are added or stretched when the witness is broadcast to the shape of
    /// `v`.
    SumLike,
    /// `(v, like)`: `v` converted to the element type of the witness.
    ConvertedLike,
    /// `(x)`: integers converted to `i64`, for indices. Other element types are an error.
    Indices,
    /// `(b, a)`: right-hand sides of systems whose matrices the witness has. A vector becomes a matrix of one column, and
    /// other tensors stay as they are.
    AsColumns,
    /// `(x, b)`: the only column of each matrix of `x` if the witness is a vector, else `x` itself.
    AsGiven,
    /// `(x, y, …)`: values of the same type, stacked along a new axis.
    Stack {
        /// The position of the new axis in the result, as written.
        axis: i64,
    },
    /// `(x)`: `x` padded with zeros.
    Pad {
        /// The number of zeros before `x` along each axis.
        low: Vec<i64>,
        /// The number of zeros after `x` along each axis.
        high: Vec<i64>,
    },
    /// `(v, x, y, …)`: the slice of `v` that belongs to the last witness, where `v` has the shape of the witnesses, and
    /// perhaps further values, concatenated along an axis.
    JoinedPart {
        /// The axis, as written.
        axis: i64,
        /// The number of witnesses before the last.
        part: usize,
    },
    /// `(dv, x, y, …, v)`: zeros with the shape of the last witness and with `dv` in the place of its part, which
    /// follows the parts of the other witnesses along an axis.
    JoinedPartGrad {
        /// The axis, as written.
        axis: i64,
        /// The number of witnesses before the last.
        part: usize,
    },
    /// `(dy, a, b)`: the cotangent of `a` in a product. `a` is a witness.
    ProductGradLhs,
    /// `(dy, a, b)`: the cotangent of `b` in a product. `b` is a witness.
    ProductGradRhs,
    /// `(dy, x)`: zeros with the shape of the witness and with `dy` at the positions that the subscripts read.
    IndexGrad(Vec<Subscript>),
}
