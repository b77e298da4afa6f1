//! Checks the invariants of the IR. [`verify`] applies to the output of the elaborator and to derivatives.
//!
//! - A value is defined once, by an instruction or as a parameter. It is used only afterwards, in its block or in a
//!   nested one.
//! - Operands, blocks and results have the types required by [`Operation`].
//! - A block belongs to one instruction or is the body's entry.
//! - An accumulator is an operand only of operations that add to it, take a part of it or read it, and of calls. It is
//!   read in the block that creates it and not used afterwards. No two operands of a call belong to the same
//!   accumulator.

use std::sync::Arc;

use crate::{
    ir::{
        Block, BlockId, Body, Definition, Function, FunctionId, Instruction, LayoutId, Loop, Operation,
        Program, Projection, ValueId,
    },
    primitives::is_summable,
    print::mnemonic,
    types::{Type, TypeId, Types},
};

/// A violation of an IR invariant by a function. It is a bug of this crate, never an error in a text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{function}: value {value}: {message}")]
pub struct Fault {
    /// The function.
    pub function: Arc<str>,
    /// The value that the instruction defines, or the result of the block.
    pub value: usize,
    /// The violation.
    pub message: String,
}

/// Checks every function that has a body.
///
/// # Errors
/// Every violation, in the order of functions and instructions.
pub fn verify(program: &Program) -> Result<(), Vec<Fault>> {
    let faults: Vec<_> =
        (0..program.functions.len()).flat_map(|index| faults(program, FunctionId::new(index))).collect();
    if faults.is_empty() { Ok(()) } else { Err(faults) }
}

fn faults(program: &Program, id: FunctionId) -> Vec<Fault> {
    let function = program.function(id);
    let Definition::Defined(body) = &function.definition else { return Vec::new() };
    let mut checker = Checker {
        program,
        types: &program.types,
        function,
        body,
        values: vec![Made::NotYet; body.values.len()],
        owned: vec![false; body.blocks.len()],
        makers: makers(body),
        open: Vec::new(),
        faults: Vec::new(),
    };
    checker.function();
    checker.faults
}

/// The instruction that defines each value; `None` for parameters.
fn makers(body: &Body) -> Vec<Option<&Instruction>> {
    let mut makers = vec![None; body.values.len()];
    for instruction in body.blocks.iter().flat_map(|block| &block.instructions) {
        makers[instruction.result.index()] = Some(instruction);
    }
    makers
}

/// The state of a value while the instructions are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Made {
    NotYet,
    /// Defined in the open block at this nesting depth.
    At(usize),
    /// Defined in a block that has ended.
    Gone,
    /// An accumulator that has been read.
    Read,
}

struct Checker<'p> {
    program: &'p Program,
    types: &'p Types,
    function: &'p Function,
    body: &'p Body,
    values: Vec<Made>,
    /// Whether each block belongs to an instruction or is the body's entry.
    owned: Vec<bool>,
    makers: Vec<Option<&'p Instruction>>,
    /// The values defined so far in each open block, the innermost last.
    open: Vec<Vec<ValueId>>,
    faults: Vec<Fault>,
}

/// The result of a check. The error is a message without a position.
type Rule<T = ()> = Result<T, String>;

/// Returns the message as an error unless the condition holds.
fn rule(kept: bool, message: impl FnOnce() -> String) -> Rule {
    if kept { Ok(()) } else { Err(message()) }
}

impl<'p> Checker<'p> {
    fn function(&mut self) {
        let (function, body) = (self.function, self.body);
        let entry = body.block(body.entry);
        let parameters: Vec<_> = entry.parameters.iter().map(|parameter| body.ty(*parameter)).collect();
        if *parameters != *function.parameters {
            self.fault(entry.result, "the parameters of the body differ from those of the function".into());
            return;
        }
        self.block(body.entry);
        if body.ty(entry.result) != function.result {
            let message = self.differ("the result", function.result, body.ty(entry.result));
            self.fault(entry.result, message);
        }
    }

