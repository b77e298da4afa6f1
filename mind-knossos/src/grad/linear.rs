//! Functions that are linear in the results of their calls, such as an expansion by minors or a sum over a tree.
//!
//! The cotangent of such a call is known before the call: it is the cotangent of the function's result times factors
//! that do not depend on a call. So one function can compute the value of the call and add its cotangents
//! ([`Derivative::Direct`]). Nothing is kept on a tape, and each call runs once. The instructions from the calls to the
//! result are the function's path.

use std::collections::{HashMap, HashSet};

use super::{place::Leaf, replay::Map, reverse::Reverse};
use crate::{
    build::is_accumulator,
    ir::{BlockId, Body, Definition, Derivative, FunctionId, Instruction, Loop, Operation, Program, ValueId},
    scalars::Scalar,
    types::{Type, TypeId},
};

/// The values on the path from calls to the result of a function.
#[derive(Default)]
pub(super) struct Path {
    uses: HashMap<ValueId, Use>,
    /// The cotangent of the result of each block that is being generated.
    changes: HashMap<BlockId, ValueId>,
    /// The accumulators of values that are passed to calls. Each begins where its value is defined.
    accumulators: HashMap<ValueId, ValueId>,
}

/// The use of a value on the path.
#[derive(Clone, Copy)]
enum Use {
    /// It is the result of a block.
    Result(BlockId),
    /// It is an operand of an instruction of the path.
    Operand { scalar: Scalar, position: usize, other: Option<ValueId>, result: ValueId },
}

impl Path {
    /// The path of a function, if the function and all functions that it calls are linear in their calls.
    pub fn of(program: &Program, function: FunctionId) -> Option<Self> {
        let (mut reached, mut rest) = (HashSet::from([function]), vec![function]);
        let mut own = None;
        while let Some(function) = rest.pop() {
            let (path, calls) = Self::in_body(program, function)?;
            own.get_or_insert(path);
            rest.extend(calls.into_iter().filter(|call| reached.insert(*call)));
        }
        own.filter(|path| !path.uses.is_empty())
    }

    /// Whether both halves of a block are being generated together.
    pub fn runs(&self, block: BlockId) -> bool {
        self.changes.contains_key(&block)
    }

    /// Whether a value is on the path.
    pub fn contains(&self, value: ValueId) -> bool {
        self.uses.contains_key(&value)
    }

    fn in_body(program: &Program, id: FunctionId) -> Option<(Self, Vec<FunctionId>)> {
        let function = program.function(id);
        let Definition::Defined(body) = &function.definition else { return None };
        let written = [Derivative::Fwd, Derivative::Rev, Derivative::SufFwdPass, Derivative::SufRevPass]
            .iter()
            .any(|derivative| program.written_derivative(*derivative, id).is_some());
        let plain = function.parameters.iter().all(|ty| !is_accumulator(program, *ty));
        let mut instructions = body.blocks.iter().flat_map(|block| &block.instructions);
        if written || !plain || function.result != TypeId::FLOAT || instructions.any(has_effect) {
            return None;
        }
        let mut search = Search::new(program, body);
        search.block(body.entry)?;
        // Each value that depends on a call has one use, and all are on the path.
        let on_path = search.path.uses.len();
        let uses_once = search.path.uses.keys().all(|value| search.count[value.index()] == 1);
        (uses_once && search.depends.iter().filter(|depends| **depends).count() == on_path)
            .then_some((search.path, search.calls))
    }
}

/// Whether the order of an instruction and of calls matters.
fn has_effect(instruction: &Instruction) -> bool {
    matches!(
        instruction.operation,
        Operation::Print
            | Operation::AddTo(_)
            | Operation::Accumulator
            | Operation::Part(_)
            | Operation::Read
            | Operation::Pack(_)
            | Operation::Unpack(..)
    )
}

struct Search<'a> {
    program: &'a Program,
    body: &'a Body,
    made: Vec<Option<&'a Instruction>>,
    home: Vec<BlockId>,
    /// Whether each value depends on a call.
    depends: Vec<bool>,
    /// The number of uses of each value.
    count: Vec<usize>,
    path: Path,
    /// The blocks of the path around the one that is being followed.
    on_path: Vec<BlockId>,
    calls: Vec<FunctionId>,
}

impl<'a> Search<'a> {
    fn new(program: &'a Program, body: &'a Body) -> Self {
        let values = body.values.len();
        let mut search = Self {
            program,
            body,
            made: vec![None; values],
            home: vec![body.entry; values],
            depends: vec![false; values],
            count: vec![0; values],
            path: Path::default(),
            on_path: Vec::new(),
            calls: Vec::new(),
        };
        search.survey(body.entry);
        search
    }

