//! Conversions from and to `ndarray`, without copying where the layout allows it.
//!
//! - An owned array in standard layout becomes a tensor that keeps its memory. The conversion back keeps the memory
//!   too.
//! - Other owned arrays are copied.
//! - Views are never copied: views of other layouts return E6003.
//! - A tensor whose memory this crate allocated is copied into an owned array, since an array's allocator does not know
//!   the tensor's alignment.

use ndarray::{
    Array, ArrayBase, ArrayView, ArrayViewMut, Data, DataMut, Dimension, Ix0, Ix1, Ix2, Ix3, Ix4, Ix5, Ix6,
    IxDyn,
};

use crate::element::Element;
use crate::error::Error;
use crate::shape::{Rank, Shape};
use crate::tensor::storage::{Tensor, TensorRef, TensorView, TensorViewMut};

/// ```
/// use mind_rt::Tensor;
///
/// let array = ndarray::arr2(&[[1.0_f32, 2.0], [3.0, 4.0]]);
/// let x: Tensor![f32; ?, 2] = array.try_into()?;
/// let back = ndarray::Array2::from(x);
/// assert_eq!(back[[1, 0]], 3.0);
/// # Ok::<(), mind_rt::Error>(())
/// ```
impl<T: Element, S: Shape, D: Dimension> TryFrom<Array<T, D>> for Tensor<T, S> {
    type Error = Error;

    fn try_from(array: Array<T, D>) -> Result<Self, Error> {
        let shape = shape_of::<T, S>(array.shape())?;
        if !array.is_standard_layout() {
            return Self::from_vec(shape, array.iter().copied().collect());
        }
        let len = array.len();
        let (mut elements, offset) = array.into_raw_vec_and_offset();
        let offset = offset.unwrap_or(0);
        elements.truncate(offset + len);
        elements.drain(..offset);
        Self::from_vec(shape, elements)
    }
}

impl<'a, T: Element, S: Shape, D: Dimension> TryFrom<ArrayView<'a, T, D>> for TensorView<'a, T, S> {
    type Error = Error;

    fn try_from(array: ArrayView<'a, T, D>) -> Result<Self, Error> {
        let shape = shape_of::<T, S>(array.shape())?;
        match array.to_slice() {
            Some(elements) => Self::from_slice(shape, elements),
            None => Err(not_contiguous(array.shape(), array.strides())),
        }
    }
}

impl<'a, T: Element, S: Shape, D: Dimension> TryFrom<ArrayViewMut<'a, T, D>> for TensorViewMut<'a, T, S> {
    type Error = Error;

    fn try_from(array: ArrayViewMut<'a, T, D>) -> Result<Self, Error> {
        let shape = shape_of::<T, S>(array.shape())?;
        let error = || not_contiguous(array.shape(), array.strides());
        if !array.is_standard_layout() {
            return Err(error());
        }
        let elements = array.into_slice().expect("a standard layout is a slice");
        Self::from_slice(shape, elements)
    }
}

impl<'a, T, A, S, D> TryFrom<&'a ArrayBase<A, D>> for TensorView<'a, T, S>
where
    T: Element,
    A: Data<Elem = T>,
    S: Shape,
    D: Dimension,
{
    type Error = Error;

    fn try_from(array: &'a ArrayBase<A, D>) -> Result<Self, Error> {
        array.view().try_into()
    }
}

impl<'a, T, A, S, D> TryFrom<&'a mut ArrayBase<A, D>> for TensorViewMut<'a, T, S>
where
    T: Element,
    A: DataMut<Elem = T>,
    S: Shape,
    D: Dimension,
{
    type Error = Error;

    fn try_from(array: &'a mut ArrayBase<A, D>) -> Result<Self, Error> {
        array.view_mut().try_into()
    }
}

