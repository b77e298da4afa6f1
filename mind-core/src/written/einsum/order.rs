//! The order in which the operands of an einsum are multiplied, by cost.
//!
//! The cost of one product is the number of its multiplications, plus [`STORE`] for each element of its result. For at
//! most [`EXACT`] operands, dynamic programming over the subsets of operands finds the least cost, as in R. N. C.
//! Pfeifer, J. Haegeman and F. Verstraete, "Faster identification of optimal contraction sequences for tensor networks"
//! (2014). For more operands, the order is greedy, as in D. G. A. Smith and J. Gray, "opt_einsum" (2018): the next
//! product is the one after which the least memory is in use.

use std::collections::BTreeMap;

use super::equation::{Index, Indices};
use crate::ty::MAX_RANK;

/// The most operands for which the order has the least cost.
const EXACT: usize = 9;

/// The number of operands, from the first, among which the next two are looked for.
const WINDOW: usize = 64;

/// The number of multiplications that take as long as storing one element.
const STORE: f64 = 8.0;

/// The products in order. Numbers count the operands first, then the results of products.
pub(crate) type Pairs = Vec<(usize, usize)>;

/// The extents of indices, for costs.
pub(super) trait Extents {
    /// An extent.
    fn of(&self, index: Index) -> f64;

    /// The number of elements.
    fn count(&self, indices: Indices) -> f64 {
        indices.iter().map(|index| self.of(index)).product()
    }
}

/// The order for operands with these indices. `None` if every order has a result of too many axes.
pub(super) fn order(operands: &[Indices], output: Indices, extents: &dyn Extents) -> Option<Pairs> {
    if operands.len() <= EXACT { exact(operands, output, extents) } else { greedy(operands, output, extents) }
}

fn cost(a: Indices, b: Indices, result: Indices, extents: &dyn Extents) -> f64 {
    extents.count(a.with(b)) + STORE * extents.count(result)
}

/// The best way to multiply the operands in a set, whose bits are their positions.
#[derive(Clone)]
struct Best {
    cost: f64,
    /// The set of those on the left; 0 for a single operand.
    left: usize,
    indices: Indices,
}

fn exact(operands: &[Indices], output: Indices, extents: &dyn Extents) -> Option<Pairs> {
    let all = (1usize << operands.len()) - 1;
    let union = |set: usize| {
        let members = operands.iter().enumerate().filter(|(at, _)| set >> at & 1 == 1);
        members.fold(Indices::default(), |union, (_, indices)| union.with(*indices))
    };
    let mut best: Vec<Option<Best>> = vec![None; all + 1];
    for set in 1..=all {
        let indices = union(set).common(output.with(union(all & !set)));
        if set.is_power_of_two() {
            let indices = operands[set.trailing_zeros() as usize];
            best[set] = Some(Best { cost: 0.0, left: 0, indices });
            continue;
        }
        if indices.count() > MAX_RANK {
            continue;
        }
        // The first operand is on the left.
        let first = set & set.wrapping_neg();
        let others = set & !first;
        let mut rest = others;
        let mut found: Option<Best> = None;
        while rest > 0 {
            rest = (rest - 1) & others;
            let (left, right) = (rest | first, others & !rest);
            let (Some(a), Some(b)) = (&best[left], &best[right]) else { continue };
            let cost = a.cost + b.cost + cost(a.indices, b.indices, indices, extents);
            // If costs are equal, the order is from the left.
            let shape = |left: usize| (left.count_zeros(), left);
            let is_better =
                |found: &Best| cost < found.cost || cost == found.cost && shape(left) < shape(found.left);
            if found.as_ref().is_none_or(is_better) {
                found = Some(Best { cost, left, indices });
            }
        }
        best[set] = found;
    }
    best[all].as_ref()?;
    let mut pairs = Vec::new();
    number(all, &best, operands.len(), &mut pairs);
    Some(pairs)
}

/// Appends the products of a set. Returns the number of its result.
fn number(set: usize, best: &[Option<Best>], operands: usize, pairs: &mut Pairs) -> usize {
    let left = best[set].as_ref().expect("a part of the best way is a best way").left;
    if left == 0 {
        return set.trailing_zeros() as usize;
    }
    let pair = [left, set & !left].map(|part| number(part, best, operands, pairs));
    pairs.push((pair[0], pair[1]));
    operands + pairs.len() - 1
}

fn greedy(operands: &[Indices], output: Indices, extents: &dyn Extents) -> Option<Pairs> {
    let mut live: Vec<(usize, Indices)> = operands.iter().copied().enumerate().collect();
    // The number of live operands that have each index.
    let mut uses: BTreeMap<Index, usize> = BTreeMap::new();
    operands.iter().for_each(|indices| indices.iter().for_each(|index| *uses.entry(index).or_default() += 1));
    let mut pairs = Vec::new();
    while live.len() > 1 {
        let mut found: Option<(f64, f64, usize, usize, Indices)> = None;
        let window = live.len().min(WINDOW);
        for i in 0..window {
            for j in i + 1..window {
                let (a, b) = (live[i].1, live[j].1);
                let is_needed = |index: &Index| {
                    let own = usize::from(a.contains(*index)) + usize::from(b.contains(*index));
                    output.contains(*index) || uses[index] > own
                };
                let result: Indices = a.with(b).iter().filter(is_needed).collect();
                if result.count() > MAX_RANK {
                    continue;
                }
                let more = extents.count(result) - extents.count(a) - extents.count(b);
                let cost = cost(a, b, result, extents);
                let is_better = |(best, of_best, ..): &(f64, f64, usize, usize, Indices)| {
                    more < *best || more == *best && cost < *of_best
                };
                if found.as_ref().is_none_or(is_better) {
                    found = Some((more, cost, i, j, result));
                }
            }
        }
        let (_, _, i, j, result) = found?;
        let (b, a) = (live.remove(j), live.remove(i));
        for (indices, is_added) in [(a.1, false), (b.1, false), (result, true)] {
            for index in indices.iter() {
                let uses = uses.get_mut(&index).expect("an operand has it");
                *uses = if is_added { *uses + 1 } else { *uses - 1 };
            }
        }
        pairs.push((a.0, b.0));
        live.push((operands.len() + pairs.len() - 1, result));
    }
    Some(pairs)
}
