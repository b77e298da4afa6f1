//! Decompositions of matrices, in batches of one size.
//!
//! - [`qr`], [`eigh`] and [`svd`] decompose by `householder` reflections; the last two go on by `rotations`.
//! - `batch` divides matrices among threads. Large `products` are divided themselves, and so are rotations.
//! - The loops are over `lanes`, which vectors of any SIMD level divide.
//!
//! A matrix with an element that is infinite or NaN has a decomposition of NaN. So has a matrix whose iteration does not
//! converge, which is not known to happen. Results have the same bits with any number of threads.

mod batch;
mod eigh;
mod householder;
mod lanes;
mod products;
mod qr;
mod real;
mod rotations;
mod svd;
#[cfg(test)]
mod tests;

use real::Real;

/// Writes the reduced QR decomposition of `count` matrices of `rows` rows and `columns` columns.
///
/// The result is a matrix of `k = min(rows, columns)` columns: the rows of Q, and below them the transpose of R. Signs
/// are those of LAPACK: a reflection changes the sign of its pivot, so that elements on the diagonal of R may be negative.
///
/// # Panics
/// As an internal error, if a slice has the wrong length.
pub fn qr<T: Decompose>(count: usize, [rows, columns]: [usize; 2], a: &[T], out: &mut [T]) {
    T::qr(count, [rows, columns], a, out);
}

/// Writes the eigenvalues and eigenvectors of `count` symmetric matrices of `n` rows, of which only the lower triangles
/// are read.
///
/// The result is a matrix of `n` columns: a row of ascending eigenvalues, and below it the rows of a matrix whose columns
/// are the eigenvectors. The first element of an eigenvector whose magnitude is at least half the largest is positive.
///
/// # Panics
/// As an internal error, if a slice has the wrong length.
pub fn eigh<T: Decompose>(count: usize, n: usize, a: &[T], out: &mut [T]) {
    T::eigh(count, n, a, out);
}

/// Writes the reduced singular value decomposition `U diag(s) Vᵀ` of `count` matrices of `rows` rows and `columns`
/// columns.
///
/// The result is a matrix of `min(rows, columns)` columns: a row of descending singular values, and below it the rows of
/// U and those of V. The first element of a column of U whose magnitude is at least half the largest is positive; in a
/// matrix with more columns than rows, that holds for V.
///
/// # Panics
/// As an internal error, if a slice has the wrong length.
pub fn svd<T: Decompose>(count: usize, [rows, columns]: [usize; 2], a: &[T], out: &mut [T]) {
    T::svd(count, [rows, columns], a, out);
}

/// The decompositions of an element type, compiled once and not for each program.
#[allow(private_bounds, reason = "sealed")]
pub trait Decompose: Real {
    /// The function `qr`.
    fn qr(count: usize, extents: [usize; 2], a: &[Self], out: &mut [Self]);

    /// The function `eigh`.
    fn eigh(count: usize, n: usize, a: &[Self], out: &mut [Self]);

    /// The function `svd`.
    fn svd(count: usize, extents: [usize; 2], a: &[Self], out: &mut [Self]);
}

macro_rules! decompose {
    ($($ty:ident, $lanes:literal;)*) => {
        $(impl Decompose for $ty {
            #[inline(never)]
            fn qr(count: usize, [rows, columns]: [usize; 2], a: &[Self], out: &mut [Self]) {
                batch::decompose::<Self, $lanes>(&qr::Qr { rows, columns }, count, a, out);
            }

            #[inline(never)]
            fn eigh(count: usize, n: usize, a: &[Self], out: &mut [Self]) {
                batch::decompose::<Self, $lanes>(&eigh::Eigh { n }, count, a, out);
            }

            #[inline(never)]
            fn svd(count: usize, [rows, columns]: [usize; 2], a: &[Self], out: &mut [Self]) {
                batch::decompose::<Self, $lanes>(&svd::Svd { rows, columns }, count, a, out);
            }
        })*
    };
}

// The lanes of a register of AVX-512.
decompose! {
    f32, 16;
    f64, 8;
}
