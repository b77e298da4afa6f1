//! Products of floats by the crate `matrixmultiply`, for processors on which our own kernels have never run: the
//! crate's users run its kernels there. Small products and products with vectors use our kernels everywhere.
//!
//! The crate packs its operands into memory that it allocates, and it only stores results. Results for an epilogue are
//! stored first, some rows and columns at a time, in memory that is allocated here.
//!
//! An element is one chain for every stretch of `k`, of a length that the crate fixes, whichever rows and columns a
//! call has. So neither threads nor blocks affect the result.

use super::floats;
use super::product::{InBounds, Product, Sink};
use super::sizes::COLUMN_SIZES;
use crate::kernels::epilogue::Block;
use crate::kernels::limit::limit;
use crate::kernels::number::Number;
use crate::kernels::tile::Tiles;

/// An element type that the crate multiplies.
pub trait Foreign: Number + Tiles {
    /// `c = alpha · a · b + beta · c`. The arguments are `m`, `k`, `n`, `alpha`, `a` and `b` with two strides each,
    /// `beta`, and `c` with two strides. `c` is not read if `beta` is 0.
    const GEMM: Gemm<Self>;
}

type Gemm<T> = unsafe fn(
    usize,
    usize,
    usize,
    T,
    *const T,
    isize,
    isize,
    *const T,
    isize,
    isize,
    T,
    *mut T,
    isize,
    isize,
);

impl Foreign for f32 {
    const GEMM: Gemm<f32> = matrixmultiply::sgemm;
}

impl Foreign for f64 {
    const GEMM: Gemm<f64> = matrixmultiply::dgemm;
}

/// The most rows and columns that an epilogue takes at once. The crate packs operands anew for each such group.
const MOST_TAKEN: [usize; 2] = [limit(128, 16), limit(512, 24)];

/// Computes one product.
pub fn multiply<T: Foreign>(product: &InBounds<'_, T>, scratch: &mut [T], sink: Sink<'_, T>) {
    if !is_worth_preparing(product) {
        return floats::multiply(product, scratch, sink);
    }
    let [m, _, n] = *product.dims;
    let (epilogue, first) = match sink {
        Sink::Store(out) => return store(product, [0, 0], [m, n], out),
        Sink::Epilogue { epilogue, row } => (epilogue, row),
    };
    let most = [m.min(MOST_TAKEN[0]), n.min(MOST_TAKEN[1])];
    let mut room = vec![T::POISON; most[0] * most[1]];
    for row in (0..m).step_by(most[0]) {
        for column in (0..n).step_by(most[1]) {
            let [rows, columns] = [most[0].min(m - row), most[1].min(n - column)];
            let sums = &mut room[..rows * columns];
            store(product, [row, column], [rows, columns], sums);
            epilogue.block(Block { row: first + row, column, rows, columns, sums, stride: columns });
        }
    }
}

/// The crate stores all columns at once, so products are not split by columns.
#[cfg(any(feature = "matrixmultiply", not(target_arch = "x86_64")))]
pub fn by_columns<T>() -> Option<super::product::MultiplyColumns<T>> {
    None
}

/// Whether a product is large enough for the crate's preparations. This depends on the whole product, whichever of its
/// rows are computed. Threads take columns only of products that our kernels compute.
fn is_worth_preparing<T>(&Product { dims: &[_, k, n], all_rows, .. }: &Product<'_, T>) -> bool {
    const SHORTEST: usize = 8;
    const WORTH: usize = limit(32 * 32 * 32, 12 * 12 * 12);
    all_rows >= COLUMN_SIZES.rows_to_share
        && k.min(n) >= SHORTEST
        && all_rows.saturating_mul(k).saturating_mul(n) >= WORTH
}

/// Stores some rows and columns of a product, from `row` and `column` on.
fn store<T: Foreign>(
    &Product { dims: &[_, k, _], lhs, rhs, .. }: &Product<'_, T>,
    [row, column]: [usize; 2],
    [rows, columns]: [usize; 2],
    to: &mut [T],
) {
    assert!(lhs.reach(row + rows, k) < lhs.data.len() && rhs.reach(k, column + columns) < rhs.data.len());
    assert!(to.len() == rows * columns);
    let strides =
        |row_stride: usize, column_stride: usize| [row_stride.cast_signed(), column_stride.cast_signed()];
    let [lhs_row, lhs_column] = strides(lhs.row_stride, lhs.col_stride);
    let [rhs_row, rhs_column] = strides(rhs.row_stride, rhs.col_stride);
    // SAFETY: both operands hold all elements that are reached, and `to` is as long as these rows and columns.
    unsafe {
        let lhs = lhs.data.as_ptr().add(lhs.index(row, 0));
        let rhs = rhs.data.as_ptr().add(rhs.index(0, column));
        let to_row = columns.cast_signed();
        (T::GEMM)(
            rows,
            k,
            columns,
            T::ONE,
            lhs,
            lhs_row,
            lhs_column,
            rhs,
            rhs_row,
            rhs_column,
            T::ZERO,
            to.as_mut_ptr(),
            to_row,
            1,
        );
    }
}
