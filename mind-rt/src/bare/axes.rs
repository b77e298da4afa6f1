//! The ranks of the values of an expression, as types.
//!
//! The expansion calls these functions beside the shape rules, on the ranks of its leaves. They are defined for all
//! ranks: the rules report an error for wrong ones.

use std::marker::PhantomData;

use super::inferred::{Expr, Inferred};
pub use crate::axis_count::{AxisCount, ranks::*};
use crate::shape::{Shape, sealed::ShapeMarker};

/// The rank of a value, as a value.
pub type Known<A> = PhantomData<A>;

/// A rank that is known only at run time.
pub const fn any() -> Known<AnyRank> {
    PhantomData
}

/// The rank of a shape.
pub const fn of<S: Shape>(_: PhantomData<S>) -> Known<<S as ShapeMarker>::Axes> {
    PhantomData
}

/// One axis more.
pub const fn more<A: AxisCount>(_: Known<A>) -> Known<A::More> {
    PhantomData
}

/// One axis fewer.
pub const fn less<A: AxisCount>(_: Known<A>) -> Known<A::Less> {
    PhantomData
}

/// The rank of two operands that are broadcast.
pub const fn broadcast<A: AxisCount, B: AxisCount>(_: Known<A>, _: Known<B>) -> Known<A::Max<B>> {
    PhantomData
}

/// The sum of both ranks.
pub const fn plus<A: AxisCount, B: AxisCount>(_: Known<A>, _: Known<B>) -> Known<A::Plus<B>> {
    PhantomData
}

/// The rank of a product.
pub const fn at<A: AxisCount, B: AxisCount>(_: Known<A>, _: Known<B>) -> Known<A::At<B>> {
    PhantomData
}

/// The shape type of result `K` of an expression, which has the rank `A`.
pub const fn inferred<const K: usize, P: Expr, A: AxisCount>(
    _: PhantomData<P>,
    _: Known<A>,
) -> PhantomData<Inferred<P, A, K>> {
    PhantomData
}
