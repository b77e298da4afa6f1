//! What folds put elements together by.

use std::marker::PhantomData;

use super::math::{Functions, maximum, minimum};
use super::number::Number;

use crate::parallel::Combine;

/// How two elements become one, whatever is put together first but for rounding.
pub trait Monoid<T>: Send + Sized + 'static {
    /// What changes no element that it is put together with.
    const NEUTRAL: T;

    /// Whether elements are put together in chains that are [settled](super::reduce::settle), as those of sums are.
    const SETTLES: bool = false;

    /// Both as one.
    #[must_use]
    fn combine(a: T, b: T) -> T;

    /// What a chain makes of what is there, which so much was lost of to rounding, and what is lost then.
    #[must_use]
    #[inline(always)]
    fn settle(all: T, lost: T, chain: T) -> (T, T) {
        (Self::combine(all, chain), lost)
    }

    /// The same with the last chain, after which nothing has to be settled any more.
    #[must_use]
    #[inline(always)]
    fn settled(all: T, _lost: T, chain: T) -> T {
        Self::combine(all, chain)
    }
}

/// Addition.
#[derive(Clone, Copy, Debug)]
pub struct Sum;

/// The larger one: NaN wins, and +0 over -0.
#[derive(Clone, Copy, Debug)]
pub struct Max;

/// The smaller one: NaN wins, and -0 over +0.
#[derive(Clone, Copy, Debug)]
pub struct Min;

/// Multiplication.
#[derive(Clone, Copy, Debug)]
pub struct Product;

impl<T: Number> Monoid<T> for Sum {
    const NEUTRAL: T = T::ZERO;
    const SETTLES: bool = true;

    #[inline(always)]
    fn combine(a: T, b: T) -> T {
        a.plus(b)
    }

    #[inline(always)]
    fn settle(all: T, lost: T, chain: T) -> (T, T) {
        all.plus_chain(lost, chain)
    }

    #[inline(always)]
    fn settled(all: T, lost: T, chain: T) -> T {
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

/// What a part of a fold over everything yields.
#[derive(Clone, Copy, Debug)]
pub struct Folded<M, T> {
    /// What its elements are as one.
    pub value: T,
    by: PhantomData<M>,
}

impl<M, T> Folded<M, T> {
    /// Of a part.
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
