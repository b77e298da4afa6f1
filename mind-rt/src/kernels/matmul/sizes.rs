//! The sizes of the blocks of a product, and the sizes at which it is computed in another way. Each has one line about
//! its purpose.
//!
//! Decisions that depend on what the processor reports are made in [`choices`](super::choices). The sizes here are not
//! reported, or the planner needs them before the processor is known: the scratch memory of a product is a constant of
//! the program. Each size can be tried by `cargo run --release --manifest-path benches/gemm/Cargo.toml`. `benches/log/`
//! has the results of other values, also of those of BLIS's model (Low, Igual, Smith, Quintana-Ortí, "Analytical
//! Modeling Is Enough for High-Performance BLIS", ACM TOMS 2016).

use mind_shape::threads::{COLUMN_SIZES as COLUMNS, ColumnSizes};

use crate::kernels::limit::limit;
use crate::kernels::tile::{MAX_ROWS, MOST_VECTORS};

// Blocks, and the scratch memory that they are packed to.

/// The most steps of `k` in a block: eight left rows of it are 16 or 32 KiB. Left rows are prefetched and panels are
/// read once each, so that both need not stay in the first-level cache, as the model requires.
pub const DEPTH: usize = limit(512, 8);

/// The most bytes of a right block, including one additional step of `k`, see
/// [`panel_start`](super::pack::panel_start). Operands of at most this size stay in the second-level cache between two
/// reads.
pub const RIGHT_BYTES: usize = limit(513 << 10, 1 << 10);

/// The most bytes of a packed left block, including one additional step of `k`. The right operand is packed anew for
/// each left block, so there should be few.
pub const LEFT_BYTES: usize = limit(8, 2) * RIGHT_BYTES;

/// Bytes on the stack for a packed right block.
pub const PACKED_STACK_BYTES: usize = limit(32 << 10, 768);

/// As [`PACKED_STACK_BYTES`], for small products, for which a larger stack frame would be a noticeable cost.
pub const SMALL_STACK_BYTES: usize = limit(4 << 10, 384);

/// The most rows whose sums wait for the next block of `k`.
pub const WAITING_ROWS: usize = limit(512, 16);

/// Half of a first-level cache: the bytes of the sums that an epilogue takes at once if no sums wait, and those of the
/// columns that all rows of inner products are multiplied by before others are read, unless these are fewer than
/// [`INNER_COLUMNS`].
pub const SUMS_BYTES: usize = limit(16 << 10, 1 << 10);

/// From this many steps of `k` on, panels are an odd number of cache lines apart.
pub const DEEP: usize = limit(128, 4);

/// Up to this many rows, columns that are packed as rows are usually in the cache.
pub const NEAR_ROWS: usize = limit(256, 16);

// Left operands.

/// A left operand is packed if a row of the result has more cache lines than this.
pub const WIDE_LINES: usize = limit(8, 1);

/// As [`WIDE_LINES`], if the operand's columns share cache sets and panels are a cache line wide.
pub const FEW_LINES: usize = limit(2, 1);

// Right operands.

/// The most tiles of rows that read a right operand where it lies, if it fits into the second-level cache, or if panels
/// are wide. Fewer do if it is in another cache, and one does if it is in none. So a packed block of the left operand,
/// for which the right one is packed anew, has at least as many tiles.
pub const READS: usize = limit(8, 2);

/// Bytes of a right operand that is usually in no cache. For up to [`READS`] tiles of rows, only such an operand is
/// prefetched. Tiles wait less for an operand in the third-level cache, and its blocks would make them load and store
/// sums more often.
pub const BEYOND_CACHES: usize = limit(8 << 20, 2 << 10);

/// The most rows for which right blocks are prefetched and never packed. With more rows, the first tiles of a block are
/// few of all tiles that read it, and packing pays.
pub const FETCHED_ROWS: usize = 2 * READS * MAX_ROWS;

/// The most steps of `k`, and as many columns, of a right block that is prefetched: two blocks fit into the
/// second-level cache.
pub const FETCHED: usize = limit(240, 16);

// Few rows, by whole rows or columns of the right operand.

/// The most rows that are combined if a panel is a cache line wide: twice the vectors that are combined at once.
pub const COMBINED_ROWS: usize = 2 * MOST_VECTORS;

/// The most rows for which inner products are computed: for more rows, copying columns takes less time. This size and
/// the next affect results.
pub const INNER_ROWS: usize = 8;

/// The fewest steps of `k` per row of inner products: with fewer steps, the work per sum is a noticeable cost.
pub const INNER_STEPS: usize = limit(16, 1);

/// The fewest columns that rows of inner products are multiplied by: as many as are multiplied at once.
pub const INNER_COLUMNS: usize = 4;

/// The fewest columns with which it pays to read rows from end to end.
pub const LONG: usize = limit(256, 16);

// Results and threads.

/// The sizes at which a product is split by columns. A last part narrower than `narrowest` might be computed by another
/// kernel with another order of sums: the one for small products (`floats`), or the one for a single vector. Up to
/// `shallow` products per sum, computing tiles takes less time than writing results that are not in the cache.
pub const COLUMN_SIZES: ColumnSizes = ColumnSizes {
    rows_to_share: limit(COLUMNS.rows_to_share, 12),
    grain: limit(COLUMNS.grain, 16),
    narrowest: limit(COLUMNS.narrowest, 8),
    parts_of_a_thread: COLUMNS.parts_of_a_thread,
    fewest: limit(COLUMNS.fewest, 16),
    shallow: limit(COLUMNS.shallow, 4),
};
