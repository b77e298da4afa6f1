//! One rule per operation: from the types of its operands and its attributes to the type of its result.
//!
//! Attributes are passed as the program writes them: a negative axis or index counts from the end, and one extent of a
//! reshape may be -1. An extent of an operand may be [`UNKNOWN`]. An extent that depends on it is then unknown in the
//! result, and the same rule checks the real extents. The following holds for all real extents that may replace unknown
//! ones:
//!
//! - If a rule refuses the types with unknown extents, it refuses the types with real extents too.
//! - If it accepts both, both results have the same rank, and the same extents as far as they are known.
//!
//! Every rule returns E1008 if the result has a rank above [`MAX_RANK`] or 2^63 elements or more.

use crate::{
    DType, extent,
    failure::{Failure, Problem, TypeResult},
    ty::{MAX_RANK, Type, UNKNOWN},
};

mod arrangement;
mod contract;
mod convolution;
mod dims;
mod elementwise;
mod fourier;
mod gradient;
mod indexing;
mod joining;
mod literal;
mod matrices;
mod product;
mod reduction;

pub use arrangement::{
    Permutation, broadcast_to, expand_dims, filled, iota, permuted, reshape, squeezable, squeeze, transpose,
};
pub use contract::{Elements, Pattern, Tie, has_extent, matches, same_elements, same_leading};
pub use convolution::{Padding, Pooling, conv2d, depthwise, depthwise_grad_filter, pool, pool_take, unfold};
pub use dims::{LATER, List, as_bound, as_extent, extent_of, floored, has_axis, number_like, sum, times};
use elementwise::check_dtype;
pub use elementwise::{Gives, Takes, binary, choice, same_shape_binary, unary};
pub use fourier::{fft, real_fft, real_fft_back};
pub use gradient::{
    broadcast_like, conv2d_grad_filter, conv2d_grad_input, converted_like, depthwise_grad_input,
    differentiable, gather_back, pool_back, product_grad_lhs, product_grad_rhs, reshape_like, scatter_slice,
    scatter_subscript, seed, sum_like, take_along_back, unfold_back,
};
pub use indexing::{
    Subscript, Taken, add_rows, dynamic_slice, dynamic_update, gather, indices, scatter, slice, sliced,
    subscript, subscripted, take_along,
};
pub use joining::{axis_of, concat, joined_part, joined_part_grad, pad, stack};
pub use literal::{Fit, Literal, literal};
pub use matrices::{as_columns, as_given, decompose, factor, solve_triangular, triangle};
pub use product::{at, dot, matmul};
pub use reduction::{along, arg, positions_along, recurrence, reduce, reduced};

/// The type of an input, whose extents come from outside the program.
///
/// # Errors
/// E3006 for an extent below 1 that is not [`UNKNOWN`].
pub const fn input<'a>(ty: Type) -> TypeResult<'a> {
    let mut axis = 0;
    while axis < ty.rank() {
        if ty.extent(axis) < 1 && ty.extent(axis) != UNKNOWN {
            return fail(Problem::TypeNotPositive { axis, ty });
        }
        axis += 1;
    }
    Dims::of(ty.dims()).typed(ty.dtype())
}

/// The type of `found` where `expected` is declared, with every extent that is known in either.
///
/// # Errors
/// E2001 if element type, rank or an extent known in both differ.
pub const fn expect<'a>(found: Type, expected: Type) -> TypeResult<'a> {
    if found.dtype().is(expected.dtype())
        && let Some(merged) = merged(found, expected)
    {
        return Ok(merged);
    }
    fail(Problem::Mismatch { expected })
}

/// The type of a value with the type of another: `zeros_like(x)`, `ones_like(x)`.
///
/// # Errors
/// None.
pub const fn like<'a>(x: Type) -> TypeResult<'a> {
    Ok(x)
}

/// A single number of the element type of another value.
///
/// # Errors
/// None.
pub const fn scalar_like<'a>(x: Type) -> TypeResult<'a> {
    Ok(Type::scalar(x.dtype()))
}

/// The position of an axis or index: a negative one counts from the end, unless it is before the start.
pub(crate) const fn from_end(axis: i64, rank: usize) -> i64 {
    let rank = rank as i64;
    if axis < 0 && axis >= -rank { axis + rank } else { axis }
}

const fn fail<'a, T>(problem: Problem<'a>) -> Result<T, Failure<'a>> {
    Err(Failure::new(problem))
}

