//! The Cholesky factor of a single matrix, in blocks of columns.

use super::{BLOCK, Real};
use crate::kernels::matmul::{MatRef, matmul_into, matmul_scratch};
use crate::simd::{Kernel, dispatch};

/// Writes the lower triangular factor of an `n` by `n` matrix to `l`. The lower triangle is NaN if the matrix is not
/// positive definite.
///
/// For each block of columns, the product of the columns before it is subtracted. The rest is factored with rows and
/// columns exchanged, so that each row of the block is contiguous.
pub(super) fn factor<T: Real>(n: usize, a: &[T], l: &mut [T]) {
    let packed = if n > BLOCK { matmul_scratch::<T>(BLOCK, n, n, 1) } else { 0 };
    T::with_scratch(BLOCK.min(n) * n + packed, |scratch| {
        let (panel, scratch) = scratch.split_at_mut(BLOCK.min(n) * n);
        for first in (0..n).step_by(BLOCK) {
            let (width, rest) = (BLOCK.min(n - first), n - first);
            let panel = &mut panel[..width * rest];
            if first == 0 {
                panel.fill(T::ZERO);
            } else {
                let rows =
                    |row_stride, col_stride| MatRef { data: &*l, offset: first * n, row_stride, col_stride };
                matmul_into(&[], [width, first, rest], rows(n, 1), rows(1, n), scratch, panel);
            }
            dispatch(Panel { n, first, width, a, panel, l: &mut *l });
        }
    });
    if l[n * n - 1].partial_cmp(&T::ZERO).is_none() {
        for (row, l) in l.chunks_exact_mut(n).enumerate() {
            l[..=row].fill(T::NOT_A_NUMBER);
        }
    }
}

/// The factorization of a block of columns. A pivot that is not above 0 becomes NaN, and with it every later one.
struct Panel<'a, T> {
    n: usize,
    first: usize,
    width: usize,
    a: &'a [T],
    /// The columns of the block as rows, from the diagonal on: the sums to subtract.
    panel: &'a mut [T],
    l: &'a mut [T],
}

impl<T: Real> Kernel for Panel<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { n, first, width, a, panel, l } = self;
        let rest = n - first;
        for row in 0..rest {
            let a = &a[(first + row) * n + first..][..width.min(row + 1)];
            for (column, a) in a.iter().enumerate() {
                let element = &mut panel[column * rest + row];
                *element = *a - *element;
            }
        }
        for column in 0..width {
            let (done, own) = panel.split_at_mut(column * rest);
            let own = &mut own[column..rest];
            subtract_rows(done, rest, column, own);
            let pivot = own[0];
            let root = if pivot > T::ZERO { pivot.root() } else { T::NOT_A_NUMBER };
            own[0] = root;
            own[1..].iter_mut().for_each(|element| *element = *element / root);
        }
        for row in 0..rest {
            let l = &mut l[(first + row) * n + first..][..rest];
            let written = if row < width { rest } else { width };
            for (column, l) in l[..written].iter_mut().enumerate() {
                *l = if column <= row.min(width - 1) { panel[column * rest + row] } else { T::ZERO };
            }
        }
    }
}

/// The number of elements that are kept in registers.
const CHUNK: usize = 32;

/// Subtracts from `own`, the elements of row `column` from the diagonal on, the multiples of the rows before it.
#[inline(always)]
fn subtract_rows<T: Real>(done: &[T], rest: usize, column: usize, own: &mut [T]) {
    let mut at = column;
    let (chunks, last) = own.as_chunks_mut::<CHUNK>();
    for own in chunks {
        let mut sums = *own;
        for row in 0..column {
            let of = &done[row * rest..][..rest];
            let factor = of[column];
            let of: &[T; CHUNK] = of[at..].first_chunk().expect("the rows have the same length");
            for (sum, of) in sums.iter_mut().zip(of) {
                *sum = *sum - factor * *of;
            }
        }
        *own = sums;
        at += CHUNK;
    }
    for row in 0..column {
        let of = &done[row * rest..][..rest];
        let factor = of[column];
        for (own, of) in last.iter_mut().zip(&of[at..]) {
            *own = *own - factor * *of;
        }
    }
}
