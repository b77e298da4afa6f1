//! Operations on each element.

use super::{Dims, broadcast, fail, floats, merged, same_dtype};
use crate::{
    failure::{Failure, Problem, TypeResult},
    ty::Type,
};

/// The element types that a function of elements takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// Integers and floats.
    Numbers,
    /// `f32` and `f64`.
    Floats,
}

/// A function of the elements of two tensors: shapes broadcast, aligned at their last dimensions.
///
/// ```
/// use mind_shape::{DType, Type, UNKNOWN, rules::{Takes, binary}};
/// let f32s = |extents: &[i64]| Type::new(DType::F32, extents);
/// assert_eq!(binary(Takes::Numbers, f32s(&[UNKNOWN, 3]), f32s(&[3])), Ok(f32s(&[UNKNOWN, 3])));
/// assert_eq!(binary(Takes::Numbers, f32s(&[2, 3]), f32s(&[2])).unwrap_err().code(), "E3001");
/// ```
///
/// # Errors
/// E2004 for two element types, E3001 where the shapes do not broadcast, E2005 for an element type that it does not take.
#[inline]
pub const fn binary<'a>(takes: Takes, a: Type, b: Type) -> TypeResult<'a> {
    // Where extents are dynamic this runs at each call, and mostly shapes are equal or one is a number.
    if a.dtype().is(b.dtype()) && (matches!(takes, Takes::Numbers) || a.dtype().is_float()) {
        if b.rank() == 0 || a.has_shape_of(&b) {
            return Ok(a);
        }
        if a.rank() == 0 {
            return Ok(b);
        }
    }
    broadcast_binary(takes, a, b)
}

const fn broadcast_binary<'a>(takes: Takes, a: Type, b: Type) -> TypeResult<'a> {
    attempt!(same_dtype(a, b));
    let dims = attempt!(broadcast_dims(Dims::NONE, a.dims(), b.dims()));
    attempt!(taken(takes, a));
    dims.typed(a.dtype())
}

/// A function of the elements of one tensor.
///
/// # Errors
/// E2005 for an element type that it does not take.
#[inline]
pub const fn unary<'a>(takes: Takes, x: Type) -> TypeResult<'a> {
    attempt!(taken(takes, x));
    Ok(x)
}

/// A function of the elements of two tensors of one shape.
///
/// # Errors
/// E2004 for two element types, E2005 for one that it does not take, E3003 where the shapes differ.
pub const fn alike<'a>(takes: Takes, a: Type, b: Type) -> TypeResult<'a> {
    attempt!(same_dtype(a, b));
    attempt!(taken(takes, a));
    match merged(a, b) {
        Some(ty) => Ok(ty),
        None => fail(Problem::ShapesDiffer),
    }
}

/// E2005 for an element type that is not taken.
pub(super) const fn taken<'a>(takes: Takes, x: Type) -> Result<(), Failure<'a>> {
    match takes {
        Takes::Numbers => Ok(()),
        Takes::Floats => floats(x, 0),
    }
}

/// The extents that two shapes broadcast to, after others.
pub(super) const fn broadcast_dims<'a>(mut dims: Dims, a: &[i64], b: &[i64]) -> Result<Dims, Failure<'a>> {
    let rank = if a.len() > b.len() { a.len() } else { b.len() };
    let mut axis = 0;
    while axis < rank {
        let on = [(axis + a.len()).checked_sub(rank), (axis + b.len()).checked_sub(rank)];
        let extents = [
            if let Some(axis) = on[0] { a[axis] } else { 1 },
            if let Some(axis) = on[1] { b[axis] } else { 1 },
        ];
        match broadcast(extents[0], extents[1]) {
            Some(extent) => dims = dims.and(extent),
            None => return fail(Problem::Broadcast { axis, extents }),
        }
        axis += 1;
    }
    Ok(dims)
}
