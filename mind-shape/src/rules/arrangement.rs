//! Operations that rearrange elements, and tensors filled with one value.

use super::{
    Dims, agree, broadcast, check_axes,
    dims::{LATER, has_later},
    fail, from_end, names, position_of,
};
use crate::{
    DType, extent,
    failure::{Extents, Failure, Problem, TypeResult},
    ty::{MAX_RANK, Type, UNKNOWN},
};

/// `reshape(x, shape)`: the same elements in row-major order. One extent may be -1, which is inferred.
///
/// ```
/// use mind_shape::{DType, Type, UNKNOWN, rules::reshape};
/// let f32s = |extents: &[i64]| Type::new(DType::F32, extents);
/// assert_eq!(reshape(f32s(&[2, 6]), &[-1, 4]), Ok(f32s(&[3, 4])));
/// assert_eq!(reshape(f32s(&[UNKNOWN, 6]), &[-1, 2, 3]), Ok(f32s(&[UNKNOWN, 2, 3])));
/// ```
///
/// # Errors
/// E3006 for an extent below 1; E3007 if the element counts differ, or if -1 occurs twice or cannot be inferred.
pub const fn reshape(x: Type, shape: &[i64]) -> TypeResult<'_> {
    if has_later(shape) {
        return open_shape(x.dtype(), shape);
    }
    let shape = attempt!(resolve(x, shape));
    attempt!(check_positive(shape, x.is_static()));
    if x.is_static() {
        let (Some(from), Some(to)) = (extent::element_count(x.dims()), count_besides(shape, None)) else {
            return fail(Problem::Overflow);
        };
        if from != to {
            return fail(Problem::Counts { from, to, shape });
        }
    }
    dims_of(shape).typed(x.dtype())
}

/// A type with extents that are unknown, or that are inferred from unknown ones.
const fn open_shape(dtype: DType, shape: &[i64]) -> TypeResult<'_> {
    let (mut dims, mut axis, mut count) = (Dims::NONE, 0, 0);
    while axis < shape.len() {
        let extent = match shape[axis] {
            LATER | -1 => UNKNOWN,
            extent => extent,
        };
        if extent < 1 && extent != UNKNOWN {
            return fail(Problem::NotPositive { axis, shape: Extents { written: shape, open: None } });
        }
        count += (shape[axis] == -1) as usize;
        dims = dims.and(extent);
        axis += 1;
    }
    if count > 1 {
        return fail(Problem::ManyOpen { count, shape });
    }
    dims.typed(dtype)
}

/// A written shape with its open extent inferred, if it has one.
const fn resolve<'a>(x: Type, written: &'a [i64]) -> Result<Extents<'a>, Failure<'a>> {
    let (mut count, mut axis, mut open) = (0, written.len(), 0);
    while axis > 0 {
        axis -= 1;
        if written[axis] == -1 {
            (count, open) = (count + 1, axis);
        }
    }
    if count == 0 {
        return Ok(Extents { written, open: None });
    }
    if count > 1 {
        return fail(Problem::ManyOpen { count, shape: written });
    }
    if !x.is_static() {
        return Ok(Extents { written, open: Some((open, UNKNOWN)) });
    }
    let shape = Extents { written, open: None };
    let (Some(count), Some(others)) = (extent::element_count(x.dims()), count_besides(shape, Some(open)))
    else {
        return fail(Problem::OpenOverflow);
    };
    if others == 0 || count % others != 0 {
        return fail(Problem::Indivisible { count, others });
    }
    Ok(Extents { written, open: Some((open, count / others)) })
}

/// The number of elements of a shape without one axis; `None` if it exceeds 64 bits.
const fn count_besides(shape: Extents<'_>, without: Option<usize>) -> Option<i64> {
    let (mut count, mut axis) = (1i64, 0);
    while axis < shape.written.len() {
        if !matches!(without, Some(open) if open == axis) {
            match count.checked_mul(shape.extent(axis)) {
                Some(product) => count = product,
                None => return None,
            }
        }
        axis += 1;
    }
    Some(count)
}

