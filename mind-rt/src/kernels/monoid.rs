//! The operations by which folds combine elements.

use std::marker::PhantomData;

use super::math::{Functions, maximum, minimum};
use super::number::Number;

use crate::parallel::Combine;

/// An operation that combines two elements. The order in which elements are combined does not matter, except for
/// rounding.
pub trait Monoid<T>: Send + Sized + 'static {
    /// The neutral element: combining it with another element does not change that.
    const NEUTRAL: T;

    /// Whether chains are combined with a [correction](super::reduce::combine_chains) of the rounding error, as for
    /// sums.
    const IS_COMPENSATED: bool = false;

    /// Combines two elements.
    #[must_use]
    fn combine(a: T, b: T) -> T;

    /// Combines a chain with `all`, whose rounding error so far is `lost`. Returns the result and its rounding error.
    #[must_use]
    #[inline(always)]
    fn combine_chain(all: T, lost: T, chain: T) -> (T, T) {
        (Self::combine(all, chain), lost)
    }

    /// As [`combine_chain`](Self::combine_chain) for the last chain, after which the rounding error is not needed.
    #[must_use]
    #[inline(always)]
    fn combine_last_chain(all: T, _lost: T, chain: T) -> T {
        Self::combine(all, chain)
    }
}

/// Addition.
#[derive(Clone, Copy, Debug)]
pub struct Sum;

/// The larger element: NaN wins, and +0 over -0.
#[derive(Clone, Copy, Debug)]
pub struct Max;

/// The smaller element: NaN wins, and -0 over +0.
#[derive(Clone, Copy, Debug)]
pub struct Min;

/// Multiplication.
#[derive(Clone, Copy, Debug)]
pub struct Product;

impl<T: Number> Monoid<T> for Sum {
    const NEUTRAL: T = T::ZERO;
    const IS_COMPENSATED: bool = true;

    #[inline(always)]
    fn combine(a: T, b: T) -> T {
        a.plus(b)
    }

    #[inline(always)]
    fn combine_chain(all: T, lost: T, chain: T) -> (T, T) {
        all.plus_chain(lost, chain)
    }

    #[inline(always)]
    fn combine_last_chain(all: T, lost: T, chain: T) -> T {
        all.plus(chain.minus(lost))
    }
}

impl<T: Functions> Monoid<T> for Max {
    const NEUTRAL: T = T::LEAST;

    #[inline(always)]
    fn combine(a: T, b: T) -> T {
        maximum(a, b)
    }
}

impl<T: Functions> Monoid<T> for Min {
    const NEUTRAL: T = T::GREATEST;

    #[inline(always)]
    fn combine(a: T, b: T) -> T {
        minimum(a, b)
    }
}

impl<T: Number> Monoid<T> for Product {
    const NEUTRAL: T = T::ONE;

    #[inline(always)]
    fn combine(a: T, b: T) -> T {
        a.times(b)
    }
}

/// The result of one part of a fold over all elements.
#[derive(Clone, Copy, Debug)]
pub struct Folded<M, T> {
    /// The combination of the elements of the part.
    pub value: T,
    by: PhantomData<M>,
}

impl<M, T> Folded<M, T> {
    /// The result of a part.
    #[inline(always)]
    pub fn new(value: T) -> Self {
        Self { value, by: PhantomData }
    }
}

impl<M: Monoid<T>, T: Number> Combine for Folded<M, T> {
    #[inline(always)]
    fn combine(self, later: Self) -> Self {
        Self::new(M::combine(self.value, later.value))
    }
}
