//! Conditions that templates set for their arguments.

use mind_shape::rules;

use crate::dim::Dim;

/// What a [`Contract`](crate::open::Contract) demands of an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Demand {
    /// Elements of a class or of a type, and so many axes, or more where it is open.
    Fits {
        /// The elements.
        elements: rules::Elements,
        /// How many axes are written.
        rank: usize,
        /// Whether more may stand before them.
        open: bool,
    },
    /// That an axis, counted from the last, which is 1, has this extent, made of those of others, which come from 1 on.
    Extent {
        /// The axis.
        axis: usize,
        /// As it is written: `4 * H`.
        name: String,
        /// The extent.
        extent: Dim,
    },
    /// The leading extents of the other argument, before so many of the last of each.
    Leading {
        /// The pack: `B`.
        name: String,
        /// How many are last, of the argument and of the other.
        last: [usize; 2],
    },
    /// The type of the other argument: what flows back to it has that.
    Type,
    /// The element type of the other argument.
    Elements {
        /// The variable: `T`.
        name: String,
    },
}
