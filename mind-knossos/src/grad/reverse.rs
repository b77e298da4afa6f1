//! Reverse mode.
//!
//! The second half of a reverse derivative processes the blocks of a function backwards. It requests the values of the
//! first half by name ([`Key`]) and gets them from a tape. The contents of the tape are known only when the second half
//! is complete. The first half is generated after that ([`super::replay`]).
//!
//! A block that runs once, such as a function's body or a branch, leaves one tape. The body of a loop leaves one tape
//! per iteration. If a body is cheap to run again it leaves none, and each iteration of the second half starts by
//! running it. An iteration that calls functions is never run again, so that a derivative costs a constant times its
//! function however deep calls nest. Loops nest only as deep as in the text.
//!
//! A function that is linear in its calls needs no tape at all, see [`super::linear`].

use std::collections::HashMap;

use super::{
    linear::Path,
    partials::{needs, partials},
    place::{Leaf, LeafId},
};
use crate::{
    build::{Builder, gather, is_accumulator, spread},
    ir::{
        BlockId, Body, Derivative, FunctionId, Instruction, LayoutId, Operation, Program, Projection, ValueId,
    },
    scalars::Scalar,
    types::{Type, TypeId},
};

/// A value of the first half that the second half needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Key {
    /// A value.
    Value(ValueId),
    /// The structure of a value.
    Structure(ValueId),
    /// The record that the instruction defining the value leaves for its second half.
    Record(ValueId),
}

impl Key {
    const fn value(self) -> ValueId {
        match self {
            Self::Value(value) | Self::Structure(value) | Self::Record(value) => value,
        }
    }
}

/// The contents of a block's tape.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    pub layout: LayoutId,
    pub keys: Vec<Key>,
}

/// The record that an instruction leaves for its second half.
#[derive(Clone, Debug)]
pub(super) enum Record {
    /// The tape of the branch taken.
    Branch(Kept, Kept),
    /// The tapes of the iterations.
    Turns(Kept),
    /// The tape of a call: the function that creates it, and its type.
    Call(FunctionId, TypeId),
}

/// A block of the source whose second half is being generated.
pub(super) struct Frame {
    block: BlockId,
    /// The number of open blocks around it.
    depth: usize,
    /// The number of instructions in the open block before it.
    mark: usize,
    /// Its tape.
    tape: ValueId,
    kept: Kept,
    types: Vec<TypeId>,
    known: HashMap<Key, ValueId>,
}

pub(super) struct Reverse<'p> {
    pub program: &'p mut Program,
    pub source: &'p Body,
    pub b: Builder,
    /// The records that instructions leave for their second halves.
    pub records: HashMap<ValueId, Record>,
    /// The value of each record in the first half being generated.
    pub record_of: HashMap<ValueId, ValueId>,
    pub(super) leaves: HashMap<LeafId, Leaf>,
    /// The instruction that defines each value; `None` for parameters.
    made: Vec<Option<&'p Instruction>>,
    /// The block of each value.
    home: Vec<BlockId>,
    frames: Vec<Frame>,
    /// The path from calls to the result, if both halves run together.
    pub(super) path: Option<Path>,
    /// The cotangents of the accumulators in the source.
    cotangents: HashMap<ValueId, ValueId>,
}

/// Builds the body of `[rev f]`, which runs the function and then goes backwards immediately.
pub(super) fn reverse(program: &mut Program, of: FunctionId, source: &Body) -> Body {
    let (parameters, _) = program.signature(Derivative::Rev, of);
    let mut this = Reverse::new(program, of, source);
    let given = this.b.begin(&parameters);
    let own = &source.block(source.entry).parameters;
    let operands = spread(&mut this.b, this.program, given[0], own.len());
    let tape = this.b.value(TypeId::TAPE);
    this.open_frame(source.entry, tape);
    for (parameter, operand) in own.iter().zip(&operands) {
        this.know(Key::Value(*parameter), *operand);
    }
    this.path = Path::of(this.program, of);
    if this.path.is_some() {
        // Calls in the first half add to the cotangents of parameters.
        own.iter().for_each(|parameter| this.accumulate(*parameter));
    }
    this.both_passes(source.entry, given[1], &mut own.iter().copied().zip(operands).collect());
    let results: Vec<_> = own.iter().map(|parameter| this.take_or_zero(*parameter)).collect();
    let result = gather(&mut this.b, this.program, &results);
    this.close_frame();
    this.b.finish(result)
}

