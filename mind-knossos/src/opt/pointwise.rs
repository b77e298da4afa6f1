//! Loops whose iterations compute Floats independently, from elements of rows and from values shared by all iterations.
//! `mind!` compiles such a computation to one fused loop.
//!
//! [`Pointwise`] divides the body of such a loop into four parts. Only element accesses in it can fail, and their
//! indices can be checked once for all iterations.

use std::collections::HashMap;

use crate::{
    ir::{BlockId, Body, Instruction, Loop, Operation, ValueId},
    scalars::Scalar,
    types::{Type, TypeId, Types},
};

/// Loops with at most this many iterations, known at compile time, are not transformed.
const FEW_TURNS: i64 = 64;

/// The instructions of an iteration by their role, as positions in the block. If the counter has several members, the
/// iterations are those of its last member.
#[derive(Debug, Default)]
pub(crate) struct Pointwise {
    /// Instructions with the same result in every iteration. They run before the first one.
    pub shared: Vec<usize>,
    /// Instructions that compute indices from the counter.
    pub indices: Vec<usize>,
    /// Accesses to elements at an index that depends on the counter.
    pub reads: Vec<usize>,
    /// All other instructions: they compute numbers or add to accumulators.
    pub numbers: Vec<usize>,
    /// The shared values that the numbers are computed from.
    pub captured: Vec<ValueId>,
    /// Whether iterations compute exponentials or similar functions, or are summed. The compiler does not vectorise
    /// such loops in their original form.
    pub is_expensive: bool,
    /// Whether iterations compute exponentials or similar functions.
    pub has_functions: bool,
}

/// The role of a value in an iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Shared,
    Index,
    Number,
}

/// Classifies the instructions of a loop, if it is such a loop.
pub(crate) fn pointwise(
    types: &Types,
    body: &Body,
    made: &[Option<&Instruction>],
    instruction: &Instruction,
) -> Option<Pointwise> {
    let Operation::Loop(Loop::Build | Loop::Sum, block) = instruction.operation else { return None };
    let element =
        types.element(body.ty(instruction.result)).map_or(body.ty(instruction.result), |(_, ty)| ty);
    if is_small(made, instruction.operands[0]) || !is_of(types, element, &[TypeId::FLOAT]) {
        return None;
    }
    let counter = body.block(block).parameters[0];
    let rank = types.rank_of_index(body.ty(counter))? as usize;
    let mut found = Pointwise::default();
    let mut finder = Finder { types, body, made, counter, last: rank - 1, classes: HashMap::new() };
    finder.classes.insert(counter, Class::Index);
    for (position, own) in body.block(block).instructions.iter().enumerate() {
        let (class, part) = match finder.class(own)? {
            Class::Shared => (Class::Shared, &mut found.shared),
            Class::Index => (Class::Index, &mut found.indices),
            Class::Number if own.operation == Operation::Index => (Class::Number, &mut found.reads),
            Class::Number => (Class::Number, &mut found.numbers),
        };
        finder.classes.insert(own.result, class);
        part.push(position);
    }
    let result = body.block(block).result;
    if finder.of(result) == Class::Index || found.reads.is_empty() {
        return None;
    }
    let is_sum = matches!(instruction.operation, Operation::Loop(Loop::Sum, _)) && element == TypeId::FLOAT;
    found.has_functions = has_functions(body, block);
    found.is_expensive = is_sum || found.has_functions;
    finder.capture(result, &mut found.captured);
    for position in &found.numbers {
        finder.captures(&body.block(block).instructions[*position], &mut found.captured);
    }
    Some(found)
}

/// Whether a block computes an exponential, a logarithm or a hyperbolic tangent.
fn has_functions(body: &Body, id: BlockId) -> bool {
    body.block(id).instructions.iter().any(|instruction| {
        matches!(instruction.operation, Operation::Scalar(Scalar::Exp | Scalar::Log | Scalar::Tanh))
            || instruction.operation.blocks().any(|inner| has_functions(body, inner))
    })
}

/// Whether the last extent of a size is known and small.
fn is_small(made: &[Option<&Instruction>], size: ValueId) -> bool {
    let last = match made[size.index()] {
        Some(Instruction { operation: Operation::Tuple, operands, .. }) => operands.last().copied(),
        _ => Some(size),
    };
    let literal = last.and_then(|last| made[last.index()]).map(|made| &made.operation);
    matches!(literal, Some(Operation::Integer(extent)) if *extent <= FEW_TURNS)
}

/// Whether a type is one of these scalars, or a tuple of them.
fn is_of(types: &Types, ty: TypeId, scalars: &[TypeId]) -> bool {
    match types.get(ty) {
        Type::Tuple(members) => members.iter().all(|member| is_of(types, *member, scalars)),
        _ => scalars.contains(&ty),
    }
}

struct Finder<'a> {
    types: &'a Types,
    body: &'a Body,
    made: &'a [Option<&'a Instruction>],
    counter: ValueId,
    /// The index of the counter's last member.
    last: usize,
    /// The classes of the values that iterations compute.
    classes: HashMap<ValueId, Class>,
}

