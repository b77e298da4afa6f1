//! Batches of matrices, divided among threads.

use super::real::Real;
use crate::kernels::check;
use crate::parallel::{self, Split};
use crate::simd::Kernel;
use crate::workspace::with_workspace;

/// Decomposes matrices of one size, with vectors of `L` elements.
pub(super) trait Matrices<T, const L: usize>: Sync {
    /// The elements of a matrix and of its decomposition.
    fn lens(&self) -> [usize; 2];

    /// The cost of an element of a matrix, in additions.
    fn cost(&self) -> usize;

    /// The bytes of scratch memory for a matrix.
    fn scratch(&self) -> usize;

    /// Decomposes a matrix. `memory` has [`scratch`](Self::scratch) bytes of any contents.
    fn decompose(&self, a: &[T], out: &mut [T], memory: &mut [u8]);
}

/// Decomposes `count` matrices, one after the other in `a`. The results follow each other in `out`.
pub(super) fn decompose<T: Real, const L: usize>(
    matrices: &impl Matrices<T, L>,
    count: usize,
    a: &[T],
    out: &mut [T],
) {
    let [len, out_len] = matrices.lens();
    let agrees = |len: usize, found: usize| len.checked_mul(count) == Some(found);
    check(agrees(len, a.len()) && agrees(out_len, out.len()), "matrices and decompositions differ in number");
    parallel::run(Batch::<T, _, L> { matrices, count, a, out }, count, len.max(1), matrices.cost());
}

struct Batch<'a, T, M, const L: usize> {
    matrices: &'a M,
    count: usize,
    a: &'a [T],
    out: &'a mut [T],
}

impl<T: Real, M: Matrices<T, L>, const L: usize> Split for Batch<'_, T, M, L> {
    fn split(self, at: usize) -> (Self, Self) {
        let Self { matrices, count, a, out } = self;
        let [len, out_len] = matrices.lens();
        let (a, out) = (a.split_at(at * len), out.split_at_mut(at * out_len));
        let later = Self { matrices, count: count - at, a: a.1, out: out.1 };
        (Self { matrices, count: at, a: a.0, out: out.0 }, later)
    }
}

impl<T: Real, M: Matrices<T, L>, const L: usize> Kernel for Batch<'_, T, M, L> {
    type Output = ();

    /// Not compiled for a level: the kernels for single matrices are.
    #[inline(never)]
    fn run(self) {
        let Self { matrices, count, a, out } = self;
        let [len, out_len] = matrices.lens();
        if out.is_empty() {
            return;
        }
        with_workspace(matrices.scratch(), |workspace| {
            for i in 0..count {
                let (a, out) = (&a[i * len..][..len], &mut out[i * out_len..][..out_len]);
                matrices.decompose(a, out, workspace.memory());
            }
        });
    }
}
