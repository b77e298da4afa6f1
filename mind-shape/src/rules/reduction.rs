//! Reductions over axes.

use super::{Dims, Takes, check_axes, elementwise::check_dtype, fail, names, position_of, same_shape_binary};
use crate::{
    DType,
    failure::{Problem, TypeResult},
    ty::{MAX_RANK, Type},
};

/// `sum(x, axes = …, keepdims = …)`: removes the axes, or keeps them with extent 1. Without `axes` it reduces every
/// axis.
///
/// ```
/// use mind_shape::{DType, Type, rules::{Takes, reduce}};
/// let f32s = |extents: &[i64]| Type::new(DType::F32, extents);
/// assert_eq!(reduce(Takes::Numbers, f32s(&[2, 3]), Some(&[-1]), false), Ok(f32s(&[2])));
/// assert_eq!(reduce(Takes::Floats, f32s(&[2, 3]), None, true), Ok(f32s(&[1, 1])));
/// ```
///
/// # Errors
/// E3004 for an axis out of range; E3005 for an axis that occurs twice; E3002 for an empty list of axes; E2005 for an
/// element type that is not accepted.
pub const fn reduce<'a>(takes: Takes, x: Type, axes: Option<&'a [i64]>, keepdims: bool) -> TypeResult<'a> {
    if let Some(axes) = axes {
        attempt!(check_axes(axes, x.rank()));
        if axes.is_empty() && x.rank() > 0 {
            return fail(Problem::NoAxis);
        }
    }
    attempt!(check_dtype(takes, x, 0));
    let reduced = reduced(x.rank(), axes);
    let (mut dims, mut axis) = (Dims::NONE, 0);
    while axis < x.rank() {
        if !reduced[axis] {
            dims = dims.and(x.extent(axis));
        } else if keepdims {
            dims = dims.and(1);
        }
        axis += 1;
    }
    dims.typed(x.dtype())
}

/// `argmax(x, axes = …, keepdims = …)`, `argmin`: the positions of elements over axes.
///
/// # Errors
/// The errors of [`reduce`] for numbers.
pub const fn arg<'a>(x: Type, axes: Option<&'a [i64]>, keepdims: bool) -> TypeResult<'a> {
    let ty = attempt!(reduce(Takes::Numbers, x, axes, keepdims));
    Ok(ty.with_dtype(DType::I64))
}

/// An operation along an axis whose result has the type of the operand, such as a cumulation or a sort.
///
/// # Errors
/// E3004 for an axis out of range; E2005 for an element type that is not accepted.
pub const fn along<'a>(takes: Takes, x: Type, axis: i64) -> TypeResult<'a> {
    attempt!(position_of(axis, x.rank()));
    attempt!(check_dtype(takes, x, 0));
    Ok(x)
}

/// An index along an axis for each element of the operand.
///
/// # Errors
/// The errors of [`along`] for numbers.
pub const fn positions_along<'a>(x: Type, axis: i64) -> TypeResult<'a> {
    let ty = attempt!(along(Takes::Numbers, x, axis));
    Ok(ty.with_dtype(DType::I64))
}

/// A linear recurrence along an axis, with factors and summands.
///
/// # Errors
/// E3004 for an axis out of range; the errors of [`same_shape_binary`] for floats.
pub const fn recurrence<'a>(a: Type, b: Type, axis: i64) -> TypeResult<'a> {
    attempt!(position_of(axis, a.rank()));
    same_shape_binary(Takes::Floats, a, b)
}

/// The axes that a reduction removes from an operand of this rank. `axes` must be valid.
pub const fn reduced(rank: usize, axes: Option<&[i64]>) -> [bool; MAX_RANK] {
    let (mut reduced, mut axis) = ([false; MAX_RANK], 0);
    while axis < rank {
        reduced[axis] = match axes {
            Some(axes) => names(axes, rank, axis),
            None => true,
        };
        axis += 1;
    }
    reduced
}
