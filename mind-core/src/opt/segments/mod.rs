//! Loops with `checkpoint = K`: values that the steps of a loop stack for other loops are computed again, K steps at a
//! time.
//!
//! A loop of T steps becomes a loop over segments, whose body is the same loop over the K steps of a segment. It stacks
//! its carries before each segment in place of the values that other loops would read. The body of a loop that reads
//! such values first runs the segment of the other loop again, from its stacked carries. The same instructions run on
//! the same values, so no bit of a result changes, and derivatives of any order need no rule for it.
//!
//! A loop of one step with `checkpoint = 1`, as `checkpoint(f)` makes, is a segment too. The loop that runs it again stays
//! a loop, so that equal instructions before it are not shared with it.
//!
//! If T is not known to be a multiple of K, operands are padded to whole segments. The steps after the last one do not
//! run.

mod layout;
mod uses;
mod writer;

use std::collections::BTreeMap;

use self::{uses::Uses, writer::Writer};
use super::rewritten::ModuleWriter;
use crate::{
    dim::Dim,
    ir::{Access, Guard, Module, Scan, ValueId},
    ty::MAX_RANK,
};

/// The most loops of which one segment runs a part again. A module with a longer chain of residuals is not split, so
/// that its size is bounded. A derivative of order 5 has chains of 31.
const MOST_AGAIN: usize = 32;

/// A result of a loop: the loop, and the position among its results.
type LoopResult = (ValueId, usize);

/// The module with its loops over segments, and for each of its values the value of `module` that it comes from. `None`
/// if no loop changes.
pub(super) fn segmented(module: &Module) -> Option<(Module, Vec<ValueId>)> {
    let loops = checkpointed(module);
    if loops.is_empty() {
        return None;
    }
    let uses = Uses::of(module, &loops);
    let is_changed = |of: &&CheckpointedLoop<'_>| {
        uses.is_segmented(of) || uses.stacked(of).count() < of.stacked().count() || of.is_single()
    };
    if !loops.values().any(|of| is_changed(&of)) {
        return None;
    }
    Writer::new(module, &loops, &uses).finish()
}

/// A loop that keeps every K-th carry.
struct CheckpointedLoop<'m> {
    value: ValueId,
    scan: &'m Scan,
    operands: Vec<ValueId>,
    accesses: Vec<Access>,
    steps: Dim,
    segments: Dim,
    /// Whether the last segment may have fewer steps than the others.
    is_padded: bool,
}

impl CheckpointedLoop<'_> {
    /// The positions of the stacked results.
    fn stacked(&self) -> std::ops::Range<usize> {
        self.scan.carry_count()..self.scan.body.outputs().len()
    }

    /// The number of steps of all segments.
    fn padded(&self) -> Option<Dim> {
        self.segments.mul(&Dim::literal(self.scan.checkpoint)).ok()
    }

    /// Whether it has one step, as a function in `checkpoint(f)` has.
    fn is_single(&self) -> bool {
        self.steps == Dim::ONE
    }

    fn has_equal_segments(&self, other: &Self) -> bool {
        (&self.steps, self.scan.checkpoint) == (&other.steps, other.scan.checkpoint)
    }
}

/// The loops that can be split into segments.
fn checkpointed(module: &Module) -> BTreeMap<ValueId, CheckpointedLoop<'_>> {
    let loops = module.iter().filter_map(|(value, inst)| {
        let scan = inst.op.as_loop().filter(|scan| scan.checkpoint > 0 && !inst.op.has_effect())?;
        let operands: Vec<ValueId> = inst.operands.iter().copied().collect();
        let rank = |operand: &ValueId| module.ty(*operand).rank();
        let accesses = scan.accesses(operands.iter().map(rank));
        let steps = module.ty(operands[Scan::counted(&accesses)?]).shape[0].clone();
        let segments = steps.ceil_div(scan.checkpoint).ok()?;
        let is_padded = segments.mul(&Dim::literal(scan.checkpoint)).ok()? != steps;
        // A segment adds an axis to what is iterated or stacked.
        let of_operands = operands.iter().zip(&accesses).map(|(operand, access)| match access {
            Access::Carry | Access::Element => rank(operand),
            Access::Whole => 0,
        });
        let of_results = scan.body.outputs()[scan.carry_count()..].iter();
        let of_results = of_results.map(|output| scan.body.ty(*output).rank() + 1);
        let has_room = of_operands.chain(of_results).all(|rank| rank < MAX_RANK);
        // In reverse, the padded steps would run first, and the guard would end the loop there.
        let ends_first = scan.guard == Guard::Carry && scan.reverse && is_padded;
        let of = CheckpointedLoop { value, scan, operands, accesses, steps, segments, is_padded };
        let is_kept = of.segments != Dim::ONE || (of.is_single() && of.scan.checkpoint == 1);
        (has_room && !ends_first && is_kept).then_some((value, of))
    });
    loops.collect()
}
