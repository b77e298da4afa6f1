//! The factors of a single matrix with exchanged rows, in blocks of columns.

use super::BLOCK;
use super::batch::Matrices;
use super::products::{self, Mat, product};
use super::real::Real;
use crate::kernels::math::MultiplyAdd;
use crate::simd::{Kernel, dispatch};
use crate::workspace::{carve, slot_bytes};

/// The matrices of a batch, each `n` by `n`.
pub(super) struct Lu {
    pub(super) n: usize,
}

impl Lu {
    /// The elements of each scratch slice: sums of products, and the scratch memory of products.
    fn slices<T: Real>(&self) -> [usize; 2] {
        let n = self.n;
        let of_columns = products::scratch::<T>(n, n, BLOCK);
        [BLOCK.min(n) * n, if n > BLOCK { of_columns.max(products::scratch::<T>(BLOCK, n, n)) } else { 0 }]
    }
}

impl<T: Real> Matrices<T> for Lu {
    fn lens(&self) -> [usize; 2] {
        [self.n * self.n, (self.n + 2) * self.n]
    }

    fn cost(&self) -> usize {
        self.n
    }

    fn scratch(&self) -> usize {
        self.slices::<T>().map(slot_bytes::<T>).iter().sum()
    }

    /// For each block of columns, the products of the rows and columns before it are subtracted from its columns, which
    /// are then factored, and from its rows, for which the system of the block is solved.
    fn compute(&self, a: &[T], out: &mut [T], memory: &mut [u8]) {
        let n = self.n;
        let (matrix, ends) = out.split_at_mut(n * n);
        let (from, signs) = ends.split_at_mut(n);
        matrix.copy_from_slice(a);
        from.iter_mut().enumerate().for_each(|(row, from)| *from = T::of(row as f64));
        let [sums, scratch] = self.slices::<T>();
        let (sums, memory) = carve::<T>(memory, sums);
        let (scratch, _) = carve::<T>(memory, scratch);
        for first in (0..n).step_by(BLOCK) {
            let end = n.min(first + BLOCK);
            let width = end - first;
            if first > 0 {
                let sums = &mut sums[..(n - first) * width];
                let [lhs, rhs] = [&matrix[first * n..], &matrix[first..]].map(|part| Mat::new(part, n));
                product([n - first, first, width], lhs, rhs, sums, scratch);
                subtract(n, [first, first], width, sums, matrix);
            }
            dispatch(Columns { n, first, end, matrix, from, signs });
            if end < n {
                let sums = &mut sums[..width * (n - end)];
                if first > 0 {
                    let [lhs, rhs] = [&matrix[first * n..], &matrix[end..]].map(|part| Mat::new(part, n));
                    product([width, first, n - end], lhs, rhs, sums, scratch);
                    subtract(n, [first, end], n - end, sums, matrix);
                }
                dispatch(RowsAfter { n, first, end, matrix });
            }
        }
    }
}

/// Subtracts the rows of `sums`, of `width` elements, from those of the matrix at a position.
fn subtract<T: Real>(n: usize, [row, column]: [usize; 2], width: usize, sums: &[T], matrix: &mut [T]) {
    for (row, sums) in (row..).zip(sums.chunks_exact(width)) {
        let own = &mut matrix[row * n + column..][..width];
        own.iter_mut().zip(sums).for_each(|(own, sum)| *own -= *sum);
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
    fn run_by<A: MultiplyAdd>(self) {
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
                signs[step] = -T::ONE;
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
                    *own = A::multiply_add(-factor, *of, *own);
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
    fn run_by<A: MultiplyAdd>(self) {
        let Self { n, first, end, matrix } = self;
        for row in first + 1..end {
            let (before, own) = matrix.split_at_mut(row * n);
            let (factors, own) = own[..n].split_at_mut(end);
            for (other, factor) in (first..row).zip(&factors[first..row]) {
                let of = &before[other * n + end..][..n - end];
                for (own, of) in own.iter_mut().zip(of) {
                    *own = A::multiply_add(-*factor, *of, *own);
                }
            }
        }
    }
}
