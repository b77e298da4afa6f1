//! Tensors that nested loops read with strides: copied as a whole, or multiplied as matrices.

use super::{
    fault::{At, Fault},
    number::extent,
    view::{Extents, View},
};
use crate::{
    element::Arithmetic,
    kernels::{
        copy::copy_strided,
        matmul::{BatchDim, MatRef, matmul_into, matmul_scratch},
    },
    workspace::{carve, slot_bytes, with_workspace},
};

/// The elements that `L` nested loops read. The elements of consecutive turns of a loop are `strides` apart. A turn is
/// one iteration.
#[derive(Clone, Copy, Debug)]
pub struct Strided<'a, T, const L: usize> {
    /// The elements, starting with the one that the first turn reads.
    data: &'a [T],
    strides: [usize; L],
}

impl<'a, T, const R: usize> View<'a, T, [usize; R]> {
    /// The elements at the indices `start + Σ counter · steps`, for the counters of loops with `counts` turns.
    ///
    /// # Errors
    /// E6001 at the first index that is out of range, in the order of the turns. Loops without turns do not fail.
    pub fn along<const L: usize>(
        self,
        start: [i64; R],
        steps: [[usize; R]; L],
        counts: [usize; L],
        at: At,
    ) -> Result<Strided<'a, T, L>, Fault> {
        if counts.contains(&0) {
            return Ok(Strided { data: &[], strides: [0; L] });
        }
        let (mut first, mut strides, mut inside) = (0_usize, [0; L], true);
        for axis in 0..R {
            let extent = self.size[axis];
            let mut last = i128::from(start[axis]);
            for level in 0..L {
                last += steps[level][axis] as i128 * (counts[level] - 1) as i128;
            }
            inside &= start[axis] >= 0 && last < extent as i128;
            // A position that wraps is out of range, and is not used.
            first = first.wrapping_mul(extent).wrapping_add(start[axis] as usize);
            for level in 0..L {
                strides[level] = strides[level] * extent + steps[level][axis];
            }
        }
        if !inside {
            return Err(first_outside(self.size, start, steps, counts, at));
        }
        Ok(Strided { data: &self.data[first..], strides })
    }
}

/// The failure at the first index that is out of range, in the order of the turns.
#[cold]
#[inline(never)]
fn first_outside<const R: usize, const L: usize>(
    size: [usize; R],
    start: [i64; R],
    steps: [[usize; R]; L],
    counts: [usize; L],
    at: At,
) -> Fault {
    let mut turn = [0_usize; L];
    loop {
        let mut index = start;
        for level in 0..L {
            for axis in 0..R {
                let step = (steps[level][axis] as i64).wrapping_mul(turn[level] as i64);
                index[axis] = index[axis].wrapping_add(step);
            }
        }
        let Some(level) = (0..L).rev().find(|level| turn[*level] + 1 < counts[*level]) else {
            return at.out_of_range(&index, &size);
        };
        if size.position(index).is_none() {
            return at.out_of_range(&index, &size);
        }
        turn[level] += 1;
        turn[level + 1..].fill(0);
    }
}

impl<'a, T: Arithmetic, const L: usize> Strided<'a, T, L> {
    /// The matrix whose rows and columns are the turns of two loops.
    #[must_use]
    pub fn matrix(&self, rows: usize, columns: usize) -> MatRef<'a, T> {
        let (row_stride, col_stride) = (self.strides[rows], self.strides[columns]);
        MatRef { data: self.data, offset: 0, row_stride, col_stride }
    }

    /// The matrix of one column, whose rows are the turns of a loop.
    #[must_use]
    pub fn column(&self, rows: usize) -> MatRef<'a, T> {
        MatRef { data: self.data, offset: 0, row_stride: self.strides[rows], col_stride: 0 }
    }

    /// The loop as a batch axis of a product, whose left matrices have these elements and whose right matrices have
    /// those of `rhs`.
    #[must_use]
    pub fn batch(&self, level: usize, rhs: &Self, extent: usize) -> BatchDim {
        BatchDim { extent, lhs_stride: self.strides[level], rhs_stride: rhs.strides[level] }
    }
}

/// Copies the elements that nested loops read, in the order of their turns.
pub fn copy<T: Arithmetic, const L: usize>(out: &mut [T], counts: [usize; L], from: Strided<'_, T, L>) {
    if !out.is_empty() {
        copy_strided(&counts, &from.strides, 0, from.data, out);
    }
}

