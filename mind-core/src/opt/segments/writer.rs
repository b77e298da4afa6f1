//! The writer of modules with loops over segments.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    CheckpointedLoop, LoopResult, MOST_AGAIN,
    uses::{LoopPart, Uses},
};
use crate::{
    build::Builder,
    dim::Dim,
    ir::{Access, Arrange, Guard, Inst, Module, Nested, Op, Scan, ValueId},
    map::formula,
    opt::rewritten::{ModuleWriter, Rewritten, within_limits},
    ty::{DType, Type},
};

/// An input of the body of a loop over segments, described by a value outside the loop.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Input {
    /// A carry of the loop itself.
    Carry(usize),
    /// The steps of a segment of an iterated operand.
    Steps(ValueId),
    /// The steps of a segment of a guard that is one value for all steps.
    Guard(ValueId),
    /// For each step of a segment, whether it is a step of the loop rather than padding.
    IsStep,
    /// For each step of a segment, whether it is the last one of the segment or of the whole loop, in this direction.
    IsLast { reverse: bool },
    /// The whole operand.
    Whole(ValueId),
    /// A carry of another loop before the segment.
    Kept(LoopResult),
}

/// Builds the module with loops over segments.
pub(super) struct Writer<'w> {
    pub(super) rewritten: Rewritten<'w>,
    loops: &'w BTreeMap<ValueId, CheckpointedLoop<'w>>,
    uses: &'w Uses,
    /// For each loop, the values that are its results, with their positions.
    results: BTreeMap<ValueId, Vec<(ValueId, usize)>>,
    /// The carries before each segment, stacked.
    kept: BTreeMap<LoopResult, ValueId>,
}

impl<'w> Writer<'w> {
    pub(super) fn new(
        module: &'w Module,
        loops: &'w BTreeMap<ValueId, CheckpointedLoop<'w>>,
        uses: &'w Uses,
    ) -> Self {
        let mut results: BTreeMap<ValueId, Vec<(ValueId, usize)>> = BTreeMap::new();
        for (value, _) in module.iter() {
            if let Some((of, at)) = module.place_of(value) {
                results.entry(of).or_default().push((value, at));
            }
        }
        Self { rewritten: Rewritten::new(module), loops, uses, results, kept: BTreeMap::new() }
    }

    pub(super) fn value(&self, value: ValueId) -> ValueId {
        self.rewritten.wholes[value.index()].expect("only loops over segments read what is computed again")
    }

    /// Records the values of a loop's results in the new module, by their positions.
    fn give(&mut self, of: &CheckpointedLoop<'_>, results: &BTreeMap<usize, ValueId>) {
        for (value, at) in self.results.get(&of.value).into_iter().flatten() {
            self.rewritten.wholes[value.index()] = results.get(at).copied();
        }
    }

