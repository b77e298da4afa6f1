//! Matrix products.

use super::blocks::{for_each_block, multiply_add};
use super::{check, matvec};
use crate::element::Element;
use crate::shape::MAX_RANK;
use crate::simd::{Kernel, dispatch};

/// A matrix operand: element `[i, j]` of a batch's first matrix is `data[offset + i * row_stride + j * col_stride]`.
/// A stride of 0 repeats.
#[derive(Clone, Copy, Debug)]
pub struct MatRef<'a, T> {
    /// Where the elements are.
    pub data: &'a [T],
    /// The first one.
    pub offset: usize,
    /// From one row to the next.
    pub row_stride: usize,
    /// From one column to the next.
    pub col_stride: usize,
}

/// One batch dimension: its extent, and the strides from one matrix to the next. A stride of 0 repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchDim {
    /// How many matrices.
    pub extent: usize,
    /// From one left matrix to the next.
    pub lhs_stride: usize,
    /// From one right matrix to the next.
    pub rhs_stride: usize,
}

/// `out[b.., i, j] = Σ_k lhs[b.., i, k] · rhs[b.., k, j]`, `out` being contiguous. Never reads `out`.
///
/// Integers wrap. The order of a sum depends on the sizes, the strides and the processor only.
///
/// # Panics
/// As an internal error, if an operand does not hold all that its strides reach or `out` has the wrong length.
pub fn matmul<T: Element>(
    batch: &[BatchDim],
    [m, k, n]: [usize; 3],
    lhs: MatRef<'_, T>,
    rhs: MatRef<'_, T>,
    out: &mut [T],
) {
    let matrices = batch.iter().try_fold(1usize, |product, dim| product.checked_mul(dim.extent));
    let len = matrices.and_then(|count| count.checked_mul(m.checked_mul(n)?));
    check(len == Some(out.len()), "matmul: wrong output length");
    check(batch.len() <= MAX_RANK, "matmul: too many batch dimensions");
    if out.is_empty() {
        return;
    }
    if k == 0 {
        return out.fill(T::ZERO);
    }
    let lhs_batch = batch.iter().map(|dim| (dim.extent, dim.lhs_stride));
    let rhs_batch = batch.iter().map(|dim| (dim.extent, dim.rhs_stride));
    let lhs_last = last_index(lhs.offset, lhs_batch.chain([(m, lhs.row_stride), (k, lhs.col_stride)]));
    let rhs_last = last_index(rhs.offset, rhs_batch.chain([(k, rhs.row_stride), (n, rhs.col_stride)]));
    check(lhs_last < lhs.data.len(), "matmul: left operand too short");
    check(rhs_last < rhs.data.len(), "matmul: right operand too short");

    let (batch, m, lhs) = stack(batch, m, lhs);
    let mut index = [0; MAX_RANK];
    for out in out.chunks_exact_mut(m * n) {
        let (mut lhs, mut rhs) = (lhs, rhs);
        for (dim, i) in batch.iter().zip(index) {
            lhs.offset += i * dim.lhs_stride;
            rhs.offset += i * dim.rhs_stride;
        }
        product([m, k, n], lhs, rhs, out);
        for (dim, i) in batch.iter().zip(&mut index).rev() {
            *i += 1;
            if *i < dim.extent {
                break;
            }
            *i = 0;
        }
    }
}

/// The largest index reached from `offset` along axes of (extent, stride), no extent being 0.
fn last_index(offset: usize, axes: impl Iterator<Item = (usize, usize)>) -> usize {
    axes.fold(offset, |last, (extent, stride)| last.saturating_add((extent - 1).saturating_mul(stride)))
}

/// Left matrices that lie one below the other, times one right matrix, are one taller product: takes such batch
/// dimensions, and those of extent 1, from the inside.
fn stack<'b, 'a, T>(
    mut batch: &'b [BatchDim],
    mut rows: usize,
    mut lhs: MatRef<'a, T>,
) -> (&'b [BatchDim], usize, MatRef<'a, T>) {
    while let Some((inner, outer)) = batch.split_last() {
        if inner.extent > 1 {
            if rows == 1 {
                lhs.row_stride = inner.lhs_stride;
            }
            if inner.rhs_stride != 0 || rows.checked_mul(lhs.row_stride) != Some(inner.lhs_stride) {
                break;
            }
            rows *= inner.extent;
        }
        batch = outer;
    }
    (batch, rows, lhs)
}

/// Up to so many multiplications, packing costs more than it gains.
const SMALL: usize = 2048;

