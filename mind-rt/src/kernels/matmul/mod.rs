//! Matrix products.
//!
//! | function | for |
//! | --- | --- |
//! | [`matmul_into`] | results stored as they are |
//! | [`matmul_with`] | results that an [`Epilogue`] takes while they are in cache |
//! | [`matmul_tiny`] | static extents up to about 16: inlined, no call at all |
//! | [`matmul_scratch`] | how much scratch memory the first two need |

mod loops;
mod tiny;

use super::epilogue::{Block, Epilogue};
use super::{check, matvec};
use crate::element::Element;
use crate::shape::MAX_RANK;
use crate::simd::dispatch;
use loops::Loops;

pub use tiny::matmul_tiny;

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

/// [`matmul_into`] without scratch memory.
pub fn matmul<T: Element>(
    batch: &[BatchDim],
    dims: [usize; 3],
    lhs: MatRef<'_, T>,
    rhs: MatRef<'_, T>,
    out: &mut [T],
) {
    matmul_into(batch, dims, lhs, rhs, &mut [], out);
}

/// `out[b.., i, j] = Σ_k lhs[b.., i, k] · rhs[b.., k, j]`, `out` being contiguous. Never reads `out`, nor what `scratch`
/// held; with less than [`matmul_scratch`] of it large products are slower.
///
/// Integers wrap. The order of a sum depends on the sizes, the strides and the processor only.
///
/// # Panics
/// As an internal error, if an operand does not hold all that its strides reach or `out` has the wrong length.
pub fn matmul_into<T: Element>(
    batch: &[BatchDim],
    dims: [usize; 3],
    lhs: MatRef<'_, T>,
    rhs: MatRef<'_, T>,
    scratch: &mut [T],
    out: &mut [T],
) {
    check(rows(batch, dims[0]).checked_mul(dims[2]) == Some(out.len()), "matmul: wrong output length");
    products(batch, dims, lhs, rhs, scratch, Sink::Store(out));
}

/// As [`matmul_into`], but hands the result to `epilogue`: a matrix of `n` columns, the rows of every matrix of the batch
/// one below the other.
///
/// # Panics
/// As an internal error, if an operand does not hold all that its strides reach.
pub fn matmul_with<T: Element, E: Epilogue<T>>(
    batch: &[BatchDim],
    dims: [usize; 3],
    lhs: MatRef<'_, T>,
    rhs: MatRef<'_, T>,
    scratch: &mut [T],
    mut epilogue: E,
) {
    products(batch, dims, lhs, rhs, scratch, Sink::Epilogue(&mut epilogue));
}

/// The elements of scratch memory with which a product of an `m` by `k` and a `k` by `n` matrix, whatever their strides,
/// runs at full speed; 0 for products that pack nothing. The matrices of a batch share it.
#[must_use]
pub const fn matmul_scratch<T>(_m: usize, _k: usize, _n: usize) -> usize {
    0
}

/// Columns of a row that an epilogue takes at once.
const BLOCK: usize = 128;

