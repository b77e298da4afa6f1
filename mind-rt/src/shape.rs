//! Shapes: tuples of dims.

use std::fmt;
use std::ops::Deref;

use crate::axis_count::{self, AxisCount};
use crate::dims::{Dim, StaticDim};

/// The highest rank a shape can have.
pub const MAX_RANK: usize = mind_shape::MAX_RANK;

/// A tensor's shape: a tuple of up to [`MAX_RANK`] [`Dim`]s, outermost first.
///
/// ```
/// use mind_rt::{Const, Shape};
///
/// let shape = (32, Const::<784>);
/// assert_eq!(<(usize, Const<784>)>::RANK, 2);
/// assert_eq!(shape.dims()[..], [32, 784]);
/// assert_eq!(shape.len(), 32 * 784);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a shape",
    label = "needed: a tuple with an extent for each axis",
    note = "a shape is a tuple with an extent for each axis: `(n,)` in place of `n` and `[n]`, `(rows, 3)` in place of `[rows, 3]`"
)]
pub trait Shape: Copy + fmt::Debug + PartialEq + Send + Sync + 'static + sealed::ShapeMarker {
    /// The number of dimensions.
    const RANK: usize;

    /// The extents that the type alone determines; `None` for dynamic ones and from `RANK` on.
    const STATIC: [Option<usize>; MAX_RANK];

    /// The extents, with 1 from `RANK` on. Static extents fold to constants.
    fn padded(&self) -> [usize; MAX_RANK];

    /// The shape of this type with these extents; `None` if the rank or a static extent differs.
    fn from_extents(extents: &[usize]) -> Option<Self>;

    /// The names of the dims defined by [`dim!`](crate::dim).
    #[must_use]
    fn names() -> [Option<&'static str>; MAX_RANK] {
        [None; MAX_RANK]
    }

    /// The number of elements, modulo the word size; see [`Shape::checked_len`].
    #[inline(always)]
    fn len(&self) -> usize {
        self.padded().into_iter().fold(1, usize::wrapping_mul)
    }

    /// Whether the shape has no elements, since an extent is 0.
    #[inline(always)]
    fn is_empty(&self) -> bool {
        self.padded().contains(&0)
    }

    /// The number of elements, or `None` if it overflows.
    #[inline]
    fn checked_len(&self) -> Option<usize> {
        // The length is a constant here, since the optimiser does not fold the product for shapes of many dims.
        match const { static_len(Self::STATIC, Self::RANK) } {
            Some(len) => Some(len),
            None if self.is_empty() => Some(0),
            None => self.padded().into_iter().try_fold(1usize, usize::checked_mul),
        }
    }

    /// The extents as a list of length `RANK`.
    #[inline(always)]
    fn dims(&self) -> Dims {
        Dims { extents: self.padded(), rank: Self::RANK }
    }
}

/// The number of elements, if the type determines every extent and the product does not overflow.
const fn static_len(extents: [Option<usize>; MAX_RANK], rank: usize) -> Option<usize> {
    let (mut len, mut axis) = (1_usize, 0);
    while axis < rank {
        let Some(extent) = extents[axis] else { return None };
        let Some(product) = len.checked_mul(extent) else { return None };
        (len, axis) = (product, axis + 1);
    }
    Some(len)
}

/// A shape of exactly `R` dimensions.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a shape of rank `{R}`",
    label = "needed: a tuple with an extent for each axis",
    note = "a shape is a tuple with an extent for each axis: `(n,)` in place of `n` and `[n]`, `(rows, 3)` in place of `[rows, 3]`"
)]
pub trait Rank<const R: usize>: Shape {
    /// The shape type of the same rank with only dynamic dims.
    type Dynamic: Rank<R>;

    /// The extents.
    fn extents(&self) -> [usize; R];

    /// The same extents in a shape with only dynamic dims.
    fn dynamic(&self) -> Self::Dynamic;
}

/// A shape of rank `R`, whose elements are indexed by `R` positions. The separate trait has its own error message.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "wrong number of indices, {R}, for a tensor of the shape `{Self}`",
    label = "needed: an integer for each axis",
    note = "an element of a matrix is `t[[i, j]]` or `t[(i, j)]`, of a vector `t[i]`; a row of a matrix is `t.row(i)`"
)]
pub trait Indexed<const R: usize>: Rank<R> {}

#[diagnostic::do_not_recommend]
impl<const R: usize, S: Rank<R>> Indexed<R> for S {}

/// A shape whose type determines every extent.
#[diagnostic::on_unimplemented(
    message = "the shape `{Self}` has extents that are known only at run time",
    label = "needed: a type with every extent",
    note = "write `Tensor::zeros_with((5, 3))`, `full_with`, `ones_with`, `from_fn_with` or `from_vec`, which take the extents, or a type with all of them, `Tensor![f32; 5, 3]`"
)]
pub trait StaticShape: Shape {
    /// The only value.
    const SHAPE: Self;
}