/// Returns E3006 for an extent below 1. The open extent may be unknown.
const fn check_positive<'a>(shape: Extents<'a>, open_is_known: bool) -> Result<(), Failure<'a>> {
    let mut axis = 0;
    while axis < shape.written.len() {
        let is_open = !open_is_known && matches!(shape.open, Some((open, _)) if open == axis);
        if shape.extent(axis) < 1 && !is_open {
            return fail(Problem::NotPositive { axis, shape });
        }
        axis += 1;
    }
    Ok(())
}

const fn dims_of(shape: Extents<'_>) -> Dims {
    let (mut dims, mut axis) = (Dims::NONE, 0);
    while axis < shape.written.len() {
        dims = dims.and(shape.extent(axis));
        axis += 1;
    }
    dims
}

/// The order of the axes in a transposition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permutation<'a> {
    /// `transpose(x, [1, 0])`: axis `i` of the result is axis `permutation[i]` of the operand.
    Written(&'a [i64]),
    /// `x.T`: all axes in reverse order.
    Reversed,
    /// `x.mT`: the last two axes swapped.
    Matrices,
    /// `moveaxis(x, from, to)`: one axis at another position, the others in their order.
    Moved {
        /// The position in the operand.
        from: i64,
        /// The position in the result.
        to: i64,
    },
}

/// `transpose(x, permutation)`, `x.T`, `x.mT`, `moveaxis(x, from, to)`.
///
/// # Errors
/// E3008 if a written permutation does not contain each axis once; E3002 if there are no last two axes to swap; E3004
/// if an axis to move is out of range.
pub const fn transpose<'a>(x: Type, permutation: Permutation<'a>) -> TypeResult<'a> {
    let rank = x.rank();
    match permutation {
        Permutation::Written(permutation) => {
            if let Err(fault) = check_permutation(permutation, rank) {
                return fail(Problem::Permutation { permutation, rank, fault });
            }
        }
        Permutation::Matrices if rank < 2 => return fail(Problem::NoMatrix),
        Permutation::Moved { from, to } => {
            attempt!(position_of(from, rank));
            attempt!(position_of(to, rank));
        }
        Permutation::Reversed | Permutation::Matrices => {}
    }
    let axes = permuted(rank, permutation);
    let (mut dims, mut axis) = (Dims::NONE, 0);
    while axis < rank {
        dims = dims.and(x.extent(axes[axis]));
        axis += 1;
    }
    dims.typed(x.dtype())
}

const fn check_permutation(written: &[i64], rank: usize) -> Result<(), extent::AxisFault> {
    if written.len() != rank {
        return Err(extent::AxisFault::Length);
    }
    // The list has as many entries as the rank, so it fits.
    let (mut axes, mut i) = ([0; MAX_RANK], 0);
    while i < rank {
        axes[i] = from_end(written[i], rank);
        i += 1;
    }
    extent::check_permutation(axes.split_at(rank).0, rank)
}

/// The axis of the operand for each axis of the transposed result. The permutation must be valid.
pub const fn permuted(rank: usize, permutation: Permutation<'_>) -> [usize; MAX_RANK] {
    let (mut axes, mut axis) = ([0; MAX_RANK], 0);
    while axis < rank {
        axes[axis] = match permutation {
            Permutation::Written(axes) => from_end(axes[axis], rank) as usize,
            Permutation::Matrices if axis + 2 < rank => axis,
            Permutation::Matrices => 2 * rank - 3 - axis,
            Permutation::Reversed => rank - 1 - axis,
            Permutation::Moved { from, to } => {
                moved(axis, from_end(from, rank) as usize, from_end(to, rank) as usize)
            }
        };
        axis += 1;
    }
    axes
}

/// The axis of the operand for an axis of the result, if the axis `from` moves to the position `to`.
const fn moved(axis: usize, from: usize, to: usize) -> usize {
    if axis == to {
        from
    } else if from <= axis && axis < to {
        axis + 1
    } else if to < axis && axis <= from {
        axis - 1
    } else {
        axis
    }
}