    fn fault(&mut self, value: ValueId, message: String) {
        let function = self.function.name.clone();
        self.faults.push(Fault { function, value: value.index(), message });
    }

    fn block(&mut self, id: BlockId) {
        let block = self.body.block(id);
        if std::mem::replace(&mut self.owned[id.index()], true) {
            return self.fault(block.result, format!("block {} belongs to two instructions", id.index()));
        }
        self.open.push(Vec::new());
        block.parameters.iter().for_each(|parameter| self.make(*parameter));
        for instruction in &block.instructions {
            self.instruction(instruction);
        }
        let result = self.known(block.result).and_then(|()| {
            rule(self.accumulator(block.result).is_none(), || "a block returns an accumulator".into())
        });
        if let Err(message) = result {
            self.fault(block.result, message);
        }
        for value in self.open.pop().unwrap_or_default() {
            self.values[value.index()] = Made::Gone;
        }
    }

    fn make(&mut self, value: ValueId) {
        if self.values[value.index()] != Made::NotYet {
            self.fault(value, "it is defined twice".into());
        }
        self.values[value.index()] = Made::At(self.open.len() - 1);
        self.open.last_mut().expect("a block is open").push(value);
    }

    /// Checks that a value can be used here.
    fn known(&self, value: ValueId) -> Rule {
        let index = value.index();
        match self.values.get(index) {
            Some(Made::At(_)) => Ok(()),
            Some(Made::NotYet) => Err(format!("value {index} is used before its definition")),
            Some(Made::Gone) => Err(format!("value {index} is used after its block has ended")),
            Some(Made::Read) => Err(format!("accumulator {index} is used after it was read")),
            None => Err(format!("value {index} does not exist")),
        }
    }

    fn instruction(&mut self, instruction: &Instruction) {
        let Instruction { result, operation, operands, .. } = instruction;
        let known = operands.iter().try_for_each(|operand| self.known(*operand));
        let checked = known.and_then(|()| {
            let found = self.body.ty(*result);
            self.is("the result", self.operation(operation, operands, found)?, found)?;
            self.accumulators(operation, operands)
        });
        for block in operation.blocks() {
            self.block(block);
        }
        if let Err(message) = checked {
            self.fault(*result, format!("{}: {message}", mnemonic(operation)));
        }
        if let (Operation::Read, [accumulator]) = (operation, &operands[..])
            && self.known(*accumulator).is_ok()
        {
            self.values[accumulator.index()] = Made::Read;
        }
        self.make(*result);
    }

    fn differ(&self, what: &str, expected: TypeId, found: TypeId) -> String {
        format!("{what}: expected {}, found {}", self.types.show(expected), self.types.show(found))
    }

    fn is(&self, what: &str, expected: TypeId, found: TypeId) -> Rule {
        rule(expected == found, || self.differ(what, expected, found))
    }

    /// The type that an accumulator holds, or `None` for another value.
    fn accumulator(&self, value: ValueId) -> Option<TypeId> {
        match self.types.get(self.body.ty(value)) {
            Type::Accumulator(ty) => Some(*ty),
            _ => None,
        }
    }

    /// Checks the rules of accumulators.
    fn accumulators(&self, operation: &Operation, operands: &[ValueId]) -> Rule {
        let first = match operation {
            Operation::AddTo(_) | Operation::Part(_) | Operation::Read => 1,
            Operation::Call(_) => operands.len(),
            _ => 0,
        };
        let elsewhere = operands[first.min(operands.len())..].iter();
        for operand in elsewhere {
            rule(self.accumulator(*operand).is_none(), || "an accumulator is used as a value".into())?;
        }
        match operation {
            Operation::Read => {
                let here = Made::At(self.open.len() - 1);
                let made = self.makers[operands[0].index()].map(|made| &made.operation);
                let own = made == Some(&Operation::Accumulator);
                rule(own && self.values[operands[0].index()] == here, || {
                    "the operand is not an accumulator that this block creates".into()
                })
            }
            Operation::Call(_) => {
                let given = operands.iter().filter(|operand| self.accumulator(**operand).is_some());
                let mut roots: Vec<_> = given.map(|operand| self.whole(*operand)).collect();
                let count = roots.len();
                roots.sort_unstable();
                roots.dedup();
                rule(roots.len() == count, || "two operands are parts of one accumulator".into())
            }
            _ => Ok(()),
        }
    }

