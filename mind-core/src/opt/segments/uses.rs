//! Finds the results of loops that other instructions read, and the parts of loops that compute them.

use std::collections::{BTreeMap, BTreeSet};

use super::{CheckpointedLoop, LoopResult};
use crate::{
    build::extracted,
    ir::{Access, Module, Scan, ValueId},
    ty::Type,
};

/// How the results of the loops are read.
pub(super) struct Uses {
    /// The results that something reads.
    pub(super) read: BTreeSet<LoopResult>,
    /// The residuals that only loops with equal segments read, element by element. They are computed again.
    pub(super) again: BTreeSet<LoopResult>,
    /// The loops that read such results.
    readers: BTreeSet<ValueId>,
}

impl Uses {
    pub(super) fn of(module: &Module, loops: &BTreeMap<ValueId, CheckpointedLoop<'_>>) -> Self {
        let place = |value: ValueId| module.place_of(value).filter(|(of, _)| loops.contains_key(of));
        let (mut read, mut kept, mut readers) = (BTreeSet::new(), BTreeSet::new(), Vec::new());
        for output in module.outputs() {
            let place = place(*output);
            read.extend(place);
            kept.extend(place);
        }
        for (reader, inst) in module.iter() {
            // A further result reads no value of the first.
            if module.place_of(reader).is_some_and(|(of, _)| of != reader) {
                continue;
            }
            for (at, operand) in inst.operands.iter().enumerate() {
                let Some((of, result)) = place(*operand) else { continue };
                read.insert((of, result));
                let by_segment = loops.get(&reader).is_some_and(|reader| {
                    reader.accesses[at] == Access::Element && reader.has_equal_segments(&loops[&of])
                });
                match by_segment {
                    true => readers.push(((of, result), reader)),
                    false => _ = kept.insert((of, result)),
                }
            }
        }
        let again: BTreeSet<LoopResult> = read
            .iter()
            .copied()
            .filter(|(of, at)| loops[of].scan.is_residual(*at) && !kept.contains(&(*of, *at)))
            .collect();
        let readers =
            readers.into_iter().filter(|(place, _)| again.contains(place)).map(|(_, of)| of).collect();
        Self { read, again, readers }
    }

    /// The stacked results that something reads.
    pub(super) fn stacked(&self, of: &CheckpointedLoop<'_>) -> impl Iterator<Item = usize> {
        of.stacked().filter(|at| self.read.contains(&(of.value, *at)))
    }

    pub(super) fn is_again(&self, of: &CheckpointedLoop<'_>, result: usize) -> bool {
        self.again.contains(&(of.value, result))
    }

    pub(super) fn is_segmented(&self, of: &CheckpointedLoop<'_>) -> bool {
        self.readers.contains(&of.value) || of.stacked().any(|at| self.is_again(of, at))
    }

    /// The part of a loop that computes the values that other loops read.
    pub(super) fn again_of(
        &self,
        of: &CheckpointedLoop<'_>,
        stacked: impl IntoIterator<Item = usize>,
    ) -> LoopPart {
        LoopPart::new(of, BTreeSet::new(), stacked.into_iter().collect())
    }
}

/// A part of a loop: some results, and the carries and operands that they need.
pub(super) struct LoopPart {
    pub(super) carries: BTreeSet<usize>,
    /// The positions of operands after the carries.
    pub(super) operands: BTreeSet<usize>,
    /// The positions of results.
    pub(super) stacked: BTreeSet<usize>,
    /// The values of the body that are computed.
    is_needed: Vec<bool>,
}

impl LoopPart {
    pub(super) fn new(
        of: &CheckpointedLoop<'_>,
        mut carries: BTreeSet<usize>,
        stacked: BTreeSet<usize>,
    ) -> Self {
        let (body, count) = (&of.scan.body, of.scan.carry_count());
        carries.extend(of.scan.guard().filter(|guard| *guard < count));
        let is_needed = loop {
            let results = carries.iter().chain(&stacked).map(|at| body.outputs()[*at]);
            let is_needed = body.needed_by(results);
            let more = (0..count).find(|carry| is_needed[*carry] && !carries.contains(carry));
            match more {
                Some(carry) => _ = carries.insert(carry),
                None => break is_needed,
            }
        };
        let mut operands: BTreeSet<usize> = (count..of.operands.len()).filter(|at| is_needed[*at]).collect();
        operands.extend(of.scan.guard().filter(|guard| *guard >= count));
        // An iterated operand decides the number of steps.
        if !operands.iter().any(|at| of.accesses[*at] == Access::Element) {
            operands.extend(Scan::counted(&of.accesses));
        }
        Self { carries, operands, stacked, is_needed }
    }

    /// The inputs of the body, with their names and types.
    pub(super) fn inputs(&self, of: &CheckpointedLoop<'_>) -> Vec<(ValueId, String, Type)> {
        let input =
            |at: &usize| (ValueId::new(*at), format!("x{at}"), of.scan.body.ty(ValueId::new(*at)).clone());
        self.carries.iter().chain(&self.operands).map(input).collect()
    }

    /// The body of the loop with only the inputs and results of this part.
    pub(super) fn body(&self, of: &CheckpointedLoop<'_>, inputs: Vec<(ValueId, String, Type)>) -> Module {
        let body = &of.scan.body;
        let insts = body.iter().filter(|(value, inst)| !inst.op.is_input() && self.is_needed[value.index()]);
        let outputs: Vec<ValueId> =
            self.carries.iter().chain(&self.stacked).map(|at| body.outputs()[*at]).collect();
        extracted(inputs, insts, &outputs)
    }
}
