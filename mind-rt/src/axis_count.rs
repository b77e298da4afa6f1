//! The number of axes of a value, as a type.
//!
//! The Rust type of an ndarray array contains its rank. The type of an inferred shape contains its rank too, so that
//! rustc knows how many extents `dims()` returns. The ranks of results are therefore types, while their extents are
//! constants.

/// A number of axes.
pub trait AxisCount: 'static {
    /// One axis fewer; no axes stay none.
    type Less: AxisCount;
    /// One axis more.
    type More: AxisCount;
    /// The larger of the two numbers.
    type Max<Other: AxisCount>: AxisCount;
    /// The larger of this number and one more than the other.
    type MaxAbove<Other: AxisCount>: AxisCount;
    /// The sum of the two numbers.
    type Plus<Other: AxisCount>: AxisCount;
    /// The rank of a product with this left operand and the right operand `Rhs`.
    type At<Rhs: AxisCount>: AxisCount;
    /// As [`At`](Self::At), for a left operand with one axis more than `Self`.
    type AtAbove<Rhs: AxisCount>: AxisCount;
    /// The rank of a product with the left operand `Lhs`, which has at least two axes, and the right operand `Self`.
    type Under<Lhs: AxisCount>: AxisCount;
    /// As [`Under`](Self::Under), for a right operand with one axis more than `Self`.
    type UnderAbove<Lhs: AxisCount>: AxisCount;
    /// The dimension type of ndarray for this number of axes; dynamic above six.
    #[cfg(feature = "ndarray")]
    type Dimension: ndarray::Dimension;
}

pub use ranks::*;

/// Ranks as types, which the types of [`Inferred`](crate::Inferred) shapes contain.
pub mod ranks {
    macro_rules! ranks {
        ($($(#[$doc:meta])* $rank:ident)*) => {
            $($(#[$doc])* #[derive(Debug)] pub struct $rank;)*
        };
    }

    ranks! {
        /// Rank 0: a single number.
        Rank0
        /// Rank 1.
        Rank1
        /// Rank 2.
        Rank2
        /// Rank 3.
        Rank3
        /// Rank 4.
        Rank4
        /// Rank 5.
        Rank5
        /// Rank 6.
        Rank6
        /// Rank 7.
        Rank7
        /// Rank 8.
        Rank8
        /// A rank that depends on extents, such as the rank of `squeeze(x)`.
        AnyRank
    }
}

impl AxisCount for Rank0 {
    type Less = Self;
    type More = Rank1;
    type Max<Other: AxisCount> = Other;
    type MaxAbove<Other: AxisCount> = Other::More;
    type Plus<Other: AxisCount> = Other;
    type At<Rhs: AxisCount> = Rhs;
    type AtAbove<Rhs: AxisCount> = Rhs::Less;
    type Under<Lhs: AxisCount> = Lhs;
    type UnderAbove<Lhs: AxisCount> = Lhs::Less;
    #[cfg(feature = "ndarray")]
    type Dimension = ndarray::Ix0;
}

macro_rules! counts {
    ($($less:ident < $own:ident < $more:ident, $dimension:ident;)*) => {
        $(impl AxisCount for $own {
            type Less = $less;
            type More = $more;
            type Max<Other: AxisCount> = Other::MaxAbove<Self::Less>;
            type MaxAbove<Other: AxisCount> = <Other::Max<Self::Less> as AxisCount>::More;
            type Plus<Other: AxisCount> = <<Self::Less as AxisCount>::Plus<Other> as AxisCount>::More;
            type At<Rhs: AxisCount> = <Self::Less as AxisCount>::AtAbove<Rhs>;
            type AtAbove<Rhs: AxisCount> = Rhs::Under<Self::More>;
            type Under<Lhs: AxisCount> = <Self::Less as AxisCount>::UnderAbove<Lhs>;
            type UnderAbove<Lhs: AxisCount> = Lhs::Max<Self::More>;
            #[cfg(feature = "ndarray")]
            type Dimension = ndarray::$dimension;
        })*
    };
}

counts! {
    Rank0 < Rank1 < Rank2, Ix1;
    Rank1 < Rank2 < Rank3, Ix2;
    Rank2 < Rank3 < Rank4, Ix3;
    Rank3 < Rank4 < Rank5, Ix4;
    Rank4 < Rank5 < Rank6, Ix5;
    Rank5 < Rank6 < Rank7, Ix6;
    Rank6 < Rank7 < Rank8, IxDyn;
    Rank7 < Rank8 < AnyRank, IxDyn;
}

impl AxisCount for AnyRank {
    type Less = Self;
    type More = Self;
    type Max<Other: AxisCount> = Self;
    type MaxAbove<Other: AxisCount> = Self;
    type Plus<Other: AxisCount> = Self;
    type At<Rhs: AxisCount> = Self;
    type AtAbove<Rhs: AxisCount> = Self;
    type Under<Lhs: AxisCount> = Self;
    type UnderAbove<Lhs: AxisCount> = Self;
    #[cfg(feature = "ndarray")]
    type Dimension = ndarray::IxDyn;
}
