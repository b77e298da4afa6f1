//! What a product uses scratch memory for: what the planner adds up is what the product cuts its memory by.

use super::operands::share_sets;
use super::room::Room;
use super::sizes::{
    DEPTH, FETCHED, FETCHED_ROWS, FEW_LINES, LEFT_BYTES, PACKED_STACK_BYTES, RIGHT_BYTES, WAITING_ROWS,
    WIDE_LINES, WORTH_A_BLOCK, WORTH_PACKING,
};
use crate::kernels::tile::{LINE, MAX_ROWS};

/// The elements of scratch memory that a product may use, left columns being so far apart.
pub const fn scratch<T>([m, k, n]: [usize; 3], lhs_col_stride: usize) -> usize {
    let lanes = LINE / size_of::<T>();
    let Shares { left, right, waiting } = Shares::of::<T>([m, k, n], lanes);
    let right = if right * size_of::<T>() <= PACKED_STACK_BYTES { 0 } else { right };
    let left = if left_pays::<T>([m, k, n], lhs_col_stride) { left } else { 0 };
    left + right + if k <= DEPTH { 0 } else { waiting }
}

/// The elements of scratch memory that a product uses for each purpose, at most: what the planner adds up, and what a product
/// cuts its memory by.
pub(super) struct Shares {
    /// A packed block of the left operand.
    pub(super) left: usize,
    /// A packed block of the right one.
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

    /// Cuts scratch memory in this order. Where there is less than all of it, as in the part that a thread gets of what was
    /// planned for all threads, the left block gets what the others leave, but no less than a third, and the right block no
    /// less than half of the rest.
    pub(super) fn cut<T>(&self, scratch: Room<T>) -> [Room<T>; 3] {
        let left = scratch.len.saturating_sub(self.right + self.waiting).max(scratch.len / 3);
        let (left, rest) = scratch.split(self.left.min(left));
        let right = rest.len.saturating_sub(self.waiting).max(rest.len / 2);
        let (right, waiting) = rest.split(self.right.min(right));
        [left, right, waiting]
    }
}

/// The elements of a packed block of so many rows or columns, and of `depth` steps of `k`: room for one step more.
pub(super) const fn packed_len(depth: usize, width: usize) -> usize {
    (depth + 1).saturating_mul(width)
}

/// Room for packed blocks of the left operand: for a tile of rows at least.
#[derive(Clone, Copy)]
pub(super) struct LeftRoom<T> {
    pub(super) room: Room<T>,
    /// Most rows that are packed at once: some, and a multiple of [`MAX_ROWS`].
    pub(super) rows: usize,
}

impl<T> LeftRoom<T> {
    /// Room for blocks of up to `depth` steps of `k`; nothing if so few of `m` rows would fit that the right operand, which is
    /// packed anew for each block, had better not wait for them.
    pub(super) fn new(room: Room<T>, m: usize, depth: usize) -> Option<Self> {
        let rows = room.len / packed_len(depth, 1) / MAX_ROWS * MAX_ROWS;
        (rows > 0 && rows >= m.min(WORTH_A_BLOCK)).then_some(Self { room, rows })
    }
}

/// Whether left columns, so far apart, may be read so often that copies of them pay: where they leave the caches before they are read
/// again, since they are large, or since a tile reads more of them than a set has room for. Where rows are contiguous it never does.
pub(super) const fn left_pays<T>([m, k, n]: [usize; 3], apart: usize) -> bool {
    let is_far = bytes::<T>(m, k) > WORTH_PACKING && n > WIDE_LINES * LINE / size_of::<T>();
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
