//! Small functions that generated code calls between kernels.

use crate::element::Arithmetic;
use crate::element::Element;
use crate::error::Error;
use crate::kernels::check;
use crate::kernels::matmul::{MatRef, matmul};
use crate::kernels::memory::ALIGN;
use crate::shape::{Rank, Shape};
use crate::{Tensor, TensorRef};

/// The number of elements that a temporary of `len` elements takes in the segment of its type: rounded up so that the
/// next temporary is aligned; `usize::MAX` on overflow.
#[must_use]
pub const fn slot_len<T>(len: usize) -> usize {
    match len.checked_next_multiple_of(ALIGN / size_of::<T>()) {
        Some(len) => len,
        None => usize::MAX,
    }
}

/// A tensor for results. Its elements are arbitrary until they are computed.
///
/// # Errors
/// E6004 if the memory cannot be allocated.
#[inline(always)]
pub fn allocate<T: Element, S: Shape>(shape: S) -> Result<Tensor<T, S>, Error> {
    Tensor::try_stale_with(shape)
}

/// The extents of a tensor; static ones are constants.
#[inline(always)]
pub fn extents<T: Element, S: Rank<R>, const R: usize>(tensor: &TensorRef<T, S>) -> [usize; R] {
    tensor.shape().extents()
}

/// Panics with an internal error unless the tensor has `len` elements, the number that its shape has. The compiler
/// learns the length from this check, so it removes the bounds checks that follow, and the clean-up code for their
/// panics.
#[inline(always)]
pub fn check_whole<T: Element, S: Shape>(tensor: &TensorRef<T, S>, len: usize) {
    check(tensor.len() == len, "a tensor has another number of elements than its shape");
}

/// Checks that a slice or index bound is at most its dimension, or that an extent is at most the largest value of the
/// integer type that it is converted to. Both are given as text and as value.
///
/// # Errors
/// E6009 if the bound exceeds its limit.
#[inline(always)]
pub fn check_at_most(
    function: &'static str,
    bound: &'static str,
    extent: &'static str,
    bound_value: i64,
    extent_value: i64,
) -> Result<(), Error> {
    if bound_value <= extent_value {
        return Ok(());
    }
    Err(Error::BoundOutsideDim { function, bound, extent, bound_value, extent_value })
}

/// Checks that a number of elements, which a loop visits or an allocation requests, has not overflowed: saturating
/// arithmetic returns `usize::MAX` on overflow.
///
/// # Errors
/// E6004 if the number overflowed.
#[inline(always)]
pub fn check_count(extents: &'static str, count: usize) -> Result<(), Error> {
    if count <= isize::MAX as usize {
        return Ok(());
    }
    Err(Error::Allocation { shape: format!("{extents} elements") })
}

/// The zeros before and after an axis for `same` padding, with which the result has the extent `ceil(extent / stride)`.
/// An odd zero goes after the axis.
#[must_use]
pub const fn same_padding(extent: usize, kernel: usize, stride: usize) -> [usize; 2] {
    let covered = extent.div_ceil(stride).saturating_sub(1).saturating_mul(stride).saturating_add(kernel);
    let total = covered.saturating_sub(extent);
    [total / 2, total - total / 2]
}

/// The inner product of two vectors of `len` elements, each given as its data, first position and stride.
#[inline]
pub fn dot<T: Arithmetic>(
    len: usize,
    (lhs, lhs_offset, lhs_stride): (&[T], usize, usize),
    (rhs, rhs_offset, rhs_stride): (&[T], usize, usize),
) -> T {
    let mut out = [T::ZERO];
    let lhs = MatRef { data: lhs, offset: lhs_offset, row_stride: 0, col_stride: lhs_stride };
    let rhs = MatRef { data: rhs, offset: rhs_offset, row_stride: rhs_stride, col_stride: 0 };
    matmul(&[], [1, len, 1], lhs, rhs, &mut out);
    out[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn same_padding_puts_the_odd_zero_after() {
        assert_eq!(same_padding(5, 3, 1), [1, 1]);
        assert_eq!(same_padding(5, 2, 1), [0, 1]);
        assert_eq!(same_padding(6, 3, 2), [0, 1]);
        assert_eq!(same_padding(4, 1, 4), [0, 0]);
    }

    #[test]
    fn slots_keep_what_follows_aligned() {
        assert_eq!(slot_len::<f32>(1), 16);
        assert_eq!(slot_len::<f64>(9), 16);
        assert_eq!(slot_len::<f32>(0), 0);
        assert_eq!(slot_len::<f32>(usize::MAX), usize::MAX);
    }

    #[test]
    #[should_panic(
        expected = "internal error in mind: a tensor has another number of elements than its shape"
    )]
    fn a_tensor_that_is_not_whole_panics() {
        check_whole(&Tensor::from([1.0_f32, 2.0]), 3);
    }

    #[test]
    fn dot_follows_strides() {
        let a = [1.0_f32, 2.0, 3.0, 4.0, 5.0];
        assert_eq!(dot(2, (&a, 0, 2), (&a, 1, 3)), 1.0 * 2.0 + 3.0 * 5.0);
    }

    #[test]
    fn a_bound_outside_says_which() {
        let error = check_at_most("f", "4", "N", 4, 3).expect_err("4 is more than 3");
        assert_eq!(error.to_string(), "E6009: `f`: 4 exceeds N: 4 > 3");
    }
}
