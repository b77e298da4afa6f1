//! Products of few rows: the rows of the right operand, each times some factors, added up.
//!
//! Tiles read few columns of many rows, which lie far apart; this reads some rows from end to end, as memory is read fastest. It
//! loads and stores sums more often, so that it pays where reading is what counts. Each element is the same chain of
//! multiply-adds.

use std::mem::MaybeUninit;

use super::products::{Product, Sink};
use super::room::Room;
use super::sizes::{COMBINED_ROWS, COMBINED_SUMS};
use super::spans::chunks;
use crate::kernels::arithmetic::Arithmetic;
use crate::kernels::epilogue::Block;
use crate::kernels::tile::{MOST_VECTORS, Micro, Vectors};

/// A product of up to [`COMBINED_ROWS`] rows, whose right operand has contiguous rows.
#[inline(never)]
pub fn multiply<T: Arithmetic>(micro: &Micro<T>, product: &Product<'_, T>, sink: Sink<'_, T>) {
    let Product { dims: &[m, k, n], lhs, rhs, .. } = *product;
    assert!((1..=COMBINED_ROWS).contains(&m) && k > 0 && n > 0 && rhs.col_stride == 1);
    assert!(lhs.reach(m, k) < lhs.data.len() && rhs.reach(k, n) < rhs.data.len());
    let combine = |start: usize, len: usize, to: *mut T, to_stride: usize| {
        for rows in chunks(m, MOST_VECTORS) {
            // SAFETY: the operands hold all that they reach, and both sinks have room for these columns. The level of `micro` is
            // one that the processor has.
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
    };
    match sink {
        Sink::Store(out) => {
            assert!(out.len() == m * n);
            combine(0, n, out.as_mut_ptr(), n);
        }
        Sink::Epilogue { epilogue, row } => {
            let mut room = [MaybeUninit::<T>::uninit(); COMBINED_SUMS];
            let most = COMBINED_SUMS / m.next_multiple_of(MOST_VECTORS);
            for column in (0..n).step_by(most) {
                let columns = most.min(n - column);
                Room { data: room.as_mut_ptr().cast::<T>(), len: COMBINED_SUMS }.poison();
                combine(column, columns, room.as_mut_ptr().cast(), columns);
                // SAFETY: so many were written just now.
                let sums = unsafe { std::slice::from_raw_parts(room.as_ptr().cast(), m * columns) };
                epilogue.block(Block { row, column, rows: m, columns, sums, stride: columns });
            }
        }
    }
}
