//! Operands of products: matrices, and batches of them.

use crate::kernels::limit::limit;
use crate::kernels::matvec;

/// A matrix operand: element `[i, j]` of a batch's first matrix is `data[offset + i * row_stride + j * col_stride]`.
/// A stride of 0 repeats.
#[derive(Clone, Copy, Debug)]
pub struct MatRef<'a, T> {
    /// The elements.
    pub data: &'a [T],
    /// The index of the first element.
    pub offset: usize,
    /// The distance from one row to the next.
    pub row_stride: usize,
    /// The distance from one column to the next.
    pub col_stride: usize,
}

/// One batch dimension: its extent, and the strides from one matrix to the next. A stride of 0 repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchDim {
    /// The number of matrices.
    pub extent: usize,
    /// The distance from one left matrix to the next.
    pub lhs_stride: usize,
    /// The distance from one right matrix to the next.
    pub rhs_stride: usize,
}

impl<'a, T> MatRef<'a, T> {
    /// The index of element `[i, j]`.
    #[inline(always)]
    pub(in crate::kernels) fn index(&self, i: usize, j: usize) -> usize {
        self.offset + i * self.row_stride + j * self.col_stride
    }

    /// The largest index of a matrix with this many rows and columns, neither of which may be 0.
    #[inline(always)]
    pub(in crate::kernels) fn reach(&self, rows: usize, columns: usize) -> usize {
        last_index(self.offset, [(rows, self.row_stride), (columns, self.col_stride)].into_iter())
    }

    /// A pointer to the first element, which must be in bounds.
    #[inline(always)]
    pub(in crate::kernels) fn pointer(&self) -> *const T {
        self.data[self.offset..].as_ptr()
    }

    /// Whether the matrix's rows begin in the same cache sets.
    #[inline(always)]
    pub(in crate::kernels) fn rows_share_sets(&self) -> bool {
        share_sets::<T>(self.row_stride)
    }

    pub(in crate::kernels) fn transposed(self) -> Self {
        Self { row_stride: self.col_stride, col_stride: self.row_stride, ..self }
    }

    /// The first column.
    pub(in crate::kernels) fn column(self) -> matvec::VecRef<'a, T> {
        matvec::VecRef { data: &self.data[self.offset..], stride: self.row_stride }
    }
}

/// Whether addresses `stride` elements apart map to the same sets of the first-level cache and evict each other: the
/// sets repeat with each page.
#[inline(always)]
pub(super) const fn share_sets<T>(stride: usize) -> bool {
    const PAGE: usize = limit(4096, 64);
    stride > 0 && stride.wrapping_mul(size_of::<T>()).is_multiple_of(PAGE)
}

/// The largest index reached from `offset` along axes of (extent, stride). No extent may be 0.
#[inline(always)]
pub(super) fn last_index(offset: usize, axes: impl Iterator<Item = (usize, usize)>) -> usize {
    axes.fold(offset, |last, (extent, stride)| last.saturating_add((extent - 1).saturating_mul(stride)))
}
