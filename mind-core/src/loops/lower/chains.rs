//! Chains: the numbers that a sum adds one after the other.
//!
//! The sums of the run time add chains of at most [`CHAIN`] numbers. Each chain is then added to the sum, and the
//! rounding error is kept. This bounds the error of the sum. Sums in nests do the same: one of the loops that add to a
//! sum is split into chains, each of which is added to the sum at its end.

use mind_shape::loops::CHAIN;

use crate::{
    dim::Dim,
    plan::{Fold, Nest, Operand, Target, View},
};

use super::{Along, cut::separable};

/// At most this many sums, known ahead, are accumulated in an array, which is in registers if it is short enough. In
/// memory, each row would wait for the stores of the row before.
const SHORT: usize = 256;

/// The split of a loop into the chains of a sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Chain {
    /// The axis of the loop that is split into chains. The loop of the innermost axis counts blocks of lanes.
    pub(super) axis: usize,
    /// The most iterations of the loop in a chain.
    pub(super) turns: usize,
}

impl Chain {
    /// The chains, of `most` numbers at most, of a sum that each iteration of some loops adds to. `loops` holds the
    /// axis of each loop, outermost first, and the number of its iterations if known. `None` if all iterations are one
    /// chain.
    pub(super) fn of(
        most: usize,
        loops: impl DoubleEndedIterator<Item = (usize, Option<usize>)>,
    ) -> Option<Self> {
        let mut inside = 1;
        for (axis, turns) in loops.rev() {
            match turns.map(|turns| inside * turns) {
                Some(all) if all <= most => inside = all,
                Some(_) | None => return Some(Self { axis, turns: most / inside }),
            }
        }
        None
    }
}

/// A fold in memory.
#[derive(Clone, Copy)]
pub(super) struct MemoryFold<'n> {
    pub(super) fold: &'n Fold,
    pub(super) view: &'n View,
    /// The loops from this one on add up the whole sum.
    pub(super) depth: usize,
    pub(super) chain: Option<Chain>,
    /// The place where it is accumulated.
    pub(super) place: PartialSums,
}

/// The place where chains are accumulated, and where the rounding errors of sums are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PartialSums {
    /// In the target of the sum, since there is one chain.
    Target,
    /// In arrays of this length.
    Arrays(usize),
    /// In scratch memory, of the size of the sum for each.
    Scratch,
}

/// The folds of a nest in memory, in the order of its folds. The loops process a part of the axis `cut`.
pub(super) fn in_memory(nest: &Nest, cut: Option<usize>) -> Vec<MemoryFold<'_>> {
    let sums = nest.folds().filter_map(|fold| {
        let Target::Memory(view) = &fold.target else { return None };
        let depth = depth(nest, view);
        let added = (depth..nest.row_axes).filter(|axis| view.strides[*axis] == Dim::ZERO);
        let chain = Chain::of(CHAIN, added.map(|axis| (axis, turns(nest, cut, axis))));
        let chain = chain.filter(|_| fold.monoid.is_compensated);
        let place = match (few(nest, cut, view, depth), chain) {
            (Some(len), _) => PartialSums::Arrays(len),
            (None, None) => PartialSums::Target,
            (None, Some(_)) => PartialSums::Scratch,
        };
        Some(MemoryFold { fold, view, depth, chain, place })
    });
    sums.collect()
}

/// Whether a nest only sums the rows of a matrix, whose elements are contiguous.
pub(super) fn is_sum_of_rows(nest: &Nest, fold: &Fold, view: &View) -> bool {
    let ([pass], [_, _], Operand::Load(load)) = (&nest.passes[..], &nest.extents[..], &fold.operand) else {
        return false;
    };
    let follows = |view: &View| matches!(Along::of(view, 1), Along::Consecutive);
    let few = nest.extents[1].as_literal().is_some_and(|len| len <= SHORT as i64);
    let is_alone = pass.elements.is_empty() && pass.stores.is_empty() && pass.numbers.is_empty();
    let is_sum = pass.row_folds.is_empty() && pass.folds.len() == 1;
    nest.row_axes == 1 && is_alone && is_sum && !few && follows(&nest.loads[*load]) && follows(view)
}

/// The folds that are accumulated in scratch memory.
pub(super) fn in_scratch(nest: &Nest, cut: Option<usize>) -> impl Iterator<Item = MemoryFold<'_>> {
    in_memory(nest, cut).into_iter().filter(|sum| sum.place == PartialSums::Scratch)
}

/// The iterations of the loop over an axis, if known.
pub(super) fn turns(nest: &Nest, cut: Option<usize>, axis: usize) -> Option<usize> {
    if cut == Some(axis) {
        return None;
    }
    nest.extents[axis].as_literal().and_then(|extent| usize::try_from(extent).ok())
}

/// The outermost of the loops that together add up a sum.
fn depth(nest: &Nest, view: &View) -> usize {
    let axes = view.strides.iter().take(nest.row_axes);
    let kept = axes.take_while(|stride| **stride != Dim::ZERO).count();
    let is_whole = |depth: &usize| *depth == 0 || separable(view, nest, depth - 1);
    (0..=kept).rev().find(is_whole).expect("everything is a whole")
}

/// The number of sums that the loops from `depth` on accumulate, if they are a row and few.
fn few(nest: &Nest, cut: Option<usize>, view: &View, depth: usize) -> Option<usize> {
    let inner = nest.extents.len() - 1;
    let is_row = inner == nest.row_axes
        && view.strides[depth..inner].iter().all(|stride| *stride == Dim::ZERO)
        && matches!(Along::of(view, inner), Along::Consecutive);
    turns(nest, cut, inner).filter(|len| is_row && *len <= SHORT)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(loops: &[Option<usize>]) -> Option<(usize, usize)> {
        Chain::of(CHAIN, loops.iter().copied().enumerate()).map(|Chain { axis, turns }| (axis, turns))
    }

    #[test]
    fn no_chain_is_longer_than_it_may_be() {
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[Some(32)]), None);
        assert_eq!(of(&[Some(4), Some(8)]), None);
        assert_eq!(of(&[Some(33)]), Some((0, 32)));
        assert_eq!(of(&[None]), Some((0, 32)));
        assert_eq!(of(&[None, Some(1)]), Some((0, 32)));
        assert_eq!(of(&[None, Some(5)]), Some((0, 6)));
        assert_eq!(of(&[Some(100), Some(2), Some(17)]), Some((1, 1)));
        assert_eq!(of(&[Some(2), None, Some(3)]), Some((1, 10)));
    }
}
