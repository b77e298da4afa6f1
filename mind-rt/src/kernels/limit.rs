//! Sizes at which kernels take another path.

/// The size of a block, or one from which another path is taken: `real`, or `small` with the feature `__small_blocks`, with
/// which `ci/torture` crosses every such size by operands of less than 64 elements a side. Results stay right with both.
pub(crate) const fn limit(real: usize, small: usize) -> usize {
    if cfg!(feature = "__small_blocks") { small } else { real }
}
