//! Products of two to four rows: the rows of the right operand, each times some factors, added up.
//!
//! Tiles read few columns of many rows, which lie far apart; this reads some rows from end to end, as memory is read fastest. It
//! loads and stores sums more often, so that it pays where reading is what counts. Each element is the same chain of
//! multiply-adds.

use std::mem::MaybeUninit;

use super::products::{Product, Sink};
use super::room::Room;
use crate::kernels::arithmetic::Arithmetic;
use crate::kernels::epilogue::Block;
use crate::kernels::limit::limit;
use crate::kernels::tile::{MOST_VECTORS, Micro, Vectors};

/// Elements of sums that an epilogue takes at once.
const SUMS_AT_ONCE: usize = limit(4096, 64);

/// Whether this is faster than tiles: where the right operand is in no cache; or where it is not in L2 and its rows begin in
/// the same sets of caches, and four rows do not load and store too many sums.
pub fn pays<T>(&Product { dims: &[m, k, n], rhs, .. }: &Product<'_, T>) -> bool {
    const BEYOND_L2: usize = limit(2 << 20, 1 << 10);
    const IN_NO_CACHE: usize = limit(8 << 20, 2 << 10);
    const LONG: usize = limit(256, 16);
    let bytes = k.saturating_mul(n).saturating_mul(size_of::<T>());
    let far = if rhs.rows_share_sets() && m < MOST_VECTORS { BEYOND_L2 } else { IN_NO_CACHE };
    (2..=MOST_VECTORS).contains(&m) && rhs.col_stride == 1 && n >= LONG && bytes > far
}

/// A product of up to [`MOST_VECTORS`] rows, whose right operand has contiguous rows.
#[inline(never)]
pub fn multiply<T: Arithmetic>(micro: &Micro<T>, product: &Product<'_, T>, sink: Sink<'_, T>) {
    let Product { dims: &[m, k, n], lhs, rhs, .. } = *product;
    assert!((1..=MOST_VECTORS).contains(&m) && k > 0 && n > 0 && rhs.col_stride == 1);
    assert!(lhs.reach(m, k) < lhs.data.len() && rhs.reach(k, n) < rhs.data.len());
    let vectors = Vectors { first: lhs.pointer(), step: lhs.col_stride, stride: lhs.row_stride, count: m };
    let combine = |start: usize, len: usize, to: *mut T, to_stride: usize| {
        // SAFETY: the operands hold all that they reach, and both sinks have room for these columns. The level of `micro` is one
        // that the processor has.
        unsafe {
            (micro.combine)(rhs.pointer().add(start), rhs.row_stride, len, vectors, k, to, to_stride);
        }
    };
    match sink {
        Sink::Store(out) => {
            assert!(out.len() == m * n);
            combine(0, n, out.as_mut_ptr(), n);
        }
        Sink::Epilogue { epilogue, row } => {
            let mut room = [MaybeUninit::<T>::uninit(); SUMS_AT_ONCE];
            let most = SUMS_AT_ONCE / MOST_VECTORS;
            for column in (0..n).step_by(most) {
                let columns = most.min(n - column);
                Room { data: room.as_mut_ptr().cast::<T>(), len: SUMS_AT_ONCE }.poison();
                combine(column, columns, room.as_mut_ptr().cast(), columns);
                // SAFETY: so many were written just now.
                let sums = unsafe { std::slice::from_raw_parts(room.as_ptr().cast(), m * columns) };
                epilogue.block(Block { row, column, rows: m, columns, sums, stride: columns });
            }
        }
    }
}
