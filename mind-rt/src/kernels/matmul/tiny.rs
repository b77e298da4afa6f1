//! Products whose extents are small constants.

use super::operands::MatRef;
use crate::kernels::check;
use crate::kernels::monoid::Sum;
use crate::kernels::number::Number;
use crate::kernels::reduce::reduce_lanes;

/// The product of an `M` by `K` and a `K` by `N` matrix. Rows are computed where they are requested, without dispatch
/// or a call. The code is compiled for the caller's target, usually SSE2, and no extent should exceed about 16.
///
/// A row is an array, so that the code that uses it vectorises and keeps it in registers. This needs a function whose
/// results are separate arguments: only for arguments does LLVM know that they do not overlap the operands.
///
/// If a row has few results, each sum is split into as many parts as make eight chains of additions, each in the order
/// of `k`, because the additions of a single chain wait for each other. The order depends only on the extents.
///
/// ```
/// use mind_rt::private::{MatRef, TinyProduct};
///
/// let x = MatRef { data: &[1.0_f32, 2.0], offset: 0, row_stride: 2, col_stride: 1 };
/// let w = MatRef { data: &[3.0, 4.0, 5.0, 6.0], offset: 0, row_stride: 2, col_stride: 1 };
/// let product = TinyProduct::<_, 1, 2, 2>::new(x, w);
/// assert_eq!(product.row(0), [13.0, 16.0]);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct TinyProduct<'a, T, const M: usize, const K: usize, const N: usize> {
    // Invariant: each holds all that its strides reach.
    lhs: MatRef<'a, T>,
    rhs: MatRef<'a, T>,
}

impl<'a, T: Number, const M: usize, const K: usize, const N: usize> TinyProduct<'a, T, M, K, N> {
    /// Makes the product without computing anything yet.
    ///
    /// # Panics
    /// As an internal error, if an operand does not hold all that its strides reach.
    #[inline(always)]
    pub fn new(lhs: MatRef<'a, T>, rhs: MatRef<'a, T>) -> Self {
        let is_empty = M == 0 || K == 0 || N == 0;
        check(is_empty || lhs.reach(M, K) < lhs.data.len(), "matmul: left operand too short");
        check(is_empty || rhs.reach(K, N) < rhs.data.len(), "matmul: right operand too short");
        Self { lhs, rhs }
    }

    /// Computes row `i`.
    ///
    /// # Panics
    /// As an internal error, if there are no more than `i` rows.
    #[inline(always)]
    #[must_use]
    pub fn row(&self, i: usize) -> [T; N] {
        check(i < M, "matmul: no such row");
        if N == 0 {
            // The left operand may be empty.
            return [T::ZERO; N];
        }
        match N {
            0..=2 if K >= 8 => self.row_in_parts::<4>(i),
            0..=4 if K >= 4 => self.row_in_parts::<2>(i),
            _ => self.row_in_parts::<1>(i),
        }
    }

    /// Computes row `i`, which must be less than `M`, with each sum in `P` parts: part `p` sums every `P`th product,
    /// starting with product `p`.
    #[inline(always)]
    fn row_in_parts<const P: usize>(&self, i: usize) -> [T; N] {
        let Self { lhs, rhs } = self;
        let mut parts = [[T::ZERO; N]; P];
        for l in 0..K {
            // SAFETY: the last element of each operand, at the largest of all indices, is in bounds by the type's
            // invariant.
            unsafe {
                let factor = *lhs.data.get_unchecked(lhs.index(i, l));
                for (j, sum) in parts[l % P].iter_mut().enumerate() {
                    *sum = sum.plus(factor.times(*rhs.data.get_unchecked(rhs.index(l, j))));
                }
            }
        }
        std::array::from_fn(|j| reduce_lanes::<Sum, T, P>(std::array::from_fn(|p| parts[p][j])))
    }
}
