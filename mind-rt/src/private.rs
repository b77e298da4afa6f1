//! All items that generated code may name. They are sound for any safe caller, but no public interface: they change
//! with the macro.

pub use core;
pub use std;

pub use crate::argument::{Argument, ArgumentMut, Fixed, Open};
pub use crate::bare;
pub use crate::dims::StaticDim;
pub use crate::dims::sealed::DimMarker;
pub use crate::element::Arithmetic;
pub use crate::error::fail;
pub use crate::external::{ReturnedValue, put};
pub use crate::kernels::conv::{
    Conv2d, conv2d, conv2d_grad_filter, conv2d_grad_filter_scratch, conv2d_grad_filter_with,
    conv2d_grad_input, conv2d_grad_input_scratch, conv2d_grad_input_with, conv2d_scratch, conv2d_with,
};
pub use crate::kernels::copy::{copy_strided, fill, padded, slice_grad, whole_registers};
pub use crate::kernels::draws::Draws;
pub use crate::kernels::epilogue::{Block, Destination, Epilogue, Finish, Finished, Stored, one_by_one};
pub use crate::kernels::gather::{
    Index, Picked, check_divisors, check_ended, check_indices, gather, scatter_add,
};
pub use crate::kernels::math::*;
pub use crate::kernels::matmul::{
    BatchDim, MatRef, TinyProduct, matmul, matmul_into, matmul_scratch, matmul_with,
};
pub use crate::kernels::monoid::{Folded, Max, Min, Monoid, Product, Sum};
pub use crate::kernels::reduce::{
    Reduce, chain_scratch, combine_chains, combine_columns, combine_lane_chains, combine_lanes,
    combine_last_chains, reduce_lanes, reduce_lanes_apart, sum, sum_columns,
};
pub use crate::kernels::roofline;
pub use crate::kernels::rows::{fold_rows, sum_rows, sum_rows_of};
pub use crate::knossos;
pub use crate::optim;
pub use crate::parallel::{Combine, Split, join, run, run_columns, threads};
pub use crate::profile;
pub use crate::refusal::reporting;
pub use crate::shape::sealed::ShapeMarker;
pub use crate::simd::{Kernel, dispatch};
pub use crate::stack::{stacked_numbers, stacked_tensors, tensor_of_stack};
pub use crate::support::{
    allocate, check_at_most, check_count, check_whole, dot, extents, same_padding, slot_len,
};
pub use crate::watch;
pub use crate::workspace::{Lens, STACK_BYTES, Segments, segment_bytes, split, with_stack, with_workspace};
pub use crate::{
    Const, DType, Dim, Dims, Element, Error, Initialiser, MAX_RANK, Parameter, ParameterMut, Parameters,
    Rank, Rng, Shape, StaticShape, Tensor, TensorRef, TensorView, TensorViewMut, Workspace,
};

/// Calls `f` with scratch slices of the requested lengths, which take `BYTES` bytes: on the stack if `BYTES` is small.
///
/// # Errors
/// E6004 if the memory cannot be allocated, and the errors of `f`.
#[inline(always)]
pub fn with_scratch<const BYTES: usize, R>(
    lens: Lens,
    f: impl FnOnce(Segments<'_>) -> Result<R, Error>,
) -> Result<R, Error> {
    if const { BYTES <= STACK_BYTES } { with_stack::<BYTES, _>(lens, f) } else { with_segments(lens, f) }
}

/// Calls `f` with slices of this thread's workspace.
///
/// # Errors
/// E6004 if the memory cannot be allocated, and the errors of `f`.
#[inline(always)]
pub fn with_segments<R>(lens: Lens, f: impl FnOnce(Segments<'_>) -> Result<R, Error>) -> Result<R, Error> {
    with_workspace(segment_bytes(lens), |workspace| f(workspace.segments(lens)?))
}

/// The largest of the sizes.
#[must_use]
pub const fn largest(sizes: &[usize]) -> usize {
    let (mut largest, mut position) = (0, 0);
    while position < sizes.len() {
        if sizes[position] > largest {
            largest = sizes[position];
        }
        position += 1;
    }
    largest
}

/// Checks that a dynamic dimension is the one that the signature requires. `why` names the origin of the requirement,
/// as in ``N, from `x` ``.
///
/// # Errors
/// E6009 if the dimension differs.
#[inline(always)]
pub fn check_dim(
    function: &'static str,
    parameter: &'static str,
    dimension: usize,
    found: usize,
    needed: usize,
    why: &'static str,
) -> Result<(), Error> {
    if found == needed {
        return Ok(());
    }
    Err(Error::DimensionMismatch { function, parameter, dimension, found, needed, why })
}

/// Checks that a dimension, or an expression in dimensions, is 1 or more; `what` is ``parameter `x` `` or the
/// expression's text.
///
/// # Errors
/// E3006 if the value is below 1.
#[inline(always)]
pub fn check_positive(
    function: &'static str,
    what: &'static str,
    dimension: usize,
    value: i64,
) -> Result<(), Error> {
    if value > 0 {
        return Ok(());
    }
    Err(Error::NonPositiveDim { function, what, dimension, value })
}

/// Checks that the temporaries of a call need at most `max` bytes. `extents` are those of the call, with their names.
///
/// # Errors
/// E6011 if they need more.
#[inline]
pub fn check_memory(
    function: &'static str,
    needed: usize,
    max: u64,
    extents: &[(&str, usize)],
) -> Result<(), Error> {
    if needed as u64 <= max {
        return Ok(());
    }
    let extents: Vec<String> = extents.iter().map(|(name, extent)| format!("{name} = {extent}")).collect();
    Err(Error::MemoryBound { function, needed, max, extents: extents.join(", ") })
}

/// Checks a constant number of bytes while Rust compiles.
///
/// # Panics
/// With the message if `needed` exceeds `max`.
pub const fn check_constant_memory(needed: usize, max: u64, message: &'static str) {
    assert!(needed as u64 <= max, "{}", message);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_on_entry() {
        assert_eq!(check_dim("f", "x", 0, 3, 3, "N, from `y`"), Ok(()));
        let error = check_dim("f", "x", 0, 2, 3, "N, from `y`").expect_err("2 is not 3");
        assert_eq!(error.to_string(), "E6009: `f`: parameter `x`: dimension 0 is 2, needed 3 (N, from `y`)");
        assert_eq!(check_positive("f", "N - 1", 0, 1), Ok(()));
        let error = check_positive("f", "parameter `x`", 1, 0).expect_err("0 is not positive");
        assert_eq!(error.to_string(), "E3006: `f`: parameter `x`: dimension 1 is 0, needed 1 or more");
    }

    #[test]
    #[should_panic(expected = "E6004: the workspace has 0 bytes, needed 64")]
    fn fail_panics_with_the_message() {
        fail(Error::WorkspaceTooSmall { needed: 64, found: 0 });
    }
}
