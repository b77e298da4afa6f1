//! Matrix products.
//!
//! | function | for |
//! | --- | --- |
//! | [`matmul_into`] | results stored as they are |
//! | [`matmul_with`] | results that an [`Epilogue`] takes while they are in cache |
//! | [`TinyProduct`] | static extents up to about 16: inlined, no call at all |
//! | [`matmul_scratch`] | how much scratch memory the first two need |
//!
//! From the outside in: `products` checks operands, walks batches and shares rows among threads, `columns` shares columns
//! where rows are few, and `on_demand` where there are many, each part to its `region` of the result; `floats` chooses a kernel, or
//! `foreign` has another crate multiply; `few_rows` multiplies few rows; `blocked` cuts a product into blocks and tiles, by `spans`;
//! `choices` says how, from `sizes` and the caches; `pack` copies what lies badly, to a `room`; `super::tile` has the microkernels of
//! each SIMD level. Integers are multiplied by `loops`. No code of these is compiled for each program but for the little that cuts an
//! epilogue in two.
//!
//! Nothing allocates but what `foreign` calls. Threads share the scratch memory given: each takes its part, and blocks are as large as fits.

mod blocked;
mod choices;
mod columns;
mod few_rows;
mod floats;
#[cfg(any(test, feature = "matrixmultiply", not(target_arch = "x86_64")))]
mod foreign;
mod loops;
mod on_demand;
mod pack;
mod products;
mod region;
mod room;
mod shares;
mod sizes;
mod spans;
mod tiny;

use std::ops::Range;

use super::epilogue::Epilogue;
use super::limit::limit;
use super::matvec;
use crate::kernels::arithmetic::Arithmetic;
use products::{InBounds, Multiply, Products, Sink};

pub(in crate::kernels) use room::Room;
pub use tiny::TinyProduct;

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
#[inline]
pub fn matmul<T: Arithmetic>(
    batch: &[BatchDim],
    dims: [usize; 3],
    lhs: MatRef<'_, T>,
    rhs: MatRef<'_, T>,
    out: &mut [T],
) {
    matmul_into(batch, dims, lhs, rhs, &mut [], out);
}

/// `out[b.., i, j] = Σ_k lhs[b.., i, k] · rhs[b.., k, j]`, `out` being contiguous. Never reads `out`, nor what `scratch`
/// held; with less than [`matmul_scratch`] of it large products are slower. Nothing is allocated, but by the crate
/// `matrixmultiply` where that multiplies.
///
/// Integers wrap. The order of a sum depends on the sizes, the strides and the SIMD level only: not on threads, scratch
/// memory, or who takes the result.
///
/// # Panics
/// As an internal error, if an operand does not hold all that its strides reach or `out` has the wrong length.
#[inline]
pub fn matmul_into<T: Arithmetic>(
    batch: &[BatchDim],
    dims: [usize; 3],
    lhs: MatRef<'_, T>,
    rhs: MatRef<'_, T>,
    scratch: &mut [T],
    out: &mut [T],
) {
    T::store(batch, &dims, &lhs, &rhs, scratch, out);
}

/// As [`matmul_into`], but hands the result to `epilogue`: a matrix of `n` columns, the rows of every matrix of the batch
/// one below the other.
///
/// # Panics
/// As an internal error, if an operand does not hold all that its strides reach.
pub fn matmul_with<T: Arithmetic, E: Epilogue<T>>(
    batch: &[BatchDim],
    dims: [usize; 3],
    lhs: MatRef<'_, T>,
    rhs: MatRef<'_, T>,
    scratch: &mut [T],
    epilogue: E,
) {
    products::hand_over(batch, &dims, &lhs, &rhs, scratch, epilogue);
}

