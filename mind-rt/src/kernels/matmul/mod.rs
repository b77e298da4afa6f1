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
mod operands;
mod pack;
mod product;
mod products;
mod region;
mod room;
mod shares;
mod sizes;
mod spans;
mod tiny;

use std::ops::Range;

use super::epilogue::Epilogue;
use product::{InBounds, Multiply, Sink};
use products::Products;

pub use operands::{BatchDim, MatRef};
pub use products::Gemm;
pub(in crate::kernels) use room::Room;
pub use tiny::TinyProduct;

/// [`matmul_into`] without scratch memory.
#[inline]
pub fn matmul<T: Gemm>(
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
pub fn matmul_into<T: Gemm>(
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
pub fn matmul_with<T: Gemm, E: Epilogue<T>>(
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

macro_rules! elements {
    ($kernels:ident: $($ty:ident $variant:ident;)*) => {
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

mind_shape::element_types!(floats => elements! trusted:);
mind_shape::element_types!(integers => elements! loops:);

#[cfg(test)]
mod tests;
