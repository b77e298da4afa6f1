//! Sizes by which loops are cut: the compiler emits loops that cut sums as those of the run time do, and leaves out what the
//! run time would decide of sizes known ahead.

/// So many numbers are added one after the other before their sum is settled: `n` of them are off by `(n - 1) / 2` epsilons
/// at most, which has to stay below `4 log2(n)`.
pub const CHAIN: usize = 32;

/// The same in each of 16 lanes or more, of whose elements there are so many more.
pub const CHAIN_IN_LANES: usize = 64;

/// The most numbers of a chain in each of so many lanes.
#[must_use]
pub const fn chain_in(lanes: usize) -> usize {
    if lanes < 16 { CHAIN } else { CHAIN_IN_LANES }
}

/// Bytes of all lanes of a sum.
pub const LANE_BYTES: usize = 128;

/// The lanes of a sum of elements of so many bytes.
#[must_use]
pub const fn lanes_of(bytes: usize) -> usize {
    LANE_BYTES / bytes
}

/// Elements in a leaf of a fold's tree. A fold of no more than these is one leaf.
pub const LEAF: usize = 16 * 1024;

/// The cost of a fused loop that is worth a second thread: elements by cost of each. An element costs 1 where the loop
/// reads, adds and writes it in cache; see benches/README.md.
pub const WORTH_SPLITTING: usize = 128 * 1024;

/// The fewest columns of a sum over rows that a thread takes: some cache lines.
pub const FEWEST_COLUMNS: usize = 64;