    /// The accumulator that contains this part.
    fn whole(&self, mut value: ValueId) -> ValueId {
        while let Some(Instruction { operation: Operation::Part(_), operands, .. }) =
            self.makers[value.index()]
        {
            value = operands[0];
        }
        value
    }

    /// The type of an instruction's result. `result` is the declared type; it is used where the operands do not
    /// determine the type.
    fn operation(&self, operation: &Operation, operands: &[ValueId], result: TypeId) -> Rule<TypeId> {
        let tys: Vec<_> = operands.iter().map(|operand| self.body.ty(*operand)).collect();
        Ok(match operation {
            Operation::Integer(_) => self.operands_of::<0>(&tys).map(|[]| TypeId::INTEGER)?,
            Operation::Float(_) => self.operands_of::<0>(&tys).map(|[]| TypeId::FLOAT)?,
            Operation::Bool(_) => self.operands_of::<0>(&tys).map(|[]| TypeId::BOOL)?,
            Operation::String(_) => self.operands_of::<0>(&tys).map(|[]| TypeId::STRING)?,
            Operation::Scalar(scalar) => {
                let (name, parameters, result) = scalar.signature();
                rule(parameters == tys, || format!("wrong operand types for `{name}`"))?;
                result
            }
            Operation::Tuple => {
                rule(self.types.members(result) == Some(&*tys), || "the result is a different tuple".into())?;
                result
            }
            Operation::Get(member) => {
                let [tuple] = self.operands_of(&tys)?;
                let members = self.types.members(tuple).ok_or("the operand is not a tuple")?;
                *members.get(*member).ok_or("the tuple does not have the member")?
            }
            Operation::Equal => {
                let [x, y] = self.operands_of(&tys)?;
                self.is("the second operand", x, y)?;
                TypeId::BOOL
            }
            Operation::Size => {
                let [tensor] = self.operands_of(&tys)?;
                let (rank, _) = self.tensor(tensor)?;
                rule(self.types.rank_of_index(result) == Some(rank), || {
                    "the size has a different rank".into()
                })?;
                result
            }
            Operation::Index => {
                let [index, tensor] = self.operands_of(&tys)?;
                self.element(tensor, index)?
            }
            Operation::VecInit => {
                let first = *tys.first().ok_or("the type of an empty tensor is unknown")?;
                tys.iter().try_for_each(|ty| self.is("an element", first, *ty))?;
                self.is_tensor(result, 1, first)?
            }
            Operation::ArgMax => {
                let [vector] = self.operands_of(&tys)?;
                self.is("the operand", TypeId::VECTOR, vector)?;
                TypeId::INTEGER
            }
            Operation::Unzip => {
                let [tensor] = self.operands_of(&tys)?;
                let (rank, element) = self.tensor(tensor)?;
                let members = self.types.members(element).ok_or("the elements are not tuples")?;
                let parts = self.types.members(result).ok_or("the result is not a tuple")?;
                rule(parts.len() == members.len(), || "the result has a different number of members".into())?;
                for (part, member) in parts.iter().zip(members) {
                    self.is_tensor(*part, rank, *member)?;
                }
                result
            }
            Operation::Structure => {
                let [value] = self.operands_of(&tys)?;
                self.types.structure(value)
            }
            Operation::Zero => {
                let [structure] = self.operands_of(&tys)?;
                self.is_tangent(result)?;
                self.is("the structure", self.types.structure(result), structure)?;
                result
            }
            Operation::Add => {
                let [value, tangent] = self.operands_of(&tys)?;
                self.is("the tangent", self.types.tangent(value), tangent)?;
                value
            }
            Operation::Negate => {
                let [value] = self.operands_of(&tys)?;
                self.is_tangent(value)?;
                value
            }
            Operation::Scale => {
                let [factor, value] = self.operands_of(&tys)?;
                self.is("the factor", TypeId::FLOAT, factor)?;
                self.is_tangent(value)?;
                value
            }
            Operation::Dot => {
                let [x, y] = self.operands_of(&tys)?;
                self.is_tangent(x)?;
                self.is("the second operand", x, y)?;
                TypeId::FLOAT
            }
            Operation::Loop(form, body) => self.turns(*form, self.body.block(*body), &tys, result)?,
            Operation::If(then, otherwise) => {
                let [condition] = self.operands_of(&tys)?;
                self.is("the condition", TypeId::BOOL, condition)?;
                for block in [then, otherwise].map(|block| self.body.block(*block)) {
                    rule(block.parameters.is_empty(), || "a branch has parameters".into())?;
                    self.is("a branch", result, self.body.ty(block.result))?;
                }
                result
            }
            Operation::Assert(_) => {
                let [condition] = self.operands_of(&tys)?;
                self.is("the condition", TypeId::BOOL, condition)?;
                TypeId::UNIT
            }
            Operation::Bounds => {
                let (size, index) = tys.split_first().ok_or("the size is missing")?;
                self.types.rank_of_index(*size).ok_or("the operand is not the size of a tensor")?;
                rule(index.len() <= 1, || "more than one index".into())?;
                for index in index {
                    self.is("the index", *size, *index)?;
                }
                TypeId::UNIT
            }
            Operation::Print => TypeId::INTEGER,
            Operation::Call(id) => {
                let function = self.program.functions.get(id.index()).ok_or("the function does not exist")?;
                rule(*function.parameters == *tys, || {
                    format!("wrong operand types for `{}`", function.name)
                })?;
                function.result
            }
            Operation::Accumulator => {
                let [structure] = self.operands_of(&tys)?;
                let Type::Accumulator(held) = *self.types.get(result) else {
                    return Err("the result is not an accumulator".into());
                };
                self.is_tangent(held)?;
                self.is("the structure", self.types.structure(held), structure)?;
                result
            }
            Operation::AddTo(steps) => {
                let (value, rest) = tys.split_last().ok_or("the value to add is missing")?;
                self.is("the added value", self.part(steps, rest)?, *value)?;
                TypeId::UNIT
            }
            Operation::Part(steps) => {
                let part = self.part(steps, &tys)?;
                rule(*self.types.get(result) == Type::Accumulator(part), || {
                    "the part has a different type".into()
                })?;
                result
            }
            Operation::Read => {
                let [accumulator] = self.operands_of(&tys)?;
                self.accumulated(accumulator)?
            }
            Operation::Pack(layout) => {
                let values = self.layout(*layout)?;
                let tangents: Vec<_> = values.iter().map(|ty| self.types.tangent(*ty)).collect();
                rule(*values == *tys || tangents == tys, || "the operands do not match the layout".into())?;
                TypeId::TAPE
            }
            Operation::Unpack(layout, member) => {
                let [tape] = self.operands_of(&tys)?;
                self.is("the operand", TypeId::TAPE, tape)?;
                let ty = *self.layout(*layout)?.get(*member).ok_or("the tape does not contain the value")?;
                // If the tape is a tangent, its values are tangents.
                if result == self.types.tangent(ty) { result } else { ty }
            }
        })
    }

