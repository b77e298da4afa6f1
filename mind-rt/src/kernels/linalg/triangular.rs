//! The solution of a single triangular system, in blocks of rows.

use std::ops::Range;

use super::{BLOCK, Real, Triangle};
use crate::kernels::matmul::{MatRef, matmul_into, matmul_scratch};
use crate::simd::{Kernel, dispatch};

/// Solves an `n` by `n` system with several right-hand sides, the columns of `x`, in place. The solution is NaN if an
/// element of the diagonal that is read is 0.
pub(super) fn solve<T: Real>(of: Triangle, [n, columns]: [usize; 2], a: &[T], x: &mut [T]) {
    if !of.unit_diagonal && (0..n).any(|row| a[row * n + row] == T::ZERO) {
        return x.fill(T::NOT_A_NUMBER);
    }
    let strides = if of.transposed { [1, n] } else { [n, 1] };
    let is_lower = of.lower != of.transposed;
    let packed = if n > BLOCK { matmul_scratch::<T>(BLOCK, n, columns, strides[1]) } else { 0 };
    T::with_scratch(BLOCK.min(n) * columns + packed, |scratch| {
        let (sums, scratch) = scratch.split_at_mut(BLOCK.min(n) * columns);
        for turn in 0..n.div_ceil(BLOCK) {
            let rows = if is_lower {
                turn * BLOCK..n.min((turn + 1) * BLOCK)
            } else {
                n.saturating_sub((turn + 1) * BLOCK)..n - turn * BLOCK
            };
            let known = if is_lower { 0..rows.start } else { rows.end..n };
            let sums = &mut sums[..rows.len() * columns];
            if known.is_empty() {
                sums.fill(T::ZERO);
            } else {
                let offset = rows.start * strides[0] + known.start * strides[1];
                let lhs = MatRef { data: a, offset, row_stride: strides[0], col_stride: strides[1] };
                let rhs =
                    MatRef { data: &*x, offset: known.start * columns, row_stride: columns, col_stride: 1 };
                matmul_into(&[], [rows.len(), known.len(), columns], lhs, rhs, scratch, sums);
            }
            let unit_diagonal = of.unit_diagonal;
            dispatch(Rows { strides, is_lower, unit_diagonal, columns, rows, a, sums, x: &mut *x });
        }
    });
}

/// The solution for a block of rows, after `sums` is subtracted from the right-hand sides.
struct Rows<'a, T> {
    strides: [usize; 2],
    is_lower: bool,
    unit_diagonal: bool,
    columns: usize,
    rows: Range<usize>,
    a: &'a [T],
    sums: &'a [T],
    x: &'a mut [T],
}

impl<T: Real> Kernel for Rows<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { strides, is_lower, unit_diagonal, columns, rows, a, sums, x } = self;
        let x = &mut x[rows.start * columns..rows.end * columns];
        x.iter_mut().zip(sums).for_each(|(x, sum)| *x = *x - *sum);
        let element = |row: usize, column: usize| {
            a[(rows.start + row) * strides[0] + (rows.start + column) * strides[1]]
        };
        for turn in 0..rows.len() {
            let row = if is_lower { turn } else { rows.len() - 1 - turn };
            let (before, own) = x.split_at_mut(row * columns);
            let (own, after) = own.split_at_mut(columns);
            let known = if is_lower { 0..row } else { row + 1..rows.len() };
            for other in known {
                let factor = element(row, other);
                let of =
                    if is_lower { &before[other * columns..] } else { &after[(other - row - 1) * columns..] };
                for (own, of) in own.iter_mut().zip(&of[..columns]) {
                    *own = *own - factor * *of;
                }
            }
            if !unit_diagonal {
                let diagonal = element(row, row);
                own.iter_mut().for_each(|own| *own = *own / diagonal);
            }
        }
    }
}