    /// Notes what defines and uses the values of a block. Returns whether the block contains a call.
    fn survey(&mut self, id: BlockId) -> bool {
        let block = self.body.block(id);
        block.parameters.iter().for_each(|parameter| self.home[parameter.index()] = id);
        let mut calls = false;
        for instruction in &block.instructions {
            let Instruction { result, operation, operands, .. } = instruction;
            self.made[result.index()] = Some(instruction);
            self.home[result.index()] = id;
            operands.iter().for_each(|operand| self.count[operand.index()] += 1);
            let mut depends = matches!(operation, Operation::Call(_));
            for inner in operation.blocks() {
                depends |= self.survey(inner);
            }
            calls |= depends;
            self.depends[result.index()] =
                depends || operands.iter().any(|operand| self.depends[operand.index()]);
        }
        self.count[block.result.index()] += 1;
        calls
    }

    /// Follows the path through a block of the path.
    fn block(&mut self, id: BlockId) -> Option<()> {
        let body = self.body;
        let block = body.block(id);
        if !self.uses_accumulators(id) {
            return None;
        }
        let mut rest = Vec::new();
        if self.depends[block.result.index()] {
            self.path.uses.insert(block.result, Use::Result(id));
            rest.push(block.result);
        }
        while let Some(value) = rest.pop() {
            let made = self.made[value.index()].filter(|_| self.home[value.index()] == id)?;
            if self.body.ty(value) != TypeId::FLOAT {
                return None;
            }
            match &made.operation {
                Operation::Scalar(scalar @ (Scalar::AddF | Scalar::SubF | Scalar::NegF | Scalar::MulF)) => {
                    let carrying = |operand: &ValueId| self.depends[operand.index()];
                    if *scalar == Scalar::MulF && made.operands.iter().all(carrying) {
                        return None;
                    }
                    for (position, operand) in made.operands.iter().enumerate() {
                        if !carrying(operand) {
                            continue;
                        }
                        let other = made.operands.get(1 - position).copied();
                        let of = Use::Operand { scalar: *scalar, position, other, result: value };
                        self.path.uses.insert(*operand, of);
                        rest.push(*operand);
                    }
                }
                Operation::Call(callee) => {
                    let is_known = |operand: &ValueId| self.has_accumulator(*operand, id);
                    if !made.operands.iter().all(is_known) {
                        return None;
                    }
                    self.calls.push(*callee);
                }
                Operation::If(..) | Operation::Loop(Loop::Sum, _) => {
                    self.on_path.push(id);
                    for inner in made.operation.blocks() {
                        self.block(inner)?;
                    }
                    self.on_path.pop();
                }
                _ => return None,
            }
        }
        Some(())
    }

    /// Whether the cotangent of a value that a block of the path uses can be an accumulator, or a part of one, that
    /// begins where the value is defined.
    fn has_accumulator(&self, mut value: ValueId, block: BlockId) -> bool {
        if !self.program.types.active(self.body.ty(value)) {
            return true;
        }
        while let Some(made) = self.made[value.index()] {
            value = match made.operation {
                Operation::Get(_) => made.operands[0],
                Operation::Index => made.operands[1],
                Operation::Float(_) => return true,
                Operation::Tuple | Operation::Zero => return false,
                _ => break,
            };
        }
        let is_whole = self.program.types.members(self.body.ty(value)).is_none();
        let home = self.home[value.index()];
        home == self.body.entry && self.made[value.index()].is_none()
            || is_whole && !self.depends[value.index()] && (home == block || self.on_path.contains(&home))
    }

    /// Whether [`has_accumulator`](Self::has_accumulator) holds for all values of the blocks around that a block uses.
    fn uses_accumulators(&self, id: BlockId) -> bool {
        let mut blocks = vec![id];
        while let Some(at) = blocks.pop() {
            let block = self.body.block(at);
            let is_inside = |value: &ValueId| !self.on_path.contains(&self.home[value.index()]);
            let operands = block.instructions.iter().flat_map(|instruction| &instruction.operands);
            let mut used = operands.chain([&block.result]);
            if !used.all(|value| is_inside(value) || self.has_accumulator(*value, id)) {
                return false;
            }
            for instruction in &block.instructions {
                blocks.extend(instruction.operation.blocks());
            }
        }
        true
    }
}

