//! Products of few rows, which mostly wait for the right operand. They read its rows or columns from end to end, the
//! fastest way to read memory.
//!
//! Tiles would read few columns of many rows, which lie far apart, or copies of columns. Copying takes longer than
//! multiplying few rows.

use super::product::{InBounds, Product, Sink};
use super::room::Bytes;
use super::shares::bytes;
use super::sizes::{COMBINED_ROWS, INNER_COLUMNS, INNER_ROWS, SUMS_BYTES};
use super::spans::chunks;
use crate::kernels::epilogue::Block;
use crate::kernels::number::Number;
use crate::kernels::tile::{Dots, MOST_VECTORS, Micro, Vectors};

/// Computes a product of up to [`COMBINED_ROWS`] rows whose right operand has contiguous rows: adds these rows up, each
/// multiplied by some factors.
///
/// This loads and stores sums more often than tiles do, so it pays if reading the right operand takes most of the time.
/// Each element is the same chain of multiply-adds.
#[inline(never)]
pub fn combine<T: Number>(micro: &Micro<T>, product: &InBounds<'_, T>, sink: Sink<'_, T>) {
    let Product { dims: &[m, k, n], lhs, rhs, .. } = **product;
    assert!((1..=COMBINED_ROWS).contains(&m) && rhs.col_stride == 1);
    hand_over([m, n], sink, |start, len, to, to_stride| {
        for rows in chunks(m, MOST_VECTORS) {
            // SAFETY: the operands hold all elements that are reached, and there is room for these sums. The processor
            // has the level of `micro`.
            unsafe {
                let vectors = Vectors {
                    first: lhs.pointer().add(rows.start * lhs.row_stride),
                    step: lhs.col_stride,
                    stride: lhs.row_stride,
                    count: rows.len,
                };
                let (from, to) = (rhs.pointer().add(start), to.add(rows.start * to_stride));
                (micro.combine)(from, rhs.row_stride, len, vectors, k, to, to_stride);
            }
        }
    });
}

/// Computes a product of up to [`INNER_ROWS`] contiguous rows by contiguous columns: inner products, as for a vector.
#[inline(never)]
pub fn inner<T: Number>(micro: &Micro<T>, product: &InBounds<'_, T>, sink: Sink<'_, T>) {
    let Product { dims: &[m, k, n], lhs, rhs, .. } = **product;
    assert!((1..=INNER_ROWS).contains(&m) && lhs.col_stride == 1 && rhs.row_stride == 1);
    // The columns that all rows are multiplied by stay in the first-level cache, if it has room for them.
    let most = (SUMS_BYTES / bytes::<T>(k, 1)).max(INNER_COLUMNS);
    hand_over([m, n], sink, |start, len, to, to_stride| {
        for columns in chunks(len, most) {
            for rows in chunks(m, micro.dots.len()) {
                // SAFETY: the operands hold all elements that are reached, and there is room for these sums. The
                // processor has the level of `micro`.
                unsafe {
                    let vectors = &Vectors {
                        first: lhs.pointer().add(rows.start * lhs.row_stride),
                        step: 1,
                        stride: lhs.row_stride,
                        count: rows.len,
                    };
                    let from = rhs.pointer().add((start + columns.start) * rhs.col_stride);
                    let first = to.add(rows.start * to_stride + columns.start);
                    let to = Dots { first, stride: to_stride, adds: false };
                    micro.dots[rows.len - 1](from, rhs.col_stride, columns.len, vectors, k, to);
                }
            }
        }
    });
}

/// Calls `compute` with the first column, the number of columns, and the destination and row stride of their sums. It
/// computes these columns of all rows. The sink's memory is the destination, or sums that are then passed to its
/// epilogue.
fn hand_over<T: Number>(
    [m, n]: [usize; 2],
    sink: Sink<'_, T>,
    compute: impl Fn(usize, usize, *mut T, usize),
) {
    match sink {
        Sink::Store(out) => {
            assert!(out.len() == m * n);
            compute(0, n, out.as_mut_ptr(), n);
        }
        Sink::Epilogue { epilogue, row } => {
            let mut stack = Bytes::<SUMS_BYTES>::new();
            let room = stack.room::<T>();
            let most = room.len / m.next_multiple_of(MOST_VECTORS);
            for column in (0..n).step_by(most) {
                let columns = most.min(n - column);
                room.poison();
                compute(column, columns, room.data, columns);
                // SAFETY: this many sums have just been written.
                let sums = unsafe { std::slice::from_raw_parts(room.data, m * columns) };
                epilogue.block(Block { row, column, rows: m, columns, sums, stride: columns });
            }
        }
    }
}
