//! How many axes a value has, as a type.
//!
//! The Rust type of an ndarray names its rank, so the rank of a result that becomes one has to be a type too, where that
//! of a tensor is a constant. The expansion calls the functions here beside the rules, on the ranks of its leaves. They are
//! defined for whatever ranks there are: the rules tell which are wrong.

use std::marker::PhantomData;

/// A number of axes.
pub trait Axes: 'static {
    /// One fewer, at least none.
    type Less: Axes;
    /// As many as this or the other has.
    type Max<Other: Axes>: Axes;
    /// As many as this, or one more than the other, has.
    type MaxAbove<Other: Axes>: Axes;
    /// Those of both.
    type Plus<Other: Axes>: Axes;
    /// Those of a product with a right operand that has these.
    type At<Rhs: Axes>: Axes;
    /// The same, the left operand having one more.
    type AtAbove<Rhs: Axes>: Axes;
    /// Those of a product whose left operand has these, which are at least two, and whose right operand has the ones of
    /// `Self`.
    type Under<Lhs: Axes>: Axes;
    /// The same, the right operand having one more.
    type UnderAbove<Lhs: Axes>: Axes;
    /// An ndarray's dimension with as many; beyond six it is dynamic.
    #[cfg(feature = "ndarray")]
    type Dimension: ndarray::Dimension;
}

/// No axes.
pub struct NoAxes;

/// One axis more than `A`.
pub struct OneMore<A>(PhantomData<A>);

/// As many axes as only run time knows.
pub struct AnyAxes;

impl Axes for NoAxes {
    type Less = Self;
    type Max<Other: Axes> = Other;
    type MaxAbove<Other: Axes> = OneMore<Other>;
    type Plus<Other: Axes> = Other;
    type At<Rhs: Axes> = Rhs;
    type AtAbove<Rhs: Axes> = Rhs::Less;
    type Under<Lhs: Axes> = Lhs;
    type UnderAbove<Lhs: Axes> = Lhs::Less;
    #[cfg(feature = "ndarray")]
    type Dimension = ndarray::Ix0;
}

impl<A: Axes> Axes for OneMore<A> {
    type Less = A;
    type Max<Other: Axes> = Other::MaxAbove<A>;
    type MaxAbove<Other: Axes> = OneMore<Other::Max<A>>;
    type Plus<Other: Axes> = OneMore<A::Plus<Other>>;
    type At<Rhs: Axes> = A::AtAbove<Rhs>;
    type AtAbove<Rhs: Axes> = Rhs::Under<OneMore<Self>>;
    type Under<Lhs: Axes> = A::UnderAbove<Lhs>;
    type UnderAbove<Lhs: Axes> = Lhs::Max<OneMore<Self>>;
    #[cfg(feature = "ndarray")]
    type Dimension = <A::Dimension as ndarray::Dimension>::Larger;
}

impl Axes for AnyAxes {
    type Less = Self;
    type Max<Other: Axes> = Self;
    type MaxAbove<Other: Axes> = Self;
    type Plus<Other: Axes> = Self;
    type At<Rhs: Axes> = Self;
    type AtAbove<Rhs: Axes> = Self;
    type Under<Lhs: Axes> = Self;
    type UnderAbove<Lhs: Axes> = Self;
    #[cfg(feature = "ndarray")]
    type Dimension = ndarray::IxDyn;
}

/// The axes of a value, as a value.
pub type Known<A> = PhantomData<A>;

/// No axes.
pub const fn none() -> Known<NoAxes> {
    PhantomData
}

/// As many as only run time knows.
pub const fn any() -> Known<AnyAxes> {
    PhantomData
}

/// One more.
pub const fn more<A: Axes>(_: Known<A>) -> Known<OneMore<A>> {
    PhantomData
}

/// One fewer.
pub const fn less<A: Axes>(_: Known<A>) -> Known<A::Less> {
    PhantomData
}

/// Those of two operands that are broadcast.
pub const fn broadcast<A: Axes, B: Axes>(_: Known<A>, _: Known<B>) -> Known<A::Max<B>> {
    PhantomData
}

/// Those of both.
pub const fn plus<A: Axes, B: Axes>(_: Known<A>, _: Known<B>) -> Known<A::Plus<B>> {
    PhantomData
}

/// Those of a product.
pub const fn at<A: Axes, B: Axes>(_: Known<A>, _: Known<B>) -> Known<A::At<B>> {
    PhantomData
}