impl Reverse<'_> {
    /// Gives accumulators to the values of a block whose cotangents are added to in the first half: those that are passed
    /// to calls on the path, and those that the blocks of the path in it use.
    fn accumulate_used(&mut self, id: BlockId) {
        let source = self.source;
        let mut used = Vec::new();
        for instruction in source.block(id).instructions.iter().filter(|own| self.runs_both(own)) {
            if let Operation::Call(_) = instruction.operation {
                used.extend(&instruction.operands);
            }
            let mut blocks: Vec<_> = instruction.operation.blocks().collect();
            while let Some(block) = blocks.pop() {
                let block = source.block(block);
                used.push(block.result);
                for inner in &block.instructions {
                    used.extend(&inner.operands);
                    blocks.extend(inner.operation.blocks());
                }
            }
        }
        for value in used {
            let Some(value) = self.whole_root(value).filter(|value| self.home(*value) == id) else {
                continue;
            };
            let ty = source.ty(value);
            let leaf = (value, Vec::new());
            if self.made(value).is_none() || !self.program.types.active(ty) || self.leaves.contains_key(&leaf)
            {
                continue;
            }
            let ty = self.accumulator_type(ty);
            let accumulator = self.b.value(ty);
            self.leaves.insert(leaf, Leaf::Accumulator(accumulator));
            if let Some(path) = &mut self.path {
                path.accumulators.insert(value, accumulator);
            }
        }
    }

    /// Begins the accumulator of a value of the first half, if it has one.
    pub(super) fn begin_accumulator(&mut self, value: ValueId, here: ValueId) {
        let Some(accumulator) = self.path.as_ref().and_then(|path| path.accumulators.get(&value)).copied()
        else {
            return;
        };
        let structure = self.b.structure(&self.program.types, here);
        let depth = self.b.depth() - 1;
        self.b.place_at(depth, accumulator, Operation::Accumulator, [structure]);
    }

    /// The value of an instruction of the path, which also adds the cotangents of everything in it.
    pub(super) fn path_instruction(
        &mut self,
        instruction: &Instruction,
        values: Vec<ValueId>,
        map: &mut Map,
    ) -> ValueId {
        let Instruction { result, operation, operands, .. } = instruction;
        self.know_only(map);
        // The second half was generated first and has taken these leaves.
        let accumulators = self.path.iter().flat_map(|path| &path.accumulators);
        let leaves = accumulators.map(|(value, own)| ((*value, Vec::new()), Leaf::Accumulator(*own)));
        self.leaves.extend(leaves);
        let change = self.change_of(*result, map);
        match operation {
            Operation::Call(callee) => self.direct_call(*callee, operands, values, change),
            Operation::If(then, otherwise) => {
                let blocks = [*then, *otherwise].map(|block| {
                    self.b.begin(&[]);
                    let value = self.path_block(block, change, map);
                    self.b.end(value)
                });
                self.b.emit(Operation::If(blocks[0], blocks[1]), values, TypeId::FLOAT)
            }
            Operation::Loop(form, body) => {
                self.begin_body(*body, map);
                let value = self.path_block(*body, change, map);
                let turn = self.b.end(value);
                self.b.emit(Operation::Loop(*form, turn), values, TypeId::FLOAT)
            }
            _ => unreachable!("the path consists of calls, branches, sums and scalars"),
        }
    }

    /// Generates both halves of a block of the path. The new values of its parameters are in `map`.
    fn path_block(&mut self, id: BlockId, change: ValueId, map: &mut Map) -> ValueId {
        let tape = self.b.value(TypeId::TAPE);
        self.open_frame(id, tape);
        self.know_only(map);
        let value = self.both_passes(id, change, map);
        self.close_frame();
        value
    }

    /// Generates the second half of the innermost frame's block, and before it the first half. Returns the block's
    /// value. The frame stays open.
    pub(super) fn both_passes(&mut self, id: BlockId, change: ValueId, map: &mut Map) -> ValueId {
        self.accumulate_used(id);
        self.block(id, Some(change));
        if let Some(path) = &mut self.path {
            path.changes.insert(id, change);
        }
        self.run_again(map)
    }

    /// The cotangent of a value on the path.
    fn change_of(&mut self, value: ValueId, map: &Map) -> ValueId {
        let mut factors = Vec::new();
        let mut at = value;
        let mut change = loop {
            let path = self.path.as_ref().expect("the function has a path");
            match path.uses[&at] {
                Use::Result(block) => break path.changes[&block],
                Use::Operand { scalar, position, other, result } => {
                    factors.push((scalar, position, other));
                    at = result;
                }
            }
        };
        for (scalar, position, other) in factors.into_iter().rev() {
            change = match (scalar, other) {
                (Scalar::MulF, Some(other)) => {
                    let factor = self.operand(map, other);
                    self.b.scalar(Scalar::MulF, &[factor, change])
                }
                (Scalar::NegF, _) => self.b.scalar(Scalar::NegF, &[change]),
                (Scalar::SubF, _) if position == 1 => self.b.scalar(Scalar::NegF, &[change]),
                _ => change,
            };
        }
        change
    }

    fn direct_call(
        &mut self,
        callee: FunctionId,
        operands: &[ValueId],
        mut given: Vec<ValueId>,
        change: ValueId,
    ) -> ValueId {
        let direct = self.program.derivative(Derivative::Direct, callee);
        given.push(change);
        let (mut used, mut later) = (Vec::new(), Vec::new());
        for operand in operands {
            self.parts(*operand, Vec::new(), self.source.ty(*operand), &mut given, &mut used, &mut later);
        }
        let value = self.b.emit(Operation::Call(direct), given, TypeId::FLOAT);
        for (operand, path, own) in later {
            let Type::Accumulator(ty) = *self.program.types.get(self.b.ty(own)) else { continue };
            let part = self.b.emit(Operation::Read, [own], ty);
            self.contribute(operand, path, part);
        }
        value
    }
}
