//! Operations on the matrices in the last two axes, for shapes that are values, not types.

use mind_shape::match_dtype;

use super::{Argument, extent, number::Number};
use crate::{
    error::Error,
    kernels::{
        linalg::{self, LinearAlgebra},
        refused,
    },
    refusal,
};

/// Lower triangular factors of positive definite matrices.
pub fn cholesky<T: Number>(a: Argument<'_, T>, out: &mut [T]) {
    let [_, n] = matrix(a);
    match_dtype!(T::DTYPE, R {
        floats => R::cholesky(n, T::cast(a.elements), &mut T::cast_mut(out)[..a.elements.len()]),
        others => refused(),
    });
}

/// Triangular factors of matrices with exchanged rows.
pub fn lu<T: Number>(a: Argument<'_, T>, out: &mut [T]) {
    let [_, n] = matrix(a);
    let len = a.elements.len() / n * (n + 2);
    match_dtype!(T::DTYPE, R {
        floats => R::lu(n, T::cast(a.elements), &mut T::cast_mut(out)[..len]),
        others => refused(),
    });
}

/// Orthogonal and triangular factors of matrices.
pub fn qr<T: Number>(a: Argument<'_, T>, out: &mut [T]) {
    let extents @ [rows, columns] = matrix(a);
    decomposed(a, (rows + columns) * rows.min(columns), out, |a, out| {
        match_dtype!(T::DTYPE, R {
            floats => R::qr(extents, T::cast(a), T::cast_mut(out)),
            others => refused(),
        })
    });
}

/// Eigenvalues and eigenvectors of symmetric matrices.
pub fn eigh<T: Number>(a: Argument<'_, T>, out: &mut [T]) {
    let [_, n] = matrix(a);
    decomposed(a, (n + 1) * n, out, |a, out| {
        match_dtype!(T::DTYPE, R {
            floats => R::eigh(n, T::cast(a), T::cast_mut(out)),
            others => refused(),
        })
    });
}

/// Singular values and vectors of matrices.
pub fn svd<T: Number>(a: Argument<'_, T>, out: &mut [T]) {
    let extents @ [rows, columns] = matrix(a);
    decomposed(a, (1 + rows + columns) * rows.min(columns), out, |a, out| {
        match_dtype!(T::DTYPE, R {
            floats => R::svd(extents, T::cast(a), T::cast_mut(out)),
            others => refused(),
        })
    });
}

/// Calls `decompose` with the matrices and their results of `len` elements each.
fn decomposed<T: Number>(
    a: Argument<'_, T>,
    len: usize,
    out: &mut [T],
    decompose: impl FnOnce(&[T], &mut [T]),
) {
    let count = a.elements.len() / matrix(a).iter().product::<usize>();
    decompose(a.elements, &mut out[..count * len]);
}

/// The solutions of triangular systems.
pub fn solve_triangular<T: Number>(
    a: Argument<'_, T>,
    b: Argument<'_, T>,
    lower: bool,
    transposed: bool,
    unit_diagonal: bool,
    out: &mut [T],
) {
    let of = linalg::Triangle { lower, transposed, unit_diagonal };
    let [n, columns] = matrix(b);
    match_dtype!(T::DTYPE, R {
        floats => {
            let out = &mut T::cast_mut(out)[..b.elements.len()];
            R::solve_triangular(of, n, columns, T::cast(a.elements), T::cast(b.elements), out)
        },
        others => refused(),
    });
}

/// One triangle of each matrix, and zeros elsewhere.
pub fn triangle<T: Number>(x: Argument<'_, T>, lower: bool, strict: bool, out: &mut [T]) {
    match_dtype!(T::DTYPE, R {
        floats => {
            R::triangle(lower, strict, matrix(x), T::cast(x.elements), &mut T::cast_mut(out)[..x.elements.len()])
        },
        others => refused(),
    });
}

/// Returns E6010 if a function reports errors and a matrix is not positive definite: the first element of its factor is
/// NaN.
///
/// # Errors
/// E6010 with the matrices.
pub fn check_factors<T: Number>(function: &'static str, factors: Argument<'_, T>) -> Result<(), Error> {
    let len: usize = matrix(factors).iter().product();
    let is_nan = |factors: T| factors.partial_cmp(&factors).is_none();
    let count = factors.elements.len() / len;
    refusal::check(function, "not positive definite", count, |matrix| is_nan(factors.elements[matrix * len]))
}

/// Returns E6010 if a function reports errors and a triangular matrix has a 0 on its diagonal.
///
/// # Errors
/// E6010 with the matrices.
pub fn check_diagonals<T: Number>(function: &'static str, a: Argument<'_, T>) -> Result<(), Error> {
    let [n, _] = matrix(a);
    let has_zero = |matrix: usize| (0..n).any(|row| a.elements[(matrix * n + row) * n + row] == T::ZERO);
    refusal::check(function, "singular", a.elements.len() / (n * n), has_zero)
}

/// The extents of the matrices.
fn matrix<T>(x: Argument<'_, T>) -> [usize; 2] {
    [x.ty.rank() - 2, x.ty.rank() - 1].map(|axis| extent(x.ty, axis))
}
