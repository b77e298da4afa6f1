//! The shape type of a result that is broadcast from leaves, where the shape types of the leaves determine it.
//!
//! In general no type expresses the shape to which two shapes broadcast. In two cases it has the shape type of a leaf:
//!
//! - The shapes are equal, as for weights and their gradient.
//! - One shape consists of the last dims of the other, as for a matrix and a row.
//!
//! The expansion folds the shapes of leaves by the method `__decided`: rustc takes the first of the traits below that
//! applies to `(&&&both(a, b))`.

use std::marker::PhantomData;

use crate::{dims::Dim, shape::Shape};

/// The result for shapes that determine no type.
pub struct Undecided;

/// The pair of two shapes.
pub const fn both<A, B>(_: PhantomData<A>, _: PhantomData<B>) -> PhantomData<(A, B)> {
    PhantomData
}

/// The shapes have one type.
pub trait Equal: Sized {
    /// The type of both shapes.
    type Shape: Shape;

    /// The shape type of the broadcast result.
    #[inline(always)]
    fn __decided(self) -> PhantomData<Self::Shape> {
        PhantomData
    }
}

impl<S: Shape> Equal for &&&PhantomData<(S, S)> {
    type Shape = S;
}

/// The second shape broadcasts to the first.
pub trait First: Sized {
    /// The first shape.
    type Shape: Shape;

    /// The shape type of the broadcast result.
    #[inline(always)]
    fn __decided(self) -> PhantomData<Self::Shape> {
        PhantomData
    }
}

impl<A: EndsIn<B>, B> First for &&PhantomData<(A, B)> {
    type Shape = A;
}

/// The first shape broadcasts to the second.
pub trait Second: Sized {
    /// The second shape.
    type Shape: Shape;

    /// The shape type of the broadcast result.
    #[inline(always)]
    fn __decided(self) -> PhantomData<Self::Shape> {
        PhantomData
    }
}

impl<A, B: EndsIn<A>> Second for &PhantomData<(A, B)> {
    type Shape = B;
}

/// No other case applies.
pub trait Neither: Sized {
    /// No shape type.
    #[inline(always)]
    fn __decided(self) -> PhantomData<Undecided> {
        PhantomData
    }
}

impl<A, B> Neither for PhantomData<(A, B)> {}

/// A shape whose last dims are those of `Last`, which has fewer dims.
pub trait EndsIn<Last>: Shape {}

impl<S: Shape> EndsIn<()> for S {}

macro_rules! ends {
    // One implementation for the dims from each position on, except the first.
    ([$($all:ident)*] $first:ident) => {};
    ([$($all:ident)*] $first:ident $($last:ident)+) => {
        impl<$($all: Dim),*> EndsIn<($($last,)*)> for ($($all,)*) {}
        ends!([$($all)*] $($last)+);
    };
    ($($all:ident)*) => {
        ends!([$($all)*] $($all)*);
    };
}

ends!(A B);
ends!(A B C);
ends!(A B C D);
ends!(A B C D E);
ends!(A B C D E F);
ends!(A B C D E F G);
ends!(A B C D E F G H);

// The decided shape type, or the inferred one where no type is decided: the method `__or_inferred` of
// `(&&both(decided, inferred))`.

/// The result is a single number. Its shape is inferred, so that it converts to a number.
pub trait OrNumber: Sized {
    /// The inferred shape.
    type Shape: Shape;

    /// The shape of the result.
    #[inline(always)]
    fn __or_inferred(self) -> PhantomData<Self::Shape> {
        PhantomData
    }
}

impl<I: Shape> OrNumber for &&PhantomData<((), I)> {
    type Shape = I;
}

/// The shape type is decided.
pub trait OrShape: Sized {
    /// The decided shape.
    type Shape: Shape;

    /// The shape of the result.
    #[inline(always)]
    fn __or_inferred(self) -> PhantomData<Self::Shape> {
        PhantomData
    }
}

impl<S: Shape, I> OrShape for &PhantomData<(S, I)> {
    type Shape = S;
}

/// No shape type is decided.
pub trait OrInferred: Sized {
    /// The inferred shape.
    type Shape: Shape;

    /// The shape of the result.
    #[inline(always)]
    fn __or_inferred(self) -> PhantomData<Self::Shape> {
        PhantomData
    }
}

impl<I: Shape> OrInferred for PhantomData<(Undecided, I)> {
    type Shape = I;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dims::Const;
    use std::any::type_name;

    macro_rules! decided {
        ($a:ty, $b:ty) => {{
            fn name<T>(_: PhantomData<T>) -> &'static str {
                type_name::<T>()
            }
            name((&&&both(PhantomData::<$a>, PhantomData::<$b>)).__decided())
        }};
    }

    #[test]
    fn equal_shapes_and_those_that_one_ends_in_decide() {
        type Matrix = (Const<2>, usize);
        for name in [
            decided!(Matrix, Matrix),
            decided!(Matrix, (usize,)),
            decided!((usize,), Matrix),
            decided!((), Matrix),
            decided!(Matrix, ()),
        ] {
            assert_eq!(name, type_name::<Matrix>());
        }
        assert_eq!(decided!((), ()), type_name::<()>());
    }

    #[test]
    fn other_shapes_do_not() {
        for name in [
            decided!((usize,), (Const<3>,)),
            decided!((Const<2>, Const<1>), (Const<3>,)),
            decided!((Const<1>,), (Const<3>,)),
            decided!(Undecided, (Const<3>,)),
            decided!((Const<3>,), Undecided),
        ] {
            assert_eq!(name, type_name::<Undecided>());
        }
    }
}
