//! Copies of panels of an operand, laid out for the microkernels.

use super::tile::Micro;
use crate::element::Element;
use crate::simd::{Kernel, dispatch};

/// Copies a matrix so that element `[i, j]` is at `to[i * width + j]`.
///
/// # Safety
/// The matrix may be read, and `to` written; they do not overlap. The processor has the level of `micro`.
pub unsafe fn pack<T: Element>(
    micro: &Micro<T>,
    from: *const T,
    [row_stride, col_stride]: [usize; 2],
    [rows, columns]: [usize; 2],
    to: *mut T,
    width: usize,
) {
    if row_stride == 1
        && col_stride != 1
        && let Some((size, transpose)) = micro.transpose
    {
        for i in (0..rows).step_by(size) {
            for j in (0..columns).step_by(size) {
                let block = [size.min(columns - j), size.min(rows - i)];
                // SAFETY: the block is inside both, and the level of `micro` is the processor's.
                unsafe {
                    transpose(from.add(i + j * col_stride), col_stride, block, to.add(i * width + j), width)
                };
            }
        }
        return;
    }
    dispatch(Pack { from, row_stride, col_stride, rows, columns, to, width });
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

impl<T: Element> Kernel for Pack<T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { from, row_stride, col_stride, rows, columns, to, width } = self;
        if col_stride == 1 {
            for i in 0..rows {
                // SAFETY: whoever packs vouches for every element of both.
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

/// Copies a short row, in pieces of constant size so that it takes a few moves and no call.
///
/// # Safety
/// Both have `len` elements, and do not overlap.
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