/// Builds the body of [`Derivative::Direct`], for a function that is linear in its calls.
pub(super) fn direct(program: &mut Program, of: FunctionId, source: &Body) -> Body {
    let (parameters, _) = program.signature(Derivative::Direct, of);
    let mut this = Reverse::new(program, of, source);
    this.path = Path::of(this.program, of);
    let given = this.b.begin(&parameters);
    let own = source.block(source.entry).parameters.clone();
    let (operands, rest) = given.split_at(own.len());
    let mut rest = rest.iter().copied();
    let mut next = || rest.next().expect("the signature has all of these parameters");
    let change = next();
    let tape = this.b.value(TypeId::TAPE);
    this.open_frame(source.entry, tape);
    for (parameter, operand) in own.iter().zip(operands) {
        this.know(Key::Value(*parameter), *operand);
        this.bind(*parameter, &mut Vec::new(), source.ty(*parameter), &mut next);
    }
    let mut map = own.iter().copied().zip(operands.iter().copied()).collect();
    let value = this.both_passes(source.entry, change, &mut map);
    this.close_frame();
    this.b.finish(value)
}

/// Builds the two halves. `second` is the kind of the second half.
pub(super) fn halves(program: &mut Program, of: FunctionId, source: &Body, second: Derivative) -> [Body; 2] {
    let (parameters, _) = program.signature(second, of);
    let firsts = program.function(of).parameters.clone();
    let mut this = Reverse::new(program, of, source);
    let mut given = this.b.begin(&parameters).into_iter();
    let mut next = || given.next().expect("the signature has all of these parameters");
    let (tape, change) = match second {
        Derivative::Pullback => (next(), next()),
        _ => {
            let change = next();
            (next(), change)
        }
    };
    this.open_frame(source.entry, tape);
    let own = source.block(source.entry).parameters.clone();
    let result = if second == Derivative::Pullback {
        for parameter in &own {
            this.bind(*parameter, &mut Vec::new(), source.ty(*parameter), &mut next);
        }
        this.block(source.entry, Some(change));
        this.b.unit()
    } else {
        this.block(source.entry, Some(change));
        let results: Vec<_> = own.iter().map(|parameter| this.take_or_zero(*parameter)).collect();
        gather(&mut this.b, this.program, &results)
    };
    let kept = this.close_frame();
    let place = this.b.place;
    let mut first = Builder::at(place);
    let operands = first.begin(&firsts);
    let second = std::mem::replace(&mut this.b, first).finish(result);
    let mut map = own.into_iter().zip(operands).collect();
    let both = this.replay_packed(source.entry, &mut map, &kept, true);
    let first = std::mem::take(&mut this.b).finish(both);
    [first, second]
}

impl<'p> Reverse<'p> {
    fn new(program: &'p mut Program, of: FunctionId, source: &'p Body) -> Self {
        let mut made = vec![None; source.values.len()];
        let mut home = vec![source.entry; source.values.len()];
        for (position, block) in source.blocks.iter().enumerate() {
            let id = BlockId::new(position);
            block.parameters.iter().for_each(|parameter| home[parameter.index()] = id);
            for instruction in &block.instructions {
                home[instruction.result.index()] = id;
                made[instruction.result.index()] = Some(instruction);
            }
        }
        let b = Builder::at(program.function(of).place);
        let (records, record_of) = (HashMap::new(), HashMap::new());
        let (leaves, cotangents) = (HashMap::new(), HashMap::new());
        let (frames, path) = (Vec::new(), None);
        Self { program, source, b, records, record_of, leaves, made, home, frames, path, cotangents }
    }

    pub(super) fn home(&self, value: ValueId) -> BlockId {
        self.home[value.index()]
    }

