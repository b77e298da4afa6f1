//! Sizes at which kernels switch to another path.

/// A size at which a kernel switches to another path: `real`, or `small` with the feature `__small_blocks`, for
/// `ci/torture`.
pub(crate) const fn limit(real: usize, small: usize) -> usize {
    if cfg!(feature = "__small_blocks") { small } else { real }
}
