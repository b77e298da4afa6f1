//! Operations on each element.

use super::{Dims, broadcast, fail, floats, same_dtype};
use crate::{
    failure::{Problem, TypeResult},
    ty::Type,
};

/// An operation on the elements of two tensors, broadcast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryOp {
    /// `a + b`
    Add,
    /// `a - b`
    Sub,
    /// `a * b`
    Mul,
    /// `a / b`, of floats.
    Div,
}

/// An operation on the elements of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOp {
    /// `-x`
    Neg,
    /// `x > 0 ? x : 0`, of floats.
    Relu,
    /// `e^x`, of floats.
    Exp,
    /// The natural logarithm, of floats.
    Log,
    /// `x`, taken as constant by differentiation.
    StopGradient,
}

/// `a op b`: shapes broadcast, aligned at their last dimensions.
///
/// ```
/// use mind_shape::{DType, Type, UNKNOWN, rules::{BinaryOp, binary}};
/// let f32s = |extents: &[i64]| Type::new(DType::F32, extents);
/// assert_eq!(binary(BinaryOp::Add, f32s(&[UNKNOWN, 3]), f32s(&[3])), Ok(f32s(&[UNKNOWN, 3])));
/// assert_eq!(binary(BinaryOp::Add, f32s(&[2, 3]), f32s(&[2])).unwrap_err().code(), "E3001");
/// ```
///
/// # Errors
/// E2004 for two element types, E3001 where the shapes do not broadcast, E2005 for a quotient of integers.
#[inline]
pub const fn binary<'a>(op: BinaryOp, a: Type, b: Type) -> TypeResult<'a> {
    // Where extents are dynamic this runs at each call, and mostly shapes are equal or one is a number.
    let is_division = matches!(op, BinaryOp::Div);
    if a.dtype().is(b.dtype()) && (!is_division || a.dtype().is_float()) {
        if b.rank() == 0 || a.has_shape_of(&b) {
            return Ok(a);
        }
        if a.rank() == 0 {
            return Ok(b);
        }
    }
    broadcast_binary(op, a, b)
}

const fn broadcast_binary<'a>(op: BinaryOp, a: Type, b: Type) -> TypeResult<'a> {
    attempt!(same_dtype(a, b));
    let dims = attempt!(broadcast_dims(Dims::NONE, a.dims(), b.dims()));
    if let BinaryOp::Div = op {
        attempt!(floats(a, 0));
    }
    dims.typed(a.dtype())
}

/// An elementwise operation of one operand.
///
/// # Errors
/// E2005 for integers where floats are needed.
#[inline]
pub const fn unary<'a>(op: UnaryOp, x: Type) -> TypeResult<'a> {
    match op {
        UnaryOp::Relu | UnaryOp::Exp | UnaryOp::Log => attempt!(floats(x, 0)),
        UnaryOp::Neg | UnaryOp::StopGradient => {}
    }
    Ok(x)
}

/// The extents that two shapes broadcast to, after others.
pub(super) const fn broadcast_dims<'a>(
    mut dims: Dims,
    a: &[i64],
    b: &[i64],
) -> Result<Dims, crate::Failure<'a>> {
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
