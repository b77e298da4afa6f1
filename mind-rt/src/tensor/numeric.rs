//! Which elements tensors can be computed with.

use crate::bare::Number;

/// An element that is a number: `f32`, `f64`, `i32`, `i64`. Arithmetic of integers wraps. Sealed.
///
/// ```
/// use mind_rt::{Numeric, Shape, Tensor, TensorRef};
///
/// fn doubled<T: Numeric, S: Shape>(x: &TensorRef<T, S>) -> Tensor<T, S> {
///     x + x
/// }
///
/// let x: Tensor![i32; 2] = Tensor::from([1, 2]);
/// assert_eq!(doubled(&x).as_slice(), [2, 4]);
/// ```
pub trait Numeric: Number {}

impl Numeric for f32 {}
impl Numeric for f64 {}
impl Numeric for i32 {}
impl Numeric for i64 {}
