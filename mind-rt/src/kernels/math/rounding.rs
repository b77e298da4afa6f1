//! Products and sums that are rounded once or twice.

use crate::kernels::number::Number;

/// A floating-point number.
pub trait Float: Number {
    /// `self · factor + term`, rounded once. Slow if the processor has no instruction for it.
    #[must_use]
    fn fused(self, factor: Self, term: Self) -> Self;
}

impl Float for f32 {
    #[inline(always)]
    fn fused(self, factor: Self, term: Self) -> Self {
        self.mul_add(factor, term)
    }
}

impl Float for f64 {
    #[inline(always)]
    fn fused(self, factor: Self, term: Self) -> Self {
        self.mul_add(factor, term)
    }
}

/// A number to which a product can be added. Floats round by a [`Rounding`], integers wrap. Kernels that also need the
/// elementwise functions take a [`MultiplyAdd`](super::MultiplyAdd).
pub trait PlusProduct: Number {
    /// The most numbers that kernels compute at a time: integers get less code, because programs seldom have sums of
    /// their products.
    const MOST_LANES: usize;

    /// `self + x · y`.
    #[must_use]
    fn plus_product<R: Rounding>(self, x: Self, y: Self) -> Self;
}

macro_rules! float {
    ($($ty:ident $variant:ident;)*) => {
        $(impl PlusProduct for $ty {
            const MOST_LANES: usize = 128 / size_of::<Self>();

            #[inline(always)]
            fn plus_product<R: Rounding>(self, x: Self, y: Self) -> Self {
                R::multiply_add(x, y, self)
            }
        })*
    };
}

macro_rules! integer {
    ($($ty:ident $variant:ident;)*) => {
        $(impl PlusProduct for $ty {
            const MOST_LANES: usize = 8;

            #[inline(always)]
            fn plus_product<R: Rounding>(self, x: Self, y: Self) -> Self {
                self.plus(x.times(y))
            }
        })*
    };
}

mind_shape::element_types!(floats => float!);
mind_shape::element_types!(integers => integer!);

/// How the sum of a product and a term is rounded: after each operation, or once.
pub trait Rounding {
    /// Whether [`multiply_add`](Self::multiply_add) rounds once.
    const FUSES: bool;
    /// Whether operands are known to be in the ranges of the functions that have ranges.
    const IS_NEAR: bool = false;

    /// `x · y + z`.
    fn multiply_add<T: Float>(x: T, y: T, z: T) -> T;

    /// `1 + r + p · r²`, where only the first term is large: the end of a series.
    fn one_plus<T: Float>(r: T, p: T) -> T;
}

/// Multiplications and additions that are rounded separately.
#[derive(Clone, Copy, Debug)]
pub struct Separate;

/// Multiplications and additions that are rounded once, for code that is compiled for a level with an instruction for
/// it.
#[derive(Clone, Copy, Debug)]
pub struct Fused;

impl Rounding for Separate {
    const FUSES: bool = false;

    #[inline(always)]
    fn multiply_add<T: Float>(x: T, y: T, z: T) -> T {
        x.times(y).plus(z)
    }

    #[inline(always)]
    fn one_plus<T: Float>(r: T, p: T) -> T {
        p.times(r.times(r)).plus(r).plus(T::ONE)
    }
}

impl Rounding for Fused {
    const FUSES: bool = true;

    #[inline(always)]
    fn multiply_add<T: Float>(x: T, y: T, z: T) -> T {
        x.fused(y, z)
    }

    #[inline(always)]
    fn one_plus<T: Float>(r: T, p: T) -> T {
        p.fused(r, T::ONE).fused(r, T::ONE)
    }
}
