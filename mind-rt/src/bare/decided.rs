//! The shape type of what is broadcast from leaves, where the types of their shapes decide it.
//!
//! In general no type says how far two shapes broadcast. It does where they are equal, as those of weights and of their
//! gradient, and where one is all of the other but its first dims, as that of a row beside a matrix: the result is then of
//! the type of a leaf. The expansion folds the shapes of leaves by the method `__decided`: rustc takes the first of the
//! traits below that may apply to `(&&&both(a, b))`.

use std::marker::PhantomData;

use crate::{dims::Dim, shape::Shape};

/// Of shapes that decide no type.
pub struct Undecided;

/// Two shapes.
pub const fn both<A, B>(_: PhantomData<A>, _: PhantomData<B>) -> PhantomData<(A, B)> {
    PhantomData
}

/// Of one type.
pub trait Equal: Sized {
    /// That type.
    type Shape: Shape;

    /// The shape of what is broadcast.
    #[inline(always)]
    fn __decided(self) -> PhantomData<Self::Shape> {
        PhantomData
    }
}

impl<S: Shape> Equal for &&&PhantomData<(S, S)> {
    type Shape = S;
}

/// The second broadcasts to the first.
pub trait First: Sized {
    /// The first.
    type Shape: Shape;

    /// The shape of what is broadcast.
    #[inline(always)]
    fn __decided(self) -> PhantomData<Self::Shape> {
        PhantomData
    }
}

impl<A: EndsIn<B>, B> First for &&PhantomData<(A, B)> {
    type Shape = A;
}

/// The first broadcasts to the second.
pub trait Second: Sized {
    /// The second.
    type Shape: Shape;

    /// The shape of what is broadcast.
    #[inline(always)]
    fn __decided(self) -> PhantomData<Self::Shape> {
        PhantomData
    }
}

impl<A, B: EndsIn<A>> Second for &PhantomData<(A, B)> {
    type Shape = B;
}

/// Of other shapes.
pub trait Neither: Sized {
    /// No type.
    #[inline(always)]
    fn __decided(self) -> PhantomData<Undecided> {
        PhantomData
    }
}

impl<A, B> Neither for PhantomData<(A, B)> {}

/// A shape that ends in another, which has fewer dims.
pub trait EndsIn<Last>: Shape {}

impl<S: Shape> EndsIn<()> for S {}

macro_rules! ends {
    // From each of the dims on, but for all of them.
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

// What is decided, or the inferred shape that stands where nothing is: the method `__or_inferred` of `(&&both(decided,
// inferred))`.

/// Of single numbers. They are inferred, and so convert to a number.
pub trait OrNumber: Sized {
    /// The inferred one.
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

/// Of what is decided.
pub trait OrShape: Sized {
    /// That.
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

/// Of what is not.
pub trait OrInferred: Sized {
    /// The inferred one.
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
