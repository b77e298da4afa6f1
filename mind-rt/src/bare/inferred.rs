//! The shapes of results whose types are not written in the program.

use std::{
    cmp::Ordering,
    fmt::{self, Debug, Formatter},
    marker::PhantomData,
};

use mind_shape::{Context, Operand, Type, UNKNOWN, or_fail, rules};

use super::{
    axes::{self, AxisCount},
    leaf::type_of,
};

use crate::{
    dims::Dim,
    element::Element,
    error::Error,
    shape::{MAX_RANK, Rank, Shape, sealed::ShapeMarker},
    tensor::storage::Tensor,
};

/// The types in an expression of [`mind!`](crate), for its shapes [`Inferred`].
///
/// The macro implements it for a type that is named after the place of the expression, not after the values that it
/// reads.
pub trait Expr: 'static {
    /// The types of the leaves, as far as their Rust types determine them.
    #[doc(hidden)]
    const KNOWN: &'static [Type];
    /// The types of all nodes, as far as the types of the leaves determine them.
    #[doc(hidden)]
    const NODES: &'static [Type];
    /// The types of the results, in order.
    #[doc(hidden)]
    const RESULTS: &'static [Type];

    // `cargo check` evaluates a pattern of this constant. Rustc refuses it where it depends on generic parameters of
    // the surrounding function. It then shows the line below, so that line says what to write.
    #[rustfmt::skip]
    #[doc(hidden)]
    #[allow(missing_docs)]
    const OK: Checked<Self>; // shapes depend on generic parameters here: write `mind!(late: …)`, which `cargo build` checks
}

/// The types of an expression's leaves, as far as their Rust types determine them.
pub trait Leaves: 'static {
    /// The types.
    const KNOWN: &'static [Type];
}

/// Evidence that the rules hold in an expression: a type that patterns may have for any `P`.
pub type Checked<P> = PhantomData<P>;

/// The types as an array.
pub const fn array<const N: usize>(types: &[Type]) -> [Type; N] {
    match types.first_chunk() {
        Some(types) if types.len() == N => *types,
        Some(_) | None => panic!("internal error in mind: a number of types that differs from itself"),
    }
}

/// The shape of a result whose type is not written, such as the result of `mind!(x @ w)`.
///
/// Extents that the types of the operands determine are static. `Inferred` is a [`Shape`], so the tensor can be used
/// wherever shapes are generic. `into()` converts it to a tensor of a written shape, and fails to build where the two
/// differ. A result with the shape of an operand, as `w - 0.1 * g` of tensors of one type, has the operand's type
/// instead.
///
/// `P` identifies the expression, `K` is the position among its results, and `A`, one of [`ranks`](crate::ranks), is
/// the rank.
pub struct Inferred<P, A, const K: usize = 0> {
    /// The extents, with 1 from the rank on.
    extents: [usize; MAX_RANK],
    expression: PhantomData<fn() -> (P, A)>,
}

impl<P: Expr, A: AxisCount, const K: usize> Inferred<P, A, K> {
    const TYPE: Type = P::RESULTS[K];

    const EXTENTS: [Option<usize>; MAX_RANK] = {
        let (mut extents, mut axis) = ([None; MAX_RANK], 0);
        while axis < Self::TYPE.rank() {
            let extent = Self::TYPE.extent(axis);
            if extent != UNKNOWN {
                extents[axis] = Some(extent as usize);
            }
            axis += 1;
        }
        extents
    };

    /// The type for the written shape `S`. E2001 if the shapes cannot be equal, which is a build error in a constant.
    #[track_caller]
    const fn written<T: Element, S: Shape>() -> Type {
        let operands = &[Operand::name("the expression", Self::TYPE)];
        or_fail(rules::expect(Self::TYPE, type_of::<T, S>()), &Context { label: "the expression", operands })
    }
}

impl<P, A, const K: usize> Clone for Inferred<P, A, K> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<P, A, const K: usize> Copy for Inferred<P, A, K> {}

impl<P, A, const K: usize> PartialEq for Inferred<P, A, K> {
    fn eq(&self, other: &Self) -> bool {
        self.extents == other.extents
    }
}

impl<P: Expr, A: AxisCount, const K: usize> Debug for Inferred<P, A, K> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Debug::fmt(&self.dims(), f)
    }
}

impl<P, A: AxisCount, const K: usize> ShapeMarker for Inferred<P, A, K> {
    type Axes = A;
}

impl<P: Expr, A: AxisCount, const K: usize> Shape for Inferred<P, A, K> {
    const RANK: usize = Self::TYPE.rank();
    const STATIC: [Option<usize>; MAX_RANK] = Self::EXTENTS;

