//! Products of few rows on several threads: each thread takes some columns.
//!
//! There are not enough rows for all threads. Threads that took rows would also each read the whole right operand, and
//! reading it takes most of the time of such a product. The sums of each thread go to the scratch memory, one part
//! after the other, because an epilogue can only be split between whole rows. Passing them on from there costs little
//! compared with reading the right operand.

use std::ops::Range;

use super::operands::MatRef;
use super::product::{InBounds, Multiply, Product, Sink};
use super::sizes::COLUMN_SIZES;
use crate::kernels::epilogue::Block;
use crate::kernels::number::Number;
use crate::parallel::join;

/// The number of columns that each of `parts` threads takes; `None` if threads should take rows, or if the scratch
/// memory has no room for the sums.
pub fn width(m: usize, n: usize, parts: usize, scratch: usize) -> Option<usize> {
    COLUMN_SIZES.width_of_few_rows(m, n, parts).filter(|_| m.saturating_mul(n) <= scratch)
}

/// Multiplies `width` columns at a time, and passes the sums of each part to `take`, all its rows at once.
pub fn multiply<T: Number>(
    product: &InBounds<'_, T>,
    width: usize,
    scratch: &mut [T],
    multiply: Multiply<T>,
    mut take: impl FnMut(Block<'_, T>),
) {
    let [m, _, n] = *product.dims;
    let (sums, scratch) = scratch.split_at_mut(m * n);
    ColumnParts { product, width, multiply }.multiply(0..n.div_ceil(width), sums, scratch);
    for column in (0..n).step_by(width) {
        let columns = width.min(n - column);
        let sums = &sums[m * column..][..m * columns];
        take(Block { row: 0, column, rows: m, columns, sums, stride: columns });
    }
}

/// A product that is split into parts of `width` columns.
struct ColumnParts<'a, T> {
    product: &'a InBounds<'a, T>,
    width: usize,
    multiply: Multiply<T>,
}

impl<T: Number> ColumnParts<'_, T> {
    /// Multiplies some parts. Their sums go to `sums`.
    fn multiply(&self, parts: Range<usize>, sums: &mut [T], scratch: &mut [T]) {
        let Product { dims: &[m, k, n], all_rows, lhs, rhs } = **self.product;
        let start = parts.start * self.width;
        if parts.len() == 1 {
            let rhs = &MatRef { offset: rhs.offset + start * rhs.col_stride, ..*rhs };
            let dims = &[m, k, self.width.min(n - start)];
            let product = InBounds::new(Product { dims, all_rows, lhs, rhs });
            return (self.multiply)(&product, scratch, Sink::Store(sums));
        }
        let middle = parts.start + parts.len() / 2;
        let (left, right) = sums.split_at_mut(m * (middle * self.width - start));
        let (first, later) = scratch.split_at_mut(scratch.len() / parts.len() * (parts.len() / 2));
        join(
            || self.multiply(parts.start..middle, left, first),
            || self.multiply(middle..parts.end, right, later),
        );
    }
}
