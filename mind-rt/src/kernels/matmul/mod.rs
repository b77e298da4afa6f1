//! Matrix products.
//!
//! | function | for |
//! | --- | --- |
//! | [`matmul_into`] | results stored unchanged |
//! | [`matmul_with`] | results that an [`Epilogue`] takes while they are in the cache |
//! | [`TinyProduct`] | static extents up to about 16: inlined, without a call |
//! | [`matmul_scratch`] | the scratch memory that the first two need |
//!
//! The modules, from the outside in:
//!
//! - `products` checks operands, walks batches and divides rows among threads.
//! - `columns` divides columns among threads if rows are few, `on_demand` if there are many. Each part has a `region`
//!   of the result.
//! - `floats` chooses a kernel, or `foreign` calls another crate. `few_rows` multiplies few rows. `blocked` cuts a
//!   product into blocks and tiles, by `spans`. `loops` multiplies integers.
//! - `choices` decides how, by `sizes` and the caches.
//! - `pack` copies operands with an unfavourable layout to a `room`.
//! - `super::tile` has the microkernels of each SIMD level.
//!
//! Only the little code that splits an epilogue in two is compiled for each program.
//!
//! Only the crate that `foreign` calls allocates. Threads share the given scratch memory: each takes its part, and
//! blocks are as large as fits.

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

/// As [`matmul_into`], without scratch memory.
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

/// `out[b.., i, j] = Σ_k lhs[b.., i, k] · rhs[b.., k, j]`, where `out` is contiguous. Never reads the previous values
/// of `out` and `scratch`. With less scratch memory than [`matmul_scratch`], large products are slower. Nothing
/// allocates, except the crate `matrixmultiply` if it multiplies.
///
/// Integers wrap. The order of a sum depends only on the sizes, the strides and the SIMD level: not on threads, scratch
/// memory, or the destination of the result.
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

/// As [`matmul_into`], but passes the result to `epilogue`: a matrix of `n` columns, with the rows of every matrix of
/// the batch one below the other.
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

/// The elements of scratch memory with which a product of an `m` by `k` and a `k` by `n` matrix runs at full speed, if
/// columns of the left one are `lhs_col_stride` apart; 0 for products that pack nothing. The matrices of a batch share
/// this memory, and so do threads.
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

// Our kernels for products of floats have only ever run on x86-64. Elsewhere they are not trusted.
#[cfg(not(any(feature = "matrixmultiply", not(target_arch = "x86_64"))))]
use floats as trusted;
#[cfg(any(feature = "matrixmultiply", not(target_arch = "x86_64")))]
use foreign as trusted;

mind_shape::element_types!(floats => elements! trusted:);
mind_shape::element_types!(integers => elements! loops:);

#[cfg(test)]
mod tests;
