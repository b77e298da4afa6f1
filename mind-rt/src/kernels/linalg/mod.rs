//! Factorizations of matrices and solutions of linear systems, in batches of matrices of one size.
//!
//! | module | for |
//! | --- | --- |
//! | `cholesky`, `lu`, `triangular` | single matrices, in blocks that are multiplied by [`matmul`](super::matmul) |
//! | `side_by_side` | many matrices of up to 32 rows, one in each lane of a vector |
//! | `qr`, `eigh`, `svd` | decompositions by `householder` reflections; the last two go on by `rotations` |
//! | `batch` | matrices divided among threads. Large `products` are divided themselves, and so are rotations |
//! | `lanes` | loops over chunks of rows, which vectors of any SIMD level divide |
//!
//! Every matrix of a batch is computed by itself, so the number of threads changes no bit of a result.
//!
//! A matrix with an element that is infinite or NaN has a `qr`, `eigh` and `svd` of NaN. So has a matrix whose iteration
//! does not converge, which is not known to happen.

mod batch;
mod cholesky;
mod eigh;
mod householder;
mod lanes;
mod lu;
mod products;
mod qr;
mod real;
mod rotations;
mod side_by_side;
mod svd;
#[cfg(test)]
mod tests;
mod triangular;

use super::check;
use super::limit::limit;
use super::memory::poison;
use real::Real;

/// The number of rows and columns of a block.
const BLOCK: usize = limit(32, 4);

/// The largest number of rows of matrices that are computed side by side.
const SMALL: usize = limit(32, 6);

/// The triangle of a matrix that a system has.
#[derive(Clone, Copy, Debug)]
pub struct Triangle {
    /// Whether the lower triangle is read, else the upper one.
    pub lower: bool,
    /// Whether the transposed triangle takes its place.
    pub transposed: bool,
    /// Whether the diagonal is not read: all its elements are 1.
    pub unit_diagonal: bool,
}

/// The element types of linear algebra, with its kernels. They are compiled with this crate, not with each program.
///
/// # Panics
/// Each function, as an internal error, if a slice has the wrong length.
#[allow(private_bounds, reason = "sealed")]
pub trait LinearAlgebra: Real {
    /// The lower triangular factor of the symmetric part of each `n` by `n` matrix, and zeros above the diagonal. If
    /// the part is not positive definite, the lower triangle of its factor is NaN.
    fn cholesky(n: usize, a: &[Self], out: &mut [Self]);

    /// The factors of each `n` by `n` matrix with rows exchanged: `n` rows with `L` below and `U` on and above the
    /// diagonal, a row with the row of the matrix that became each row, and a row with -1 for each exchange of rows.
    fn lu(n: usize, a: &[Self], out: &mut [Self]);

    /// The solution `x` of `a @ x = b` for each triangular matrix `a` of `n` rows and each `b` of `columns` columns;
    /// NaN if an element of the diagonal that is read is 0.
    fn solve_triangular(of: Triangle, n: usize, columns: usize, a: &[Self], b: &[Self], out: &mut [Self]);

    /// The elements on one side of the diagonal of each matrix of `rows` by `columns`, and zeros elsewhere.
    fn triangle(lower: bool, strict: bool, extents: [usize; 2], x: &[Self], out: &mut [Self]);

    /// The reduced QR decomposition of each matrix of `rows` by `columns`.
    ///
    /// The result is a matrix of `k = min(rows, columns)` columns: the rows of Q, and below them the transpose of R.
    /// Signs are those of LAPACK: a reflection changes the sign of its pivot, so that elements on the diagonal of R may
    /// be negative.
    fn qr(extents: [usize; 2], a: &[Self], out: &mut [Self]);

    /// The eigenvalues and eigenvectors of each symmetric matrix of `n` rows, of which only the lower triangle is read.
    ///
    /// The result is a matrix of `n` columns: a row of ascending eigenvalues, and below it the rows of a matrix whose
    /// columns are the eigenvectors. The first element of an eigenvector whose magnitude is at least half the largest
    /// is positive.
    fn eigh(n: usize, a: &[Self], out: &mut [Self]);

