//! Results as fields of structs, whose Rust types fix the shapes of the fields.
//!
//! A decided shape type determines the dimensions of the struct, so the tensor is passed on unchanged. A tensor of an
//! inferred shape converts to the type of the field. The expansion calls the method `__field` of `(&shape)`: rustc
//! takes the first of the traits below that applies.

use std::marker::PhantomData;

use super::{axes::AxisCount, inferred::Expr, inferred::Inferred};
use crate::{element::Element, shape::Shape, tensor::storage::Tensor};

/// The shape is inferred.
pub trait OfInferred: Sized {
    /// The inferred shape.
    type Shape: Shape;

    /// Converts the tensor to the type of the field. If an extent differs, the build fails or the call panics (E6009).
    #[track_caller]
    #[inline(always)]
    fn __field<T: Element, F>(self, tensor: Tensor<T, Self::Shape>) -> F
    where
        Tensor<T, Self::Shape>: Into<F>,
    {
        tensor.into()
    }
}

impl<P: Expr, A: AxisCount, const K: usize> OfInferred for &PhantomData<Inferred<P, A, K>> {
    type Shape = Inferred<P, A, K>;
}

/// The shape type is decided.
pub trait OfDecided: Sized {
    /// The decided shape.
    type Shape: Shape;

    /// Returns the tensor unchanged.
    #[inline(always)]
    fn __field<T: Element>(self, tensor: Tensor<T, Self::Shape>) -> Tensor<T, Self::Shape> {
        tensor
    }
}

impl<S: Shape> OfDecided for PhantomData<S> {
    type Shape = S;
}

/// Converts the tensor to a field whose Rust type does not fix all extents.
///
/// # Panics
/// If an extent that the type fixes differs (E6009).
#[track_caller]
pub fn open_field<T: Element, S: Shape, F: Shape>(tensor: Tensor<T, S>) -> Tensor<T, F> {
    match tensor.try_into_shape() {
        Ok(tensor) => tensor,
        Err(error) => panic!("{error}"),
    }
}

/// Converts the tensor to a field that is a number.
pub fn number_field<T: Element, S: Shape>(tensor: Tensor<T, S>) -> T {
    const { assert!(S::RANK == 0, "the rules hold, so the field is a number") };
    tensor.as_slice()[0]
}
