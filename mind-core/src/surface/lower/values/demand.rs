//! Conditions that templates set for their arguments.

use mind_shape::rules;

use crate::dim::Dim;

/// A condition that a [`Contract`](crate::open::Contract) sets for an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Demand {
    /// The elements are of a class or of one type, and the rank is `rank`, or at least `rank` if `open`.
    Fits {
        /// The elements.
        elements: rules::Elements,
        /// The number of axes that the pattern lists.
        rank: usize,
        /// Whether further leading axes are allowed.
        open: bool,
    },
    /// An axis has this extent. The extent is an expression over extents of the other arguments, which are numbered
    /// from 1.
    Extent {
        /// The axis, counted from the last, which is 1.
        axis: usize,
        /// The extent as written: `4 * H`.
        name: String,
        /// The extent.
        extent: Dim,
    },
    /// The leading extents equal those of the other argument. The trailing axes of each are not compared.
    Leading {
        /// The pack: `B`.
        name: String,
        /// The number of trailing axes of the argument and of the other one.
        last: [usize; 2],
    },
    /// The type is that of the other argument. This is the demand on a cotangent.
    Type,
    /// The element type is that of the other argument.
    Elements {
        /// The variable: `T`.
        name: String,
    },
}
