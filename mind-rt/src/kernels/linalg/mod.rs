//! Factorizations of matrices and solutions of linear systems.
//!
//! | module | for |
//! | --- | --- |
//! | `cholesky`, `lu`, `triangular` | single matrices, in blocks that are multiplied by [`matmul`](super::matmul) |
//! | `lanes` | many matrices of up to 32 rows, one in each lane of a vector |
//!
//! Every matrix of a batch is computed by itself, so the number of threads changes no bit of a result. Scratch memory
//! belongs to the thread and stays for the next call.

mod cholesky;
mod lanes;
mod lu;
mod triangular;

use std::cell::Cell;
use std::ops::{Add, Div, Mul, Sub};

use super::check;
use super::limit::limit;
use super::matmul::Gemm;
use super::memory::poison;
use super::number::Number;
use crate::error::{Error, fail};
use crate::parallel::{Split, run};
use crate::simd::Kernel;

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

/// The element types of linear algebra, with its kernels. They are compiled with this crate.
#[allow(private_bounds, reason = "sealed")]
pub trait Solve: Real {
    /// The lower triangular factor of each `n` by `n` matrix, and zeros above the diagonal. Only the lower triangle of
    /// a matrix is read. If a matrix is not positive definite, the lower triangle of its factor is NaN.
    fn cholesky(n: usize, a: &[Self], out: &mut [Self]);

    /// The factors of each `n` by `n` matrix with rows exchanged: `n` rows with `L` below and `U` on and above the
    /// diagonal, a row with the row of the matrix that became each row, and a row with -1 for each exchange of rows.
    fn lu(n: usize, a: &[Self], out: &mut [Self]);

    /// The solution `x` of `a @ x = b` for each triangular matrix `a` of `n` rows and each `b` of `columns` columns;
    /// NaN if an element of the diagonal that is read is 0.
    fn solve_triangular(of: Triangle, n: usize, columns: usize, a: &[Self], b: &[Self], out: &mut [Self]);

    /// The elements on one side of the diagonal of each matrix of `rows` by `columns`, and zeros elsewhere.
    fn triangle(lower: bool, strict: bool, dims: [usize; 2], x: &[Self], out: &mut [Self]);
}

/// The arithmetic of linear algebra.
#[allow(private_bounds, reason = "sealed")]
pub trait Real:
    Gemm
    + Number
    + Send
    + Sync
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
{
    #[doc(hidden)]
    const NOT_A_NUMBER: Self;

    #[doc(hidden)]
    fn root(self) -> Self;

    #[doc(hidden)]
    fn magnitude(self) -> Self;

    /// A position, exact up to the number of digits.
    #[doc(hidden)]
    fn of_position(position: usize) -> Self;

    /// Calls `then` with scratch memory of the thread, whose contents are arbitrary. Calls may nest.
    #[doc(hidden)]
    fn with_scratch<R>(len: usize, then: impl FnOnce(&mut [Self]) -> R) -> R;

    #[doc(hidden)]
    fn side_by_side<J: lanes::Job<Self>>(job: &J, count: usize, inputs: &[&[Self]], out: &mut [Self]);
}