/// The extents of a shape: a list of at most [`MAX_RANK`] that lives on the stack and dereferences to a slice.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Dims {
    extents: [usize; MAX_RANK],
    rank: usize,
}

impl Deref for Dims {
    type Target = [usize];

    #[inline(always)]
    fn deref(&self) -> &[usize] {
        &self.extents[..self.rank]
    }
}

impl fmt::Debug for Dims {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

macro_rules! dynamic {
    ($dim:ident) => {
        usize
    };
}

macro_rules! shape_of_rank {
    ($rank:literal $axes:ident; $($dim:ident $axis:tt),*) => {
        impl<$($dim: Dim),*> sealed::ShapeMarker for ($($dim,)*) {
            type Axes = axis_count::ranks::$axes;
        }

        impl<$($dim: Dim),*> Shape for ($($dim,)*) {
            const RANK: usize = $rank;
            const STATIC: [Option<usize>; MAX_RANK] = {
                #[allow(unused_mut, reason = "rank 0 sets nothing")]
                let mut extents = [None; MAX_RANK];
                $(extents[$axis] = $dim::STATIC;)*
                extents
            };

            #[inline(always)]
            fn padded(&self) -> [usize; MAX_RANK] {
                #[allow(unused_mut, reason = "rank 0 sets nothing")]
                let mut extents = [1; MAX_RANK];
                $(extents[$axis] = self.$axis.extent();)*
                extents
            }

            #[inline(always)]
            fn from_extents(extents: &[usize]) -> Option<Self> {
                let [$($dim),*] = *extents else { return None };
                Some(($($dim::from_extent($dim)?,)*))
            }

            fn names() -> [Option<&'static str>; MAX_RANK] {
                #[allow(unused_mut, reason = "rank 0 sets nothing")]
                let mut names = [None; MAX_RANK];
                $(names[$axis] = $dim::name();)*
                names
            }
        }

        impl<$($dim: Dim),*> Rank<$rank> for ($($dim,)*) {
            type Dynamic = ($(dynamic!($dim),)*);

            #[inline(always)]
            fn extents(&self) -> [usize; $rank] {
                [$(self.$axis.extent()),*]
            }

            #[inline(always)]
            #[allow(clippy::unused_unit, reason = "rank 0")]
            fn dynamic(&self) -> Self::Dynamic {
                ($(self.$axis.extent(),)*)
            }
        }

        #[diagnostic::do_not_recommend]
        impl<$($dim: StaticDim),*> StaticShape for ($($dim,)*) {
            const SHAPE: Self = ($($dim::DIM,)*);
        }
    };
}

#[allow(non_snake_case, reason = "the names bind values as well as types")]
mod ranks {
    use super::*;

    shape_of_rank!(0 Rank0; );
    shape_of_rank!(1 Rank1; A 0);
    shape_of_rank!(2 Rank2; A 0, B 1);
    shape_of_rank!(3 Rank3; A 0, B 1, C 2);
    shape_of_rank!(4 Rank4; A 0, B 1, C 2, D 3);
    shape_of_rank!(5 Rank5; A 0, B 1, C 2, D 3, E 4);
    shape_of_rank!(6 Rank6; A 0, B 1, C 2, D 3, E 4, F 5);
    shape_of_rank!(7 Rank7; A 0, B 1, C 2, D 3, E 4, F 5, G 6);
    shape_of_rank!(8 Rank8; A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7);
}

/// Writes the type of a tensor: element type, then extents. An integer or `{expression}` is a static dim, `?` a dynamic
/// one, anything else a type that implements [`Dim`](crate::Dim).
///
/// ```
/// use mind_rt::{Const, Tensor};
///
/// mind_rt::dim!(Batch);
/// const H: usize = 28;
///
/// let scalar: Tensor![f32;] = Tensor::from(1.0);
/// let image: Tensor![f32; {H * H}] = Tensor::zeros();
/// let rows: Tensor![f64; ?, 784] = Tensor::zeros_with((32, Const));
/// let batch: Tensor![i64; Batch, 2] = Tensor::zeros_with((Batch(3), Const));
/// assert_eq!((scalar.len(), image.len(), rows.len(), batch.len()), (1, 784, 32 * 784, 6));
/// ```
#[macro_export]
macro_rules! Tensor {
    ($element:ty $(;)?) => {
        $crate::Tensor<$element, ()>
    };
    ($element:ty; $($dims:tt)+) => {
        $crate::Tensor<$element, $crate::__shape!([] $($dims)+)>
    };
}

/// Builds the shape type for [`Tensor!`](crate::Tensor!): moves dims from the right into the brackets.
#[doc(hidden)]
#[macro_export]
macro_rules! __shape {
    ([$($done:tt)*]) => {
        ($($done)*)
    };
    ([$($done:tt)*] ? $(, $($rest:tt)*)?) => {
        $crate::__shape!([$($done)* usize,] $($($rest)*)?)
    };
    ([$($done:tt)*] $extent:literal $(, $($rest:tt)*)?) => {
        $crate::__shape!([$($done)* $crate::Const<$extent>,] $($($rest)*)?)
    };
    ([$($done:tt)*] $extent:block $(, $($rest:tt)*)?) => {
        $crate::__shape!([$($done)* $crate::Const<$extent>,] $($($rest)*)?)
    };
    ([$($done:tt)*] $dim:ty $(, $($rest:tt)*)?) => {
        $crate::__shape!([$($done)* $dim,] $($($rest)*)?)
    };
}

pub(crate) mod sealed {
    /// Marks the types that may be a [`Shape`](super::Shape): tuples, and the shape types that generated code defines.
    pub trait ShapeMarker {
        /// The number of dimensions as a type.
        type Axes: super::AxisCount;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Const, Tensor};