    /// Emits a loop over segments.
    fn segmented(&mut self, of: &CheckpointedLoop<'_>) -> Option<()> {
        let carries: BTreeSet<usize> = (0..of.scan.carry_count()).collect();
        let stacked = self.uses.stacked(of).filter(|at| !self.uses.is_again(of, *at));
        let main = LoopPart::new(of, carries.clone(), stacked.collect());
        let kept = self.uses.again_of(of, of.stacked().filter(|at| self.uses.is_again(of, *at)));
        let kept = if kept.stacked.is_empty() { BTreeSet::new() } else { kept.carries };
        if carries.is_empty() && main.stacked.is_empty() {
            // Only other loops read its results.
            return Some(());
        }
        let before = self.before(of, &main);
        if before.len() > MOST_AGAIN {
            return None;
        }
        let parts = || before.iter().map(|(of, part)| (&self.loops[of], part)).chain([(of, &main)]);

        let mut inputs: Vec<Input> = carries.iter().map(|carry| Input::Carry(*carry)).collect();
        for (part_of, part) in parts() {
            for input in self.inputs(part_of, part, part_of.value == of.value) {
                if !inputs.contains(&input) {
                    inputs.push(input);
                }
            }
        }
        let mut body = Builder::new();
        let (mut operands, mut read) = (Vec::new(), BTreeMap::new());
        for (at, input) in inputs.into_iter().enumerate() {
            let (operand, ty) = self.operand(of, input)?;
            read.insert(input, within_limits(body.input(format!("x{at}"), ty))?);
            operands.push(operand);
        }
        let mut again: BTreeMap<LoopResult, ValueId> = BTreeMap::new();
        let mut results = BTreeMap::new();
        for (part_of, part) in parts() {
            results = self.steps(&mut body, part_of, part, part_of.value == of.value, &read, &again)?;
            again.extend(part.stacked.iter().map(|at| ((part_of.value, *at), results[at])));
        }
        let kept_inputs = kept.iter().map(|carry| read[&Input::Carry(*carry)]);
        let outputs: Vec<ValueId> = results.values().copied().chain(kept_inputs).collect();
        let scan = Scan {
            body: Nested::new(body.finish(outputs)).ok()?,
            guard: Guard::Always,
            checkpoint: if of.is_single() && !before.is_empty() { Scan::APART } else { 0 },
            residuals: 0,
            ..of.scan.clone()
        };
        let mut made = self.looped(scan, &operands)?;
        if of.scan.guard == Guard::Carry {
            made = self.checked(of, &made)?;
        }
        let mut made = made.into_iter();
        let mut given = BTreeMap::new();
        for at in &main.carries {
            given.insert(*at, made.next()?);
        }
        for at in &main.stacked {
            let stacked = made.next()?;
            given.insert(*at, self.joined(of, stacked)?);
        }
        self.kept.extend(kept.iter().map(|carry| (of.value, *carry)).zip(made));
        self.give(of, &given);
        Some(())
    }

    /// Emits a loop without the stacked results that nothing reads.
    fn unsegmented(&mut self, of: &CheckpointedLoop<'_>) -> Option<()> {
        let carries = (0..of.scan.carry_count()).collect();
        let part = LoopPart::new(of, carries, self.uses.stacked(of).collect());
        if part.carries.is_empty() && part.stacked.is_empty() {
            return Some(());
        }
        let body = Nested::new(part.body(of, part.inputs(of))).ok()?;
        let read = part.carries.iter().chain(&part.operands);
        let operands: Vec<ValueId> = read.map(|at| self.value(of.operands[*at])).collect();
        let made = self.looped(Scan { body, checkpoint: 0, residuals: 0, ..of.scan.clone() }, &operands)?;
        let given = part.carries.iter().chain(&part.stacked).copied().zip(made).collect();
        self.give(of, &given);
        Some(())
    }

