//! Products of parts of matrices.

use super::real::Real;
use crate::kernels::epilogue::{Block, Destination, Epilogue};
use crate::kernels::matmul::{MatRef, matmul_into, matmul_scratch, matmul_with};
use crate::simd::{Kernel, dispatch};

/// A part of a matrix.
#[derive(Clone, Copy)]
pub(super) struct Mat<'a, T>(MatRef<'a, T>);

impl<'a, T: Real> Mat<'a, T> {
    /// Rows that are `stride` apart.
    pub(super) fn new(data: &'a [T], stride: usize) -> Self {
        Self(MatRef { data, offset: 0, row_stride: stride, col_stride: 1 })
    }

    pub(super) fn transposed(self) -> Self {
        Self(self.0.transposed())
    }
}

/// The scratch memory of products with at most these extents.
pub(super) fn scratch<T: Real>(m: usize, k: usize, n: usize) -> usize {
    matmul_scratch::<T>(m, k, n, 2)
}

/// `out = lhs rhs`, contiguous.
pub(super) fn product<T: Real>(
    dims: [usize; 3],
    lhs: Mat<'_, T>,
    rhs: Mat<'_, T>,
    out: &mut [T],
    scratch: &mut [T],
) {
    matmul_into(&[], dims, lhs.0, rhs.0, scratch, out);
}

/// `out -= lhs rhs`, where the rows of `out` are `stride` apart.
pub(super) fn subtract_product<T: Real>(
    dims: [usize; 3],
    lhs: Mat<'_, T>,
    rhs: Mat<'_, T>,
    out: &mut [T],
    stride: usize,
    scratch: &mut [T],
) {
    matmul_with(&[], dims, lhs.0, rhs.0, scratch, Subtracted { out, stride, first: 0 });
}

/// Subtracts results from the rows of `out`, the first of which has the number `first`.
struct Subtracted<'a, T> {
    out: &'a mut [T],
    stride: usize,
    first: usize,
}

impl<T: Real> Epilogue<T> for Subtracted<'_, T> {
    fn split(self, row: usize) -> (Self, Self) {
        let Self { out, stride, first } = self;
        let (before, after) = out.split_at_mut((row - first) * stride);
        (Self { out: before, stride, first }, Self { out: after, stride, first: row })
    }

    fn block(&mut self, block: Block<'_, T>) {
        let at = (block.row - self.first) * self.stride + block.column;
        if block.rows > 0 && block.columns > 0 {
            dispatch(Subtract { out: &mut self.out[at..], stride: self.stride, block });
        }
    }

    fn destination(&self, row: usize, column: usize) -> Option<Destination<T>> {
        Some(Destination::new(self.out, (row - self.first) * self.stride + column, self.stride))
    }
}

struct Subtract<'a, T> {
    out: &'a mut [T],
    stride: usize,
    block: Block<'a, T>,
}

impl<T: Real> Kernel for Subtract<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Block { rows, columns, sums, stride, .. } = self.block;
        for r in 0..rows {
            let out = &mut self.out[r * self.stride..][..columns];
            for (out, sum) in out.iter_mut().zip(&sums[r * stride..][..columns]) {
                *out -= *sum;
            }
        }
    }
}
