//! The values that the backward loop of a derivative computes and reads, and which of these the forward loop stacks.

use std::collections::BTreeSet;

use super::{BodyGradient, LoopRead};
use crate::{
    dim::Dim,
    ir::{Access, Inst, Op, ValueId},
    ops::Motion,
    reduce,
    ty::MAX_RANK,
};

/// When a value of the gradient is known.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Availability {
    /// Before the loop: it depends on captured operands alone.
    Before,
    /// In the forward loop.
    Forwards,
    /// In the backward loop: it depends on a cotangent.
    Backwards,
}

/// The values that the backward loop computes and reads.
pub(super) struct Needs {
    /// The operands that have cotangents, by their access: carries, captured operands, iterated operands.
    pub(super) carried: Vec<usize>,
    pub(super) captured: Vec<CapturedTerms>,
    pub(super) iterated: Vec<usize>,
    /// For each value whether the backward loop needs it.
    pub(super) is_needed: Vec<bool>,
    /// The values that the forward loop stacks, ascending.
    pub(super) stacked: Vec<ValueId>,
    /// The factors that the backward loop stacks, ascending.
    pub(super) factors: Vec<ValueId>,
}

/// The terms that each step adds to the cotangent of a captured operand.
pub(super) struct CapturedTerms {
    pub(super) operand: usize,
    /// The terms that the loop adds up.
    pub(super) added: Vec<ValueId>,
    /// The products that one product after the loop adds up over all steps.
    pub(super) products: Vec<[ProductFactor; 2]>,
}

/// A factor of a product within a step.
#[derive(Clone, Copy)]
pub(super) struct ProductFactor {
    pub(super) value: ValueId,
    pub(super) is_transposed: bool,
}

impl BodyGradient {
    pub(super) fn known(&self) -> Vec<Availability> {
        let mut known: Vec<Availability> = Vec::with_capacity(self.module.insts().len());
        for (value, inst) in self.module.iter() {
            let any = |when| inst.operands.iter().any(|operand| known[operand.index()] == when);
            known.push(match self.accesses.get(value.index()) {
                Some(Access::Whole) => Availability::Before,
                Some(Access::Carry | Access::Element) => Availability::Forwards,
                None if inst.op.is_input() || any(Availability::Backwards) => Availability::Backwards,
                None if any(Availability::Forwards) => Availability::Forwards,
                None => Availability::Before,
            });
        }
        known
    }

    pub(super) fn needs_backwards(&self) -> Needs {
        let known = self.known();
        let of = |access: Access| {
            let parameters = self.parameters.iter().copied();
            parameters.filter(move |parameter| self.accesses[*parameter] == access)
        };
        let (carried, iterated): (Vec<_>, Vec<_>) =
            (of(Access::Carry).collect(), of(Access::Element).collect());
        // The effects of pullbacks, such as values that they print.
        let effects: Vec<ValueId> =
            self.module.effects().filter(|value| known[value.index()] == Availability::Backwards).collect();
        let captured: Vec<CapturedTerms> = of(Access::Whole)
            .map(|operand| match effects.is_empty() {
                true => self.sum(operand, &known),
                // The backward loop must exist, and have a result, for the effects to happen.
                false => {
                    CapturedTerms { operand, added: vec![self.cotangent(operand)], products: Vec::new() }
                }
            })
            .collect();

        let count = self.module.insts().len();
        let (mut is_needed, mut is_stacked) = (vec![false; count], vec![false; count]);
        let mut factors = Vec::new();
        let summed = captured.iter().flat_map(|sum| sum.added.iter().copied());
        let cotangents = carried.iter().chain(&iterated).map(|input| self.cotangent(*input));
        let guard = self.guard.map(ValueId::new);
        for value in cotangents.chain(summed).chain(effects).chain(guard) {
            is_needed[value.index()] = true;
        }
        for part in captured.iter().flat_map(|sum| sum.products.iter().flatten()) {
            let at = part.value.index();
            match (self.outside(part.value), known[at]) {
                (Some(_), _) => {}
                (None, Availability::Backwards) => {
                    is_needed[at] = true;
                    factors.push(part.value);
                }
                (None, Availability::Forwards | Availability::Before) => is_stacked[at] = true,
            }
        }
        factors.sort_unstable();
        factors.dedup();
        self.stack_cheap(&known, &is_needed, &mut is_stacked);
        let mut runs_again = vec![false; count];
        for (value, inst) in self.module.iter().rev() {
            let at = value.index();
            let is_operand =
                inst.op.is_input() && at >= self.carries || self.transposed_operand(value).is_some();
            if !is_needed[at] || is_stacked[at] || is_operand {
                continue;
            }
            let can_be_stacked = inst.ty.rank() < MAX_RANK;
            let inner = self.not_kept(value);
            runs_again[inner.unwrap_or(value).index()] |= inner.is_some();
            let is_computed =
                known[at] != Availability::Forwards || is_cheap(inst) || !can_be_stacked || runs_again[at];
            if !inst.op.is_input() && is_computed {
                inst.operands.iter().for_each(|operand| is_needed[operand.index()] = true);
            } else {
                is_stacked[at] = true;
            }
        }
        let stacked = (0..count).filter(|at| is_stacked[*at]).map(ValueId::new).collect();
        Needs { carried, captured, iterated, is_needed, stacked, factors }
    }

