//! Products of a matrix and a vector, for which packing does not pay.

use super::matmul::MatRef;
use crate::kernels::reduce::Reduce;
use crate::simd::{Kernel, dispatch};

/// A vector operand: element `i` is `data[i * stride]`.
#[derive(Clone, Copy)]
pub struct VecRef<'a, T> {
    pub data: &'a [T],
    pub stride: usize,
}

/// Computes `out[i] = Σ_k matrix[i, k] · vector[k]` and returns true, if the layouts vectorise; else returns false. No
/// extent may be 0.
pub fn matvec<T: Reduce>(
    [rows, k]: [usize; 2],
    matrix: MatRef<'_, T>,
    vector: VecRef<'_, T>,
    out: &mut [T],
) -> bool {
    let data = &matrix.data[matrix.offset..];
    if k == 1 || (matrix.col_stride == 1 && vector.stride == 1) {
        dispatch(ByRows { data, row_stride: matrix.row_stride, vector: &vector.data[..k], out });
        true
    } else if matrix.row_stride == 1 || rows == 1 {
        dispatch(ByColumns { data, col_stride: matrix.col_stride, k, vector, out });
        true
    } else {
        false
    }
}

/// Computes one inner product per row.
struct ByRows<'a, T> {
    data: &'a [T],
    row_stride: usize,
    vector: &'a [T],
    out: &'a mut [T],
}

impl<T: Reduce> Kernel for ByRows<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (i, out) in self.out.iter_mut().enumerate() {
            *out = T::lane_dot(&self.data[i * self.row_stride..][..self.vector.len()], self.vector);
        }
    }
}

/// Scales the columns and adds them up in order, four at a time to pass over `out` less often.
struct ByColumns<'a, T> {
    data: &'a [T],
    col_stride: usize,
    k: usize,
    vector: VecRef<'a, T>,
    out: &'a mut [T],
}

impl<T: Reduce> Kernel for ByColumns<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { data, col_stride, k, vector, out } = self;
        out.fill(T::ZERO);
        let mut l = 0;
        while l + 4 <= k {
            let len = out.len();
            let [a, b, c, d] = [l, l + 1, l + 2, l + 3].map(|l| vector.data[l * vector.stride]);
            let [w, x, y, z] = [l, l + 1, l + 2, l + 3].map(|l| &data[l * col_stride..][..len]);
            for i in 0..len {
                let sum = out[i].plus(a.times(w[i])).plus(b.times(x[i]));
                out[i] = sum.plus(c.times(y[i])).plus(d.times(z[i]));
            }
            l += 4;
        }
        while l < k {
            let factor = vector.data[l * vector.stride];
            let column = &data[l * col_stride..][..out.len()];
            for (out, element) in out.iter_mut().zip(column) {
                *out = out.plus(factor.times(*element));
            }
            l += 1;
        }
    }
}