macro_rules! into_ndarray {
    ($bound:path, $dimension:ident, $extents:ident) => {
            impl<T: Element, S: $bound> From<Tensor<T, S>> for Array<T, $dimension> {
                fn from(tensor: Tensor<T, S>) -> Self {
                    let extents = $extents(tensor.shape());
                    Self::from_shape_vec(extents, tensor.into_vec()).expect("the shape has this element count")
                }
            }

            into_ndarray!(@view $bound, $dimension, $extents; TensorView<'a, T, S>, &'a TensorRef<T, S>, &'a Tensor<T, S>);
            into_ndarray!(@view_mut $bound, $dimension, $extents; TensorViewMut<'a, T, S>, &'a mut TensorRef<T, S>, &'a mut Tensor<T, S>);
    };
    (@view $bound:path, $dimension:ident, $extents:ident; $own:ty, $($from:ty),*) => {
        impl<'a, T: Element, S: $bound> From<$own> for ArrayView<'a, T, $dimension> {
            fn from(tensor: $own) -> Self {
                Self::from_shape($extents(tensor.shape()), tensor.into_slice())
                    .expect("the shape has this element count")
            }
        }

        $(impl<'a, T: Element, S: $bound> From<$from> for ArrayView<'a, T, $dimension> {
            fn from(tensor: $from) -> Self {
                tensor.view().into()
            }
        })*
    };
    (@view_mut $bound:path, $dimension:ident, $extents:ident; $own:ty, $($from:ty),*) => {
        impl<'a, T: Element, S: $bound> From<$own> for ArrayViewMut<'a, T, $dimension> {
            fn from(tensor: $own) -> Self {
                Self::from_shape($extents(tensor.shape()), tensor.into_slice())
                    .expect("the shape has this element count")
            }
        }

        $(impl<'a, T: Element, S: $bound> From<$from> for ArrayViewMut<'a, T, $dimension> {
            fn from(tensor: $from) -> Self {
                tensor.view_mut().into()
            }
        })*
    };
}

/// The array of a tensor. If `D` has a fixed rank, it must be the tensor's rank.
pub(crate) fn array<T: Element, S: Shape, D: Dimension>(tensor: Tensor<T, S>) -> Array<T, D> {
    let mut extents = D::zeros(S::RANK);
    extents.slice_mut().copy_from_slice(&tensor.shape().dims());
    Array::from_shape_vec(extents, tensor.into_vec()).expect("the shape has this element count")
}

fn fixed<S: Rank<R>, const R: usize>(shape: S) -> [usize; R] {
    shape.extents()
}

fn dynamic<S: Shape>(shape: S) -> Vec<usize> {
    shape.dims().to_vec()
}

into_ndarray!(Rank<0>, Ix0, fixed);
into_ndarray!(Rank<1>, Ix1, fixed);
into_ndarray!(Rank<2>, Ix2, fixed);
into_ndarray!(Rank<3>, Ix3, fixed);
into_ndarray!(Rank<4>, Ix4, fixed);
into_ndarray!(Rank<5>, Ix5, fixed);
into_ndarray!(Rank<6>, Ix6, fixed);
into_ndarray!(Shape, IxDyn, dynamic);

fn shape_of<T: Element, S: Shape>(extents: &[usize]) -> Result<S, Error> {
    S::from_extents(extents).ok_or_else(|| Error::shape_mismatch::<T, S>(extents))
}

fn not_contiguous(shape: &[usize], strides: &[isize]) -> Error {
    Error::NotContiguous { shape: shape.to_vec(), strides: strides.to_vec() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Const, Tensor};
    use ndarray::{Array1, Array2, Array3, ArrayD, Axis, s};

    fn counting() -> Array2<f32> {
        Array2::from_shape_fn((3, 4), |(i, j)| (4 * i + j) as f32)
    }

    #[test]
    fn an_owned_array_comes_and_goes_uncopied() {
        let array = counting();
        let pointer = array.as_ptr();
        let x: Tensor![f32; ?, 4] = array.try_into().expect("3 by 4");
        assert_eq!(x.as_slice().as_ptr(), pointer);
        assert_eq!(x[[2, 1]], 9.0);
        let array = Array2::from(x);
        assert_eq!((array.as_ptr(), array[[2, 1]]), (pointer, 9.0));
        let x: Tensor<f32, (usize, usize)> = array.into_dyn().try_into().expect("rank 2");
        let array = ArrayD::from(x);
        assert_eq!((array.as_ptr(), array.shape()), (pointer, &[3, 4][..]));
    }

    #[test]
    fn an_owned_array_of_another_layout_is_copied() {
        let transposed = counting().reversed_axes();
        let x: Tensor![f32; 4, 3] = transposed.clone().try_into().expect("4 by 3");
        assert_eq!(Array2::from(x), transposed);
    }

    #[test]
    fn an_owned_part_of_an_array_loses_the_rest() {
        let mut array = counting();
        array.slice_collapse(s![1..2, ..]);
        let x: Tensor![f32; 1, 4] = array.try_into().expect("1 by 4");
        assert_eq!(x.as_slice(), [4.0, 5.0, 6.0, 7.0]);
        let mut array = counting();
        array.slice_collapse(s![.., 1..2]);
        let x: Tensor![f32; 3, 1] = array.try_into().expect("3 by 1");
        assert_eq!(x.into_vec(), [1.0, 5.0, 9.0]);
        let mut array = counting();
        array.invert_axis(Axis(0));
        let x: Tensor![f32; 3, 4] = array.try_into().expect("3 by 4");
        assert_eq!(x.as_slice()[0], 8.0);
    }

    #[test]
    fn views_are_never_copied() {
        let mut array = counting();
        let pointer = array.as_ptr();
        let view: TensorView<'_, f32, (Const<3>, usize)> = (&array).try_into().expect("3 rows");
        assert_eq!(view.as_slice().as_ptr(), pointer);
        assert_eq!(ArrayView::<f32, Ix2>::from(view).as_ptr(), pointer);
        let rows: TensorView<'_, f32, (usize, usize)> = array.slice(s![1.., ..]).try_into().expect("rank 2");
        assert_eq!(rows.as_slice()[0], 4.0);
        let mut view: TensorViewMut<'_, f32, (usize, usize)> = (&mut array).try_into().expect("rank 2");
        view[[0, 0]] = 100.0;
        ArrayViewMut::<f32, Ix2>::from(view)[[0, 1]] = 200.0;
        assert_eq!((array[[0, 0]], array[[0, 1]]), (100.0, 200.0));
    }

    #[test]
    fn a_view_of_another_layout_is_an_error() {
        let mut array = counting();
        let error = TensorView::<f32, (usize, usize)>::try_from(array.t()).expect_err("it is transposed");
        assert_eq!(
            error.to_string(),
            "E6003: a tensor view needs a contiguous row-major array, got strides [1, 4] for shape [4, 3]"
        );
        let columns = array.slice_mut(s![.., 1..3]);
        assert_eq!(
            TensorViewMut::<f32, (usize, usize)>::try_from(columns).err().map(|e| e.code()),
            Some("E6003")
        );
    }

    #[test]
    fn another_shape_is_an_error() {
        let error = <Tensor![f32; ?, 5]>::try_from(counting()).expect_err("4 is not 5");
        assert_eq!(error.to_string(), "E6009: dimension 1 differs: got f32[3, 4], needed f32[?, 5]");
        assert_eq!(<Tensor![f32; ?]>::try_from(counting()).expect_err("rank 2").code(), "E3002");
    }

    #[test]
    fn tensors_of_every_rank_become_arrays() {
        assert_eq!(Array::<f32, Ix0>::from(Tensor::from(2.0_f32))[()], 2.0);
        assert_eq!(Array1::from(Tensor::from([1_i64, 2])), ndarray::arr1(&[1, 2]));
        let mut x = Tensor::from([[[1_i32, 2], [3, 4]]]);
        assert_eq!(Array3::from(x.clone()), ndarray::arr3(&[[[1, 2], [3, 4]]]));
        ArrayViewMut::<i32, Ix3>::from(&mut x)[[0, 1, 1]] = 7;
        assert_eq!(ArrayView::<i32, Ix3>::from(&x)[[0, 1, 1]], 7);
        assert_eq!(ArrayView::<i32, IxDyn>::from(&*x).shape(), [1, 2, 2]);
        let x = Tensor::<f32, _>::zeros_with((1, 2, 3, 4, 5, 6));
        assert_eq!(Array::<f32, Ix6>::from(x.clone()).shape(), [1, 2, 3, 4, 5, 6]);
        assert_eq!(
            <Tensor![f32; 1, 2, 3, 4, 5, 6]>::try_from(ArrayD::from(x.clone())),
            Ok(x.try_into_shape().expect("same"))
        );
    }
}
