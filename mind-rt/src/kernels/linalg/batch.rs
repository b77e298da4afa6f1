//! Batches of matrices, divided among threads.

use super::real::Real;
use crate::parallel::{self, Split};
use crate::simd::Kernel;
use crate::workspace::with_workspace;

/// A computation of matrices of one size.
pub(super) trait Matrices<T>: Sync {
    /// The elements of a matrix and of its result.
    fn lens(&self) -> [usize; 2];

    /// The cost of an element of a matrix, in additions.
    fn cost(&self) -> usize;

    /// The bytes of scratch memory for a matrix.
    fn scratch(&self) -> usize;

    /// Computes the result of a matrix. `memory` has [`scratch`](Self::scratch) bytes of any contents.
    fn compute(&self, a: &[T], out: &mut [T], memory: &mut [u8]);
}

/// Computes the results of `count` matrices, one after the other in `a`. The results follow each other in `out`.
pub(super) fn compute<T: Real>(matrices: &impl Matrices<T>, count: usize, a: &[T], out: &mut [T]) {
    let [len, _] = matrices.lens();
    parallel::run(Batch { matrices, count, a, out }, count, len.max(1), matrices.cost());
}

struct Batch<'a, T, M> {
    matrices: &'a M,
    count: usize,
    a: &'a [T],
    out: &'a mut [T],
}

impl<T: Real, M: Matrices<T>> Split for Batch<'_, T, M> {
    fn split(self, at: usize) -> (Self, Self) {
        let Self { matrices, count, a, out } = self;
        let [len, out_len] = matrices.lens();
        let (a, out) = (a.split_at(at * len), out.split_at_mut(at * out_len));
        let later = Self { matrices, count: count - at, a: a.1, out: out.1 };
        (Self { matrices, count: at, a: a.0, out: out.0 }, later)
    }
}

impl<T: Real, M: Matrices<T>> Kernel for Batch<'_, T, M> {
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
                matrices.compute(a, out, workspace.memory());
            }
        });
    }
}
