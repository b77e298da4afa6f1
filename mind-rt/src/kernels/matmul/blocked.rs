//! Products of floats by microkernels: cut into tiles, and blocked so that operands that are read again are still in
//! the cache.
//!
//! ```text
//! for groups of columns
//!   for blocks of k                     the right block stays in L2
//!     for tiles of rows                 the left rows stay in L1
//!       for tiles of columns            each reads a panel of the right block
//! ```
//!
//! Operands are read where they lie, or packed, as [`choices`](super::choices) decides. With more than one block of
//! `k`, each block adds to the sums of the one before. If results are stored unchanged, the result itself holds these
//! sums. An epilogue receives complete sums only, so for an epilogue they wait in the scratch memory, for some rows at
//! a time. Left rows and sums that the next tiles need from beyond L2 are prefetched while a tile is summed, see
//! [`Ahead`]. If rows are few and the right operand is far away, like a batch and the weights of a large layer, the
//! next block of the right operand is prefetched instead.
//!
//! The result does not depend on the sizes of blocks: each element is one chain of multiply-adds, see
//! [`tile`](crate::kernels::tile).

use super::choices::{self, Right, is_far_result, is_whole, packs_left, right_bytes};
use super::pack::{pack, pack_panels, panel_start};
use super::product::{InBounds, Product};
use super::region::Region;
use super::room::{Bytes, Room};
use super::shares::{LeftRoom, Shares, bytes, packed_len};
use super::sizes::{
    COLUMN_SIZES, DEPTH, FETCHED, PACKED_STACK_BYTES, SMALL_STACK_BYTES, SUMS_BYTES, WAITING_ROWS,
};
use super::spans::{Span, chunks, next_part, spans};
use crate::kernels::caches::Caches;
use crate::kernels::epilogue::{Block, Destination, Epilogue};
use crate::kernels::number::Number;
use crate::kernels::tile::{Ahead, LINE, Loop, MAX_ROWS, Micro, Straight, Tile, Tiles, WORTH_FETCHING_AHEAD};

/// The most lanes of a vector.
const MAX_LANES: usize = 16;