    /// Decides which of the cheap values that the backward loop reads are stacked: those that take less memory than the
    /// further values that would be stacked to compute them again.
    fn stack_cheap(&self, known: &[Availability], is_needed: &[bool], is_stacked: &mut [bool]) {
        let mut is_read = is_needed.to_vec();
        for (value, inst) in self.module.iter().rev() {
            if is_read[value.index()] && known[value.index()] == Availability::Backwards {
                inst.operands.iter().for_each(|operand| is_read[operand.index()] = true);
            }
        }
        let is_forwards = |value: ValueId| known[value.index()] == Availability::Forwards;
        let can_be_stacked =
            |value: ValueId| self.module.ty(value).rank() < MAX_RANK && self.not_kept(value).is_none();
        // The values that exist in the backward loop: operands, and stacked values.
        let mut exists: Vec<bool> = (0..known.len())
            .map(|at| {
                let (value, inst) = (ValueId::new(at), self.module.inst(ValueId::new(at)));
                let is_operand = inst.op.is_input() && at >= self.carries;
                let is_kept = is_read[at] && can_be_stacked(value) && !is_cheap(inst);
                !is_forwards(value) || is_operand || is_stacked[at] || is_kept
            })
            .collect();
        for (value, inst) in self.module.iter() {
            if !is_read[value.index()] || exists[value.index()] || !is_cheap(inst) || !can_be_stacked(value) {
                continue;
            }
            let leaves = self.leaves(value, &exists, &can_be_stacked);
            let elements = |value: ValueId| Dim::product(&self.module.ty(value).shape);
            let total = leaves.iter().try_fold(Dim::literal(0), |sum, leaf| sum.add(&elements(*leaf)?));
            let is_small = total.is_ok_and(|total| elements(value).is_ok_and(|own| total.at_most(&own)));
            if is_small {
                leaves.iter().for_each(|leaf| exists[leaf.index()] = true);
            } else {
                exists[value.index()] = true;
                is_stacked[value.index()] = true;
            }
        }
    }

    /// The values that would be stacked to compute a cheap value again.
    fn leaves(
        &self,
        value: ValueId,
        exists: &[bool],
        can_be_stacked: &dyn Fn(ValueId) -> bool,
    ) -> BTreeSet<ValueId> {
        let (mut leaves, mut seen) = (BTreeSet::new(), BTreeSet::new());
        let mut open = self.module.inst(value).operands.to_vec();
        while let Some(value) = open.pop() {
            let inst = self.module.inst(value);
            if exists[value.index()] || !seen.insert(value) {
                continue;
            }
            if can_be_stacked(value) && (inst.op.is_input() || !is_cheap(inst)) {
                leaves.insert(value);
            } else {
                open.extend(inst.operands.iter());
            }
        }
        leaves
    }

    /// The loop in the body that has the value as a residual but does not keep it, because of a checkpoint.
    fn not_kept(&self, value: ValueId) -> Option<ValueId> {
        let (of, result) = self.module.place_of(value)?;
        let scan = self.module.inst(of).op.as_loop()?;
        (scan.checkpoint > 0 && scan.is_residual(result)).then_some(of)
    }