    /// The reduced singular value decomposition `U diag(s) Vᵀ` of each matrix of `rows` by `columns`.
    ///
    /// The result is a matrix of `min(rows, columns)` columns: a row of descending singular values, and below it the
    /// rows of U and those of V. The first element of a column of U whose magnitude is at least half the largest is
    /// positive; in a matrix with more columns than rows, that holds for V.
    fn svd(extents: [usize; 2], a: &[Self], out: &mut [Self]);
}

macro_rules! linear_algebra {
    ($($ty:ident, $lanes:literal;)*) => {
        $(impl LinearAlgebra for $ty {
            #[inline(never)]
            fn cholesky(n: usize, a: &[Self], out: &mut [Self]) {
                let count = number_of([n * n, n * n], a, out);
                if n <= SMALL && count > 1 {
                    let job = side_by_side::Cholesky { lens: [n * n], n };
                    return side_by_side::run::<Self, _, $lanes>(&job, count, &[a], out);
                }
                batch::compute(&cholesky::Cholesky { n }, count, a, out);
            }

            #[inline(never)]
            fn lu(n: usize, a: &[Self], out: &mut [Self]) {
                let count = number_of([n * n, (n + 2) * n], a, out);
                if n <= SMALL && count > 1 {
                    let job = side_by_side::Lu { lens: [n * n], n };
                    return side_by_side::run::<Self, _, $lanes>(&job, count, &[a], out);
                }
                batch::compute(&lu::Lu { n }, count, a, out);
            }

            #[inline(never)]
            fn solve_triangular(
                of: Triangle,
                n: usize,
                columns: usize,
                a: &[Self],
                b: &[Self],
                out: &mut [Self],
            ) {
                let count = number_of([n * n, n * columns], a, out);
                check(b.len() == out.len(), "solve_triangular: wrong length");
                if n <= SMALL && columns <= SMALL && count > 1 {
                    let job = side_by_side::Triangular { lens: [n * n, n * columns], of, n, columns };
                    return side_by_side::run::<Self, _, $lanes>(&job, count, &[a, b], out);
                }
                out.copy_from_slice(b);
                batch::compute(&triangular::System { of, n, columns }, count, a, out);
            }

            #[inline(never)]
            fn triangle(lower: bool, strict: bool, [rows, columns]: [usize; 2], x: &[Self], out: &mut [Self]) {
                number_of([rows * columns; 2], x, out);
                let lines = x.chunks_exact(columns).zip(out.chunks_exact_mut(columns));
                for (line, (x, out)) in lines.enumerate() {
                    let row = line % rows;
                    let first = if lower == strict { row } else { row + 1 }.min(columns);
                    let (kept, zeros) = if lower { (0..first, first..columns) } else { (first..columns, 0..first) };
                    out[kept.clone()].copy_from_slice(&x[kept]);
                    out[zeros].fill(0.0);
                }
            }

            #[inline(never)]
            fn qr([rows, columns]: [usize; 2], a: &[Self], out: &mut [Self]) {
                let qr = qr::Qr { rows, columns };
                batch::compute(&qr, number_of(batch::Matrices::<Self>::lens(&qr), a, out), a, out);
            }

            #[inline(never)]
            fn eigh(n: usize, a: &[Self], out: &mut [Self]) {
                let count = number_of([n * n, (n + 1) * n], a, out);
                batch::compute(&eigh::Eigh::<$lanes> { n }, count, a, out);
            }

            #[inline(never)]
            fn svd([rows, columns]: [usize; 2], a: &[Self], out: &mut [Self]) {
                let svd = svd::Svd::<$lanes> { rows, columns };
                batch::compute(&svd, number_of(batch::Matrices::<Self>::lens(&svd), a, out), a, out);
            }
        })*
    };
}

// The lanes of a register of AVX-512.
linear_algebra! {
    f32, 16;
    f64, 8;
}

/// The number of matrices, given the number of elements of one of them and of its result.
fn number_of<T: Real>([len, result]: [usize; 2], a: &[T], out: &mut [T]) -> usize {
    let count = a.len().checked_div(len).unwrap_or_default();
    check(count * len == a.len() && count * result == out.len(), "matrices: wrong length");
    poison(out);
    count
}
