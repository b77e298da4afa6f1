//! The factors of a single matrix with exchanged rows, in blocks of columns.

use super::{BLOCK, Real};
use crate::kernels::matmul::{MatRef, matmul_into, matmul_scratch};
use crate::simd::{Kernel, dispatch};

/// Writes both factors of an `n` by `n` matrix, its permutation and the signs of exchanges to `out`.
///
/// For each block of columns, the products of the rows and columns before it are subtracted from its columns, which are
/// then factored, and from its rows, for which the system of the block is solved.
pub(super) fn factor<T: Real>(n: usize, a: &[T], out: &mut [T]) {
    let (matrix, ends) = out.split_at_mut(n * n);
    let (from, signs) = ends.split_at_mut(n);
    matrix.copy_from_slice(a);
    from.iter_mut().enumerate().for_each(|(row, from)| *from = T::of_position(row));
    let packed = if n > BLOCK {
        matmul_scratch::<T>(n, n, BLOCK, 1).max(matmul_scratch::<T>(BLOCK, n, n, 1))
    } else {
        0
    };
    T::with_scratch(BLOCK.min(n) * n + packed, |scratch| {
        let (sums, scratch) = scratch.split_at_mut(BLOCK.min(n) * n);
        for first in (0..n).step_by(BLOCK) {
            let end = n.min(first + BLOCK);
            let width = end - first;
            if first > 0 {
                let sums = &mut sums[..(n - first) * width];
                let lhs = MatRef { data: &*matrix, offset: first * n, row_stride: n, col_stride: 1 };
                let rhs = MatRef { data: &*matrix, offset: first, row_stride: n, col_stride: 1 };
                matmul_into(&[], [n - first, first, width], lhs, rhs, scratch, sums);
                subtract(n, [first, first], width, sums, matrix);
            }
            dispatch(Columns { n, first, end, matrix, from, signs });
            if end < n {
                let sums = &mut sums[..width * (n - end)];
                if first > 0 {
                    let lhs = MatRef { data: &*matrix, offset: first * n, row_stride: n, col_stride: 1 };
                    let rhs = MatRef { data: &*matrix, offset: end, row_stride: n, col_stride: 1 };
                    matmul_into(&[], [width, first, n - end], lhs, rhs, scratch, sums);
                    subtract(n, [first, end], n - end, sums, matrix);
                }
                dispatch(RowsAfter { n, first, end, matrix });
            }
        }
    });
}

/// Subtracts the rows of `sums`, of `width` elements, from those of the matrix at a position.
fn subtract<T: Real>(n: usize, [row, column]: [usize; 2], width: usize, sums: &[T], matrix: &mut [T]) {
    for (row, sums) in (row..).zip(sums.chunks_exact(width)) {
        let own = &mut matrix[row * n + column..][..width];
        own.iter_mut().zip(sums).for_each(|(own, sum)| *own = *own - *sum);
    }
}

/// The factorization of a block of columns, with exchanges of whole rows.
struct Columns<'a, T> {
    n: usize,
    first: usize,
    end: usize,
    matrix: &'a mut [T],
    from: &'a mut [T],
    signs: &'a mut [T],
}

impl<T: Real> Kernel for Columns<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { n, first, end, matrix, from, signs } = self;
        for step in first..end {
            let size = |row: usize| matrix[row * n + step].magnitude();
            let (mut pivot, mut largest) = (step, size(step));
            for row in step + 1..n {
                let size = size(row);
                if size > largest {
                    (pivot, largest) = (row, size);
                }
            }
            signs[step] = T::ONE;
            if pivot != step {
                let (above, below) = matrix.split_at_mut(pivot * n);
                above[step * n..][..n].swap_with_slice(&mut below[..n]);
                from.swap(step, pivot);
                signs[step] = T::ZERO - T::ONE;
            }
            let (done, rest) = matrix.split_at_mut((step + 1) * n);
            let of = &done[step * n + step..][..end - step];
            if of[0] == T::ZERO {
                continue;
            }
            for row in rest.chunks_exact_mut(n) {
                let row = &mut row[step..end];
                let factor = row[0] / of[0];
                row[0] = factor;
                for (own, of) in row[1..].iter_mut().zip(&of[1..]) {
                    *own = *own - factor * *of;
                }
            }
        }
    }
}

/// The rows of a block after its columns: the solution of the block's system.
struct RowsAfter<'a, T> {
    n: usize,
    first: usize,
    end: usize,
    matrix: &'a mut [T],
}

impl<T: Real> Kernel for RowsAfter<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { n, first, end, matrix } = self;
        for row in first + 1..end {
            let (before, own) = matrix.split_at_mut(row * n);
            let (factors, own) = own[..n].split_at_mut(end);
            for (other, factor) in (first..row).zip(&factors[first..row]) {
                let of = &before[other * n + end..][..n - end];
                for (own, of) in own.iter_mut().zip(of) {
                    *own = *own - *factor * *of;
                }
            }
        }
    }
}