    /// The terms of the cotangent of a captured operand.
    fn sum(&self, operand: usize, known: &[Availability]) -> CapturedTerms {
        let mut sum = CapturedTerms { operand, added: Vec::new(), products: Vec::new() };
        let mut terms = vec![self.cotangent(operand)];
        while let Some(term) = terms.pop() {
            let inst = self.module.inst(term);
            let varies = |part: &ProductFactor| known[part.value.index()] != Availability::Before;
            // The factors of all steps are residuals.
            let product = self.product(term).filter(|_| self.keeps_residuals);
            if let Some(product) = product.filter(|parts| parts.iter().all(varies)) {
                sum.products.push(product);
            } else if inst.op == Op::Map(reduce::SUMS.combine)
                && inst.operands.iter().all(|operand| *self.module.ty(*operand) == inst.ty)
            {
                terms.extend(inst.operands.iter().rev());
            } else {
                sum.added.push(term);
            }
        }
        sum
    }

    /// The factors of a value that is a product of two matrices or of two vectors.
    fn product(&self, value: ValueId) -> Option<[ProductFactor; 2]> {
        let rank = |value: ValueId| self.module.ty(value).rank();
        let inst = self.module.inst(value);
        match &inst.op {
            Op::Product(_) => {
                let [left, right] = inst.operands[..] else { return None };
                (rank(left) == 2 && rank(right) == 2)
                    .then(|| [self.part(left, true), self.part(right, false)])
            }
            Op::Map(map) if *map == reduce::PRODUCTS.combine => {
                let [left, right] = [0, 1].map(|at| self.module.inst(inst.operands[at]));
                // A vector as a matrix of one column, or of one row.
                let vector = |inst: &Inst, axis: usize| {
                    let is_moved = matches!(inst.op.motion(), Some(Motion::Order));
                    let is_vector = is_moved && inst.ty.rank() == 2 && rank(inst.operands[0]) == 1;
                    (is_vector && inst.ty.shape[axis].is_one())
                        .then(|| ProductFactor { value: inst.operands[0], is_transposed: false })
                };
                let outer = |column, row| Some([vector(column, 1)?, vector(row, 0)?]);
                outer(left, right).or_else(|| outer(right, left))
            }
            // The loop adds up every other term.
            _ => None,
        }
    }

    /// A value as a factor of a product. The factor of a transpose is its operand.
    fn part(&self, value: ValueId, is_transposed: bool) -> ProductFactor {
        match self.transposed(value) {
            Some(value) => ProductFactor { value, is_transposed: !is_transposed },
            None => ProductFactor { value, is_transposed },
        }
    }

    /// The value of which a value is the transpose.
    fn transposed(&self, value: ValueId) -> Option<ValueId> {
        let inst = self.module.inst(value);
        let Some(Motion::Axes(permutation)) = inst.op.motion() else { return None };
        let mut swapped: Vec<i64> = (0..).take(permutation.len()).collect();
        let last = swapped.len() - 1;
        swapped.swap(last - 1, last);
        (permutation == swapped).then_some(inst.operands[0])
    }

    /// The captured operand of which a value is the transpose. Its transpose is the same in each step, so it is computed
    /// once before the backward loop.
    pub(super) fn transposed_operand(&self, value: ValueId) -> Option<usize> {
        let operand = self.transposed(value)?.index();
        (self.accesses.get(operand) == Some(&Access::Whole)).then_some(operand)
    }

    /// The value stacked over all steps, if it exists without the loops.
    pub(super) fn outside(&self, value: ValueId) -> Option<LoopRead> {
        let at = value.index();
        if !self.module.inst(value).op.is_input() {
            return None;
        }
        match self.accesses.get(at) {
            Some(Access::Element) => Some(LoopRead::Operand(at)),
            Some(Access::Carry | Access::Whole) => None,
            None => {
                let result = self.results[at - self.inputs];
                (result >= self.carries).then_some(LoopRead::Cotangent(result))
            }
        }
    }
}

/// Whether a value costs no more to compute than to load.
fn is_cheap(inst: &Inst) -> bool {
    match &inst.op {
        Op::Map(map) => !map.row().cost.is_worth_keeping(),
        op => match op.motion() {
            Some(
                Motion::Order
                | Motion::Axes(_)
                | Motion::Repeat
                | Motion::At(_)
                | Motion::Taken(_)
                | Motion::Windows(_),
            ) => true,
            Some(Motion::Put(_) | Motion::Added(_)) | None => false,
        },
    }
}