    pub(super) fn made(&self, value: ValueId) -> Option<&'p Instruction> {
        self.made[value.index()]
    }

    /// Binds a parameter to the accumulators that the caller passes for it.
    fn bind(
        &mut self,
        parameter: ValueId,
        members: &mut Vec<usize>,
        ty: TypeId,
        next: &mut impl FnMut() -> ValueId,
    ) {
        if is_accumulator(self.program, ty) {
            self.cotangents.insert(parameter, next());
        } else if self.program.types.active(ty) {
            match self.program.types.members(ty).map(<[_]>::to_vec) {
                Some(types) => {
                    for (member, ty) in types.into_iter().enumerate() {
                        members.push(member);
                        self.bind(parameter, members, ty, next);
                        members.pop();
                    }
                }
                None => {
                    self.leaves.insert((parameter, members.clone()), Leaf::Accumulator(next()));
                }
            }
        }
    }

    pub(super) fn open_frame(&mut self, block: BlockId, tape: ValueId) {
        self.program.layouts.push(Box::new([]));
        let layout = LayoutId::new(self.program.layouts.len() - 1);
        let (depth, mark) = (self.b.depth() - 1, self.b.mark());
        let kept = Kept { layout, keys: Vec::new() };
        self.frames.push(Frame { block, depth, mark, tape, kept, types: Vec::new(), known: HashMap::new() });
    }

    /// Lets the second half of the innermost frame's block begin here.
    pub(super) fn mark_frame(&mut self) {
        let mark = self.b.mark();
        self.frames.last_mut().expect("a frame is open").mark = mark;
    }

    pub(super) fn close_frame(&mut self) -> Kept {
        let frame = self.frames.pop().expect("a frame is open");
        self.program.layouts[frame.kept.layout.index()] = frame.types.into();
        frame.kept
    }

    pub(super) fn know(&mut self, key: Key, value: ValueId) {
        self.frames.last_mut().expect("a frame is open").known.insert(key, value);
    }

    /// Makes the values that the innermost frame's block has so far known, and no others, which come later.
    pub(super) fn know_only(&mut self, map: &HashMap<ValueId, ValueId>) {
        let frame = self.frames.last_mut().expect("a frame is open");
        let own = map.iter().filter(|(value, _)| self.home[value.index()] == frame.block);
        frame.known = own.map(|(value, here)| (Key::Value(*value), *here)).collect();
    }

    fn frame_of(&self, value: ValueId) -> usize {
        let home = self.home[value.index()];
        let frame = self.frames.iter().rposition(|frame| frame.block == home);
        frame.expect("the frame of the value's block is open")
    }

    /// The nesting depth of the second half of a value's block.
    pub(super) fn depth_of(&self, value: ValueId) -> usize {
        self.frames[self.frame_of(value)].depth
    }

    /// Requests a value of the first half, in the block of the second half that corresponds to the value's block.
    pub(super) fn need(&mut self, key: Key) -> ValueId {
        let value = key.value();
        let at = self.frame_of(value);
        let depth = self.frames[at].depth;
        if let Some(known) = self.frames[at].known.get(&key) {
            return *known;
        }
        let ty = self.source.ty(value);
        let found = match (key, self.made(value).map(|made| &made.operation)) {
            (
                Key::Value(_),
                Some(operation @ (Operation::Integer(_) | Operation::Float(_) | Operation::Bool(_))),
            ) => self.b.emit_at(depth, operation.clone(), [], ty),
            (Key::Structure(_), _) if self.frames[at].known.contains_key(&Key::Value(value)) => {
                let value = self.frames[at].known[&Key::Value(value)];
                self.b.emit_at(depth, Operation::Structure, [value], self.program.types.structure(ty))
            }
            _ => {
                let ty = match key {
                    Key::Value(_) => ty,
                    Key::Structure(_) => self.program.types.structure(ty),
                    Key::Record(_) => self.type_of_record(value),
                };
                let frame = &mut self.frames[at];
                frame.kept.keys.push(key);
                frame.types.push(ty);
                let (tape, layout, position) = (frame.tape, frame.kept.layout, frame.types.len() - 1);
                self.b.emit_at(depth, Operation::Unpack(layout, position), [tape], ty)
            }
        };
        self.frames[at].known.insert(key, found);
        found
    }

    fn type_of_record(&mut self, value: ValueId) -> TypeId {
        let made = self.made(value).expect("only instructions leave records");
        match &made.operation {
            Operation::Loop(_, body) => {
                let counter = self.source.ty(self.source.block(*body).parameters[0]);
                let rank = self.program.types.rank_of_index(counter).unwrap_or(1);
                self.program.types.tensor(rank, TypeId::TAPE)
            }
            _ => match self.records.get(&value) {
                Some(Record::Call(_, ty)) => *ty,
                _ => TypeId::TAPE,
            },
        }
    }

    /// Inserts the first half of the innermost frame's block before the second half generated so far. Returns the
    /// block's value. The frame stays open.
    pub(super) fn run_again(&mut self, map: &mut HashMap<ValueId, ValueId>) -> ValueId {
        let frame = self.frames.last().expect("a frame is open");
        let written = self.b.take(frame.mark);
        let (block, tape) = (frame.block, frame.tape);
        let kept = Kept { layout: frame.kept.layout, keys: frame.kept.keys.clone() };
        let result = self.replay(block, map, true);
        let values: Vec<_> = kept.keys.iter().map(|key| self.replayed(map, *key)).collect();
        let depth = self.b.depth() - 1;
        self.b.place_at(depth, tape, Operation::Pack(kept.layout), values);
        self.b.append(written);
        result
    }

    /// Whether an instruction runs both halves of its blocks, or calls both halves of a function, in the first half.
    pub(super) fn runs_both(&self, instruction: &Instruction) -> bool {
        let is_scalar = matches!(instruction.operation, Operation::Scalar(_));
        !is_scalar && self.path.as_ref().is_some_and(|path| path.contains(instruction.result))
    }

    /// Generates the second half of a block. `change` is the cotangent of its result.
    pub(super) fn block(&mut self, id: BlockId, change: Option<ValueId>) {
        let block = self.source.block(id);
        if let Some(change) = change {
            self.contribute(block.result, Vec::new(), change);
        }
        for instruction in block.instructions.iter().rev() {
            self.b.place = instruction.place;
            self.instruction(instruction);
        }
    }

    fn instruction(&mut self, instruction: &'p Instruction) {
        let Instruction { result, operation, operands, .. } = instruction;
        if self.runs_both(instruction) {
            self.take(*result);
            return;
        }
        match operation {
            // Cotangents of these results are added to parts of other values.
            Operation::Tuple | Operation::Get(_) | Operation::Index => {}
            Operation::Pack(_) | Operation::Unpack(..) => {}
            // These operations have no derivative.
            Operation::Integer(_) | Operation::Float(_) | Operation::Bool(_) | Operation::String(_) => {}
            Operation::Equal
            | Operation::Size
            | Operation::ArgMax
            | Operation::Structure
            | Operation::Zero => {}
            Operation::Assert(_)
            | Operation::Bounds
            | Operation::Print
            | Operation::Accumulator
            | Operation::Part(_) => {}
            Operation::Loop(form, body) => self.turns(instruction, *form, *body),
            Operation::If(then, otherwise) => self.branch(instruction, *then, *otherwise),
            Operation::Call(id) => self.call(instruction, *id),
            Operation::Read => {
                if let Some(change) = self.take(*result) {
                    self.cotangents.insert(operands[0], change);
                }
            }
            Operation::AddTo(steps) => {
                if let Some(change) = self.cotangent(operands[0], false) {
                    let last = operands.len() - 1;
                    let part = self.project(change, steps, &operands[1..last]);
                    self.contribute(operands[last], Vec::new(), part);
                }
            }
            Operation::Scalar(scalar) => {
                if let Some(change) = self.take(*result) {
                    self.scalar(*scalar, instruction, change);
                }
            }
            Operation::VecInit => {
                let Some(change) = self.take(*result) else { return };
                for (position, operand) in operands.iter().enumerate() {
                    if self.program.types.active(self.source.ty(*operand)) {
                        let at = self.b.integer(position as i64);
                        let part = self.b.index(&self.program.types, at, change);
                        self.contribute(*operand, Vec::new(), part);
                    }
                }
            }
            Operation::Unzip => self.unzip(instruction),
            Operation::Add => {
                let Some(change) = self.take(*result) else { return };
                self.contribute(operands[0], Vec::new(), change);
                self.contribute(operands[1], Vec::new(), change);
            }
            Operation::Negate => {
                let Some(change) = self.take(*result) else { return };
                let ty = self.b.ty(change);
                let change = self.b.emit(Operation::Negate, [change], ty);
                self.contribute(operands[0], Vec::new(), change);
            }
            Operation::Scale => {
                let Some(change) = self.take(*result) else { return };
                let ty = self.b.ty(change);
                let (factor, value) =
                    (self.need(Key::Value(operands[0])), self.need(Key::Value(operands[1])));
                let first = self.b.emit(Operation::Dot, [value, change], TypeId::FLOAT);
                let second = self.b.emit(Operation::Scale, [factor, change], ty);
                self.contribute(operands[0], Vec::new(), first);
                self.contribute(operands[1], Vec::new(), second);
            }
            Operation::Dot => {
                let Some(change) = self.take(*result) else { return };
                for (operand, other) in [(operands[0], operands[1]), (operands[1], operands[0])] {
                    let other = self.need(Key::Value(other));
                    let ty = self.b.ty(other);
                    let part = self.b.emit(Operation::Scale, [change, other], ty);
                    self.contribute(operand, Vec::new(), part);
                }
            }
        }
    }

    fn scalar(&mut self, scalar: Scalar, instruction: &Instruction, change: ValueId) {
        let operands = &instruction.operands;
        let (needed, needs_result) = needs(scalar);
        let mut x = vec![ValueId::default(); operands.len()];
        for operand in needed {
            x[*operand] = self.need(Key::Value(operands[*operand]));
        }
        let y = needs_result.then(|| self.need(Key::Value(instruction.result)));
        let partials = partials(&mut self.b, scalar, &|operand| x[operand], y);
        for (operand, partial) in operands.iter().zip(partials) {
            if let Some(part) = partial.times(&mut self.b, change) {
                self.contribute(*operand, Vec::new(), part);
            }
        }
    }

    /// The cotangent of an accumulator's sum. If it is zero, returns `None`, or an explicit zero if `zero` is set.
    fn cotangent(&mut self, accumulator: ValueId, zero: bool) -> Option<ValueId> {
        if let Some(found) = self.cotangents.get(&accumulator) {
            return Some(*found);
        }
        let made = self.made(accumulator).expect("the cotangents of parameters are known");
        match &made.operation {
            Operation::Part(steps) => {
                let whole = self.cotangent(made.operands[0], zero)?;
                Some(self.project(whole, steps, &made.operands[1..]))
            }
            _ if zero => {
                let structure = self.need(Key::Value(made.operands[0]));
                let Type::Accumulator(ty) = *self.program.types.get(self.source.ty(accumulator)) else {
                    unreachable!("an accumulator is of its type")
                };
                Some(self.b.zero(&self.program.types, ty, structure))
            }
            _ => None,
        }
    }

    /// The part of a value at the end of the steps.
    fn project(&mut self, value: ValueId, steps: &[Projection], indices: &[ValueId]) -> ValueId {
        let mut indices = indices.iter();
        steps.iter().fold(value, |value, step| match step {
            Projection::Member(member) => self.b.get(&self.program.types, value, *member),
            Projection::Element => {
                let index = *indices.next().expect("each such step has an index");
                let index = self.need(Key::Value(index));
                self.b.index(&self.program.types, index, value)
            }
            Projection::Taped(layout, member) => {
                let ty = self.program.types.tangent(self.program.layouts[layout.index()][*member]);
                self.b.emit(Operation::Unpack(*layout, *member), [value], ty)
            }
        })
    }

    /// Whether the second half of a block has effects even if its result has no cotangent.
    pub(super) fn adds(&self, block: BlockId) -> bool {
        self.source.block(block).instructions.iter().any(|instruction| match &instruction.operation {
            Operation::AddTo(_) => true,
            Operation::Call(_) => self.gives_accumulator(instruction),
            operation => operation.blocks().any(|inner| self.adds(inner)),
        })
    }

    fn gives_accumulator(&self, call: &Instruction) -> bool {
        call.operands.iter().any(|operand| is_accumulator(self.program, self.source.ty(*operand)))
    }

    fn branch(&mut self, instruction: &'p Instruction, then: BlockId, otherwise: BlockId) {
        let change = self.take(instruction.result);
        if change.is_none() && !self.adds(then) && !self.adds(otherwise) {
            return;
        }
        let condition = self.need(Key::Value(instruction.operands[0]));
        let tape = self.need(Key::Record(instruction.result));
        let [then, otherwise] = [then, otherwise].map(|block| {
            self.b.begin(&[]);
            self.open_frame(block, tape);
            self.block(block, change);
            let unit = self.b.unit();
            (self.close_frame(), self.b.end(unit))
        });
        self.records.insert(instruction.result, Record::Branch(then.0, otherwise.0));
        self.b.emit(Operation::If(then.1, otherwise.1), [condition], TypeId::UNIT);
    }

    fn call(&mut self, instruction: &'p Instruction, id: FunctionId) {
        let Instruction { result, operands, .. } = instruction;
        let change = self.take(*result);
        if change.is_none() && !self.gives_accumulator(instruction) {
            return;
        }
        let change = match change {
            Some(change) => change,
            None => {
                let ty = self.source.ty(*result);
                let tangent = self.program.types.tangent(ty);
                let structure = match self.program.types.structure(ty) {
                    TypeId::UNIT => self.b.unit(),
                    _ => self.need(Key::Structure(*result)),
                };
                self.b.zero(&self.program.types, tangent, structure)
            }
        };
        let written = |derivative| self.program.written_derivative(derivative, id);
        let halves = (written(Derivative::SufFwdPass), written(Derivative::SufRevPass));
        if let Some(rev) = written(Derivative::Rev) {
            let values: Vec<_> = operands.iter().map(|operand| self.need(Key::Value(*operand))).collect();
            let argument = gather(&mut self.b, self.program, &values);
            self.call_written(rev, argument, change, operands);
        } else if let (Some(first), Some(second)) = halves {
            let ty = self.program.function(first).result;
            let record = self.program.types.members(ty).map_or(TypeId::TAPE, |members| members[1]);
            self.records.insert(*result, Record::Call(first, record));
            let tape = self.need(Key::Record(*result));
            self.call_written(second, change, tape, operands);
        } else {
            let first = self.program.derivative(Derivative::Taped, id);
            let pullback = self.program.derivative(Derivative::Pullback, id);
            self.records.insert(*result, Record::Call(first, TypeId::TAPE));
            let tape = self.need(Key::Record(*result));
            let mut given = vec![tape, change];
            let (mut used, mut later) = (Vec::new(), Vec::new());
            for operand in operands {
                let ty = self.source.ty(*operand);
                if is_accumulator(self.program, ty) {
                    given.extend(self.cotangent(*operand, true));
                } else {
                    self.parts(*operand, Vec::new(), ty, &mut given, &mut used, &mut later);
                }
            }
            self.b.emit(Operation::Call(pullback), given, TypeId::UNIT);
            for (operand, path, own) in later {
                let Type::Accumulator(ty) = *self.program.types.get(self.b.ty(own)) else { continue };
                let part = self.b.emit(Operation::Read, [own], ty);
                self.contribute(operand, path, part);
            }
        }
    }

    /// Calls a derivative that the program defines, and adds its results to the operands' cotangents.
    fn call_written(&mut self, id: FunctionId, first: ValueId, second: ValueId, operands: &[ValueId]) {
        let function = self.program.function(id);
        let (count, ty) = (function.parameters.len(), function.result);
        let given = match count {
            1 => vec![self.b.tuple(&mut self.program.types, &[first, second])],
            _ => vec![first, second],
        };
        let changes = self.b.emit(Operation::Call(id), given, ty);
        match operands {
            [one] => self.contribute(*one, Vec::new(), changes),
            several => {
                for (member, operand) in several.iter().enumerate() {
                    let part = self.b.get(&self.program.types, changes, member);
                    self.contribute(*operand, Vec::new(), part);
                }
            }
        }
    }
}
