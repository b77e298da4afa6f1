//! Operations that only gradients have. Each takes the cotangent `dy` of a result first, and the types that the operation
//! itself had; a failure other than those of that operation is a fault of differentiation, not of the program.

use super::{
    Dims, Padding, Subscript, Takes, at, broadcast, conv2d, elementwise::taken, fail, gather, merged,
    same_dtype, slice, subscript, take_along,
};
use crate::{
    failure::{Problem, TypeResult},
    ty::Type,
};

/// What is differentiated: a single float, from which the cotangent 1 flows back.
///
/// # Errors
/// E5004 for anything else.
pub const fn seed<'a>(value: Type) -> TypeResult<'a> {
    if value.rank() == 0 && value.dtype().is_float() { Ok(value) } else { fail(Problem::NotScalar) }
}

/// What is differentiated by, and the type of its gradient.
///
/// # Errors
/// E5005 for integers.
pub const fn differentiable<'a>(x: Type) -> TypeResult<'a> {
    if x.dtype().is_float() { Ok(x) } else { fail(Problem::NotDifferentiable) }
}

/// `v` summed over the axes along which `like` was broadcast to the shape of `v`: the type of `like`.
///
/// # Errors
/// E2004 for two element types, E3003 where `like` does not broadcast to exactly the shape of `v`.
pub const fn sum_like<'a>(v: Type, like: Type) -> TypeResult<'a> {
    attempt!(same_dtype(v, like));
    match spread(like, v) {
        Some(_) => Ok(like),
        None => fail(Problem::ShapesDiffer { operands: [0, 1] }),
    }
}

/// `v` broadcast to the shape of `like`.
///
/// # Errors
/// E3003 where it does not broadcast to exactly that shape.
pub const fn broadcast_like<'a>(v: Type, like: Type) -> TypeResult<'a> {
    match spread(v, like) {
        Some(dims) => dims.typed(v.dtype()),
        None => fail(Problem::ShapesDiffer { operands: [0, 1] }),
    }
}

/// The shape of `to`, to which `from` broadcasts, as far as it is known; nothing where it does not.
const fn spread(from: Type, to: Type) -> Option<Dims> {
    let Some(added) = to.rank().checked_sub(from.rank()) else { return None };
    let (mut dims, mut axis) = (Dims::NONE, 0);
    while axis < to.rank() {
        let extent = to.extent(axis);
        let source = if axis < added { 1 } else { from.extent(axis - added) };
        match broadcast(source, extent) {
            Some(result) if super::agree(result, extent) => dims = dims.and(result),
            Some(_) | None => return None,
        }
        axis += 1;
    }
    Some(dims)
}

/// `v` in the element type of `like`.
///
/// # Errors
/// None.
pub const fn converted_like<'a>(v: Type, like: Type) -> TypeResult<'a> {
    Ok(v.with_dtype(like.dtype()))
}

/// `v` in the shape of `like`.
///
/// # Errors
/// E3003 where the element counts differ.
pub const fn reshape_like<'a>(v: Type, like: Type) -> TypeResult<'a> {
    if let (Some(from), Some(to)) = (v.element_count(), like.element_count())
        && from != to
    {
        return fail(Problem::ShapesDiffer { operands: [0, 1] });
    }
    Ok(like.with_dtype(v.dtype()))
}

/// What [`at`] passes back to its first operand.
///
/// # Errors
/// E3003 where `dy` has not the shape of the product.
pub const fn product_grad_lhs<'a>(dy: Type, a: Type, b: Type) -> TypeResult<'a> {
    back(dy, at(a, b), a)
}

/// What [`at`] passes back to its second operand.
///
/// # Errors
/// E3003 where `dy` has not the shape of the product.
pub const fn product_grad_rhs<'a>(dy: Type, a: Type, b: Type) -> TypeResult<'a> {
    back(dy, at(a, b), b)
}

/// What [`subscript`] passes back: zeros of the shape of `x` with `dy` at the places that are taken.
///
/// # Errors
/// E3003 where `dy` has not the shape of what is taken.
pub const fn scatter_subscript<'a>(dy: Type, x: Type, subscripts: &[Subscript]) -> TypeResult<'a> {
    back(dy, subscript(x, subscripts), x)
}

/// What [`slice()`] passes back: zeros of the shape of `x` with `dy` at the places that are taken.
///
/// # Errors
/// E3003 where `dy` has not the shape of the slice.
pub const fn scatter_slice<'a>(
    dy: Type,
    x: Type,
    starts: &[i64],
    ends: &[i64],
    steps: Option<&[i64]>,
) -> TypeResult<'a> {
    back(dy, slice(x, starts, ends, steps), x)
}

/// What [`gather`] passes back: zeros of the shape of the table with each row of `dy` added at its index.
///
/// # Errors
/// E4011 for indices that are not integers, E3003 where `dy` has not the shape of what is gathered.
pub const fn gather_back<'a>(dy: Type, indices: Type, table: Type) -> TypeResult<'a> {
    attempt!(taken(Takes::Numbers, table, 2));
    back(dy, gather(table, indices), table)
}

/// What [`take_along`] passes back: zeros of the shape of `x` with each element of `dy` added at its index.
///
/// # Errors
/// E3003 where `dy` has not the shape of what is taken.
pub const fn take_along_back<'a>(dy: Type, indices: Type, x: Type, axis: i64) -> TypeResult<'a> {
    attempt!(taken(Takes::Numbers, x, 2));
    back(dy, take_along(x, indices, axis), x)
}

/// What [`conv2d`] passes back to its image.
///
/// # Errors
/// E3003 where `dy` has not the shape of the convolution.
pub const fn conv2d_grad_input<'a>(
    dy: Type,
    x: Type,
    f: Type,
    strides: &'a [i64],
    padding: Padding<'a>,
) -> TypeResult<'a> {
    back(dy, conv2d(x, f, strides, padding), x)
}

/// What [`conv2d`] passes back to its filter.
///
/// # Errors
/// E3003 where `dy` has not the shape of the convolution.
pub const fn conv2d_grad_filter<'a>(
    dy: Type,
    x: Type,
    f: Type,
    strides: &'a [i64],
    padding: Padding<'a>,
) -> TypeResult<'a> {
    back(dy, conv2d(x, f, strides, padding), f)
}

/// The type of what a cotangent flows back to, where it is one of this result.
const fn back<'a>(dy: Type, result: TypeResult<'a>, to: Type) -> TypeResult<'a> {
    let result = attempt!(result);
    if merged(dy, result).is_none() {
        return fail(Problem::Shape { operand: 0, needed: result });
    }
    Ok(to.with_dtype(dy.dtype()))
}