    crate::dim!(Batch);

    #[test]
    fn extents_that_overflow_have_no_count_unless_there_is_nothing() {
        const MANY: usize = 1 << (usize::BITS / 2);
        let (many, none) = (Const::<MANY>, Const::<0>);
        assert_eq!((Const::<2>, Const::<3>).checked_len(), Some(6));
        assert_eq!((Const::<2>, 3).checked_len(), Some(6));
        assert_eq!(().checked_len(), Some(1));
        assert_eq!((many, many).checked_len(), None);
        assert_eq!((many, MANY).checked_len(), None);
        assert_eq!((many, many, none).checked_len(), Some(0));
        assert_eq!((many, MANY, 0).checked_len(), Some(0));
    }

    #[test]
    fn a_tuple_of_dims_is_a_shape() {
        type S = (usize, Const<784>, Batch);
        let shape: S = (2, Const, Batch(3));
        assert_eq!(S::RANK, 3);
        assert_eq!(S::STATIC[..3], [None, Some(784), None]);
        assert_eq!(shape.padded(), [2, 784, 3, 1, 1, 1, 1, 1]);
        assert_eq!(shape.extents(), [2, 784, 3]);
        assert_eq!(shape.dynamic(), (2, 784, 3));
        assert_eq!(shape.len(), 2 * 784 * 3);
        assert_eq!(S::names()[..3], [None, None, Some("Batch")]);
        assert_eq!(format!("{:?}", shape.dims()), "[2, 784, 3]");
    }

    #[test]
    fn extents_make_a_shape_only_where_the_type_agrees() {
        type S = (usize, Const<784>);
        assert_eq!(S::from_extents(&[3, 784]), Some((3, Const)));
        assert_eq!(S::from_extents(&[3, 783]), None);
        assert_eq!(S::from_extents(&[3]), None);
        assert_eq!(<()>::from_extents(&[]), Some(()));
        assert_eq!(<()>::from_extents(&[1]), None);
    }

    #[test]
    fn the_length_is_checked() {
        assert_eq!((usize::MAX, 2).checked_len(), None);
        assert_eq!((usize::MAX, usize::MAX, 0).checked_len(), Some(0));
        assert_eq!(().checked_len(), Some(1));
        assert!((3, 0).is_empty());
    }

    #[test]
    fn a_static_shape_is_a_constant() {
        const SHAPE: (Const<2>, Const<3>) = <(Const<2>, Const<3>)>::SHAPE;
        assert_eq!(SHAPE.extents(), [2, 3]);
        assert_eq!(<(Const<2>,) as StaticShape>::SHAPE.len(), 2);
    }

    fn same_type<T>(_: fn(T), _: fn(T)) {}

    #[test]
    fn the_type_macro_writes_tuples() {
        const N: usize = 5;
        same_type(|_: Tensor![f32; 2, 3]| (), |_: Tensor<f32, (Const<2>, Const<3>)>| ());
        same_type(|_: Tensor![f32; ?, 3,]| (), |_: Tensor<f32, (usize, Const<3>)>| ());
        same_type(|_: Tensor![f32; {N + 1}, ?]| (), |_: Tensor<f32, (Const<6>, usize)>| ());
        same_type(|_: Tensor![i64; Batch, Const<4>]| (), |_: Tensor<i64, (Batch, Const<4>)>| ());
        same_type(|_: Tensor![f64;]| (), |_: Tensor<f64, ()>| ());
        same_type(|_: Tensor![f64]| (), |_: Tensor<f64, ()>| ());
        type Eight = (Const<1>, Const<2>, Const<3>, Const<4>, Const<5>, Const<6>, Const<7>, Const<8>);
        same_type(|_: Tensor![f64; 1, 2, 3, 4, 5, 6, 7, 8]| (), |_: Tensor<f64, Eight>| ());
    }
}