/// The destination of sums.
pub enum To<'a, T> {
    /// The sums are stored.
    Region(Region<'a, T>),
    /// An epilogue receives the sums. The product's first row is the epilogue's row `row`.
    Epilogue { epilogue: &'a mut dyn Epilogue<T>, row: usize },
}

/// Computes one product.
pub fn multiply<T: Number + Tiles>(
    micro: &Micro<T>,
    caches: Caches,
    product: &InBounds<'_, T>,
    scratch: &mut [T],
    mut to: To<'_, T>,
) {
    let Product { dims: &[m, k, n], rhs, .. } = **product;
    if let To::Region(region) = &mut to
        && k <= DEPTH
    {
        assert!(region.extents() == [m, n]);
        let is_row_major = rhs.col_stride == 1 || n == 1;
        if is_row_major && n <= micro.columns() {
            return one_panel(micro, product, rhs.pointer(), rhs.row_stride, region);
        }
        let width = n.next_multiple_of(micro.lanes).min(micro.columns());
        if !is_row_major && bytes::<T>(k, width) <= SMALL_STACK_BYTES {
            if n <= micro.columns() {
                return packed_panel(micro, product, Span { start: 0, len: n }, region);
            }
            // Each panel reads the whole left operand.
            if bytes::<T>(m, k) <= SMALL_STACK_BYTES {
                return packed_panels(micro, product, region);
            }
        }
    }
    let scratch = Room { data: scratch.as_mut_ptr(), len: scratch.len() };
    let way = choices::right(micro, caches, product);
    let packs_left = packs_left(micro, product);
    if way == Right::Packed && !packs_left && bytes::<T>(k, n + MAX_LANES) <= SMALL_STACK_BYTES {
        return packed_whole(micro, caches, product, scratch, to);
    }
    if way == Right::Packed || way == Right::InPlace && packs_left {
        return packed(micro, caches, product, way, scratch, to);
    }
    let fetches_right = way == Right::FetchedAhead;
    let [most_depth, most_columns] = if fetches_right {
        [FETCHED; 2]
    } else if is_whole(caches, product) {
        [usize::MAX; 2]
    } else {
        right_block(micro, k, right_bytes(caches) / size_of::<T>())
    };
    let (left, right) = (None, None);
    let far_result = is_far_result(caches, product);
    Blocks { micro, product, most_depth, most_columns, left, right, fetches_right, far_result }
        .multiply(scratch, to);
}

/// Computes and stores a product with at most as many columns as a tile has: a short path for small products. `right`
/// has as many columns of the right operand, its rows `stride` apart.
fn one_panel<T: Number>(
    micro: &Micro<T>,
    product: &InBounds<'_, T>,
    right: *const T,
    stride: usize,
    region: &mut Region<'_, T>,
) {
    let Product { dims: &[m, k, _], lhs, .. } = **product;
    let [rows, n] = region.extents();
    assert!(rows == m);
    let (out, out_stride) = (region.first(), region.stride());
    let tiles = micro.tiles(n);
    let mut i = 0;
    let left = lhs.pointer();
    while i < m {
        let rows = next_part(m - i, micro.rows, 1);
        // SAFETY: the row is inside the operand and the region.
        let (first, to) = unsafe { (left.add(i * lhs.row_stride), out.add(i * out_stride)) };
        let walk = Straight {
            lhs: first,
            lhs_stride: lhs.row_stride,
            to,
            to_stride: out_stride,
            steps: Loop { count: k, lhs: lhs.col_stride, rhs: stride },
            ahead: Ahead::sums(
                if i + rows < m { to.wrapping_add(rows * out_stride) } else { to },
                out_stride,
            ),
        };
        let tile = Tile { walk, rhs: right, columns: n, adds: false };
        // SAFETY: the operands hold all elements that are reached, and the region all rows; the level of `micro` is the
        // processor's.
        unsafe { tiles[rows - 1](&tile) };
        i += rows;
    }
}

/// As [`one_panel`], with these columns of the right operand packed on the stack, which has enough room for them.
#[inline(never)]
fn packed_panel<T: Number>(
    micro: &Micro<T>,
    product: &InBounds<'_, T>,
    columns: Span,
    region: &mut Region<'_, T>,
) {
    let Product { dims: &[_, k, n], rhs, .. } = **product;
    let mut room = Bytes::<SMALL_STACK_BYTES>::new();
    let room = room.room::<T>();
    let stride = columns.len.next_multiple_of(micro.lanes);
    assert!(columns.end() <= n && k * stride <= room.len);
    let strides = [rhs.row_stride, rhs.col_stride];
    // SAFETY: the columns are inside the operand, which holds all elements that are reached, and the room is large
    // enough for them.
    unsafe {
        let from = rhs.pointer().add(columns.start * rhs.col_stride);
        pack(micro, from, strides, [k, columns.len], room.data, stride);
    }
    one_panel(micro, product, room.data, stride, region);
}

/// As [`packed_panel`], for more columns, some at a time.
#[inline(never)]
fn packed_panels<T: Number>(micro: &Micro<T>, product: &InBounds<'_, T>, region: &mut Region<'_, T>) {
    for columns in spans(product.dims[2], micro.columns(), micro.lanes) {
        packed_panel(micro, product, columns, &mut region.take_columns(columns.len));
    }
}

/// Computes a product whose right operand is packed as a whole on the stack, which has enough room for it.
#[inline(never)]
fn packed_whole<T: Number>(
    micro: &Micro<T>,
    caches: Caches,
    product: &InBounds<'_, T>,
    scratch: Room<T>,
    to: To<'_, T>,
) {
    let mut stack = Bytes::<SMALL_STACK_BYTES>::new();
    let [most_depth, most_columns] = [usize::MAX; 2];
    let (left, right) = (None, Some(stack.room()));
    let (fetches_right, far_result) = (false, is_far_result(caches, product));
    Blocks { micro, product, most_depth, most_columns, left, right, fetches_right, far_result }
        .multiply(scratch, to);
}

/// Computes a product with memory for packed operands.
#[inline(never)]
fn packed<T: Number + Tiles>(
    micro: &Micro<T>,
    caches: Caches,
    product: &InBounds<'_, T>,
    way: Right,
    scratch: Room<T>,
    to: To<'_, T>,
) {
    let dims @ [m, k, _] = *product.dims;
    let mut stack = Bytes::<PACKED_STACK_BYTES>::new();
    let stack = stack.room();
    let mut shares = Shares::of::<T>(dims, micro.lanes);
    if !packs_left(micro, product) {
        shares.left = 0;
    }
    if way != Right::Packed {
        shares.right = 0;
    }
    if k <= DEPTH || matches!(to, To::Region(_)) {
        shares.waiting = 0;
    }
    // A block without enough room is read where it lies, or packed on the stack, and its share goes to the others.
    let depth = k.min(DEPTH);
    if LeftRoom::new(shares.cut(scratch)[0], m, depth).is_none() {
        shares.left = 0;
    }
    if shares.cut(scratch)[1].len <= stack.len {
        shares.right = 0;
    }
    let [left, right, waiting] = shares.cut(scratch);
    let left = LeftRoom::new(left, m, depth);
    let right = (way == Right::Packed).then_some(if right.len > 0 { right } else { stack });
    let most = right_bytes(caches) / size_of::<T>();
    let [most_depth, most_columns] = right_block(micro, k, right.map_or(most, |right| right.len.min(most)));
    let (fetches_right, far_result) = (false, is_far_result(caches, product));
    Blocks { micro, product, most_depth, most_columns, left, right, fetches_right, far_result }
        .multiply(waiting, to);
}

/// The most steps of `k`, and the most columns, of a block of the right operand with at most `len` elements.
fn right_block<T>(micro: &Micro<T>, k: usize, len: usize) -> [usize; 2] {
    let depth = k.min(DEPTH).min(len / micro.columns() - 1);
    // Whole panels, at least one of which fits: a narrower panel computes fewer sums for each element that it reads.
    [depth, len / packed_len(depth, 1) / micro.columns() * micro.columns()]
}

/// A product, and how it is cut into blocks.
struct Blocks<'a, T: 'static> {
    micro: &'a Micro<T>,
    product: &'a InBounds<'a, T>,
    /// The most steps of `k` in a block.
    most_depth: usize,
    /// The most columns in a group: whole vectors, or all columns.
    most_columns: usize,
    /// Memory for a packed left block.
    left: Option<LeftRoom<T>>,
    /// Memory for a packed right block, enough for the largest.
    right: Option<Room<T>>,
    /// Whether the tiles of a right block prefetch the next one.
    fetches_right: bool,
    /// Whether the result is not in the cache when it is written.
    far_result: bool,
}

/// The destination of sums: `to[i * stride + j]`, from the first row and column of a block on.
#[derive(Clone, Copy)]
struct SumBlock<T> {
    to: *mut T,
    stride: usize,
    /// Whether storing sums takes longer than computing them.
    far: bool,
    /// Where the epilogue will store the sums, if that memory is prefetched meanwhile.
    destination: Option<Destination<T>>,
}

impl<T> SumBlock<T> {
    fn new(to: *mut T, stride: usize) -> Self {
        Self { to, stride, far: false, destination: None }
    }

    /// The destination of the sums `rows` rows below.
    #[inline(always)]
    fn below(self, rows: usize) -> Self {
        let destination = self.destination.map(|destination| destination.below(rows));
        Self { to: self.to.wrapping_add(rows * self.stride), destination, ..self }
    }
}

impl<T: Number> Blocks<'_, T> {
    fn multiply(mut self, waiting: Room<T>, to: To<'_, T>) {
        match to {
            To::Region(region) => self.store(region),
            To::Epilogue { epilogue, row } if self.product.dims[1] <= self.most_depth => {
                self.hand_over(epilogue, row);
            }
            To::Epilogue { epilogue, row } => self.hand_over_blocks(epilogue, row, waiting),
        }
    }

    fn store(&mut self, mut region: Region<'_, T>) {
        let [m, k, n] = *self.product.dims;
        assert!(region.extents() == [m, n]);
        let (out, stride) = (region.first(), region.stride());
        let far = k <= COLUMN_SIZES.shallow && self.far_result;
        for rows in spans(m, self.most_rows(), MAX_ROWS) {
            for depth in spans(k, self.most_depth, 1) {
                let left = self.left(rows, depth);
                for columns in spans(n, self.most_columns, self.micro.lanes) {
                    let next =
                        if columns.end() < n { [depth.start, columns.end()] } else { [depth.end(), 0] };
                    let right = self.right(depth, columns, next);
                    // SAFETY: the region has these rows and columns.
                    unsafe {
                        let to = out.add(rows.start * stride + columns.start);
                        self.rows(
                            rows,
                            depth,
                            columns,
                            left,
                            right,
                            SumBlock { far, ..SumBlock::new(to, stride) },
                        );
                    }
                }
            }
        }
    }

    /// Passes sums to the epilogue, if all of `k` is one block.
    fn hand_over(&mut self, epilogue: &mut dyn Epilogue<T>, first: usize) {
        let [m, k, n] = *self.product.dims;
        let mut room = Bytes::<SUMS_BYTES>::new();
        let room = room.room();
        let most_columns = self.most_columns.min(room.len / MAX_ROWS);
        for columns in spans(n, most_columns, self.micro.lanes) {
            let depth = Span { start: 0, len: k };
            let right = self.right(depth, columns, [0, columns.end()]);
            let most_rows = (room.len / columns.len / MAX_ROWS * MAX_ROWS).min(self.most_rows());
            for rows in spans(m, most_rows, MAX_ROWS) {
                let left = self.left(rows, depth);
                let destination = self
                    .far_result
                    .then(|| epilogue.destination(first + rows.start, columns.start))
                    .flatten();
                let sums = SumBlock { destination, ..SumBlock::new(room.data, columns.len) };
                room.poison();
                // SAFETY: this many rows of these columns fit into the room.
                unsafe { self.rows(rows, depth, columns, left, right, sums) };
                // SAFETY: all of these sums have just been written.
                let sums = unsafe { std::slice::from_raw_parts(room.data, rows.len * columns.len) };
                epilogue.block(block(first, rows, columns, sums));
            }
        }
    }

    /// Passes sums to the epilogue. They wait in `waiting` until all blocks of `k` are added.
    #[inline(never)]
    fn hand_over_blocks(&mut self, epilogue: &mut dyn Epilogue<T>, first: usize, waiting: Room<T>) {
        let [m, k, n] = *self.product.dims;
        let mut stack = Bytes::<SUMS_BYTES>::new();
        let stack = stack.room();
        let room = if waiting.len > stack.len { waiting } else { stack };
        let lanes = self.micro.lanes;
        let most_columns = self.most_columns.min(room.len / MAX_ROWS / lanes * lanes);
        let widest = spans(n, most_columns, self.micro.lanes).next().map_or(n, |columns| columns.len);
        let most_rows = (room.len / widest / MAX_ROWS * MAX_ROWS).min(WAITING_ROWS).min(self.most_rows());
        for rows in spans(m, most_rows, MAX_ROWS) {
            for columns in spans(n, most_columns, self.micro.lanes) {
                room.poison();
                for depth in spans(k, self.most_depth, 1) {
                    let next =
                        if depth.end() < k { [depth.end(), columns.start] } else { [0, columns.end()] };
                    let (left, right) = (self.left(rows, depth), self.right(depth, columns, next));
                    let sums = SumBlock::new(room.data, columns.len);
                    // SAFETY: this many rows of the widest group of columns fit into the room.
                    unsafe { self.rows(rows, depth, columns, left, right, sums) };
                }
                // SAFETY: all of these sums have just been written.
                let sums = unsafe { std::slice::from_raw_parts(room.data, rows.len * columns.len) };
                epilogue.block(block(first, rows, columns, sums));
            }
        }
    }

    /// The most rows that are packed at once.
    fn most_rows(&self) -> usize {
        self.left.map_or(usize::MAX, |left| left.rows)
    }

    /// The block of the left operand. If there is room, it is packed in groups of rows, one after the other.
    fn left(&self, rows: Span, depth: Span) -> Left<T> {
        let lhs = self.product.lhs;
        // SAFETY: the element is inside the operand.
        let from = unsafe { lhs.data.as_ptr().add(lhs.index(rows.start, depth.start)) };
        let Some(LeftRoom { room, .. }) = self.left else {
            return Left {
                data: from,
                row_stride: lhs.row_stride,
                col_stride: lhs.col_stride,
                group: usize::MAX,
            };
        };
        let group = self.group();
        assert!(panel_start(depth.len, rows.len) <= room.len);
        // SAFETY: the block is inside the operand, and the room is large enough for it.
        unsafe {
            let strides = [lhs.col_stride, lhs.row_stride];
            let groups = chunks(rows.len, group);
            pack_panels(self.micro, from, strides, depth.len, groups, 1, room.data);
        }
        Left { data: room.data, row_stride: 1, col_stride: 0, group }
    }

    /// The number of rows of a packed group: the rows of the tallest tiles that together fill a cache line, at least of
    /// one tile.
    fn group(&self) -> usize {
        let rows = self.micro.rows;
        (LINE / size_of::<T>() / rows).max(1) * rows
    }

    /// The block of the right operand, packed if there is room. The block after it begins in row `next_row` and column
    /// `next_column`.
    fn right(&mut self, depth: Span, columns: Span, [next_row, next_column]: [usize; 2]) -> RightBlock<T> {
        let rhs = &self.product.rhs;
        // SAFETY: the element is inside the operand.
        let from = unsafe { rhs.data.as_ptr().add(rhs.index(depth.start, columns.start)) };
        let Some(room) = self.right else {
            let next = || rhs.data.as_ptr().wrapping_add(rhs.index(next_row, next_column));
            let next = self.fetches_right.then(next);
            return RightBlock { data: from, stride: Some(rhs.row_stride), next };
        };
        let lanes = self.micro.lanes;
        assert!(panel_start(depth.len, columns.len.next_multiple_of(lanes)) <= room.len);
        // SAFETY: the block is inside the operand, and the room is large enough for it with its last vector filled up.
        unsafe {
            let strides = [rhs.row_stride, rhs.col_stride];
            let panels = spans(columns.len, self.micro.columns(), lanes);
            pack_panels(self.micro, from, strides, depth.len, panels, lanes, room.data);
        }
        RightBlock { data: room.data, stride: None, next: None }
    }

    /// Sums a block of rows, and adds to the present values unless `depth` begins with 0.
    ///
    /// # Safety
    /// Rows, depth and columns must be inside the product, `left` and `right` must be its blocks of these, and `sums`
    /// must have room.
    unsafe fn rows(
        &self,
        rows: Span,
        depth: Span,
        columns: Span,
        left: Left<T>,
        right: RightBlock<T>,
        sums: SumBlock<T>,
    ) {
        for group in chunks(rows.len, left.group) {
            let packed = left.group < usize::MAX;
            // SAFETY: the groups are inside the block, and packed ones lie one after the other.
            let left = unsafe {
                if packed {
                    let data = left.data.add(panel_start(depth.len, group.start));
                    Left { data, col_stride: group.len, ..left }
                } else {
                    left
                }
            };
            for tile in spans(group.len, self.micro.rows, 1) {
                let end = tile.start + tile.len;
                // SAFETY: the tile's rows are in the group, and the caller vouches for the sums.
                unsafe {
                    let tile_left = Left { data: left.data.add(tile.start * left.row_stride), ..left };
                    let sums = sums.below(group.start + tile.start);
                    let next = Next {
                        rows: tile_left.data.wrapping_add(tile.len * left.row_stride),
                        stride: left.row_stride,
                        lines: 0,
                        sums: if group.start + end < rows.len { sums.below(tile.len).to } else { sums.to },
                    };
                    let next = if packed && group.start + group.len < rows.len {
                        // Each row of tiles prefetches its share of the next group. A stretch of a group has as many
                        // cache lines as the group has rows.
                        let line = LINE / size_of::<T>();
                        let group = left.data.add(panel_start(depth.len, group.len));
                        Next { rows: group.add(tile.start * line), stride: line, lines: tile.len, ..next }
                    } else if let (Some(block), Some(stride)) = (right.next, right.stride) {
                        // Each row of tiles prefetches its share of the block's lines.
                        let [first, last] = [tile.start, end].map(|row| depth.len * row / rows.len);
                        Next { rows: block.wrapping_add(first * stride), stride, lines: last - first, ..next }
                    } else if !packed && left.col_stride == 1 {
                        let rows_left = self.product.dims[0] - (rows.start + end);
                        Next { lines: rows_left.min(self.micro.rows), ..next }
                    } else {
                        next
                    };
                    self.row_of_tiles(tile.len, depth, columns, (tile_left, next), right, sums);
                }
            }
        }
    }

    /// Sums the tiles of some rows, side by side. Each tile prefetches its share of the rows in `next`.
    ///
    /// # Safety
    /// As for [`rows`](Self::rows). The operands begin with the first row.
    #[inline(always)]
    unsafe fn row_of_tiles(
        &self,
        rows: usize,
        depth: Span,
        columns: Span,
        (left, mut next): (Left<T>, Next<T>),
        right: RightBlock<T>,
        sums: SumBlock<T>,
    ) {
        let micro = self.micro;
        let share = next.lines.div_ceil(columns.len.div_ceil(micro.columns()));
        // If sums are fetched all at once, those of the next tile would come too late, so those of the tile after it
        // are fetched.
        let room_between = if sums.far { micro.columns() } else { 0 };
        let walk = Straight {
            lhs: left.data,
            lhs_stride: left.row_stride,
            to: sums.to,
            to_stride: sums.stride,
            steps: Loop { count: depth.len, lhs: left.col_stride, rhs: 0 },
            ahead: Ahead {
                lhs: next.rows,
                lhs_stride: next.stride,
                lines: 0,
                to: next.sums,
                to_stride: sums.destination.map_or(sums.stride, |to| to.stride),
                at_once: sums.far || sums.destination.is_some() && depth.len < WORTH_FETCHING_AHEAD,
            },
        };
        let mut tile = Tile { walk, rhs: right.data, columns: 0, adds: depth.start > 0 };
        for panel in spans(columns.len, micro.columns(), micro.lanes) {
            let ahead = &mut tile.walk.ahead;
            tile.columns = panel.len;
            (ahead.lhs, ahead.lines) = (next.rows, share.min(next.lines));
            next.rows = next.rows.wrapping_add(ahead.lines * next.stride);
            next.lines -= ahead.lines;
            let next_panel = panel.start + panel.len + room_between;
            ahead.to = if next_panel < columns.len { sums.to.wrapping_add(next_panel) } else { next.sums };
            if let Some(to) = sums.destination {
                ahead.to = to.first.wrapping_add(panel.start);
            }
            // SAFETY: the panel is inside the right block and the sums. The processor has the level of `micro`. Rows,
            // columns and depth are inside the block that the caller vouches for.
            unsafe {
                tile.walk.to = sums.to.add(panel.start);
                (tile.rhs, tile.walk.steps.rhs) = match right.stride {
                    Some(stride) => (right.data.add(panel.start), stride),
                    None => (
                        right.data.add(panel_start(depth.len, panel.start)),
                        panel.len.next_multiple_of(micro.lanes),
                    ),
                };
                micro.tiles(panel.len)[rows - 1](&tile);
            }
        }
    }
}

/// A block of the right operand.
#[derive(Clone, Copy)]
struct RightBlock<T> {
    data: *const T,
    /// The distance from one row to the next; `None` if the block is packed, panel by panel.
    stride: Option<usize>,
    /// The next block, if it is prefetched now.
    next: Option<*const T>,
}

/// Rows of the left operand.
#[derive(Clone, Copy)]
struct Left<T> {
    data: *const T,
    row_stride: usize,
    /// The distance from one step of `k` to the next: in a packed group, its number of rows.
    col_stride: usize,
    /// The number of rows of a packed group; `usize::MAX` if rows are not packed.
    group: usize,
}

/// The operands of the tiles of the next rows, see [`Ahead`].
#[derive(Clone, Copy)]
struct Next<T> {
    /// The left factors: in a stretch of `k`, `lines` cache lines that are `stride` apart.
    rows: *const T,
    stride: usize,
    lines: usize,
    /// The sums of the first tile.
    sums: *const T,
}

fn block<T>(first: usize, rows: Span, columns: Span, sums: &[T]) -> Block<'_, T> {
    Block {
        row: first + rows.start,
        column: columns.start,
        rows: rows.len,
        columns: columns.len,
        sums,
        stride: columns.len,
    }
}