/// The same where rows of the right operand are not contiguous, so that a row of the result is not one vector.
const SMALL_TRANSPOSED: usize = 512;

/// One product, nothing of it empty, the operands' indices in bounds.
fn product<T: Element>([m, k, n]: [usize; 3], lhs: MatRef<'_, T>, rhs: MatRef<'_, T>, out: &mut [T]) {
    if n == 1 && matvec::matvec([m, k], lhs, rhs.column(), out) {
        return;
    }
    if m == 1 && matvec::matvec([n, k], rhs.transposed(), lhs.transposed().column(), out) {
        return;
    }
    let small = if rhs.col_stride == 1 { SMALL } else { SMALL_TRANSPOSED };
    if m.saturating_mul(k).saturating_mul(n) <= small {
        return dispatch(Loops { dims: [m, k, n], lhs, rhs, out });
    }
    let last = |mat: MatRef<'_, T>, rows, cols| {
        last_index(mat.offset, [(rows, mat.row_stride), (cols, mat.col_stride)].into_iter())
    };
    assert!(last(lhs, m, k) < lhs.data.len() && last(rhs, k, n) < rhs.data.len() && out.len() == m * n);
    // SAFETY: the largest index of each operand is in bounds, as just asserted, and `out` is as long as the product.
    unsafe { T::gemm([m, k, n], lhs, rhs, out) }
}

impl<'a, T> MatRef<'a, T> {
    fn transposed(self) -> Self {
        Self { row_stride: self.col_stride, col_stride: self.row_stride, ..self }
    }

    /// The first column.
    fn column(self) -> matvec::VecRef<'a, T> {
        matvec::VecRef { data: &self.data[self.offset..], stride: self.row_stride }
    }
}

/// A backend for products of general matrices.
pub trait Gemm: Sized {
    /// Stores the product in `out`, which it does not read. No extent is 0.
    ///
    /// # Safety
    /// The largest index that extents and strides reach is inside each operand, and `out` has `m * n` elements.
    unsafe fn gemm(dims: [usize; 3], lhs: MatRef<'_, Self>, rhs: MatRef<'_, Self>, out: &mut [Self]);
}

macro_rules! gemm_of_matrixmultiply {
    ($($ty:ty: $gemm:path),*) => {
        $(impl Gemm for $ty {
            unsafe fn gemm([m, k, n]: [usize; 3], lhs: MatRef<'_, $ty>, rhs: MatRef<'_, $ty>, out: &mut [$ty]) {
                // A stride never taken may be any number; others are below the operand's length.
                let stride = |extent: usize, stride: usize| if extent > 1 { stride as isize } else { 0 };
                // SAFETY: by this function's contract all indices are in bounds; `out` is contiguous, aliases nothing,
                // and is not read where beta is 0.
                unsafe {
                    $gemm(
                        m, k, n, 1.0,
                        lhs.data.as_ptr().add(lhs.offset), stride(m, lhs.row_stride), stride(k, lhs.col_stride),
                        rhs.data.as_ptr().add(rhs.offset), stride(k, rhs.row_stride), stride(n, rhs.col_stride),
                        0.0, out.as_mut_ptr(), n as isize, 1,
                    );
                }
            }
        })*
    };
}

gemm_of_matrixmultiply!(f32: matrixmultiply::sgemm, f64: matrixmultiply::dgemm);

macro_rules! gemm_by_loops {
    ($($ty:ty),*) => {
        $(impl Gemm for $ty {
            unsafe fn gemm(dims: [usize; 3], lhs: MatRef<'_, $ty>, rhs: MatRef<'_, $ty>, out: &mut [$ty]) {
                dispatch(Loops { dims, lhs, rhs, out });
            }
        })*
    };
}

gemm_by_loops!(i32, i64);

/// Without packing: each element of `out` is summed in the order of `k`, some of a row at a time.
struct Loops<'a, T> {
    dims: [usize; 3],
    lhs: MatRef<'a, T>,
    rhs: MatRef<'a, T>,
    out: &'a mut [T],
}

impl<T: Element> Kernel for Loops<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(mut self) {
        let [m, k, n] = self.dims;
        for i in 0..m {
            if self.rhs.col_stride == 1 {
                for_each_block!(n, |start, W| self.block::<W>(i, start));
                continue;
            }
            for j in 0..n {
                let column = &self.rhs.data[self.rhs.offset + j * self.rhs.col_stride..];
                let products = (0..k).map(|l| self.factor(i, l).times(column[l * self.rhs.row_stride]));
                self.out[i * n + j] = products.fold(T::ZERO, T::plus);
            }
        }
    }
}

