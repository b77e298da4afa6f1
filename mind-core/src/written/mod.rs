//! Operations as expressions have them before there are types: [`Op<Written>`](crate::ir::Op).
//!
//! Attributes are as they are written, and where Core IR has a shape an operand may stand for it. `table.rs` says
//! of each operation what is known of it, and which operations of Core IR it is where types are known.

mod arguments;
mod calls;
mod composite;
mod constant;
mod core;
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

pub use arguments::{Argument, Text, Texts};
pub(crate) use calls::{AttributeForm, Function, GivenAttributes};
pub(crate) use composite::{CompositeOp, one_hot};
pub use constant::{Constant, Misfit, NumberKind};
pub use core::of_call;
pub(crate) use extents::{ExtentRef, extent_symbol};
pub(crate) use resolve::Unresolved;
pub(crate) use rows::Kind;
pub use rows::{Axes, Elements};
pub(crate) use table::{FUNCTIONS, each, expanded, part, permuted_by, resolve, rule, spread};
pub use table::{check_text, kernel_text, rule_text};

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u32);

        impl $name {
            /// The one at this position.
            ///
            /// # Panics
            /// If the position exceeds 32 bits, which no program that fits in memory reaches.
            pub fn new(position: usize) -> Self {
                Self(u32::try_from(position).expect("a program has fewer than 2^32 parts"))
            }

            /// Its position.
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    )+};
}
pub(crate) use ids;

ids! {
    /// What an input is read from: the leaf of a program at this position.
    LeafId
}

/// The form of programs without types: attributes as they are written, and shapes that are those of a witness.
///
/// A *witness* is an operand of which only the type is read, see [`Op::reads`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Written {}

impl Form for Written {
    type Name = LeafId;
    /// Its element type is that of the witness, if it has one, or [`Constant::dtype`].
    type Const = Box<Constant>;
    type Shape = Extents;
    /// Negative ones count from the end; left out they mean every axis, of a squeeze every one of extent 1.
    type Axes = Option<Vec<i64>>;
    type Permutation = Permutation;
    type Indices = Vec<Subscript>;
    type Bound = Dim;
    type Own = Own;
}

/// An operation; its operands are those of the node.
pub type Op = ir::Op<Written>;

/// Which axes a reduction takes away, as they are written.
pub type Reduction = ir::Reduction<Option<Vec<i64>>>;

/// In which order a transposition takes the axes, as [`mind_shape::rules::Permutation`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Permutation {
    /// As written; negative ones count from the end.
    Written(Vec<i64>),
    /// All in reverse.
    Reversed,
    /// The last two swapped.
    Matrices,
}

/// A shape as it is known without types.
#[derive(Clone, PartialEq, Eq, Hash)]
pub enum Extents {
    /// As written; of a reshape one may be -1.
    Written(Vec<Dim>),
    /// That of the last operand, a witness.
    Like,
}

/// `[2, -1]`, or `like`.
impl fmt::Debug for Extents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Written(dims) => dims.fmt(f),
            Self::Like => f.write_str("like"),
        }
    }
}

/// One part of an index expression; its bounds may be made of extents of operands.
pub type Subscript = rules::Subscript<Dim>;

/// What only programs without types have: where operands or the shape decide, the operation says so.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Own {
    /// `(a, b)`: `a @ b`, a matrix product, or `dot` where an operand has rank 1.
    At,
    /// `(like)`: zeros or ones of the type of the witness.
    FilledLike {
        /// Whether they are ones.
        one: bool,
    },
    /// `(like)`: how many elements of the witness a reduction takes together, as a single number of its element type.
    CountReduced {
        /// As in a reduction.
        axes: Option<Vec<i64>>,
    },
    /// `(like, x, y, …)`: a number made of extents of the operands, of the element type of the first; all are witnesses.
    Extent {
        /// The number, over extents of operands.
        number: Dim,
    },
    /// `(x)`: whether any element is true, or all are, over axes. What is not 0 is true.
    Truths {
        /// Whether all have to be.
        all: bool,
        /// The axes.
        reduction: Reduction,
    },
    /// `(v, like)`: `v` summed over the axes that broadcasting the shape of the witness to that of `v` adds or stretches.
    SumLike,
    /// `(v, like)`: `v` converted to the element type of the witness.
    ConvertedLike,
    /// `(x)`: integers as `i64`; others are no indices.
    Indices,
    /// `(x, y, …)`: values of one type along a new axis.
    Stack {
        /// Its position in the result, as it is written.
        axis: i64,
    },
    /// `(x)`: it among zeros.
    Pad {
        /// How many stand before it along each axis.
        low: Vec<i64>,
        /// How many stand behind it.
        high: Vec<i64>,
    },
    /// `(v, x, y, …)`: what of `v` stands where the last of the witnesses does when all of them, and perhaps others, stand one
    /// after the other along an axis.
    JoinedPart {
        /// As it is written.
        axis: i64,
        /// How many witnesses stand before the last.
        part: usize,
    },
    /// `(dv, x, y, …, v)`: zeros of the shape of the last witness, with `dv` behind the other witnesses along an axis.
    JoinedPartGrad {
        /// As it is written.
        axis: i64,
        /// How many witnesses stand before the last.
        part: usize,
    },
    /// `(dy, a, b)`: what a product passes back to `a`, which is a witness.
    ProductGradLhs,
    /// `(dy, a, b)`: what a product passes back to `b`, which is a witness.
    ProductGradRhs,
    /// `(dy, x)`: zeros of the shape of the witness with `dy` where the subscripts take from.
    IndexGrad(Vec<Subscript>),
}
