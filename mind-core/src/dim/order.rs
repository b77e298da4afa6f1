//! The order of dims.

use super::Dim;

/// The most extents that are used to compare dims, so that the work grows linearly with the number of operations.
const MOST_EXTENTS: usize = 64;

/// Proves that a dim is less than another, from the fact that certain extents are at least 1.
pub(crate) struct Order<'m> {
    extents: Vec<&'m Dim>,
}

impl<'m> Order<'m> {
    /// The order that follows from the extents of tensors.
    pub(crate) fn among(extents: impl Iterator<Item = &'m Dim>) -> Self {
        let mut extents: Vec<&Dim> = extents.filter(|dim| dim.as_literal().is_none()).collect();
        extents.sort_unstable();
        extents.dedup();
        extents.truncate(MOST_EXTENTS);
        Self { extents }
    }

    /// Whether a dim is provably less than another.
    pub(crate) fn is_less(&self, low: &Dim, high: &Dim) -> bool {
        let Ok(difference) = high.sub(low) else { return false };
        let is_at_least = |dim: &Dim, least: i64| dim.lower_bound().is_some_and(|bound| bound >= least);
        let exceeds = |extent: &&Dim| difference.sub(extent).is_ok_and(|rest| is_at_least(&rest, 0));
        is_at_least(&difference, 1) || self.extents.iter().any(exceeds)
    }
}
