//! Results as fields of structs, whose Rust types say of which shapes they are.
//!
//! What a shape type decides tells the dimensions of the struct, so it is handed on as it is; what is inferred is of the type
//! that the field has. The expansion calls the method `__field` of `(&shape)`: rustc takes the first of the traits below that
//! may apply.

use std::marker::PhantomData;

use super::{axes::AxisCount, inferred::Expr, inferred::Inferred};
use crate::{element::Element, shape::Shape, tensor::storage::Tensor};

/// Of an inferred shape.
pub trait OfInferred: Sized {
    /// The shape.
    type Shape: Shape;

    /// The field. An error of the build, or a panic (E6009), where an extent is another.
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

/// Of a shape that is decided.
pub trait OfDecided: Sized {
    /// The shape.
    type Shape: Shape;

    /// The field.
    #[inline(always)]
    fn __field<T: Element>(self, tensor: Tensor<T, Self::Shape>) -> Tensor<T, Self::Shape> {
        tensor
    }
}

impl<S: Shape> OfDecided for PhantomData<S> {
    type Shape = S;
}

/// A field of which Rust does not know all extents.
///
/// # Panics
/// If an extent that it knows is another (E6009).
#[track_caller]
pub fn open_field<T: Element, S: Shape, F: Shape>(tensor: Tensor<T, S>) -> Tensor<T, F> {
    match tensor.try_into_shape() {
        Ok(tensor) => tensor,
        Err(error) => panic!("{error}"),
    }
}

/// A field that is a number.
pub fn number_field<T: Element, S: Shape>(tensor: Tensor<T, S>) -> T {
    const { assert!(S::RANK == 0, "the rules hold, so the field is a number") };
    tensor.as_slice()[0]
}
