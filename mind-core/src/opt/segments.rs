//! Loops with `checkpoint = K`: values that the steps of a loop stack for other loops are computed again, K steps at a
//! time.
//!
//! A loop of T steps becomes a loop over segments, whose body is the same loop over the K steps of a segment. It stacks
//! its carries before each segment in place of the values that other loops would read. The body of a loop that reads
//! such values first runs the segment of the other loop again, from its stacked carries. The same instructions run on
//! the same values, so no bit of a result changes, and derivatives of any order need no rule for it.
//!
//! If T is not known to be a multiple of K, operands are padded to whole segments. The steps after the last one do not
//! run.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    build::{Builder, extracted},
    diag::Code,
    dim::Dim,
    ir::{self, Access, Arrange, Const, Guard, Made, Module, Nested, Op, Scan, Slice, ValueId},
    map::formula,
    ops::OpError,
    ty::{DType, MAX_RANK, Shape, Type},
};

/// The largest number of other loops that one segment recomputes. A module with a longer chain of residuals is not
/// split, so that its size is bounded. A derivative of order 5 has chains of 31.
const MOST_AGAIN: usize = 32;

/// A result of a loop: the loop, and the position among its results.
type Place = (ValueId, usize);

/// The module with its loops over segments, and for each of its values the value of `module` that it comes from. `None`
/// if no loop changes.
pub(super) fn segmented(module: &Module) -> Option<(Module, Vec<ValueId>)> {
    let loops = checkpointed(module);
    if loops.is_empty() {
        return None;
    }
    let uses = Uses::of(module, &loops);
    let is_changed =
        |of: &&Loop<'_>| uses.is_segmented(of) || uses.stacked(of).count() < of.stacked().count();
    if !loops.values().any(|of| is_changed(&of)) {
        return None;
    }
    let mut writer = Writer::new(module, &loops, &uses);
    let mut origins = Vec::new();
    for (value, inst) in module.iter() {
        match (loops.get(&value), module.place_of(value)) {
            (Some(of), _) if uses.is_segmented(of) => writer.segmented(of)?,
            (Some(of), _) => writer.whole(of)?,
            // The loop has given its results.
            (None, Some((of, _))) if loops.contains_key(&of) => {}
            (None, _) => {
                let made = match inst.op.input_name() {
                    Some(name) => within_limits(writer.builder.input(name.clone(), inst.ty.clone()))?,
                    None => {
                        let operands: Vec<ValueId> =
                            inst.operands.iter().map(|operand| writer.value(*operand)).collect();
                        within_limits(writer.builder.push(inst.op.clone(), &operands))?
                    }
                };
                writer.values[value.index()] = Some(made);
            }
        }
        origins.resize(writer.builder.insts().len(), value);
    }
    let outputs: Vec<ValueId> = module.outputs().iter().map(|output| writer.value(*output)).collect();
    Some((writer.builder.finish(outputs), origins))
}

/// A loop that keeps every K-th carry.
struct Loop<'m> {
    value: ValueId,
    scan: &'m Scan,
    operands: Vec<ValueId>,
    accesses: Vec<Access>,
    steps: Dim,
    segments: Dim,
    /// Whether the last segment may have fewer steps than the others.
    is_padded: bool,
}

impl Loop<'_> {
    /// The positions of the stacked results.
    fn stacked(&self) -> std::ops::Range<usize> {
        self.scan.carry_count()..self.scan.body.outputs().len()
    }

    /// The number of steps of all segments.
    fn padded(&self) -> Option<Dim> {
        self.segments.mul(&Dim::literal(self.scan.checkpoint)).ok()
    }

    fn has_equal_segments(&self, other: &Self) -> bool {
        (&self.steps, self.scan.checkpoint) == (&other.steps, other.scan.checkpoint)
    }
}

/// The loops that can be split into segments.
fn checkpointed(module: &Module) -> BTreeMap<ValueId, Loop<'_>> {
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
        // The steps after the last one would be the first ones, and end the loop.
        let ends_first = scan.guard == Guard::Carry && scan.reverse && is_padded;
        let of = Loop { value, scan, operands, accesses, steps, segments, is_padded };
        (has_room && !ends_first && of.segments != Dim::ONE).then_some((value, of))
    });
    loops.collect()
}

/// How the results of the loops are read.
struct Uses {
    /// The results that something reads.
    read: BTreeSet<Place>,
    /// The residuals that only loops with equal segments read, element by element. They are computed again.
    again: BTreeSet<Place>,
    /// The loops that read such results.
    readers: BTreeSet<ValueId>,
}

