//! Products of vectors and matrices.

use super::{Dims, agree, elementwise::broadcast_dims, fail, same_numbers};
use crate::{
    failure::{Failure, Problem, TypeResult},
    ty::Type,
};

/// `a @ b`: [`dot`] if an operand is a vector, else [`matmul`].
///
/// # Errors
/// The errors of that operation.
pub const fn at<'a>(a: Type, b: Type) -> TypeResult<'a> {
    if a.rank() == 1 || b.rank() == 1 { dot(a, b) } else { matmul(a, b) }
}

/// `dot(a, b)`: `[n]·[n] → []`, `[m, n]·[n] → [m]`, `[m]·[m, n] → [n]`, `[m, k]·[k, n] → [m, n]`.
///
/// # Errors
/// E3002 for an operand that is neither a vector nor a matrix; E2004 for different element types; E3003 if the inner
/// dimensions differ.
pub const fn dot<'a>(a: Type, b: Type) -> TypeResult<'a> {
    if !matches!(a.rank(), 1 | 2) {
        return fail(Problem::DotRank { operand: 0 });
    }
    if !matches!(b.rank(), 1 | 2) {
        return fail(Problem::DotRank { operand: 1 });
    }
    attempt!(same_numbers(a, b));
    attempt!(check_inner(a, b));
    let mut dims = Dims::NONE;
    if a.rank() == 2 {
        dims = dims.and(a.extent(0));
    }
    if b.rank() == 2 {
        dims = dims.and(b.extent(1));
    }
    dims.typed(a.dtype())
}

/// `matmul(a, b)`: `[a…, m, k] · [b…, k, n] → [broadcast(a, b)…, m, n]`.
///
/// ```
/// use mind_shape::{DType, Type, rules::matmul};
/// let f32s = |extents: &[i64]| Type::new(DType::F32, extents);
/// assert_eq!(matmul(f32s(&[5, 1, 2, 3]), f32s(&[4, 3, 6])), Ok(f32s(&[5, 4, 2, 6])));
/// ```
///
/// # Errors
/// E3002 for an operand of rank below 2; E2004 for different element types; E3003 if the inner dimensions differ; E3001
/// if the batch dimensions do not broadcast.
pub const fn matmul<'a>(a: Type, b: Type) -> TypeResult<'a> {
    if a.rank() < 2 {
        return fail(Problem::MatMulRank { operand: 0 });
    }
    if b.rank() < 2 {
        return fail(Problem::MatMulRank { operand: 1 });
    }
    attempt!(same_numbers(a, b));
    attempt!(check_inner(a, b));
    let (a_batch, b_batch) = (a.dims().split_at(a.rank() - 2).0, b.dims().split_at(b.rank() - 2).0);
    let dims = attempt!(broadcast_dims(Dims::NONE, a_batch, b_batch));
    dims.and(a.extent(a.rank() - 2)).and(b.extent(b.rank() - 1)).typed(a.dtype())
}

/// Returns E3003 unless the last dimension of `a` equals the second to last of `b`, or the only one of `b`.
const fn check_inner<'a>(a: Type, b: Type) -> Result<(), Failure<'a>> {
    let extents = [a.extent(a.rank() - 1), b.extent(b.rank().saturating_sub(2))];
    if agree(extents[0], extents[1]) { Ok(()) } else { fail(Problem::Inner { extents }) }
}
