//! Operations that occur only in gradients. Each takes the cotangent `dy` of a result first, and the operand types of
//! the original operation. A failure other than those of the original operation is a fault of differentiation, not of
//! the program.

use super::{
    Dims, Padding, Pooling, Subscript, Takes, at, broadcast, conv2d, depthwise, elementwise::check_dtype,
    fail, gather, merged, pool, same_dtype, slice, subscript, take_along, unfold,
};
use crate::{
    failure::{Problem, TypeResult},
    ty::Type,
};

/// The value to differentiate: a single float, whose cotangent is 1.
///
/// # Errors
/// E5004 for any other value.
pub const fn seed<'a>(value: Type) -> TypeResult<'a> {
    if value.rank() == 0 && value.dtype().is_float() { Ok(value) } else { fail(Problem::NotScalar) }
}

/// The value to differentiate by, and the type of its gradient.
///
/// # Errors
/// E5005 for values that are not floats.
pub const fn differentiable<'a>(x: Type) -> TypeResult<'a> {
    if x.dtype().is_float() { Ok(x) } else { fail(Problem::NotDifferentiable) }
}

/// `v` summed over the axes along which `like` was broadcast to the shape of `v`: the type of `like`.
///
/// # Errors
/// E2004 for different element types; E3003 if `like` does not broadcast to exactly the shape of `v`.
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
/// E3003 if it does not broadcast to exactly that shape.
pub const fn broadcast_like<'a>(v: Type, like: Type) -> TypeResult<'a> {
    match spread(v, like) {
        Some(dims) => dims.typed(v.dtype()),
        None => fail(Problem::ShapesDiffer { operands: [0, 1] }),
    }
}

/// The shape of `to` as far as it is known; `None` if `from` does not broadcast to it.
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

/// `v` converted to the element type of `like`.
///
/// # Errors
/// None.
pub const fn converted_like<'a>(v: Type, like: Type) -> TypeResult<'a> {
    Ok(v.with_dtype(like.dtype()))
}

/// `v` reshaped to the shape of `like`.
///
/// # Errors
/// E3003 if the element counts differ.
pub const fn reshape_like<'a>(v: Type, like: Type) -> TypeResult<'a> {
    if let (Some(from), Some(to)) = (v.element_count(), like.element_count())
        && from != to
    {
        return fail(Problem::ShapesDiffer { operands: [0, 1] });
    }
    Ok(like.with_dtype(v.dtype()))
}

/// The cotangent of the first operand of [`at`].
///
/// # Errors
/// E3003 if `dy` does not have the shape of the product.
pub const fn product_grad_lhs<'a>(dy: Type, a: Type, b: Type) -> TypeResult<'a> {
    back(dy, at(a, b), a)
}

/// The cotangent of the second operand of [`at`].
///
/// # Errors
/// E3003 if `dy` does not have the shape of the product.
pub const fn product_grad_rhs<'a>(dy: Type, a: Type, b: Type) -> TypeResult<'a> {
    back(dy, at(a, b), b)
}

/// The cotangent of the operand of [`subscript`]: zeros of the shape of `x`, with `dy` at the selected positions.
///
/// # Errors
/// E3003 if `dy` does not have the shape of the selection.
pub const fn scatter_subscript<'a>(dy: Type, x: Type, subscripts: &[Subscript]) -> TypeResult<'a> {
    back(dy, subscript(x, subscripts), x)
}

/// The cotangent of the operand of [`slice()`]: zeros of the shape of `x`, with `dy` at the selected positions.
///
/// # Errors
/// E3003 if `dy` does not have the shape of the slice.
pub const fn scatter_slice<'a>(
    dy: Type,
    x: Type,
    starts: &[i64],
    ends: &[i64],
    steps: Option<&[i64]>,
) -> TypeResult<'a> {
    back(dy, slice(x, starts, ends, steps), x)
}

/// The cotangent of the table of [`gather`]: zeros of the table's shape, with each row of `dy` added at its index.
///
/// # Errors
/// E4011 for indices that are not integers; E3003 if `dy` does not have the shape of the gathered rows.
pub const fn gather_back<'a>(dy: Type, indices: Type, table: Type) -> TypeResult<'a> {
    attempt!(check_dtype(Takes::Numbers, table, 2));
    back(dy, gather(table, indices), table)
}

/// The cotangent of the operand of [`take_along`]: zeros of the shape of `x`, with each element of `dy` added at its
/// index.
///
/// # Errors
/// E3003 if `dy` does not have the shape of the selected elements.
pub const fn take_along_back<'a>(dy: Type, indices: Type, x: Type, axis: i64) -> TypeResult<'a> {
    attempt!(check_dtype(Takes::Numbers, x, 2));
    back(dy, take_along(x, indices, axis), x)
}

/// The cotangent of the operand of [`unfold`]: zeros of the shape of `x`, to which each element of `dy` is added where the
/// windows read it.
///
/// # Errors
/// E2005 for truth values; E3003 if `dy` does not have the shape of the windows.
pub const fn unfold_back<'a>(
    dy: Type,
    x: Type,
    sizes: &'a [i64],
    axes: &'a [i64],
    strides: &'a [i64],
    dilations: &'a [i64],
) -> TypeResult<'a> {
    attempt!(check_dtype(Takes::Numbers, dy, 0));
    back(dy, unfold(x, sizes, axes, strides, dilations), x)
}

/// The cotangent of the operand of [`pool`].
///
/// # Errors
/// E3003 if `dy` does not have the shape of the result.
pub const fn pool_back<'a>(dy: Type, x: Type, by: Pooling<'a>) -> TypeResult<'a> {
    back(dy, pool(x, by), x)
}

/// The cotangent of the input of [`depthwise`].
///
/// # Errors
/// The errors of [`depthwise`]; E3003 if `dy` does not have the shape of the result.
pub const fn depthwise_grad_input<'a>(dy: Type, f: Type, x: Type, by: Pooling<'a>) -> TypeResult<'a> {
    back(dy, depthwise(x, f, by), x)
}

/// The cotangent of the image of [`conv2d`].
///
/// # Errors
/// E3003 if `dy` does not have the shape of the convolution.
pub const fn conv2d_grad_input<'a>(
    dy: Type,
    x: Type,
    f: Type,
    strides: &'a [i64],
    padding: Padding<'a>,
) -> TypeResult<'a> {
    back(dy, conv2d(x, f, strides, padding), x)
}

/// The cotangent of the filter of [`conv2d`].
///
/// # Errors
/// E3003 if `dy` does not have the shape of the convolution.
pub const fn conv2d_grad_filter<'a>(
    dy: Type,
    x: Type,
    f: Type,
    strides: &'a [i64],
    padding: Padding<'a>,
) -> TypeResult<'a> {
    back(dy, conv2d(x, f, strides, padding), f)
}

/// The type of the cotangent of the operand `to`, if `dy` can be a cotangent of `result`.
const fn back<'a>(dy: Type, result: TypeResult<'a>, to: Type) -> TypeResult<'a> {
    let result = attempt!(result);
    if merged(dy, result).is_none() {
        return fail(Problem::Shape { operand: 0, needed: result });
    }
    Ok(to.with_dtype(dy.dtype()))
}
