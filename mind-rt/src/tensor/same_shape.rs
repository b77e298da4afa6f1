//! The pairs of shape types that operators accept.

use crate::shape::Shape;
use crate::tensor::storage::{Tensor, TensorRef};

/// A shape type that is the same as `R`.
///
/// Operators could require operands of one type. They require this trait instead, so that rustc's error for two types
/// says what to write.
// `Self` is the left operand's type, which rustc knows where it has to infer the right operand's type.
#[diagnostic::on_unimplemented(
    message = "an operator needs tensors of the same shape type",
    label = "the shape type on the left is `{Self}`, on the right `{R}`",
    note = "write `mind!(a + b)`, which broadcasts between tensors of any shapes",
    note = "or make the types equal: `x.try_into_shape()?` converts to a type with more or fewer static extents, `x.as_dyn()` makes all of them dynamic"
)]
#[allow(missing_docs, reason = "sealed")]
pub trait SameShape<R: Shape>: Shape {
    #[doc(hidden)]
    fn same<T>(right: Tensor<T, R>) -> Tensor<T, Self>;

    #[doc(hidden)]
    fn same_ref<T>(right: &TensorRef<T, R>) -> &TensorRef<T, Self>;
}

impl<S: Shape> SameShape<S> for S {
    #[inline(always)]
    fn same<T>(right: Tensor<T, S>) -> Tensor<T, S> {
        right
    }

    #[inline(always)]
    fn same_ref<T>(right: &TensorRef<T, S>) -> &TensorRef<T, S> {
        right
    }
}
