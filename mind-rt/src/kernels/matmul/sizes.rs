//! The sizes that a product is cut by, and from which it is computed in another way: one line each of what it bounds.
//!
//! What the processor says is asked in [`choices`](super::choices). These are what it does not say, or what the planner has to know
//! before there is a processor: the scratch memory of a product is a constant of the program. Each is tried by
//! `cargo run --release --manifest-path benches/gemm/Cargo.toml`; `benches/log/` has what other values gave, with those of BLIS's
//! model (Low, Igual, Smith, Quintana-Ortí, "Analytical Modeling Is Enough for High-Performance BLIS", ACM TOMS 2016).

use crate::kernels::limit::limit;
use crate::kernels::tile::{MAX_ROWS, MOST_VECTORS};

// Blocks, and the scratch memory they are packed to.

/// Most of `k` in a block: eight rows of it are 16 or 32 KiB on the left. The left rows are fetched ahead and the panels read once
/// each, so that both need not stay in the first cache, as the model asks.
pub const DEPTH: usize = limit(512, 8);

/// Most bytes of a right block, and a step of `k` more, see [`panel_start`](super::pack::panel_start).
pub const RIGHT_BYTES: usize = limit(513 << 10, 1 << 10);

/// Bytes of a packed left block, with a step of `k` more. The right operand is packed anew for each, so there should be few.
pub const LEFT_BYTES: usize = limit(8, 2) * RIGHT_BYTES;

/// Bytes of a right block that is packed on the stack.
pub const PACKED_STACK_BYTES: usize = limit(32 << 10, 768);

/// The same for small products, which would feel what it costs to have more.
pub const SMALL_STACK_BYTES: usize = limit(4 << 10, 384);

/// Rows whose sums wait for the next block of `k`.
pub const WAITING_ROWS: usize = limit(512, 16);

/// Bytes of the sums that an epilogue takes at once, where none wait: half of a first cache.
pub const SUMS_BYTES: usize = limit(16 << 10, 1 << 10);

/// From so many steps of `k` panels are an odd number of lines apart.
pub const DEEP: usize = limit(128, 4);

/// Up to so many rows, columns that are packed as rows are in cache, as a rule.
pub const NEAR_ROWS: usize = limit(256, 16);

// Left operands.

/// Lines of a row of the result beyond which a left operand is packed.
pub const WIDE_LINES: usize = limit(8, 1);

/// The same where its columns share sets of a cache and panels are a line.
pub const FEW_LINES: usize = limit(2, 1);

/// Fewer rows than these are not packed at once, unless there are no more.
pub const WORTH_A_BLOCK: usize = limit(4, 2) * MAX_ROWS;

/// Bytes of a left operand that stays in cache while it is read where it lies.
pub const WORTH_PACKING: usize = limit(512 << 10, 1 << 10);

// Right operands.

/// By how many tiles of rows one within the second cache is read at most where it lies, and one beyond it by wide panels.
pub const READS: usize = limit(8, 2);

/// The same beyond the second cache, where a panel is a line.
pub const READS_OF_LINES: usize = limit(5, 1);

/// Bytes of one that is not in cache when it is read, as a rule: where a panel is a line it is read once at most where it lies.
pub const FAR_RIGHT: usize = limit(3 << 20, 1 << 10);

/// Bytes of one that is in no cache, as a rule: only then up to [`READS`] tiles of rows have it fetched ahead, since they have less to wait
/// for while it is in the third cache, and more sums to load and store again.
pub const BEYOND_CACHES: usize = limit(8 << 20, 2 << 10);

/// Most rows for which right blocks are fetched ahead and never packed. With more, the first tiles of a block are few of all that
/// read it, and packing pays.
pub const FETCHED_ROWS: usize = limit(16, 4) * MAX_ROWS;

/// Most of `k`, and of columns, of a right block that is fetched ahead, a column a step: two blocks fit into the second cache.
pub const FETCHED: usize = limit(240, 16);

// Few rows, by rows of the right operand from end to end.

/// Most rows where a panel is a line: twice the vectors that are combined at once.
pub const COMBINED_ROWS: usize = 2 * MOST_VECTORS;

/// Most rows of which inner products are taken: of more, copies of columns take less. This and the next show in results.
pub const INNER_ROWS: usize = 8;

/// Steps of `k` for each of these rows: with fewer, what is done once for each sum counts.
pub const INNER_STEPS: usize = limit(16, 1);

/// Bytes of the columns that all rows are multiplied with before others are read, if these are more than the next.
pub const INNER_BYTES: usize = limit(16 << 10, 256);

/// The fewest of these columns: those that are multiplied at once.
pub const INNER_COLUMNS: usize = 4;

/// Columns from which rows are worth reading from end to end.
pub const LONG: usize = limit(256, 16);

/// Bytes of a right operand from which that pays where panels are wide and rows begin in the same sets of a cache; whatever the strides
/// it does from [`BEYOND_CACHES`] on.
pub const WORTH_COMBINING: usize = limit(512 << 10, 1 << 10);

/// Elements of sums that an epilogue takes at once.
pub const COMBINED_SUMS: usize = limit(4096, 64);

// Results.

/// Up to so many products a sum, tiles are summed faster than results that are not in cache are written.
pub const SHALLOW: usize = limit(32, 4);

// Threads.

/// From so many rows on threads take rows, or columns on demand.
pub const ROWS_TO_SHARE: usize = limit(32, 12);

/// Parts begin at multiples of so many columns: more than the widest tile has, and whole lines of a cache.
pub const GRAIN_OF_COLUMNS: usize = limit(64, 16);

/// A last part of fewer columns might be another kernel's, with another order of sums: a small product's (`floats`), or one
/// of a single vector.
pub const NARROWEST_PART: usize = limit(16, 8);

/// Parts that a thread takes as a rule, if the product is wide enough: who comes last is waited for that much less.
pub const PARTS_OF_A_THREAD: usize = 4;

/// The fewest columns of a part of many rows, and a quarter of the fewest where left rows are packed: for each part all are read, or
/// packed anew.
pub const FEWEST_COLUMNS: usize = limit(128, 16);
