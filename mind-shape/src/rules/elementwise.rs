//! Elementwise operations.

use super::{Dims, broadcast, fail, merged, same_dtype};
use crate::{
    DType,
    failure::{Failure, Problem, TypeResult},
    names,
    ty::Type,
};

/// The element types that an elementwise function accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// Integers and floats.
    Numbers,
    /// Floats alone.
    Floats,
    /// Integers alone.
    Integers,
    /// `bool`.
    Truths,
    /// Integers and `bool`.
    Bits,
    /// All element types.
    All,
}

impl Takes {
    /// The names of the element types, as a message lists them.
    pub const fn names(self) -> &'static str {
        match self {
            Self::Numbers => names::NUMBERS,
            Self::Floats => names::FLOATS,
            Self::Integers => names::INTEGERS,
            Self::Truths => names::TRUTHS,
            Self::Bits => names::BITS,
            Self::All => names::ALL,
        }
    }

    /// Whether an element type is accepted.
    pub const fn admits(self, dtype: DType) -> bool {
        match self {
            Self::All => true,
            Self::Numbers => !dtype.is(DType::Bool),
            Self::Floats => dtype.is_float(),
            Self::Integers => dtype.is_integer(),
            Self::Truths => dtype.is(DType::Bool),
            Self::Bits => !dtype.is_float(),
        }
    }
}

/// The element type of the result of an elementwise function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gives {
    /// The element type of the operands.
    Operand,
    /// A fixed element type.
    Type(DType),
}

impl Gives {
    const fn of(self, ty: Type) -> Type {
        match self {
            Self::Operand => ty,
            Self::Type(dtype) => ty.with_dtype(dtype),
        }
    }
}

/// An elementwise function of two tensors. Shapes broadcast, aligned at their last dimensions.
///
/// ```
/// use mind_shape::{DType, Type, UNKNOWN, rules::{Gives, Takes, binary}};
/// let f32s = |extents: &[i64]| Type::new(DType::F32, extents);
/// let sum = |a, b| binary(Takes::Numbers, Gives::Operand, a, b);
/// assert_eq!(sum(f32s(&[UNKNOWN, 3]), f32s(&[3])), Ok(f32s(&[UNKNOWN, 3])));
/// assert_eq!(sum(f32s(&[2, 3]), f32s(&[2])).unwrap_err().code(), "E3001");
/// let equal = binary(Takes::All, Gives::Type(DType::Bool), f32s(&[3]), f32s(&[3]));
/// assert_eq!(equal, Ok(Type::new(DType::Bool, &[3])));
/// ```
///
/// # Errors
/// E2004 for different element types; E3001 if the shapes do not broadcast; E2005 for an element type that is not
/// accepted.
#[inline]
pub const fn binary<'a>(takes: Takes, gives: Gives, a: Type, b: Type) -> TypeResult<'a> {
    // This runs at each call if extents are dynamic. In most calls the shapes are equal, or one operand is a number.
    if a.dtype().is(b.dtype()) && takes.admits(a.dtype()) {
        if b.rank() == 0 || a.has_shape_of(&b) {
            return Ok(gives.of(a));
        }
        if a.rank() == 0 {
            return Ok(gives.of(b));
        }
    }
    match broadcast_binary(takes, a, b) {
        Ok(ty) => Ok(gives.of(ty)),
        Err(failure) => Err(failure),
    }
}

const fn broadcast_binary<'a>(takes: Takes, a: Type, b: Type) -> TypeResult<'a> {
    attempt!(same_dtype(a, b));
    let dims = attempt!(broadcast_dims(Dims::NONE, a.dims(), b.dims()));
    attempt!(check_dtype(takes, a, 0));
    dims.typed(a.dtype())
}

/// An elementwise function of one tensor.
///
/// # Errors
/// E2005 for an element type that is not accepted.
#[inline]
pub const fn unary<'a>(takes: Takes, gives: Gives, x: Type) -> TypeResult<'a> {
    attempt!(check_dtype(takes, x, 0));
    Ok(gives.of(x))
}

/// Selects elements of one tensor or of another by truth values. Shapes broadcast.
///
/// # Errors
/// E2005 if the condition does not hold truth values; E2004 if the element types of the others differ; E3001 if shapes
/// do not broadcast.
pub const fn choice<'a>(condition: Type, a: Type, b: Type) -> TypeResult<'a> {
    attempt!(check_dtype(Takes::Truths, condition, 0));
    if !a.dtype().is(b.dtype()) {
        return fail(Problem::MixedAmong { operands: [1, 2] });
    }
    let values = attempt!(broadcast_dims(Dims::NONE, a.dims(), b.dims()));
    let values = match values.typed(a.dtype()) {
        Ok(ty) => ty,
        Err(failure) => return Err(failure),
    };
    match broadcast_dims(Dims::NONE, condition.dims(), values.dims()) {
        Ok(dims) => dims.typed(a.dtype()),
        Err(failure) => Err(failure),
    }
}

/// An elementwise function of two tensors of one shape.
///
/// # Errors
/// E2004 for different element types; E2005 for an element type that is not accepted; E3003 if the shapes differ.
pub const fn same_shape_binary<'a>(takes: Takes, a: Type, b: Type) -> TypeResult<'a> {
    attempt!(same_dtype(a, b));
    attempt!(check_dtype(takes, a, 0));
    match merged(a, b) {
        Some(ty) => Ok(ty),
        None => fail(Problem::ShapesDiffer { operands: [0, 1] }),
    }
}

/// Returns E2005 for an element type that is not accepted.
pub(super) const fn check_dtype<'a>(takes: Takes, x: Type, operand: usize) -> Result<(), Failure<'a>> {
    if takes.admits(x.dtype()) { Ok(()) } else { fail(Problem::NotTaken { operand, takes }) }
}

/// Appends the extents to which two shapes broadcast.
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
