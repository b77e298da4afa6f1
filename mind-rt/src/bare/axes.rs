//! How many axes the values of an expression have.
//!
//! The expansion calls the functions here beside the rules, on the ranks of its leaves. They are defined for whatever ranks
//! there are: the rules tell which are wrong.

use std::marker::PhantomData;

use super::inferred::{Expr, Inferred};
pub use crate::axis_count::{AxisCount, ranks::*};
use crate::shape::{Shape, sealed::ShapeMarker};

/// The axes of a value, as a value.
pub type Known<A> = PhantomData<A>;

/// As many as only run time knows.
pub const fn any() -> Known<AnyRank> {
    PhantomData
}

/// Those of a shape.
pub const fn of<S: Shape>(_: PhantomData<S>) -> Known<<S as ShapeMarker>::Axes> {
    PhantomData
}

/// One more.
pub const fn more<A: AxisCount>(_: Known<A>) -> Known<A::More> {
    PhantomData
}

/// One fewer.
pub const fn less<A: AxisCount>(_: Known<A>) -> Known<A::Less> {
    PhantomData
}

/// Those of two operands that are broadcast.
pub const fn broadcast<A: AxisCount, B: AxisCount>(_: Known<A>, _: Known<B>) -> Known<A::Max<B>> {
    PhantomData
}

/// Those of both.
pub const fn plus<A: AxisCount, B: AxisCount>(_: Known<A>, _: Known<B>) -> Known<A::Plus<B>> {
    PhantomData
}

/// Those of a product.
pub const fn at<A: AxisCount, B: AxisCount>(_: Known<A>, _: Known<B>) -> Known<A::At<B>> {
    PhantomData
}

/// The shape of result `K` of an expression, which has so many axes.
pub const fn inferred<const K: usize, P: Expr, A: AxisCount>(
    _: PhantomData<P>,
    _: Known<A>,
) -> PhantomData<Inferred<P, A, K>> {
    PhantomData
}
