//! Products whose extents are small constants.

use super::MatRef;
use crate::element::Element;
use crate::kernels::check;
use crate::kernels::reduce::reduce_lanes;

/// The product of an `M` by `K` and a `K` by `N` matrix, inlined into the caller: no dispatch and no call. It is
/// compiled for what the caller is compiled for, SSE2 as a rule, and no extent should exceed about 16.
///
/// `epilogue` takes each row of the result with its number, in order. A row is an array, so that what the epilogue does
/// with it vectorises and stays in registers.
///
/// Sums of few results are split into as many parts as make eight chains of additions, each in the order of `k`, since
/// one chain would wait for itself; the order depends on the extents only.
///
/// ```
/// use mind_rt::private::{MatRef, matmul_tiny};
///
/// let x = MatRef { data: &[1.0_f32, 2.0], offset: 0, row_stride: 2, col_stride: 1 };
/// let w = MatRef { data: &[3.0, 4.0, 5.0, 6.0], offset: 0, row_stride: 2, col_stride: 1 };
/// let mut out = [0.0; 2];
/// matmul_tiny::<_, 1, 2, 2, _>(x, w, |_, row| out = row.map(|sum| sum + 0.5));
/// assert_eq!(out, [13.5, 16.5]);
/// ```
///
/// # Panics
/// As an internal error, if an operand does not hold all that its strides reach.
#[inline(always)]
pub fn matmul_tiny<T: Element, const M: usize, const K: usize, const N: usize, E>(
    lhs: MatRef<'_, T>,
    rhs: MatRef<'_, T>,
    mut epilogue: E,
) where
    E: FnMut(usize, [T; N]),
{
    if M == 0 || N == 0 {
        return;
    }
    check(K == 0 || lhs.reach(M, K) < lhs.data.len(), "matmul: left operand too short");
    check(K == 0 || rhs.reach(K, N) < rhs.data.len(), "matmul: right operand too short");
    for i in 0..M {
        let row = match N {
            0..=2 if K >= 8 => row::<T, K, N, 4>(lhs, rhs, i),
            0..=4 if K >= 4 => row::<T, K, N, 2>(lhs, rhs, i),
            _ => row::<T, K, N, 1>(lhs, rhs, i),
        };
        epilogue(i, row);
    }
}

/// Row `i`, each sum in `P` parts: part `p` sums every `P`th product from the one at `p` on.
#[inline(always)]
fn row<T: Element, const K: usize, const N: usize, const P: usize>(
    lhs: MatRef<'_, T>,
    rhs: MatRef<'_, T>,
    i: usize,
) -> [T; N] {
    let mut parts = [[T::ZERO; N]; P];
    for l in 0..K {
        // SAFETY: the caller has checked that the last element of each operand, at the largest of all indices, is in
        // bounds.
        unsafe {
            let factor = *lhs.data.get_unchecked(lhs.index(i, l));
            for (j, sum) in parts[l % P].iter_mut().enumerate() {
                *sum = sum.plus(factor.times(*rhs.data.get_unchecked(rhs.index(l, j))));
            }
        }
    }
    std::array::from_fn(|j| reduce_lanes::<T, P>(std::array::from_fn(|p| parts[p][j])))
}