/// The elements of scratch memory with which a product of an `m` by `k` and a `k` by `n` matrix runs at full speed, if columns of the
/// left one are so far apart; 0 for products that pack nothing. The matrices of a batch share it, and so do threads.
#[must_use]
pub const fn matmul_scratch<T>(m: usize, k: usize, n: usize, lhs_col_stride: usize) -> usize {
    shares::scratch::<T>([m, k, n], lhs_col_stride)
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

    /// The first element, which is in bounds.
    #[inline(always)]
    fn pointer(&self) -> *const T {
        self.data[self.offset..].as_ptr()
    }

    /// Whether its rows begin in the same sets of a cache.
    #[inline(always)]
    fn rows_share_sets(&self) -> bool {
        share_sets::<T>(self.row_stride)
    }

    fn transposed(self) -> Self {
        Self { row_stride: self.col_stride, col_stride: self.row_stride, ..self }
    }

    /// The first column.
    fn column(self) -> matvec::VecRef<'a, T> {
        matvec::VecRef { data: &self.data[self.offset..], stride: self.row_stride }
    }
}

/// Whether places so many elements apart are others in the same sets of a cache, where they push each other out: those of a first cache
/// repeat with each page.
#[inline(always)]
const fn share_sets<T>(stride: usize) -> bool {
    const PAGE: usize = limit(4096, 64);
    stride > 0 && stride.wrapping_mul(size_of::<T>()).is_multiple_of(PAGE)
}

/// The largest index reached from `offset` along axes of (extent, stride), no extent being 0.
#[inline(always)]
fn last_index(offset: usize, axes: impl Iterator<Item = (usize, usize)>) -> usize {
    axes.fold(offset, |last, (extent, stride)| last.saturating_add((extent - 1).saturating_mul(stride)))
}

/// An element type's products. What is here is compiled once, and not for each program.
pub trait Gemm: Sized {
    /// [`matmul_into`].
    fn store(
        batch: &[BatchDim],
        dims: &[usize; 3],
        lhs: &MatRef<'_, Self>,
        rhs: &MatRef<'_, Self>,
        scratch: &mut [Self],
        out: &mut [Self],
    );

    /// One product.
    fn multiply(product: &InBounds<'_, Self>, scratch: &mut [Self], sink: Sink<'_, Self>);

    /// Hands over some rows of the result of a batch.
    fn some_rows(
        products: &Products<'_, Self>,
        rows: Range<usize>,
        scratch: &mut [Self],
        epilogue: &mut dyn Epilogue<Self>,
    );
}

macro_rules! elements {
    ($($ty:ty: $kernels:ident),*) => {
        $(impl Gemm for $ty {
            fn store(
                batch: &[BatchDim],
                dims: &[usize; 3],
                lhs: &MatRef<'_, $ty>,
                rhs: &MatRef<'_, $ty>,
                scratch: &mut [$ty],
                out: &mut [$ty],
            ) {
                let kernels = ($kernels::multiply as Multiply<$ty>, $kernels::by_columns());
                products::store(batch, dims, lhs, rhs, scratch, out, kernels);
            }

            fn multiply(product: &InBounds<'_, $ty>, scratch: &mut [$ty], sink: Sink<'_, $ty>) {
                $kernels::multiply(product, scratch, sink);
            }

            fn some_rows(
                products: &Products<'_, $ty>,
                rows: Range<usize>,
                scratch: &mut [$ty],
                epilogue: &mut dyn Epilogue<$ty>,
            ) {
                products.multiply(rows, scratch, Sink::Epilogue { epilogue, row: 0 }, $kernels::multiply);
            }
        })*
    };
}

// Our kernels for products of floats have run on x86-64 and nowhere else. What nobody has run is not trusted.
#[cfg(not(any(feature = "matrixmultiply", not(target_arch = "x86_64"))))]
use floats as trusted;
#[cfg(any(feature = "matrixmultiply", not(target_arch = "x86_64")))]
use foreign as trusted;

elements!(f32: trusted, f64: trusted, i32: loops, i64: loops);

#[cfg(test)]
mod tests;