    /// The parts of other loops that a segment runs again, in their order.
    fn before(&self, of: &CheckpointedLoop<'_>, main: &LoopPart) -> BTreeMap<ValueId, LoopPart> {
        let mut needed: BTreeMap<ValueId, BTreeSet<usize>> = BTreeMap::new();
        let mut parts = BTreeMap::new();
        let need =
            |needed: &mut BTreeMap<ValueId, BTreeSet<usize>>, of: &CheckpointedLoop<'_>, part: &LoopPart| {
                for place in part.operands.iter().filter_map(|at| self.again(of, *at)) {
                    needed.entry(place.0).or_default().insert(place.1);
                }
            };
        need(&mut needed, of, main);
        // A loop reads results of loops before it.
        while let Some((value, stacked)) = needed.pop_last() {
            let of = &self.loops[&value];
            let part = self.uses.again_of(of, stacked);
            need(&mut needed, of, &part);
            parts.insert(value, part);
        }
        parts
    }

    /// The recomputed result behind an operand of a loop, if the operand is one.
    fn again(&self, of: &CheckpointedLoop<'_>, operand: usize) -> Option<LoopResult> {
        self.rewritten.module.place_of(of.operands[operand]).filter(|place| self.uses.again.contains(place))
    }

    /// The values that a part of a loop reads in a segment.
    fn inputs(&self, of: &CheckpointedLoop<'_>, part: &LoopPart, is_main: bool) -> Vec<Input> {
        let carry = |at: &usize| if is_main { Input::Carry(*at) } else { Input::Kept((of.value, *at)) };
        let mut inputs: Vec<Input> = part.carries.iter().map(carry).collect();
        inputs.extend(part.operands.iter().filter(|at| self.again(of, **at).is_none()).map(|at| {
            let operand = of.operands[*at];
            match of.accesses[*at] {
                Access::Element => Input::Steps(operand),
                Access::Carry | Access::Whole if of.scan.guard() == Some(*at) => Input::Guard(operand),
                Access::Carry | Access::Whole => Input::Whole(operand),
            }
        }));
        match of.scan.guard {
            Guard::Always if of.is_padded => inputs.push(Input::IsStep),
            Guard::Always | Guard::Operand => {}
            Guard::Carry => inputs.push(Input::IsLast { reverse: of.scan.reverse }),
        }
        inputs
    }

    /// The operand of a loop over segments, and the type of its input.
    fn operand(&mut self, of: &CheckpointedLoop<'_>, input: Input) -> Option<(ValueId, Type)> {
        let operand = match input {
            Input::Carry(at) => self.value(of.operands[at]),
            Input::Whole(value) => self.value(value),
            Input::Kept(place) => self.kept[&place],
            Input::Steps(value) => {
                let value = self.value(value);
                self.split(of, value)?
            }
            Input::Guard(value) => {
                let shape = [of.steps.clone()].into_iter().collect();
                let value = self.value(value);
                let value = self.rewritten.push(Op::Arrange(Arrange::broadcast(shape)), &[value])?;
                self.split(of, value)?
            }
            Input::IsStep => {
                let (position, steps) = (self.positions(of)?, self.count(&of.steps)?);
                let names = [("position", position), ("steps", steps)];
                computed(&mut self.rewritten.builder, "lt(position, steps)", &names)
            }
            Input::IsLast { reverse } => {
                let length = of.scan.checkpoint;
                let in_segment = self.iota(vec![of.segments.clone(), Dim::literal(length)], 1)?;
                let last = if reverse { Dim::ZERO } else { Dim::literal(length - 1) };
                let last = self.count(&last)?;
                let names = [("at", in_segment), ("last", last)];
                let is_last = computed(&mut self.rewritten.builder, "eq(at, last)", &names);
                match of.is_padded {
                    true => {
                        let (position, steps) = (self.positions(of)?, self.count(&of.steps)?);
                        let names = [("position", position), ("steps", steps), ("is_last", is_last)];
                        let text = "or(is_last, ge(position + 1.0, steps))";
                        computed(&mut self.rewritten.builder, text, &names)
                    }
                    false => is_last,
                }
            }
        };
        let ty = self.rewritten.builder.ty(operand).clone();
        let of_step = || ty.with_shape(ty.shape[1..].iter().cloned().collect());
        Some(match input {
            Input::Carry(_) | Input::Whole(_) => (operand, ty),
            Input::Steps(_) | Input::Guard(_) | Input::IsStep | Input::IsLast { .. } | Input::Kept(_) => {
                (operand, of_step())
            }
        })
    }

    /// Emits a loop. Returns all its results.
    fn looped(&mut self, scan: Scan, operands: &[ValueId]) -> Option<Vec<ValueId>> {
        results(&mut self.rewritten.builder, scan, operands)
    }

    /// The results of a `while`, passed through a loop that fails if the `while` has not ended after its last step.
    fn checked(&mut self, of: &CheckpointedLoop<'_>, made: &[ValueId]) -> Option<Vec<ValueId>> {
        let mut body = Builder::new();
        let mut outputs = Vec::new();
        for (at, value) in made.iter().enumerate() {
            outputs.push(within_limits(
                body.input(format!("x{at}"), self.rewritten.builder.ty(*value).clone()),
            )?);
        }
        within_limits(body.input("step", Type::scalar(DType::I64)))?;
        let steps = self.iota(vec![of.steps.clone()], 0)?;
        let body = Nested::new(body.finish(outputs)).ok()?;
        let scan = Scan::new(body, i64::try_from(made.len()).ok()?, Guard::Carry);
        let operands: Vec<ValueId> = made.iter().copied().chain([steps]).collect();
        self.looped(scan, &operands)
    }

    /// Emits the steps of a segment of a part of a loop. Returns the results by their positions.
    fn steps(
        &self,
        body: &mut Builder,
        of: &CheckpointedLoop<'_>,
        part: &LoopPart,
        is_main: bool,
        read: &BTreeMap<Input, ValueId>,
        again: &BTreeMap<LoopResult, ValueId>,
    ) -> Option<BTreeMap<usize, ValueId>> {
        // The values are in the order of the inputs, without those that are computed again.
        let mut known = self.inputs(of, part, is_main).into_iter().map(|input| read[&input]);
        let mut operands: Vec<ValueId> = known.by_ref().take(part.carries.len()).collect();
        for at in &part.operands {
            operands.push(match self.again(of, *at) {
                Some(place) => again[&place],
                None => known.next()?,
            });
        }
        let mut inputs = part.inputs(of);
        let carries = part.carries.len();
        let flag = |at: usize, name: &str| {
            let value = ValueId::new(of.scan.body.insts().len() + at);
            (value, name.to_owned(), Type::scalar(DType::Bool))
        };
        let carry_count = i64::try_from(carries).ok()?;
        let mut scan = Scan { carries: carry_count, checkpoint: 0, residuals: 0, ..of.scan.clone() };
        let mut is_shifted = false;
        match known.next() {
            // No condition is added.
            None => scan.body = Nested::new(part.body(of, inputs)).ok()?,
            Some(is_step) if of.scan.guard == Guard::Always => {
                inputs.insert(carries, flag(0, "is_step"));
                operands.insert(carries, is_step);
                scan.body = Nested::new(part.body(of, inputs)).ok()?;
                scan.guard = Guard::Operand;
            }
            Some(is_last) => {
                // An additional first carry is true if another step of the segment follows.
                is_shifted = true;
                inputs.insert(0, flag(0, "goes_on"));
                inputs.push(flag(1, "is_last"));
                operands.insert(0, operands[0]);
                operands.push(is_last);
                let inner = part.body(of, inputs);
                let mut next = Builder::new();
                let mut given = Vec::new();
                for (name, ty) in inner.inputs() {
                    given.push(within_limits(next.input(name.clone(), ty.clone()))?);
                }
                let is_last = *given.last()?;
                let mut outputs = within_limits(next.inline(&inner, &given, &[].into()))?;
                let names = [("goes_on", outputs[0]), ("is_last", is_last)];
                let goes_on = computed(&mut next, "and(goes_on, not(is_last))", &names);
                outputs.insert(0, goes_on);
                scan.body = Nested::new(next.finish(outputs)).ok()?;
                scan.carries += 1;
            }
        }
        let made = results(body, scan, &operands)?.into_iter().skip(usize::from(is_shifted));
        Some(part.carries.iter().chain(&part.stacked).copied().zip(made).collect())
    }
}

