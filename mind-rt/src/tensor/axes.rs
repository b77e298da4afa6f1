//! Axes as values, and the shape types with one axis fewer, one axis more, or reversed axes.

use crate::axis_count::ranks::{Rank0, Rank1, Rank2, Rank3, Rank4, Rank5, Rank6, Rank7, Rank8};
use crate::bare::{Expr, Inferred};
use crate::dims::Dim;
use crate::element::Element;
use crate::error::describe;
use crate::shape::Shape;
use crate::tensor::storage::TensorRef;

/// An axis of a tensor, counted from 0, the outermost. The name is ndarray's.
///
/// A tensor from which an axis was removed has a shape type of dynamic extents, since no Rust type can depend on a
/// number that is known only at run time. [`try_into_shape`](crate::Tensor::try_into_shape) converts it to a static
/// shape.
///
/// ```
/// use mind_rt::{Axis, Tensor};
///
/// let x: Tensor![f32; 2, 3] = Tensor::from([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
/// let sums: Tensor![f32; ?] = x.sum_axis(Axis(0));
/// let sums: Tensor![f32; 3] = sums.try_into_shape()?;
/// assert_eq!(sums.as_slice(), [5.0, 7.0, 9.0]);
/// # Ok::<(), mind_rt::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Axis(pub usize);

impl Axis {
    /// The number of the axis. Panics unless it is below `rank`.
    #[track_caller]
    pub(super) fn below<T: Element, S: Shape>(self, rank: usize, what: &str, x: &TensorRef<T, S>) -> usize {
        if self.0 >= rank {
            out_of_range(self, rank, what, &describe(T::DTYPE, &x.shape().dims()));
        }
        self.0
    }
}

#[cold]
#[track_caller]
fn out_of_range(axis: Axis, rank: usize, what: &str, x: &str) -> ! {
    panic!("E3004: `{what}`: axis {} is out of range for {x}, needed 0 to {}", axis.0, rank as i128 - 1)
}

/// A shape from which an axis can be removed. Sealed.
pub trait RemoveAxis: Shape {
    /// The shape with one axis fewer, at any position; every extent is dynamic.
    type Smaller: Shape;
    /// The shape without its outermost axis. A tuple keeps its other dims; an inferred shape becomes dynamic.
    type Inner: Shape;
}

/// A shape to which an axis can be added. Sealed.
pub trait InsertAxis: Shape {
    /// The shape with one axis more, at any position; every extent is dynamic.
    type Larger: Shape;
}

/// A shape whose axes can be reversed. Sealed.
pub trait ReverseAxes: Shape {
    /// The shape with its axes in reverse order.
    type Reversed: Shape;
}

/// The shape without one of its axes; every extent is dynamic.
pub(super) fn without<S: RemoveAxis>(shape: &S, axis: usize) -> S::Smaller {
    let mut extents = shape.dims().to_vec();
    extents.remove(axis);
    S::Smaller::from_extents(&extents).expect("a dynamic shape of that rank takes any extents")
}

/// The shape without its outermost axis.
pub(super) fn inner<S: RemoveAxis>(shape: &S) -> S::Inner {
    S::Inner::from_extents(&shape.dims()[1..]).expect("they are extents of dims of the same types")
}

macro_rules! dynamic {
    ($dim:ident) => {
        usize
    };
}

/// The tuple type of the dims in reverse order.
macro_rules! reversed {
    ([$($done:tt)*]) => { ($($done)*) };
    ([$($done:tt)*] $first:ident $($rest:ident)*) => { reversed!([$first, $($done)*] $($rest)*) };
}

macro_rules! reverse_axes {
    ($($($dim:ident)*;)*) => {
        $(impl<$($dim: Dim),*> ReverseAxes for ($($dim,)*) {
            type Reversed = reversed!([] $($dim)*);
        })*
    };
}

macro_rules! remove_axis {
    ($($rank:ident: $first:ident $($rest:ident)*;)*) => {
        $(
            impl<$first: Dim, $($rest: Dim),*> RemoveAxis for ($first, $($rest,)*) {
                type Smaller = ($(dynamic!($rest),)*);
                type Inner = ($($rest,)*);
            }

            impl<P: Expr, const K: usize> RemoveAxis for Inferred<P, $rank, K> {
                type Smaller = ($(dynamic!($rest),)*);
                type Inner = ($(dynamic!($rest),)*);
            }

            impl<P: Expr, const K: usize> ReverseAxes for Inferred<P, $rank, K> {
                type Reversed = (usize, $(dynamic!($rest),)*);
            }

            impl<$($rest: Dim),*> InsertAxis for ($($rest,)*) {
                type Larger = (usize, $(dynamic!($rest),)*);
            }
        )*
    };
}

reverse_axes! {
    ;
    A;
    A B;
    A B C;
    A B C D;
    A B C D E;
    A B C D E F;
    A B C D E F G;
    A B C D E F G H;
}

remove_axis! {
    Rank1: A;
    Rank2: A B;
    Rank3: A B C;
    Rank4: A B C D;
    Rank5: A B C D E;
    Rank6: A B C D E F;
    Rank7: A B C D E F G;
    Rank8: A B C D E F G H;
}

macro_rules! insert_axis {
    ($($rank:ident: $($dim:ident)*;)*) => {
        $(impl<P: Expr, const K: usize> InsertAxis for Inferred<P, $rank, K> {
            type Larger = (usize, $(dynamic!($dim),)*);
        })*
    };
}

insert_axis! {
    Rank0: ;
    Rank1: A;
    Rank2: A B;
    Rank3: A B C;
    Rank4: A B C D;
    Rank5: A B C D E;
    Rank6: A B C D E F;
    Rank7: A B C D E F G;
}
