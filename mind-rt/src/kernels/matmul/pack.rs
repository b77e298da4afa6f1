//! Copies panels of an operand into the layout of the microkernels.

use super::sizes::{DEEP, NEAR_ROWS};
use super::spans::Span;
use crate::kernels::limit::limit;
use crate::kernels::number::Number;
use crate::kernels::prefetch::prefetch;
use crate::kernels::tile::{LINE, Micro, TransposeFn};
use crate::simd::{Kernel, dispatch};

/// Copies a block of `rows` rows into panels of columns, each in the layout of [`pack`]. The width of a panel is the
/// length of its span, rounded up to a multiple of `multiple`, and it begins at [`panel_start`].
///
/// # Safety
/// The block must be readable, and `to` writable up to the end of the last panel; they must not overlap. The processor
/// must have the level of `micro`.
pub unsafe fn pack_panels<T: Number>(
    micro: &Micro<T>,
    from: *const T,
    [row_stride, col_stride]: [usize; 2],
    rows: usize,
    panels: impl Iterator<Item = Span> + Clone,
    multiple: usize,
    to: *mut T,
) {
    if col_stride == 1 {
        return dispatch(Panels { from, row_stride, rows, panels, multiple, to });
    }
    for panel in panels {
        let width = panel.len.next_multiple_of(multiple);
        // SAFETY: the caller vouches for each panel.
        unsafe {
            let from = from.add(panel.start * col_stride);
            let to = to.add(panel_start(rows, panel.start));
            pack(micro, from, [row_stride, col_stride], [rows, panel.len], to, width);
        }
    }
}

/// The start of the panel whose first row or column is `first`, with `depth` steps of `k`. Deep panels are an odd
/// number of cache lines apart, so that they do not evict each other. Shallow panels all fit into the cache.
pub const fn panel_start(depth: usize, first: usize) -> usize {
    let apart = if depth < DEEP { depth } else { depth | 1 };
    first * apart
}

/// Panels of contiguous rows: a few rows at a time are copied to all panels, because memory is read fastest in long
/// stretches.
struct Panels<T, P> {
    from: *const T,
    row_stride: usize,
    rows: usize,
    panels: P,
    multiple: usize,
    to: *mut T,
}

impl<T: Number, P: Iterator<Item = Span> + Clone> Kernel for Panels<T, P> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        /// The number of rows that are copied at a time. Rows are usually in different pages, so that no processor
        /// prefetches the next one. With several rows at a time, the next ones are fetched while one is copied.
        const ROWS: usize = limit(8, 3);
        let Self { from, row_stride, rows, panels, multiple, to } = self;
        for first in (0..rows).step_by(ROWS) {
            let end = rows.min(first + ROWS);
            for panel in panels.clone() {
                let width = panel.len.next_multiple_of(multiple);
                let mut at = panel_start(rows, panel.start) + first * width;
                for i in first..end {
                    let row = from.wrapping_add(i * row_stride + panel.start);
                    // SAFETY: the code that packs vouches for every element of both.
                    unsafe { copy(row, to.add(at), panel.len) };
                    at += width;
                }
            }
        }
    }
}

/// Copies a matrix so that element `[i, j]` is at `to[i * width + j]`.
///
/// # Safety
/// The matrix must be readable and `to` writable; they must not overlap. The processor must have the level of `micro`.
pub unsafe fn pack<T: Number>(
    micro: &Micro<T>,
    from: *const T,
    [row_stride, col_stride]: [usize; 2],
    [rows, columns]: [usize; 2],
    to: *mut T,
    width: usize,
) {
    if row_stride == 1
        && col_stride != 1
        && let Some(transpose) = micro.transpose
    {
        // SAFETY: the contract is the same.
        return unsafe {
            if rows > NEAR_ROWS {
                pack_far(transpose, from, col_stride, [rows, columns], to, width);
            } else {
                transpose(from, col_stride, [columns, rows], to, width);
            }
        };
    }
    dispatch(Pack { from, row_stride, col_stride, rows, columns, to, width });
}

/// As [`pack`], for columns of many rows. One cache line of each column is copied at a time, since columns a power of
/// two apart evict each other from the cache, and the lines are prefetched.
///
/// # Safety
/// As for [`pack`]. The processor must have the level of `transpose`.
#[inline(never)]
unsafe fn pack_far<T>(
    transpose: TransposeFn<T>,
    from: *const T,
    col_stride: usize,
    [rows, columns]: [usize; 2],
    to: *mut T,
    width: usize,
) {
    /// The number of columns that are transposed at once: whole squares at every level.
    const COLUMNS: usize = 8;
    let line = LINE / size_of::<T>();
    for first in (0..rows).step_by(line) {
        for j in (0..columns).step_by(COLUMNS) {
            let block = COLUMNS.min(columns - j);
            for column in j..j + block {
                prefetch(from.wrapping_add(first + 2 * line + column * col_stride));
            }
            // SAFETY: the block is inside both, and the caller vouches for the level.
            unsafe {
                let (from, to) = (from.add(first + j * col_stride), to.add(first * width + j));
                transpose(from, col_stride, [block, line.min(rows - first)], to, width);
            }
        }
    }
}

struct Pack<T> {
    from: *const T,
    row_stride: usize,
    col_stride: usize,
    rows: usize,
    columns: usize,
    to: *mut T,
    width: usize,
}

impl<T: Number> Kernel for Pack<T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { from, row_stride, col_stride, rows, columns, to, width } = self;
        if col_stride == 1 {
            for i in 0..rows {
                // SAFETY: the code that packs vouches for every element of both.
                unsafe { copy(from.add(i * row_stride), to.add(i * width), columns) };
            }
            return;
        }
        for first in (0..rows).step_by(16) {
            for j in 0..columns {
                for i in first..rows.min(first + 16) {
                    // SAFETY: as above.
                    unsafe { *to.add(i * width + j) = *from.add(i * row_stride + j * col_stride) };
                }
            }
        }
    }
}

/// Copies a short row in pieces of constant size, so that this takes a few moves and no call.
///
/// # Safety
/// Both must have `len` elements, and must not overlap.
#[inline(always)]
unsafe fn copy<T: Copy>(from: *const T, to: *mut T, len: usize) {
    let mut at = 0;
    macro_rules! pieces {
        ($($size:literal),*) => {
            $(while len - at >= $size {
                // SAFETY: the piece is inside both.
                unsafe { from.add(at).copy_to_nonoverlapping(to.add(at), $size) };
                at += $size;
            })*
        };
    }
    pieces!(16, 4, 1);
}
