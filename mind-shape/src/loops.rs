//! Sizes by which loops are cut. The loops that the compiler emits cut sums in the same way as the run time. They leave
//! out the run time's decisions where sizes are known at compile time.

/// The number of values that are added one after the other before the rounding error is corrected. The error of `n`
/// values is at most `(n - 1) / 2` epsilons, which has to stay below `4 log2(n)`.
pub const CHAIN: usize = 32;

/// The same in each lane of a sum in 16 lanes or more. Such a sum has 16 times as many elements or more, so the bound
/// on its error is higher.
pub const CHAIN_IN_LANES: usize = 64;

/// The largest number of values in a chain, for a sum in this number of lanes.
#[must_use]
pub const fn chain_in(lanes: usize) -> usize {
    if lanes < 16 { CHAIN } else { CHAIN_IN_LANES }
}

/// The number of bytes in all lanes of a sum.
pub const LANE_BYTES: usize = 128;

/// The number of lanes in a sum of elements of `bytes` bytes.
#[must_use]
pub const fn lanes_of(bytes: usize) -> usize {
    LANE_BYTES / bytes
}

/// The number of elements in a leaf of a fold's tree. A fold of at most that many elements is one leaf.
pub const LEAF: usize = 16 * 1024;

/// The cost of a fused loop from which a second thread pays: the number of elements times the cost of each. An element
/// costs 1 where the loop reads, adds and writes it in cache; see benches/README.md.
pub const WORTH_SPLITTING: usize = 128 * 1024;

/// The smallest number of columns of a sum over rows that a thread takes: a few cache lines.
pub const FEWEST_COLUMNS: usize = 64;

/// The largest number of columns of a sum over rows that are summed at once, so that their sums stay in the fastest
/// cache.
pub const WIDEST_COLUMNS: usize = 2048;