impl<T: Element> Loops<'_, T> {
    /// `W` columns from `start` on of row `i`, `rhs` having contiguous rows.
    #[inline(always)]
    fn block<const W: usize>(&mut self, i: usize, start: usize) {
        let [_, k, n] = self.dims;
        let mut sums = [T::ZERO; W];
        for l in 0..k {
            let row = &self.rhs.data[self.rhs.offset + l * self.rhs.row_stride + start..];
            multiply_add(&mut sums, self.factor(i, l), row.first_chunk().expect("a row has W columns left"));
        }
        self.out[i * n + start..][..W].copy_from_slice(&sums);
    }

    #[inline(always)]
    fn factor(&self, i: usize, l: usize) -> T {
        self.lhs.data[self.lhs.offset + i * self.lhs.row_stride + l * self.lhs.col_stride]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Small whole numbers, so that every order of summing gives the same float.
    fn small<T: Element>(len: usize, seed: usize) -> Vec<T> {
        let mut state = seed;
        (0..len)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (0..(state >> 60) % 8).fold(T::ZERO, |x, _| x.plus(T::ONE))
            })
            .collect()
    }

    fn naive<T: Element>(
        batch: &[BatchDim],
        [m, k, n]: [usize; 3],
        lhs: MatRef<'_, T>,
        rhs: MatRef<'_, T>,
    ) -> Vec<T> {
        let Some((outer, inner)) = batch.split_first() else {
            let at = |mat: MatRef<'_, T>, i, j| -> T {
                mat.data[mat.offset + i * mat.row_stride + j * mat.col_stride]
            };
            let element = |i, j| (0..k).fold(T::ZERO, |sum, l| sum.plus(at(lhs, i, l).times(at(rhs, l, j))));
            return (0..m).flat_map(|i| (0..n).map(move |j| (i, j))).map(|(i, j)| element(i, j)).collect();
        };
        (0..outer.extent)
            .flat_map(|b| {
                let lhs = MatRef { offset: lhs.offset + b * outer.lhs_stride, ..lhs };
                let rhs = MatRef { offset: rhs.offset + b * outer.rhs_stride, ..rhs };
                naive(inner, [m, k, n], lhs, rhs)
            })
            .collect()
    }

    fn agrees<T: Element>(batch: &[BatchDim], dims: [usize; 3], lhs: MatRef<'_, T>, rhs: MatRef<'_, T>) {
        let expected = naive(batch, dims, lhs, rhs);
        // What was there must not matter: it is never read.
        let mut out = vec![T::ONE; expected.len()];
        matmul(batch, dims, lhs, rhs, &mut out);
        assert_eq!(out, expected, "{batch:?} {dims:?}");
    }

    /// Row-major, transposed, apart by gaps, repeated rows, repeated columns, one element for all.
    fn layouts(rows: usize, cols: usize) -> [[usize; 2]; 6] {
        [[cols, 1], [1, rows], [2 * cols + 3, 2], [0, 1], [1, 0], [0, 0]]
    }

    fn all_layouts<T: Element>(sizes: &[usize]) {
        let data = (small::<T>(20_000, 1), small::<T>(20_000, 2));
        for &m in sizes {
            for &k in sizes {
                for &n in sizes {
                    for [row_stride, col_stride] in layouts(m, k) {
                        let lhs = MatRef { data: &data.0, offset: 3, row_stride, col_stride };
                        for [row_stride, col_stride] in layouts(k, n) {
                            let rhs = MatRef { data: &data.1, offset: 1, row_stride, col_stride };
                            agrees(&[], [m, k, n], lhs, rhs);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn products_of_small_matrices_in_all_layouts() {
        all_layouts::<f32>(&[1, 2, 3, 4, 7, 8, 9, 17, 33]);
        all_layouts::<f64>(&[1, 2, 5, 8, 16, 17]);
        all_layouts::<i32>(&[1, 2, 3, 8, 17]);
        all_layouts::<i64>(&[1, 2, 3, 17]);
    }

    #[test]
    fn empty_extents() {
        let mat = MatRef { data: &[] as &[f32], offset: 0, row_stride: 1, col_stride: 1 };
        matmul(&[], [0, 3, 4], mat, mat, &mut []);
        matmul(&[], [3, 0, 0], mat, mat, &mut []);
        let mut out = [1.0; 6];
        matmul(&[], [2, 0, 3], mat, mat, &mut out);
        assert_eq!(out, [0.0; 6]);
    }

    #[test]
    fn batches_broadcast() {
        let data = (small::<f64>(5000, 3), small::<f64>(5000, 4));
        let dim = |extent, lhs_stride, rhs_stride| BatchDim { extent, lhs_stride, rhs_stride };
        for [m, k, n] in [[1, 1, 1], [1, 5, 4], [3, 5, 1], [3, 4, 6], [9, 8, 2]] {
            let (a, b) = (m * k, k * n);
            let batches = [
                vec![dim(3, a, b)],
                vec![dim(3, a, 0)],
                vec![dim(3, 0, b)],
                vec![dim(3, 0, 0)],
                vec![dim(3, a + 2, 0)],
                vec![dim(2, 3 * a, 3 * b), dim(3, a, b)],
                vec![dim(2, 3 * a, 0), dim(3, a, 0)],
                vec![dim(2, 3 * a, b), dim(3, a, 0)],
                vec![dim(2, a, 0), dim(3, 0, b)],
                vec![dim(2, a, b), dim(1, 77, 99)],
                vec![dim(1, 77, 99), dim(2, a, 0), dim(1, 0, 0), dim(2, 2 * a, 3 * b)],
            ];
            for batch in batches {
                let lhs = MatRef { data: &data.0, offset: 0, row_stride: k, col_stride: 1 };
                let rhs = MatRef { data: &data.1, offset: 5, row_stride: n, col_stride: 1 };
                agrees(&batch, [m, k, n], lhs, rhs);
                agrees(&batch, [m, k, n], MatRef { row_stride: 1, col_stride: m, ..lhs }, rhs);
                agrees(&batch, [m, k, n], lhs, MatRef { row_stride: 1, col_stride: k, ..rhs });
            }
        }
    }

    #[test]
    fn large_products() {
        let data = (small::<f32>(300 * 300, 5), small::<f32>(300 * 300, 6));
        for dims @ [m, k, n] in [[200, 130, 150], [1, 300, 300], [300, 300, 1], [65, 257, 33]] {
            for [lhs_layout, rhs_layout] in [[0, 0], [0, 1], [1, 0], [1, 1]] {
                let [row_stride, col_stride] = layouts(m, k)[lhs_layout];
                let lhs = MatRef { data: &data.0, offset: 0, row_stride, col_stride };
                let [row_stride, col_stride] = layouts(k, n)[rhs_layout];
                agrees(&[], dims, lhs, MatRef { data: &data.1, offset: 0, row_stride, col_stride });
            }
        }
    }

    #[test]
    fn what_out_held_does_not_matter() {
        let data = [2.0_f32; 16];
        let mat = MatRef { data: &data, offset: 0, row_stride: 4, col_stride: 1 };
        for dims in [[4, 4, 4], [1, 4, 4], [4, 4, 1]] {
            let mut out = vec![f32::NAN; dims[0] * dims[2]];
            matmul(&[], dims, mat, mat, &mut out);
            assert!(out.iter().all(|x| *x == 16.0));
        }
    }

    #[test]
    fn integers_wrap() {
        let mut out = [0];
        let mat = MatRef { data: &[i32::MAX, i32::MAX], offset: 0, row_stride: 1, col_stride: 1 };
        matmul(&[], [1, 2, 1], mat, mat, &mut out);
        assert_eq!(out, [2]);
    }

    #[test]
    #[should_panic(expected = "internal error in mind: matmul: right operand too short")]
    fn an_operand_too_short_panics() {
        let lhs = MatRef { data: &[0.0_f32; 4], offset: 0, row_stride: 2, col_stride: 1 };
        matmul(&[], [2, 2, 2], lhs, MatRef { offset: 1, ..lhs }, &mut [0.0; 4]);
    }

    #[test]
    #[should_panic(expected = "matmul: left operand too short")]
    fn strides_that_overflow_panic() {
        let rhs = MatRef { data: &[0.0_f32; 4], offset: 0, row_stride: 2, col_stride: 1 };
        matmul(&[], [2, 2, 2], MatRef { row_stride: usize::MAX, ..rhs }, rhs, &mut [0.0; 4]);
    }

    #[test]
    #[should_panic(expected = "matmul: wrong output length")]
    fn a_wrong_output_length_panics() {
        let mat = MatRef { data: &[0.0_f32; 4], offset: 0, row_stride: 2, col_stride: 1 };
        matmul(&[], [2, 2, 2], mat, mat, &mut [0.0; 3]);
    }
}