/// Whether two extents may be equal.
const fn agree(a: i64, b: i64) -> bool {
    a == b || a == UNKNOWN || b == UNKNOWN
}

/// The type with every extent that is known in either type; `None` if the ranks or known extents differ.
const fn merged(a: Type, b: Type) -> Option<Type> {
    if a.rank() != b.rank() {
        return None;
    }
    let (mut dims, mut axis) = ([0; MAX_RANK], 0);
    while axis < a.rank() {
        if !agree(a.extent(axis), b.extent(axis)) {
            return None;
        }
        dims[axis] = if a.extent(axis) == UNKNOWN { b.extent(axis) } else { a.extent(axis) };
        axis += 1;
    }
    Some(Type::new(a.dtype(), dims.split_at(a.rank()).0))
}

/// Returns E2004 unless both operands have one element type.
const fn same_dtype<'a>(a: Type, b: Type) -> Result<(), Failure<'a>> {
    if a.dtype().is(b.dtype()) { Ok(()) } else { fail(Problem::Mixed) }
}

/// Returns E2004 unless both operands have one element type, and E2005 unless that type is numeric.
const fn same_numbers<'a>(a: Type, b: Type) -> Result<(), Failure<'a>> {
    attempt!(same_dtype(a, b));
    check_dtype(Takes::Numbers, a, 0)
}

/// The extent to which two extents broadcast; `None` if they do not broadcast.
const fn broadcast(a: i64, b: i64) -> Option<i64> {
    match (a, b) {
        (UNKNOWN, 1) | (1, UNKNOWN) => Some(UNKNOWN),
        (UNKNOWN, known) | (known, UNKNOWN) => Some(known),
        (a, b) => extent::broadcast_extent(a, b),
    }
}

/// The position of a written axis; E3004 if it is out of range.
const fn position_of<'a>(axis: i64, rank: usize) -> Result<usize, Failure<'a>> {
    let position = from_end(axis, rank);
    if position < 0 || position >= rank as i64 {
        return fail(Problem::AxisOutOfRange { axis, rank });
    }
    Ok(position as usize)
}

/// Returns E3004 for a written axis that is out of range, and E3005 for an axis that occurs twice.
const fn check_axes<'a>(axes: &'a [i64], rank: usize) -> Result<(), Failure<'a>> {
    let mut i = 0;
    while i < axes.len() {
        let position = from_end(axes[i], rank);
        if position < 0 || position >= rank as i64 {
            return fail(Problem::AxisOutOfRange { axis: axes[i], rank });
        }
        let mut j = 0;
        while j < i {
            if from_end(axes[j], rank) == position {
                return fail(Problem::AxisTwice { axis: axes[i], axes });
            }
            j += 1;
        }
        i += 1;
    }
    Ok(())
}

/// Whether a position is among the written axes.
const fn names(axes: &[i64], rank: usize, position: usize) -> bool {
    let mut i = 0;
    while i < axes.len() {
        if from_end(axes[i], rank) == position as i64 {
            return true;
        }
        i += 1;
    }
    false
}

/// Extents that are being collected. Those beyond the highest rank are counted but not stored.
#[derive(Clone, Copy)]
struct Dims {
    rank: usize,
    dims: [i64; MAX_RANK],
}

impl Dims {
    const NONE: Self = Self { rank: 0, dims: [0; MAX_RANK] };

    const fn of(extents: &[i64]) -> Self {
        let (mut dims, mut axis) = (Self::NONE, 0);
        while axis < extents.len() {
            dims = dims.and(extents[axis]);
            axis += 1;
        }
        dims
    }

    const fn and(mut self, extent: i64) -> Self {
        if self.rank < MAX_RANK {
            self.dims[self.rank] = extent;
        }
        self.rank += 1;
        self
    }

    /// The type with these extents, which must be at least 1 or unknown.
    const fn typed<'a>(self, dtype: DType) -> TypeResult<'a> {
        if self.rank > MAX_RANK {
            return fail(Problem::RankLimit { rank: self.rank });
        }
        let ty = Type::new(dtype, self.dims.split_at(self.rank).0);
        let (mut count, mut axis) = (1i64, 0);
        while axis < self.rank {
            if self.dims[axis] != UNKNOWN {
                match count.checked_mul(self.dims[axis]) {
                    Some(product) => count = product,
                    None => return fail(Problem::CountLimit { ty }),
                }
            }
            axis += 1;
        }
        Ok(ty)
    }
}