macro_rules! real {
    ($($ty:ident: $lanes:literal;)*) => {
        $(impl Real for $ty {
            const NOT_A_NUMBER: Self = Self::NAN;

            #[inline(always)]
            fn root(self) -> Self {
                self.sqrt()
            }

            #[inline(always)]
            fn magnitude(self) -> Self {
                self.abs()
            }

            #[inline(always)]
            fn of_position(position: usize) -> Self {
                position as Self
            }

            fn with_scratch<R>(len: usize, then: impl FnOnce(&mut [Self]) -> R) -> R {
                thread_local! {
                    static SCRATCH: Cell<Vec<$ty>> = const { Cell::new(Vec::new()) };
                }
                // While the thread ends, its memory is gone. An inner call uses memory of its own.
                let mut scratch = SCRATCH.try_with(Cell::take).unwrap_or_default();
                let more = len.saturating_sub(scratch.len());
                if scratch.try_reserve_exact(more).is_err() {
                    fail(Error::Allocation { shape: format!("scratch memory of {len} elements") });
                }
                scratch.resize(scratch.len() + more, 0.0);
                let result = then(&mut scratch[..len]);
                let _ = SCRATCH.try_with(|kept| {
                    let inner = kept.take();
                    kept.set(if inner.len() > scratch.len() { inner } else { scratch });
                });
                result
            }

            fn side_by_side<J: lanes::Job<Self>>(job: &J, count: usize, inputs: &[&[Self]], out: &mut [Self]) {
                lanes::run::<Self, J, $lanes>(job, count, inputs, out);
            }
        }

        impl Solve for $ty {
            #[inline(never)]
            fn cholesky(n: usize, a: &[Self], out: &mut [Self]) {
                let count = checked(n * n, n * n, a, out);
                if n <= SMALL && count > 1 {
                    return Self::side_by_side(&lanes::Cholesky { lens: [n * n], n }, count, &[a], out);
                }
                each(count, n, (a, n * n), (out, n * n), &|a, out| cholesky::factor(n, a, out));
            }

            #[inline(never)]
            fn lu(n: usize, a: &[Self], out: &mut [Self]) {
                let count = checked(n * n, (n + 2) * n, a, out);
                if n <= SMALL && count > 1 {
                    return Self::side_by_side(&lanes::Lu { lens: [n * n], n }, count, &[a], out);
                }
                each(count, n, (a, n * n), (out, (n + 2) * n), &|a, out| lu::factor(n, a, out));
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
                let count = checked(n * n, n * columns, a, out);
                check(b.len() == out.len(), "solve_triangular: wrong length");
                if n <= SMALL && columns <= SMALL && count > 1 {
                    let job = lanes::Triangular { lens: [n * n, n * columns], of, n, columns };
                    return Self::side_by_side(&job, count, &[a, b], out);
                }
                let len = n * columns;
                out.copy_from_slice(b);
                each(count, columns, (a, n * n), (out, len), &|a, x| triangular::solve(of, [n, columns], a, x));
            }

            #[inline(never)]
            fn triangle(lower: bool, strict: bool, [rows, columns]: [usize; 2], x: &[Self], out: &mut [Self]) {
                checked(rows * columns, rows * columns, x, out);
                let lines = x.chunks_exact(columns).zip(out.chunks_exact_mut(columns));
                for (line, (x, out)) in lines.enumerate() {
                    let row = line % rows;
                    let first = if lower == strict { row } else { row + 1 }.min(columns);
                    let (kept, zeros) = if lower { (0..first, first..columns) } else { (first..columns, 0..first) };
                    out[kept.clone()].copy_from_slice(&x[kept]);
                    out[zeros].fill(0.0);
                }
            }
        })*
    };
}

real! {
    f32: 16;
    f64: 8;
}

/// The number of matrices, given the number of elements of one of them and of its result.
fn checked<T: Real>(len: usize, result: usize, a: &[T], out: &mut [T]) -> usize {
    let count = a.len().checked_div(len).unwrap_or_default();
    check(count * len == a.len() && count * result == out.len(), "matrices: wrong length");
    poison(out);
    count
}

/// Computes the results of `count` matrices one by one, on several threads if there are several. `cost` is the number
/// of operations for an element of a matrix. Each slice comes with the number of its elements of one matrix.
fn each<T: Real>(
    count: usize,
    cost: usize,
    (a, len): (&[T], usize),
    (out, result): (&mut [T], usize),
    one: &(dyn Fn(&[T], &mut [T]) + Sync),
) {
    match count {
        // The products within the only matrix use all threads.
        1 => one(a, out),
        _ => run(Each { a, len, out, result, one }, count, len, cost),
    }
}

struct Each<'a, T> {
    a: &'a [T],
    len: usize,
    out: &'a mut [T],
    result: usize,
    one: &'a (dyn Fn(&[T], &mut [T]) + Sync),
}

impl<T: Real> Kernel for Each<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (a, out) in self.a.chunks_exact(self.len).zip(self.out.chunks_exact_mut(self.result)) {
            (self.one)(a, out);
        }
    }
}

impl<T: Real> Split for Each<'_, T> {
    fn split(self, at: usize) -> (Self, Self) {
        let Self { a, len, out, result, one } = self;
        let ((a, later_a), (out, later_out)) = (a.split_at(at * len), out.split_at_mut(at * result));
        (Self { a, len, out, result, one }, Self { a: later_a, len, out: later_out, result, one })
    }
}

#[cfg(test)]
mod tests;