/// The largest number of multiplications of a product that is computed inline.
const INLINED: usize = 256;

/// Computes a product of small matrices, in order.
fn small_product<T: Arithmetic>(
    out: &mut [T],
    [m, k, n]: [usize; 3],
    lhs: &MatRef<'_, T>,
    rhs: &MatRef<'_, T>,
) {
    let at = |matrix: &MatRef<'_, T>, i, j| {
        matrix.data[matrix.offset + i * matrix.row_stride + j * matrix.col_stride]
    };
    for i in 0..m {
        for j in 0..n {
            out[i * n + j] = (0..k).fold(T::ZERO, |sum, l| sum.plus(at(lhs, i, l).times(at(rhs, l, j))));
        }
    }
}

/// Computes products of matrices, `m` by `k` and `k` by `n` each, by the kernel that `mind!` uses too.
pub fn product<T: Arithmetic>(
    out: &mut [T],
    batch: &[BatchDim],
    [m, k, n]: [usize; 3],
    lhs: MatRef<'_, T>,
    rhs: MatRef<'_, T>,
) {
    if batch.is_empty() && m * n * k <= INLINED {
        return small_product(out, [m, k, n], &lhs, &rhs);
    }
    let len = matmul_scratch::<T>(m, k, n, lhs.col_stride);
    with_workspace(slot_bytes::<T>(len), |workspace| {
        // Without scratch memory the kernel is slower.
        let memory = workspace.memory();
        let scratch = if memory.len() < slot_bytes::<T>(len) { &mut [] } else { carve(memory, len).0 };
        matmul_into(batch, [m, k, n], lhs, rhs, scratch, out);
    });
}

/// The extent of a loop inside a loop of `turns` turns. It is not checked if there are no turns.
///
/// # Errors
/// E6010 if the extent is negative.
pub fn extent_of_turns(value: i64, turns: usize, at: At) -> Result<usize, Fault> {
    if turns == 0 { Ok(0) } else { extent(value, at) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: At = At(&("f", 1, 2));

    fn matrix() -> View<'static, i64, [usize; 2]> {
        View { size: [2, 3], data: &[0, 1, 2, 3, 4, 5] }
    }

    #[test]
    fn transposes_columns_and_broadcasts_are_copied() {
        let copied = |start, steps: [[usize; 2]; 2], counts: [usize; 2]| {
            let mut out = vec![-1; counts[0] * counts[1]];
            copy(&mut out, counts, matrix().along(start, steps, counts, AT).expect("all are inside"));
            out
        };
        assert_eq!(copied([0, 0], [[0, 1], [1, 0]], [3, 2]), [0, 3, 1, 4, 2, 5]);
        assert_eq!(copied([0, 1], [[0, 0], [1, 0]], [2, 2]), [1, 4, 1, 4]);
        assert_eq!(copied([1, 1], [[0, 1], [0, 0]], [2, 1]), [4, 5]);
        assert_eq!(copied([7, -7], [[0, 1], [0, 0]], [0, 4]), [0; 0]);
    }

    #[test]
    fn the_first_index_outside_in_the_order_of_the_turns_fails() {
        let message = |start, steps: [[usize; 2]; 2], counts| {
            let found = matrix().along(start, steps, counts, AT);
            found.expect_err("one is outside").in_file("f.ks").to_string()
        };
        let outside = |[i, j]: [i64; 2]| {
            format!(
                "E6001: f.ks:1:2: index (tuple {i} {j}) is out of range of a tensor of size (tuple 2 3), in `f`"
            )
        };
        assert_eq!(message([0, 0], [[0, 1], [1, 0]], [3, 3]), outside([2, 0]));
        assert_eq!(message([0, 0], [[0, 1], [1, 0]], [4, 2]), outside([0, 3]));
        assert_eq!(message([0, -1], [[0, 1], [1, 0]], [3, 3]), outside([0, -1]));
        assert_eq!(message([1, i64::MAX], [[0, 0], [0, 0]], [1, 1]), outside([1, i64::MAX]));
    }

    #[test]
    fn sums_of_nothing_are_zero() {
        let mut out = [9.0; 4];
        let empty = View { size: [2, 0], data: &[0.0; 0] };
        let lhs = empty.along([0, 0], [[1, 0], [0, 0], [0, 1]], [2, 2, 0], AT).expect("nothing is read");
        product(&mut out, &[], [2, 0, 2], lhs.matrix(0, 2), lhs.matrix(2, 1));
        assert_eq!(out, [0.0; 4]);
    }
}