impl Finder<'_> {
    fn of(&self, value: ValueId) -> Class {
        self.classes.get(&value).copied().unwrap_or(Class::Shared)
    }

    /// The class of an instruction's result, or `None` if it does not fit any class.
    fn class(&mut self, instruction: &Instruction) -> Option<Class> {
        let Instruction { operation, operands, .. } = instruction;
        let joined = self.joined(operands);
        match operation {
            Operation::Integer(_) | Operation::Float(_) | Operation::Bool(_) => Some(Class::Shared),
            Operation::Tuple => joined,
            Operation::Get(member) if operands[0] == self.counter => {
                Some(if *member == self.last { Class::Index } else { Class::Shared })
            }
            Operation::Get(_) => joined,
            Operation::Size if !self.classes.contains_key(&operands[0]) => Some(Class::Shared),
            Operation::Scalar(scalar) => {
                let is_index = matches!(scalar, Scalar::AddI | Scalar::SubI | Scalar::MulI | Scalar::NegI);
                let class = joined?;
                let computes = match class {
                    Class::Shared => *scalar != Scalar::DivI,
                    Class::Index => is_index,
                    Class::Number => self.has_vectors(*scalar, operands),
                };
                computes.then_some(class)
            }
            Operation::Index => self.read(operands[0], operands[1]),
            Operation::AddTo(_) | Operation::If(..) => self.is_number(instruction).then_some(Class::Number),
            _ => None,
        }
    }

    /// The class of a value that depends on several operands. Indices and numbers cannot be combined.
    fn joined(&self, operands: &[ValueId]) -> Option<Class> {
        let mut class = Class::Shared;
        for operand in operands {
            class = match (class, self.of(*operand)) {
                (Class::Shared, other) | (other, Class::Shared) => other,
                (one, other) if one == other => one,
                _ => return None,
            };
        }
        Some(class)
    }

    fn read(&self, index: ValueId, tensor: ValueId) -> Option<Class> {
        let (_, element) = self.types.element(self.body.ty(tensor))?;
        let scalars: &[TypeId] = match self.of(index) {
            Class::Index => &[TypeId::FLOAT],
            Class::Shared => &[TypeId::FLOAT, TypeId::INTEGER, TypeId::BOOL],
            Class::Number => return None,
        };
        let found = !self.classes.contains_key(&tensor) && is_of(self.types, element, scalars);
        let class = if self.of(index) == Class::Index { Class::Number } else { Class::Shared };
        found.then_some(class)
    }

    /// Whether an instruction, possibly in a branch, computes numbers of an iteration or adds them to an accumulator.
    fn is_number(&mut self, instruction: &Instruction) -> bool {
        let Instruction { operation, operands, .. } = instruction;
        match operation {
            Operation::AddTo(_) => {
                let [accumulator, indices @ .., value] = &operands[..] else { return false };
                !self.classes.contains_key(accumulator)
                    && indices.iter().all(|index| self.of(*index) != Class::Number)
                    && self.of(*value) != Class::Index
                    && is_of(self.types, self.body.ty(*value), &[TypeId::FLOAT])
            }
            Operation::If(then, otherwise) => {
                self.of(operands[0]) != Class::Index
                    && self.are_numbers(*then)
                    && self.are_numbers(*otherwise)
            }
            Operation::Integer(_) | Operation::Float(_) | Operation::Bool(_) => true,
            Operation::Tuple | Operation::Get(_) => {
                operands.iter().all(|operand| self.of(*operand) != Class::Index)
            }
            Operation::Scalar(scalar) => {
                self.has_vectors(*scalar, operands)
                    && operands.iter().all(|operand| self.of(*operand) != Class::Index)
            }
            _ => false,
        }
    }

    fn are_numbers(&mut self, block: BlockId) -> bool {
        let body = self.body;
        let numbers = body.block(block).instructions.iter().all(|instruction| {
            self.classes.insert(instruction.result, Class::Number);
            self.is_number(instruction)
        });
        numbers && self.of(body.block(block).result) != Class::Index
    }

    /// Whether an operation has a vector version.
    fn has_vectors(&self, scalar: Scalar, operands: &[ValueId]) -> bool {
        match scalar {
            Scalar::AddF | Scalar::SubF | Scalar::MulF | Scalar::DivF | Scalar::NegF => true,
            Scalar::GtF | Scalar::LtF | Scalar::GteF | Scalar::LteF | Scalar::Max | Scalar::Min => true,
            Scalar::Log | Scalar::Exp | Scalar::Tanh | Scalar::Abs | Scalar::Sqrt => true,
            Scalar::Or | Scalar::And | Scalar::Not | Scalar::BoolToFloat | Scalar::Pi => true,
            // The exponent must be known, so that the power can be a product.
            Scalar::Pow => {
                let exponent = self.made[operands[1].index()].map(|made| &made.operation);
                matches!(exponent, Some(Operation::Integer(-8..=8)))
            }
            Scalar::AddI | Scalar::SubI | Scalar::MulI | Scalar::DivI | Scalar::NegI => false,
            Scalar::GtI | Scalar::LtI | Scalar::GteI | Scalar::LteI | Scalar::ToFloat => false,
            Scalar::Sin | Scalar::Cos | Scalar::Cosh | Scalar::Sinh | Scalar::Atan2 => false,
            Scalar::Erf | Scalar::Lgamma | Scalar::Polygamma | Scalar::RandomHash => false,
        }
    }

    /// Records a value that all iterations share.
    fn capture(&self, value: ValueId, captured: &mut Vec<ValueId>) {
        if self.of(value) == Class::Shared && !captured.contains(&value) {
            captured.push(value);
        }
    }

    fn captures(&self, instruction: &Instruction, captured: &mut Vec<ValueId>) {
        let operands = match &instruction.operation {
            // The index of the element that is added to need not be captured.
            Operation::AddTo(_) => &instruction.operands[instruction.operands.len() - 1..],
            _ => &instruction.operands[..],
        };
        operands.iter().for_each(|operand| self.capture(*operand, captured));
        for block in instruction.operation.blocks() {
            let block = self.body.block(block);
            block.instructions.iter().for_each(|inner| self.captures(inner, captured));
            self.capture(block.result, captured);
        }
    }
}
