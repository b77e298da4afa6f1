//! ndarray arrays as leaves: owned arrays, views and shared arrays, of 0 to 6 dimensions.

use ndarray::{
    Array, ArrayBase, ArrayRef, ArrayView, ArrayViewMut, Data, Dimension, Ix0, Ix1, Ix2, Ix3, Ix4, Ix5, Ix6,
};

use super::{
    form::Arrays,
    leaf::{Leaf, LeafElement, Read},
    number::Datum,
};
use crate::{
    element::Element,
    error::Error,
    interop::array,
    shape::Shape,
    tensor::storage::{Tensor, TensorView},
};

#[diagnostic::do_not_recommend]
impl<T: LeafElement<Itself = T>, A: Data<Elem = T>, D: LeafRank> Leaf for ArrayBase<A, D, T> {
    type Element = T::Itself;
    type Shape = D::Shape;
    type Owned = Array<T, D>;
    type Form = Arrays;

    #[inline(always)]
    fn read(&self) -> Read<'_, T, D::Shape> {
        <ArrayRef<T, D> as Leaf>::read(self)
    }

    fn owned(tensor: Tensor<T, D::Shape>) -> Array<T, D> {
        array(tensor)
    }
}

#[diagnostic::do_not_recommend]
impl<T: LeafElement<Itself = T>, D: LeafRank> Leaf for ArrayRef<T, D> {
    type Element = T::Itself;
    type Shape = D::Shape;
    type Owned = Array<T, D>;
    type Form = Arrays;

    #[inline(always)]
    fn read(&self) -> Read<'_, T, D::Shape> {
        read(self.view())
    }

    fn owned(tensor: Tensor<T, D::Shape>) -> Array<T, D> {
        array(tensor)
    }
}

/// Borrows the elements of an array that is contiguous and row-major; copies those of other arrays.
fn read<T: Datum, D: LeafRank>(array: ArrayView<'_, T, D>) -> Read<'_, T, D::Shape> {
    let shape = D::Shape::from_extents(array.shape()).expect("each rank has a shape of as many dims");
    read_as(array, shape).unwrap_or_else(|error| panic!("{error}"))
}

/// Borrows the elements of an array that is contiguous and row-major; copies those of other arrays. `shape` has the
/// extents of the array.
///
/// # Errors
/// E6004 if memory for a copy cannot be allocated.
pub fn read_as<T: Element, D: Dimension, S: Shape>(
    array: ArrayView<'_, T, D>,
    shape: S,
) -> Result<Read<'_, T, S>, Error> {
    match array.to_slice() {
        Some(elements) => Ok(Read::Borrowed(TensorView::from_elements(shape, elements))),
        None => copied(&array, shape),
    }
}

#[cold]
#[inline(never)]
fn copied<'a, T: Element, D: Dimension, S: Shape>(
    array: &ArrayView<'a, T, D>,
    shape: S,
) -> Result<Read<'a, T, S>, Error> {
    let mut tensor = Tensor::try_stale_with(shape)?;
    ArrayViewMut::from_shape(array.raw_dim(), tensor.as_mut_slice())
        .expect("the shape has this element count")
        .assign(array);
    Ok(Read::Copied(tensor))
}

/// A dimension type of ndarray with a fixed number of dimensions.
pub trait LeafRank: Dimension {
    /// The shape type with the same number of dynamic dims.
    type Shape: Shape;
}

macro_rules! dynamic {
    ($axis:ident) => {
        usize
    };
}

macro_rules! known_ranks {
    ($($dimension:ident: $($axis:ident)*;)*) => {
        $(impl LeafRank for $dimension {
            type Shape = ($(dynamic!($axis),)*);
        })*
    };
}

known_ranks! {
    Ix0: ;
    Ix1: a;
    Ix2: a b;
    Ix3: a b c;
    Ix4: a b c d;
    Ix5: a b c d e;
    Ix6: a b c d e f;
}