impl<'w> ModuleWriter<'w> for Writer<'w> {
    fn rewritten(&mut self) -> &mut Rewritten<'w> {
        &mut self.rewritten
    }

    fn write(&mut self, value: ValueId, inst: &Inst) -> Option<()> {
        match (self.loops.get(&value), self.rewritten.module.place_of(value)) {
            (Some(of), _) if self.uses.is_segmented(of) => self.segmented(of),
            (Some(of), _) => self.unsegmented(of),
            // The loop has already set the values of its results.
            (None, Some((of, _))) if self.loops.contains_key(&of) => Some(()),
            (None, _) => {
                let made = self.copied(inst)?;
                self.rewritten.wholes[value.index()] = Some(made);
                Some(())
            }
        }
    }
}

/// Emits a loop. Returns all its results.
fn results(builder: &mut Builder, scan: Scan, operands: &[ValueId]) -> Option<Vec<ValueId>> {
    let count = scan.body.outputs().len();
    let first = within_limits(builder.push(scan.into(), operands))?;
    let further = (1..count).map(|at| within_limits(builder.push(Op::further_result(at), &[first])));
    std::iter::once(Some(first)).chain(further).collect()
}

/// Emits a formula over flags and positions of steps.
pub(super) fn computed(builder: &mut Builder, text: &'static str, names: &[(&str, ValueId)]) -> ValueId {
    formula(builder, text, names).expect("flags and positions have equal shapes, or are single")
}
