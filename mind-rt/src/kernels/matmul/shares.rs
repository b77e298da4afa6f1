//! The uses of scratch memory in a product: the planner adds up the same shares by which the product splits its memory.

use super::operands::share_sets;
use super::room::Room;
use super::sizes::{
    DEPTH, FETCHED, FETCHED_ROWS, FEW_LINES, LEFT_BYTES, PACKED_STACK_BYTES, READS, RIGHT_BYTES,
    WAITING_ROWS, WIDE_LINES,
};
use crate::kernels::tile::{LINE, MAX_ROWS};

/// The elements of scratch memory that a product may use, if left columns are `lhs_col_stride` apart.
pub const fn scratch<T>([m, k, n]: [usize; 3], lhs_col_stride: usize) -> usize {
    let lanes = LINE / size_of::<T>();
    let Shares { left, right, waiting } = Shares::of::<T>([m, k, n], lanes);
    let right = if right * size_of::<T>() <= PACKED_STACK_BYTES { 0 } else { right };
    let left = if left_pays::<T>([m, k, n], lhs_col_stride) { left } else { 0 };
    left + right + if k <= DEPTH { 0 } else { waiting }
}

/// The most elements of scratch memory that a product uses for each purpose. The planner adds these up, and a product
/// splits its memory by them.
pub(super) struct Shares {
    /// A packed block of the left operand.
    pub(super) left: usize,
    /// A packed block of the right operand.
    pub(super) right: usize,
    /// The sums that wait for the next block of `k`.
    pub(super) waiting: usize,
}

impl Shares {
    pub(super) const fn of<T>([m, k, n]: [usize; 3], lanes: usize) -> Self {
        let depth = min(k, DEPTH);
        let width = n.saturating_add(lanes - 1) / lanes * lanes;
        let most_columns = RIGHT_BYTES / size_of::<T>() / DEPTH;
        let most_columns = if m <= FETCHED_ROWS && most_columns < FETCHED { FETCHED } else { most_columns };
        Self {
            left: min(packed_len(depth, m), LEFT_BYTES / size_of::<T>()),
            right: min(packed_len(depth, width), RIGHT_BYTES / size_of::<T>()),
            waiting: min(m, WAITING_ROWS) * min(n, most_columns),
        }
    }

    /// Splits scratch memory in the order of the fields. There may be less memory than all shares, as in the part that
    /// a thread gets of the memory planned for all threads. Then the left block gets the memory that the others leave,
    /// but no less than a third, and the right block gets no less than half of the rest.
    pub(super) fn cut<T>(&self, scratch: Room<T>) -> [Room<T>; 3] {
        let left = scratch.len.saturating_sub(self.right + self.waiting).max(scratch.len / 3);
        let (left, rest) = scratch.split(self.left.min(left));
        let right = rest.len.saturating_sub(self.waiting).max(rest.len / 2);
        let (right, waiting) = rest.split(self.right.min(right));
        [left, right, waiting]
    }
}

/// The elements of a packed block of `width` rows or columns and `depth` steps of `k`, with room for one more step.
pub(super) const fn packed_len(depth: usize, width: usize) -> usize {
    (depth + 1).saturating_mul(width)
}

/// Memory for packed blocks of the left operand, at least for a tile of rows.
#[derive(Clone, Copy)]
pub(super) struct LeftRoom<T> {
    pub(super) room: Room<T>,
    /// The most rows that are packed at once: a multiple of [`MAX_ROWS`], and not 0.
    pub(super) rows: usize,
}

impl<T> LeftRoom<T> {
    /// Memory for blocks of up to `depth` steps of `k`; `None` if only few of `m` rows would fit. Since the right
    /// operand is packed anew for each left block, packing the left one would not pay then.
    pub(super) fn new(room: Room<T>, m: usize, depth: usize) -> Option<Self> {
        let rows = room.len / packed_len(depth, 1) / MAX_ROWS * MAX_ROWS;
        (rows > 0 && rows >= m.min(READS * MAX_ROWS)).then_some(Self { room, rows })
    }
}

/// Whether copies of left columns that are `apart` elements apart may pay. They pay if columns leave the caches before
/// they are read again, because they are large, or because a tile reads more of them than a cache set has room for.
/// They never pay if rows are contiguous.
pub(super) const fn left_pays<T>([m, k, n]: [usize; 3], apart: usize) -> bool {
    let is_far = bytes::<T>(m, k) > RIGHT_BYTES && n > WIDE_LINES * LINE / size_of::<T>();
    apart != 1 && (is_far || k > MAX_ROWS && share_sets::<T>(apart) && n > FEW_LINES * LINE / size_of::<T>())
}

pub(super) const fn bytes<T>(rows: usize, columns: usize) -> usize {
    rows.saturating_mul(columns).saturating_mul(size_of::<T>())
}

const fn min(x: usize, y: usize) -> usize {
    if x < y { x } else { y }
}

#[cfg(all(test, not(feature = "__small_blocks")))]
mod tests {
    use super::*;

    #[test]
    fn a_left_operand_has_memory_only_where_it_may_be_copied() {
        let few = packed_len(256, 64);
        assert_eq!(scratch::<f32>([1000, 256, 64], 1000), few, "columns have sets of their own");
        assert_eq!(scratch::<f32>([1024, 256, 64], 1024), few + packed_len(256, 1024), "they share sets");
        let many = packed_len(256, 256);
        assert_eq!(scratch::<f32>([1024, 256, 256], 1000), many + packed_len(256, 1024), "it is large");
        assert_eq!(scratch::<f32>([1024, 256, 256], 1), many, "its rows are contiguous");
    }
}