/// What becomes of sums.
enum Sink<'a, T> {
    /// Rows one below the other, without gaps.
    Store(&'a mut [T]),
    Epilogue(&'a mut dyn Epilogue<T>),
}

/// The rows of the result.
fn rows(batch: &[BatchDim], m: usize) -> usize {
    batch.iter().fold(m, |product, dim| product.saturating_mul(dim.extent))
}

fn products<T: Element>(
    batch: &[BatchDim],
    [m, k, n]: [usize; 3],
    lhs: MatRef<'_, T>,
    rhs: MatRef<'_, T>,
    scratch: &mut [T],
    mut sink: Sink<'_, T>,
) {
    check(batch.len() <= MAX_RANK, "matmul: too many batch dimensions");
    let rows = rows(batch, m);
    if rows == 0 || n == 0 {
        return;
    }
    if k == 0 {
        return sink.zeros(rows, n);
    }
    let lhs_batch = batch.iter().map(|dim| (dim.extent, dim.lhs_stride));
    let rhs_batch = batch.iter().map(|dim| (dim.extent, dim.rhs_stride));
    let lhs_last = last_index(lhs.offset, lhs_batch.chain([(m, lhs.row_stride), (k, lhs.col_stride)]));
    let rhs_last = last_index(rhs.offset, rhs_batch.chain([(k, rhs.row_stride), (n, rhs.col_stride)]));
    check(lhs_last < lhs.data.len(), "matmul: left operand too short");
    check(rhs_last < rhs.data.len(), "matmul: right operand too short");

    let (batch, m, lhs) = stack(batch, m, lhs);
    let mut index = [0; MAX_RANK];
    for first in (0..rows).step_by(m) {
        let (mut lhs, mut rhs) = (lhs, rhs);
        for (dim, i) in batch.iter().zip(index) {
            lhs.offset += i * dim.lhs_stride;
            rhs.offset += i * dim.rhs_stride;
        }
        match &mut sink {
            Sink::Store(out) => product([m, k, n], lhs, rhs, scratch, &mut out[first * n..][..m * n]),
            Sink::Epilogue(epilogue) => product_with([m, k, n], lhs, rhs, first, *epilogue),
        }
        for (dim, i) in batch.iter().zip(&mut index).rev() {
            *i += 1;
            if *i < dim.extent {
                break;
            }
            *i = 0;
        }
    }
}

impl<T: Element> Sink<'_, T> {
    /// What an empty sum gives, everywhere.
    fn zeros(&mut self, rows: usize, n: usize) {
        match self {
            Self::Store(out) => out.fill(T::ZERO),
            Self::Epilogue(epilogue) => {
                let sums = &[T::ZERO; BLOCK];
                for row in 0..rows {
                    for column in (0..n).step_by(BLOCK) {
                        let columns = BLOCK.min(n - column);
                        epilogue.block(Block { row, column, rows: 1, columns, sums, stride: BLOCK });
                    }
                }
            }
        }
    }
}

/// The largest index reached from `offset` along axes of (extent, stride), no extent being 0.
#[inline(always)]
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
fn product<T: Element>(
    [m, k, n]: [usize; 3],
    lhs: MatRef<'_, T>,
    rhs: MatRef<'_, T>,
    _scratch: &mut [T],
    out: &mut [T],
) {
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
    assert!(lhs.reach(m, k) < lhs.data.len() && rhs.reach(k, n) < rhs.data.len() && out.len() == m * n);
    // SAFETY: the largest index of each operand is in bounds, as just asserted, and `out` is as long as the product.
    unsafe { T::gemm([m, k, n], lhs, rhs, out) }
}

/// The same, some columns of a row at a time; the first row of the product is row `first` of the result.
fn product_with<T: Element>(
    [m, k, n]: [usize; 3],
    lhs: MatRef<'_, T>,
    rhs: MatRef<'_, T>,
    first: usize,
    epilogue: &mut dyn Epilogue<T>,
) {
    let mut sums = [T::ZERO; BLOCK];
    for i in 0..m {
        let lhs = MatRef { offset: lhs.offset + i * lhs.row_stride, ..lhs };
        for column in (0..n).step_by(BLOCK) {
            let columns = BLOCK.min(n - column);
            let rhs = MatRef { offset: rhs.offset + column * rhs.col_stride, ..rhs };
            dispatch(Loops { dims: [1, k, columns], lhs, rhs, out: &mut sums[..columns] });
            epilogue.block(Block { row: first + i, column, rows: 1, columns, sums: &sums, stride: BLOCK });
        }
    }
}

impl<'a, T> MatRef<'a, T> {
    /// Where element `[i, j]` is.
    #[inline(always)]
    fn index(&self, i: usize, j: usize) -> usize {
        self.offset + i * self.row_stride + j * self.col_stride
    }

    /// The largest index of a matrix of so many rows and columns, neither 0.
    #[inline(always)]
    fn reach(&self, rows: usize, columns: usize) -> usize {
        last_index(self.offset, [(rows, self.row_stride), (columns, self.col_stride)].into_iter())
    }

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

#[cfg(test)]
mod tests;