/// `expand_dims(x, axes)`: new axes of extent 1, at these positions of the result.
///
/// # Errors
/// E3004 for a position outside the result; E3005 for a position that occurs twice.
pub const fn expand_dims(x: Type, axes: &[i64]) -> TypeResult<'_> {
    let rank = x.rank() + axes.len();
    attempt!(check_axes(axes, rank));
    let (mut dims, mut axis, mut from) = (Dims::NONE, 0, 0);
    while axis < rank {
        if names(axes, rank, axis) {
            dims = dims.and(1);
        } else {
            dims = dims.and(x.extent(from));
            from += 1;
        }
        axis += 1;
    }
    dims.typed(x.dtype())
}

/// `squeeze(x, axes)`: removes axes of extent 1. Without `axes` it removes every axis that is known to have extent 1.
/// For a value with unknown extents, the axes removed at run time must be those that are [`squeezable`] in the type
/// with unknown extents.
///
/// # Errors
/// E3004 for an axis out of range; E3005 for an axis that occurs twice; E3009 for an axis of another extent.
pub const fn squeeze(x: Type, axes: Option<&[i64]>) -> TypeResult<'_> {
    let rank = x.rank();
    if let Some(axes) = axes {
        attempt!(check_axes(axes, rank));
    }
    let (mut dims, mut axis) = (Dims::NONE, 0);
    while axis < rank {
        let extent = x.extent(axis);
        let squeezed = match axes {
            Some(axes) => names(axes, rank, axis),
            None => extent == 1,
        };
        if !squeezed {
            dims = dims.and(extent);
        } else if extent != 1 && extent != UNKNOWN {
            return fail(Problem::NotOne { axis, extent });
        }
        axis += 1;
    }
    dims.typed(x.dtype())
}

/// The axes that are known to have extent 1: those that [`squeeze`] removes if none are named.
pub const fn squeezable(x: Type) -> [bool; MAX_RANK] {
    let (mut ones, mut axis) = ([false; MAX_RANK], 0);
    while axis < x.rank() {
        ones[axis] = x.extent(axis) == 1;
        axis += 1;
    }
    ones
}

/// `broadcast_to(x, shape)`, and `full(shape, x)` for a value `x`.
///
/// # Errors
/// E3006 for an extent below 1; E3001 if the operand does not broadcast to exactly this shape.
pub const fn broadcast_to(x: Type, shape: &[i64]) -> TypeResult<'_> {
    let to = Extents { written: shape, open: None };
    if !has_later(shape) {
        attempt!(check_positive(to, true));
    }
    let Some(added) = shape.len().checked_sub(x.rank()) else {
        return fail(Problem::BroadcastRank { to });
    };
    let mut from_axis = 0;
    while from_axis < x.rank() {
        let axis = added + from_axis;
        let to = if shape[axis] == LATER { UNKNOWN } else { shape[axis] };
        let from = x.extent(from_axis);
        if !matches!(broadcast(from, to), Some(extent) if agree(extent, to)) {
            return fail(Problem::BroadcastTo { axis, from, to });
        }
        from_axis += 1;
    }
    if has_later(shape) {
        return open_shape(x.dtype(), shape);
    }
    dims_of(to).typed(x.dtype())
}

/// `iota(shape, axis)`: the index of each element along an axis.
///
/// # Errors
/// E3006 for an extent below 1; E3004 for an axis out of range.
pub const fn iota(shape: &[i64], axis: i64) -> TypeResult<'_> {
    let ty = if has_later(shape) { open_shape(DType::I64, shape) } else { filled(DType::I64, shape) };
    let ty = attempt!(ty);
    attempt!(position_of(axis, shape.len()));
    Ok(ty)
}

/// A tensor filled with one number, `zeros(shape)`, `ones(shape)`, `full(shape, 2.0)`, or an array literal.
///
/// # Errors
/// E3006 for an extent below 1.
pub const fn filled(dtype: DType, shape: &[i64]) -> TypeResult<'_> {
    let written = Extents { written: shape, open: None };
    attempt!(check_positive(written, true));
    if extent::element_count(shape).is_none() {
        return fail(Problem::ShapeLimit { shape: written });
    }
    dims_of(written).typed(dtype)
}
