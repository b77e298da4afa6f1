//! Conversions between tensors and nested arrays, numbers, vectors and slices.

use crate::dims::Const;
use crate::element::Element;
use crate::error::Error;
use crate::shape::{Shape, StaticShape};
use crate::tensor::storage::{Tensor, TensorRef, TensorView};

impl<T: Element> From<T> for Tensor<T, ()> {
    fn from(value: T) -> Self {
        Self::full(value)
    }
}

macro_rules! scalars {
    ($($ty:ident $variant:ident;)*) => {
        $(
            impl From<Tensor<$ty, ()>> for $ty {
                fn from(tensor: Tensor<$ty, ()>) -> $ty {
                    tensor.scalar()
                }
            }

            impl From<&TensorRef<$ty, ()>> for $ty {
                fn from(tensor: &TensorRef<$ty, ()>) -> $ty {
                    tensor.scalar()
                }
            }
        )*
    };
}

mind_shape::element_types!(numbers => scalars!);

macro_rules! nested {
    (@array $inner:ty;) => { $inner };
    (@array $inner:ty; $last:ident $($rest:ident)*) => { nested!(@array [$inner; $last]; $($rest)*) };
    // The extents from the innermost to the outermost, then from the outermost to the innermost, then the flattening
    // steps.
    ($([$($inward:ident)*] [$($outward:ident)*] $($flatten:ident)*;)*) => {
        $(
            impl<T: Element, $(const $outward: usize),*> From<nested!(@array T; $($inward)*)>
                for Tensor<T, ($(Const<$outward>,)*)>
            {
                fn from(array: nested!(@array T; $($inward)*)) -> Self {
                    let mut tensor = Self::zeros();
                    tensor.as_mut_slice().copy_from_slice(array.as_slice()$(.$flatten())*);
                    tensor
                }
            }
        )*
    };
}

nested! {
    [A] [A];
    [B A] [A B] as_flattened;
    [C B A] [A B C] as_flattened as_flattened;
    [D C B A] [A B C D] as_flattened as_flattened as_flattened;
    [E D C B A] [A B C D E] as_flattened as_flattened as_flattened as_flattened;
    [F E D C B A] [A B C D E F] as_flattened as_flattened as_flattened as_flattened as_flattened;
}

impl<T: Element, S: StaticShape> TryFrom<Vec<T>> for Tensor<T, S> {
    type Error = Error;

    /// Keeps the vector's memory. Returns E3007 if the length is not the shape's number of elements.
    fn try_from(elements: Vec<T>) -> Result<Self, Error> {
        Self::from_vec(S::SHAPE, elements)
    }
}

impl<T: Element, S: StaticShape> TryFrom<&[T]> for Tensor<T, S> {
    type Error = Error;

    /// Copies the elements. Returns E3007 if the length is not the shape's number of elements.
    fn try_from(elements: &[T]) -> Result<Self, Error> {
        Self::from_slice(S::SHAPE, elements)
    }
}

impl<'a, T: Element, S: StaticShape> TryFrom<&'a [T]> for TensorView<'a, T, S> {
    type Error = Error;

    /// Borrows the elements. Returns E3007 if the length is not the shape's number of elements.
    fn try_from(elements: &'a [T]) -> Result<Self, Error> {
        Self::from_slice(S::SHAPE, elements)
    }
}

impl<T: Element, S: Shape> From<Tensor<T, S>> for Vec<T> {
    fn from(tensor: Tensor<T, S>) -> Self {
        tensor.into_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Tensor;

    #[test]
    fn nested_arrays_become_tensors_of_their_shape() {
        let x = Tensor::from([[1.0_f32, 2.0, 3.0], [4.0, 5.0, 6.0]]);
        assert_eq!((x.dims(), x[[1, 0]]), ([2, 3], 4.0));
        let x = Tensor::from([[[1_i64, 2], [3, 4], [5, 6]]]);
        assert_eq!((x.dims(), x[[0, 2, 1]]), ([1, 3, 2], 6));
        let x = Tensor::from([[[[1.0_f64], [2.0]]], [[[3.0], [4.0]]]]);
        assert_eq!((x.dims(), x[[1, 0, 0, 0]]), ([2, 1, 2, 1], 3.0));
        assert_eq!(Tensor::from([[[[[[7_i32; 2]; 1]; 3]; 1]; 2]; 1]).dims(), [1, 2, 1, 3, 1, 2]);
        assert_eq!(Tensor::from([0.0_f32; 0]).dims(), [0]);
    }

    #[test]
    fn a_nested_array_takes_its_dtype_from_context() {
        let x: Tensor![f32; 2, 2] = Tensor::from([[1.0, 2.0], [3.0, 4.0]]);
        let y: Tensor![f64; 1, 2] = [[1.0, 2.0]].into();
        assert_eq!((x.len(), y.len()), (4, 2));
    }

    #[test]
    fn numbers_and_rank_0_tensors_convert_both_ways() {
        let x: Tensor![f32;] = 2.0.into();
        assert_eq!(x.scalar(), 2.0);
        assert_eq!(f32::from(&*x), 2.0);
        assert_eq!(f32::from(x), 2.0);
        assert_eq!(i64::from(Tensor::from(3_i64)), 3);
    }

    #[test]
    fn vectors_and_slices_become_static_tensors() {
        let x: Tensor![i32; 2, 2] = vec![1, 2, 3, 4].try_into().expect("4 elements");
        assert_eq!(Vec::from(x.clone()), [1, 2, 3, 4]);
        assert_eq!(<Tensor![i32; 3]>::try_from(x.as_slice()).expect_err("4 is not 3").code(), "E3007");
        let view: TensorView<'_, i32, (Const<4>,)> = x.as_slice().try_into().expect("4 elements");
        assert_eq!(view.as_slice(), x.as_slice());
    }
}