impl Uses {
    fn of(module: &Module, loops: &BTreeMap<ValueId, Loop<'_>>) -> Self {
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
        let again: BTreeSet<Place> = read
            .iter()
            .copied()
            .filter(|(of, at)| loops[of].scan.is_residual(*at) && !kept.contains(&(*of, *at)))
            .collect();
        let readers =
            readers.into_iter().filter(|(place, _)| again.contains(place)).map(|(_, of)| of).collect();
        Self { read, again, readers }
    }

    /// The stacked results that something reads.
    fn stacked(&self, of: &Loop<'_>) -> impl Iterator<Item = usize> {
        of.stacked().filter(|at| self.read.contains(&(of.value, *at)))
    }

    fn is_again(&self, of: &Loop<'_>, result: usize) -> bool {
        self.again.contains(&(of.value, result))
    }

    fn is_segmented(&self, of: &Loop<'_>) -> bool {
        self.readers.contains(&of.value) || of.stacked().any(|at| self.is_again(of, at))
    }

    /// The part of a loop that computes the values that other loops read.
    fn again_of(&self, of: &Loop<'_>, stacked: impl IntoIterator<Item = usize>) -> Part {
        Part::new(of, BTreeSet::new(), stacked.into_iter().collect())
    }
}

/// A part of a loop: some results, and the carries and operands that they need.
struct Part {
    carries: BTreeSet<usize>,
    /// The positions of operands after the carries.
    operands: BTreeSet<usize>,
    /// The positions of results.
    stacked: BTreeSet<usize>,
    /// The values of the body that are computed.
    is_needed: Vec<bool>,
}

impl Part {
    fn new(of: &Loop<'_>, mut carries: BTreeSet<usize>, stacked: BTreeSet<usize>) -> Self {
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
    fn inputs(&self, of: &Loop<'_>) -> Vec<(ValueId, String, Type)> {
        let input =
            |at: &usize| (ValueId::new(*at), format!("x{at}"), of.scan.body.ty(ValueId::new(*at)).clone());
        self.carries.iter().chain(&self.operands).map(input).collect()
    }

    /// The body without the rest of the loop.
    fn body(&self, of: &Loop<'_>, inputs: Vec<(ValueId, String, Type)>) -> Module {
        let body = &of.scan.body;
        let insts = body.iter().filter(|(value, inst)| !inst.op.is_input() && self.is_needed[value.index()]);
        let outputs: Vec<ValueId> =
            self.carries.iter().chain(&self.stacked).map(|at| body.outputs()[*at]).collect();
        extracted(inputs, insts, &outputs)
    }
}

/// A value that the body of a loop over segments reads, described by the value around that loop.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Input {
    /// A carry of the loop itself.
    Carry(usize),
    /// The steps of a segment of an iterated operand.
    Steps(ValueId),
    /// The steps of a segment of a guard that is one value for all steps.
    Guard(ValueId),
    /// For each step of a segment whether it is one of the loop.
    IsStep,
    /// For each step of a segment whether it is the last one of the segment or of a loop in this direction.
    IsLast { reverse: bool },
    /// The whole operand.
    Whole(ValueId),
    /// A carry of another loop before the segment.
    Kept(Place),
}

/// Builds the module with loops over segments.
struct Writer<'w> {
    module: &'w Module,
    loops: &'w BTreeMap<ValueId, Loop<'w>>,
    uses: &'w Uses,
    /// For each loop, the values that are its results, with their positions.
    results: BTreeMap<ValueId, Vec<(ValueId, usize)>>,
    builder: Builder,
    /// For each value of the module its value here. Results that are computed again have none.
    values: Vec<Option<ValueId>>,
    /// The carries before each segment, stacked.
    kept: BTreeMap<Place, ValueId>,
}

impl<'w> Writer<'w> {
    fn new(module: &'w Module, loops: &'w BTreeMap<ValueId, Loop<'w>>, uses: &'w Uses) -> Self {
        let mut results: BTreeMap<ValueId, Vec<(ValueId, usize)>> = BTreeMap::new();
        for (value, _) in module.iter() {
            if let Some((of, at)) = module.place_of(value) {
                results.entry(of).or_default().push((value, at));
            }
        }
        let values = vec![None; module.insts().len()];
        Self { module, loops, uses, results, builder: Builder::new(), values, kept: BTreeMap::new() }
    }

    fn value(&self, value: ValueId) -> ValueId {
        self.values[value.index()].expect("only loops over segments read what is computed again")
    }