    fn operands_of<const N: usize>(&self, tys: &[TypeId]) -> Rule<[TypeId; N]> {
        tys.try_into().map_err(|_| format!("expected {N} operands, found {}", tys.len()))
    }

    fn tensor(&self, ty: TypeId) -> Rule<(u32, TypeId)> {
        self.types.element(ty).ok_or_else(|| format!("{} is not a tensor", self.types.show(ty)))
    }

    fn is_tensor(&self, ty: TypeId, rank: u32, element: TypeId) -> Rule<TypeId> {
        rule(self.types.element(ty) == Some((rank, element)), || {
            format!("{} is not a tensor of rank {rank} of {}", self.types.show(ty), self.types.show(element))
        })?;
        Ok(ty)
    }

    /// The element type of a tensor, if `index` is an index type of its rank.
    fn element(&self, tensor: TypeId, index: TypeId) -> Rule<TypeId> {
        let (rank, element) = self.tensor(tensor)?;
        rule(self.types.rank_of_index(index) == Some(rank), || "the index has a different rank".into())?;
        Ok(element)
    }

    fn is_tangent(&self, ty: TypeId) -> Rule {
        rule(self.types.tangent(ty) == ty, || format!("{} is not a tangent type", self.types.show(ty)))
    }

    fn layout(&self, layout: LayoutId) -> Rule<&'p [TypeId]> {
        let layout = self.program.layouts.get(layout.index());
        layout.map(|layout| &**layout).ok_or_else(|| "the layout does not exist".into())
    }

    fn accumulated(&self, accumulator: TypeId) -> Rule<TypeId> {
        match self.types.get(accumulator) {
            Type::Accumulator(held) => Ok(*held),
            _ => Err(format!("{} is not an accumulator", self.types.show(accumulator))),
        }
    }

    /// The type that a part of an accumulator holds. The operands are the accumulator and the indices.
    fn part(&self, steps: &[Projection], operands: &[TypeId]) -> Rule<TypeId> {
        let (whole, mut indices) = operands.split_first().ok_or("the accumulator is missing")?;
        let mut ty = self.accumulated(*whole)?;
        for step in steps {
            ty = match step {
                Projection::Member(member) => {
                    let members = self
                        .types
                        .members(ty)
                        .ok_or("a member is selected from a value that is not a tuple")?;
                    *members.get(*member).ok_or("the tuple does not have the member")?
                }
                Projection::Element => {
                    let (index, rest) = indices.split_first().ok_or("an index is missing")?;
                    indices = rest;
                    self.element(ty, *index)?
                }
                Projection::Taped(layout, member) => {
                    self.is("the operand of the projection", TypeId::TAPE, ty)?;
                    let taped =
                        *self.layout(*layout)?.get(*member).ok_or("the tape does not contain the value")?;
                    self.types.tangent(taped)
                }
            };
        }
        rule(indices.is_empty(), || "more indices than projections".into())?;
        Ok(ty)
    }

    fn turns(&self, form: Loop, turn: &Block, tys: &[TypeId], result: TypeId) -> Rule<TypeId> {
        let parameters: Vec<_> = turn.parameters.iter().map(|parameter| self.body.ty(*parameter)).collect();
        let left = self.body.ty(turn.result);
        let rank = |size| self.types.rank_of_index(size).ok_or("the operand is not the size of a tensor");
        match form {
            Loop::Build | Loop::Sum => {
                let ([size], [counter]) = (self.operands_of(tys)?, self.operands_of(&parameters)?);
                let rank = rank(size)?;
                self.is("the counter", size, counter)?;
                if form == Loop::Build {
                    return self.is_tensor(result, rank, left);
                }
                rule(is_summable(self.types, left) || self.types.tangent(left) == left, || {
                    format!("{} cannot be summed", self.types.show(left))
                })?;
                Ok(left)
            }
            Loop::Fold | Loop::Scan => {
                let ([size, first], [counter, carried]) =
                    (self.operands_of(tys)?, self.operands_of(&parameters)?);
                self.is("the size", TypeId::INTEGER, size)?;
                self.is("the counter", TypeId::INTEGER, counter)?;
                self.is("the carried value", first, carried)?;
                if form == Loop::Fold {
                    self.is("the result of an iteration", carried, left)?;
                    return Ok(carried);
                }
                let Some(&[next, kept]) = self.types.members(left) else {
                    return Err("the result of an iteration is not a pair".into());
                };
                let Some(&[last, all]) = self.types.members(result) else {
                    return Err("the result is not a pair".into());
                };
                self.is("the result of an iteration", carried, next)?;
                self.is("the last carried value", carried, last)?;
                self.is_tensor(all, 1, kept)?;
                Ok(result)
            }
        }
    }
}