    #[inline(always)]
    fn padded(&self) -> [usize; MAX_RANK] {
        let mut extents = self.extents;
        for (extent, known) in extents.iter_mut().zip(const { Self::EXTENTS }) {
            *extent = known.unwrap_or(*extent);
        }
        extents
    }

    #[inline(always)]
    fn from_extents(extents: &[usize]) -> Option<Self> {
        let mut shape = Self { extents: [1; MAX_RANK], expression: PhantomData };
        if extents.len() != Self::RANK {
            return None;
        }
        for (axis, extent) in extents.iter().enumerate() {
            if Self::EXTENTS[axis].is_some_and(|known| known != *extent) {
                return None;
            }
            shape.extents[axis] = *extent;
        }
        Some(shape)
    }
}

macro_rules! dynamic {
    ($dim:ident) => {
        usize
    };
}

macro_rules! of_axes {
    ($axes:ty, $rank:literal: $($dim:ident $axis:literal),*) => {
        impl<P: Expr, const K: usize> Rank<$rank> for Inferred<P, $axes, K> {
            type Dynamic = ($(dynamic!($dim),)*);

            #[inline(always)]
            fn extents(&self) -> [usize; $rank] {
                const { assert!(Self::RANK == $rank, "the expression has another rank") };
                let extents = self.padded();
                std::array::from_fn(|axis| extents[axis])
            }

            #[allow(clippy::unused_unit, reason = "rank 0")]
            fn dynamic(&self) -> Self::Dynamic {
                const { assert!(Self::RANK == $rank, "the expression has another rank") };
                ($(self.padded()[$axis],)*)
            }
        }
    };
}

macro_rules! of_rank {
    ($($rank:literal $axes:ident: $($dim:ident $axis:literal),*;)*) => {
        $(
            of_axes!(axes::$axes, $rank: $($dim $axis),*);
            of_axes!(axes::AnyRank, $rank: $($dim $axis),*);

            // Not `From`: rustc shows where the conversion is instantiated, and with `From` that place is in `core`.
            #[allow(clippy::from_over_into, reason = "as above")]
            impl<T: Element, P: Expr, N: AxisCount, const K: usize, $($dim: Dim),*> Into<Tensor<T, ($($dim,)*)>>
                for Tensor<T, Inferred<P, N, K>>
            {
                /// Keeps the elements. A static extent that differs is a build error; a dynamic extent that differs
                /// panics (E6009).
                #[track_caller]
                fn into(self) -> Tensor<T, ($($dim,)*)> {
                    const { Inferred::<P, N, K>::written::<T, ($($dim,)*)>() };
                    match self.try_into_shape() {
                        Ok(tensor) => tensor,
                        Err(error) => fail(error),
                    }
                }
            }
        )*
    };
}

of_rank! {
    0 Rank0: ;
    1 Rank1: A 0;
    2 Rank2: A 0, B 1;
    3 Rank3: A 0, B 1, C 2;
    4 Rank4: A 0, B 1, C 2, D 3;
    5 Rank5: A 0, B 1, C 2, D 3, E 4;
    6 Rank6: A 0, B 1, C 2, D 3, E 4, F 5;
    7 Rank7: A 0, B 1, C 2, D 3, E 4, F 5, G 6;
    8 Rank8: A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7;
}

macro_rules! numbers {
    ($($ty:ident $variant:ident;)*) => {
        $(
            impl<P: Expr, A: AxisCount, const K: usize> From<Tensor<$ty, Inferred<P, A, K>>> for $ty {
                /// The only element. A build error if the shape has axes.
                fn from(tensor: Tensor<$ty, Inferred<P, A, K>>) -> $ty {
                    const { Inferred::<P, A, K>::written::<$ty, ()>() };
                    tensor.as_slice()[0]
                }
            }

            impl<P: Expr, A: AxisCount, const K: usize> PartialEq<$ty> for Tensor<$ty, Inferred<P, A, K>> {
                /// Compares the only element. A build error if the shape has axes.
                fn eq(&self, other: &$ty) -> bool {
                    const { Inferred::<P, A, K>::written::<$ty, ()>() };
                    self.as_slice()[0] == *other
                }
            }

            impl<P: Expr, A: AxisCount, const K: usize> PartialOrd<$ty> for Tensor<$ty, Inferred<P, A, K>> {
                /// Compares the only element. A build error if the shape has axes.
                fn partial_cmp(&self, other: &$ty) -> Option<Ordering> {
                    const { Inferred::<P, A, K>::written::<$ty, ()>() };
                    self.as_slice()[0].partial_cmp(other)
                }
            }
        )*
    };
}

mind_shape::element_types!(all => numbers!);

#[cold]
#[track_caller]
fn fail(error: Error) -> ! {
    panic!("{error}")
}