    /// Sets the values here of a loop's results, by their positions.
    fn give(&mut self, of: &Loop<'_>, results: &BTreeMap<usize, ValueId>) {
        for (value, at) in self.results.get(&of.value).into_iter().flatten() {
            self.values[value.index()] = results.get(at).copied();
        }
    }

    /// Emits a loop over segments.
    fn segmented(&mut self, of: &Loop<'_>) -> Option<()> {
        let carries: BTreeSet<usize> = (0..of.scan.carry_count()).collect();
        let stacked = self.uses.stacked(of).filter(|at| !self.uses.is_again(of, *at));
        let main = Part::new(of, carries.clone(), stacked.collect());
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
        let mut again: BTreeMap<Place, ValueId> = BTreeMap::new();
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
            checkpoint: 0,
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
    fn whole(&mut self, of: &Loop<'_>) -> Option<()> {
        let carries = (0..of.scan.carry_count()).collect();
        let part = Part::new(of, carries, self.uses.stacked(of).collect());
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
    fn before(&self, of: &Loop<'_>, main: &Part) -> BTreeMap<ValueId, Part> {
        let mut needed: BTreeMap<ValueId, BTreeSet<usize>> = BTreeMap::new();
        let mut parts = BTreeMap::new();
        let need = |needed: &mut BTreeMap<ValueId, BTreeSet<usize>>, of: &Loop<'_>, part: &Part| {
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

    /// The result that is computed again and that an operand of a loop is.
    fn again(&self, of: &Loop<'_>, operand: usize) -> Option<Place> {
        self.module.place_of(of.operands[operand]).filter(|place| self.uses.again.contains(place))
    }

    /// The values that a part of a loop reads in a segment.
    fn inputs(&self, of: &Loop<'_>, part: &Part, is_main: bool) -> Vec<Input> {
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
    fn operand(&mut self, of: &Loop<'_>, input: Input) -> Option<(ValueId, Type)> {
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
                let value =
                    within_limits(self.builder.push(Op::Arrange(Arrange::broadcast(shape)), &[value]))?;
                self.split(of, value)?
            }
            Input::IsStep => {
                let (position, steps) = (self.positions(of)?, self.count(&of.steps)?);
                let names = [("position", position), ("steps", steps)];
                computed(&mut self.builder, "lt(position, steps)", &names)
            }
            Input::IsLast { reverse } => {
                let length = of.scan.checkpoint;
                let in_segment = self.iota(vec![of.segments.clone(), Dim::literal(length)], 1)?;
                let last = if reverse { Dim::ZERO } else { Dim::literal(length - 1) };
                let last = self.count(&last)?;
                let names = [("at", in_segment), ("last", last)];
                let is_last = computed(&mut self.builder, "eq(at, last)", &names);
                match of.is_padded {
                    true => {
                        let (position, steps) = (self.positions(of)?, self.count(&of.steps)?);
                        let names = [("position", position), ("steps", steps), ("is_last", is_last)];
                        let text = "or(is_last, ge(position + 1.0, steps))";
                        computed(&mut self.builder, text, &names)
                    }
                    false => is_last,
                }
            }
        };
        let ty = self.builder.ty(operand).clone();
        let of_step = || ty.with_shape(ty.shape[1..].iter().cloned().collect());
        Some(match input {
            Input::Carry(_) | Input::Whole(_) => (operand, ty),
            Input::Steps(_) | Input::Guard(_) | Input::IsStep | Input::IsLast { .. } | Input::Kept(_) => {
                (operand, of_step())
            }
        })
    }

    /// The position of each step of each segment among all steps.
    fn positions(&mut self, of: &Loop<'_>) -> Option<ValueId> {
        let positions = self.iota(vec![of.padded()?], 0)?;
        self.reshaped(positions, [of.segments.clone(), Dim::literal(of.scan.checkpoint)])
    }

    fn iota(&mut self, shape: Vec<Dim>, axis: i64) -> Option<ValueId> {
        within_limits(self.builder.push(Op::Made(Made::Iota { shape, axis }), &[]))
    }

    fn count(&mut self, count: &Dim) -> Option<ValueId> {
        match count.as_literal() {
            Some(known) => Some(self.builder.constant(DType::I64, known as f64)),
            None => {
                let shape = [count.clone()].into_iter().collect();
                within_limits(self.builder.push(Op::Const(Const::Count { shape, dtype: DType::I64 }), &[]))
            }
        }
    }

    /// The steps of each segment of an iterated operand.
    fn split(&mut self, of: &Loop<'_>, value: ValueId) -> Option<ValueId> {
        let value = if of.is_padded { self.padded(of, value)? } else { value };
        self.reshaped(value, [of.segments.clone(), Dim::literal(of.scan.checkpoint)])
    }

    /// An iterated operand with zeros behind its steps.
    fn padded(&mut self, of: &Loop<'_>, value: ValueId) -> Option<ValueId> {
        let ty = self.builder.ty(value).clone();
        if ty.dtype == DType::Bool {
            // Only numbers are placed among zeros.
            let [zero, one] = [0.0, 1.0].map(|number| self.builder.constant(DType::U8, number));
            let names = [("value", value), ("one", one), ("zero", zero)];
            let number = computed(&mut self.builder, "where(value, one, zero)", &names);
            let padded = self.padded(of, number)?;
            let names = [("padded", padded), ("zero", zero)];
            return Some(computed(&mut self.builder, "ne(padded, zero)", &names));
        }
        let slice = first(&ty.shape, &of.steps).into();
        let rest = ty.shape[1..].iter().cloned();
        let shape = [of.padded()?].into_iter().chain(rest).collect();
        within_limits(self.builder.push(Op::Part(ir::Part::SliceGrad { shape, slice }), &[value]))
    }

    /// Joins the stacked results of all segments to the stacked result of the loop.
    fn joined(&mut self, of: &Loop<'_>, value: ValueId) -> Option<ValueId> {
        let ty = self.builder.ty(value).clone();
        let shape = [of.padded()?].into_iter().chain(ty.shape[2..].iter().cloned()).collect::<Shape>();
        let joined = within_limits(
            self.builder.push(Op::Arrange(Arrange::Reshape { shape: shape.clone() }), &[value]),
        )?;
        match of.is_padded {
            true => {
                let slice = first(&shape, &of.steps).into();
                within_limits(self.builder.push(Op::Part(ir::Part::Slice(slice)), &[joined]))
            }
            false => Some(joined),
        }
    }

    /// A value with its leading axis split in two.
    fn reshaped(&mut self, value: ValueId, leading: [Dim; 2]) -> Option<ValueId> {
        let rest = self.builder.ty(value).shape[1..].iter().cloned();
        let shape = leading.into_iter().chain(rest).collect();
        within_limits(self.builder.push(Op::Arrange(Arrange::Reshape { shape }), &[value]))
    }

    /// Emits a loop. Returns all its results.
    fn looped(&mut self, scan: Scan, operands: &[ValueId]) -> Option<Vec<ValueId>> {
        results(&mut self.builder, scan, operands)
    }

    /// The results of a `while`, after a loop that fails as the `while` does if it has not ended.
    fn checked(&mut self, of: &Loop<'_>, made: &[ValueId]) -> Option<Vec<ValueId>> {
        let mut body = Builder::new();
        let mut outputs = Vec::new();
        for (at, value) in made.iter().enumerate() {
            outputs.push(within_limits(body.input(format!("x{at}"), self.builder.ty(*value).clone()))?);
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
        of: &Loop<'_>,
        part: &Part,
        is_main: bool,
        read: &BTreeMap<Input, ValueId>,
        again: &BTreeMap<Place, ValueId>,
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
                // A carry before the others says whether a step of the segment follows.
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

/// Emits a loop. Returns all its results.
fn results(builder: &mut Builder, scan: Scan, operands: &[ValueId]) -> Option<Vec<ValueId>> {
    let count = scan.body.outputs().len();
    let first = within_limits(builder.push(scan.into(), operands))?;
    let further = (1..count).map(|at| within_limits(builder.push(Op::further_result(at), &[first])));
    std::iter::once(Some(first)).chain(further).collect()
}

/// Emits a formula over flags and positions of steps.
fn computed(builder: &mut Builder, text: &'static str, names: &[(&str, ValueId)]) -> ValueId {
    formula(builder, text, names).expect("flags and positions have equal shapes, or are single")
}

/// The value of a result; `None` if a limit of modules is exceeded.
fn within_limits<T>(result: Result<T, Box<OpError>>) -> Option<T> {
    debug_assert!(
        result.as_ref().err().is_none_or(|error| error.code == Code::E1008),
        "segments keep the rules of the loop"
    );
    result.ok()
}

/// The first `count` elements along the leading axis.
fn first(shape: &Shape, count: &Dim) -> Slice {
    let ends = [count.clone()].into_iter().chain(shape[1..].iter().cloned()).collect();
    Slice { starts: vec![Dim::ZERO; shape.rank()], ends, steps: vec![1; shape.rank()] }
}
