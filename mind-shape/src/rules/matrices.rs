//! Operations on the matrices in the last two axes.

use super::{Dims, Takes, agree, elementwise::check_dtype, fail, same_dtype};
use crate::{
    failure::{Failure, Problem, TypeResult},
    ty::{Type, UNKNOWN},
};

/// A factorization of square matrices, whose result has `extra` further rows.
///
/// # Errors
/// E3002 for a rank below 2; E2005 unless the elements are floats; E3003 if the matrices are not square.
pub const fn factor<'a>(a: Type, extra: i64) -> TypeResult<'a> {
    let extent = attempt!(square(a));
    factors(a, [extent, extra], extent)
}

/// A decomposition of matrices. Its result has a row for each row and each column of a matrix, and `extra` further rows,
/// each as long as the shorter of a row and a column.
///
/// # Errors
/// E3002 for a rank below 2; E2005 unless the elements are floats.
pub const fn decompose<'a>(a: Type, extra: i64) -> TypeResult<'a> {
    attempt!(matrix(a));
    let [rows, columns] = [a.extent(a.rank() - 2), a.extent(a.rank() - 1)];
    let more = match columns.checked_add(extra) {
        Some(more) => more,
        None => return fail(Problem::Overflow),
    };
    if rows == UNKNOWN || columns == UNKNOWN {
        return factors(a, [UNKNOWN, UNKNOWN], UNKNOWN);
    }
    factors(a, [rows, more], if rows < columns { rows } else { columns })
}

/// Matrices of `columns` columns, whose number of rows is a sum.
const fn factors<'a>(a: Type, [rows, more]: [i64; 2], columns: i64) -> TypeResult<'a> {
    let rows = if rows == UNKNOWN || more == UNKNOWN {
        UNKNOWN
    } else {
        match rows.checked_add(more) {
            Some(rows) => rows,
            None => return fail(Problem::Overflow),
        }
    };
    Dims::of(a.dims().split_at(a.rank() - 2).0).and(rows).and(columns).typed(a.dtype())
}

/// `x` with `a @ x = b` for triangular matrices `a`.
///
/// # Errors
/// E3002 for a rank of `a` below 2, or another rank of `b`; E2005 unless the elements are floats; E2004 for different
/// element types; E3003 if the matrices of `a` are not square, or the shape of `b` differs in another extent than the
/// last.
pub const fn solve_triangular<'a>(a: Type, b: Type) -> TypeResult<'a> {
    if a.rank() >= 2 && check_dtype(Takes::Floats, a, 0).is_ok() {
        attempt!(same_dtype(a, b));
    }
    let extent = attempt!(square(a));
    if b.rank() != a.rank() {
        return fail(Problem::Rank { operand: 1, needed: a.rank() });
    }
    let outer = a.rank() - 2;
    let needed = Dims::of(a.dims().split_at(outer).0).and(extent).and(b.extent(outer + 1));
    let needed = attempt!(needed.typed(a.dtype()));
    match super::merged(b, needed) {
        Some(ty) => Ok(ty),
        None => fail(Problem::Shape { operand: 1, needed }),
    }
}

/// Right-hand sides of systems with the matrices `a`: a vector as a matrix of one column, or `b` itself.
///
/// # Errors
/// E3002 for a rank of 0; E3003 unless `b` has a row for each row of a matrix of `a`.
pub const fn as_columns<'a>(b: Type, a: Type) -> TypeResult<'a> {
    if b.rank() == 0 {
        return fail(Problem::NoRow);
    }
    let outer = if b.rank() == 1 { 0 } else { b.rank() - 2 };
    let rows = if a.rank() < 2 { UNKNOWN } else { a.extent(a.rank() - 2) };
    let (mut needed, mut axis) = (Dims::of(b.dims().split_at(outer).0).and(rows), outer + 1);
    while axis < b.rank() {
        needed = needed.and(b.extent(axis));
        axis += 1;
    }
    let needed = attempt!(needed.typed(b.dtype()));
    match super::merged(b, needed) {
        Some(b) if b.rank() == 1 => Dims::of(b.dims()).and(1).typed(b.dtype()),
        Some(b) => Ok(b),
        None => fail(Problem::Shape { operand: 0, needed }),
    }
}

/// Solutions as their right-hand sides were given: without the last axis, of extent 1, if `b` is a vector.
///
/// # Errors
/// E3009 if the last axis has another extent.
pub const fn as_given<'a>(x: Type, b: Type) -> TypeResult<'a> {
    if b.rank() == 1 { super::squeeze(x, Some(&[-1])) } else { Ok(x) }
}

/// One triangle of matrices, with zeros elsewhere.
///
/// # Errors
/// E3002 for a rank below 2; E2005 unless the elements are floats.
pub const fn triangle<'a>(x: Type) -> TypeResult<'a> {
    attempt!(matrix(x));
    Ok(x)
}

const fn matrix<'a>(a: Type) -> Result<(), Failure<'a>> {
    if a.rank() < 2 {
        return fail(Problem::NoMatrix);
    }
    check_dtype(Takes::Floats, a, 0)
}

/// The extent of square matrices.
const fn square<'a>(a: Type) -> Result<i64, Failure<'a>> {
    attempt!(matrix(a));
    let (outer, [rows, columns]) = (a.rank() - 2, [a.extent(a.rank() - 2), a.extent(a.rank() - 1)]);
    if agree(rows, columns) {
        return Ok(if rows == UNKNOWN { columns } else { rows });
    }
    let needed = Dims::of(a.dims().split_at(outer).0).and(rows).and(rows);
    match needed.typed(a.dtype()) {
        Ok(needed) => fail(Problem::Shape { operand: 0, needed }),
        Err(failure) => Err(failure),
    }
}
