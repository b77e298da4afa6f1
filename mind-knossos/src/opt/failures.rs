//! Removes unused instructions, but keeps those that can fail.
//!
//! An optimised program must fail whenever the original one fails. Only unused instructions that cannot fail are
//! removed. Divisions, and accesses to elements that may be outside the tensor, are kept. An unused loop whose
//! iterations cannot fail is reduced to the check of its size.

use crate::{
    ir::{BlockId, Body, Instruction, Loop, Operation, ValueId},
    scalars::Scalar,
    types::{TypeId, Types},
};

/// Removes unused instructions that cannot fail.
pub(super) fn prune(types: &Types, body: &mut Body) {
    let facts = Facts::of(body);
    let mut pruner = Pruner { types, facts, live: vec![false; body.values.len()], around: Vec::new() };
    pruner.block(body, body.entry);
}

/// The largest constant that is added to an index or a size.
const MOST_OFFSET: i64 = 1 << 32;

/// The number of nested choices in an index.
const MOST_CHOICES: u32 = 3;

/// Known facts about sizes and indices.
pub(super) struct Facts {
    /// The operation and the operands of an instruction. Those of a choice are the results of its branches.
    made: Vec<Option<(Operation, Vec<ValueId>)>>,
    /// The size of each tensor, if it is a known value.
    sizes: Vec<Option<ValueId>>,
    /// The size of the loop that has this value as its counter.
    counted: Vec<Option<ValueId>>,
}

impl Facts {
    pub fn of(body: &Body) -> Self {
        let count = body.values.len();
        let mut facts =
            Self { made: vec![None; count], sizes: vec![None; count], counted: vec![None; count] };
        for instruction in body.blocks.iter().flat_map(|block| &block.instructions) {
            let Instruction { result, operation, operands, .. } = instruction;
            match operation {
                Operation::Size => facts.sizes[operands[0].index()] = Some(*result),
                Operation::Loop(form, turn) => {
                    let counter = body.block(*turn).parameters[0];
                    facts.counted[counter.index()] = Some(operands[0]);
                    if *form == Loop::Build {
                        facts.sizes[result.index()] = Some(operands[0]);
                    }
                }
                Operation::Integer(_) | Operation::Tuple | Operation::Get(_) => {}
                Operation::Scalar(Scalar::AddI | Scalar::SubI) => {}
                Operation::If(then, otherwise) => {
                    let results = [then, otherwise].map(|branch| body.block(*branch).result);
                    facts.made[result.index()] = Some((operation.clone(), results.to_vec()));
                    continue;
                }
                _ => continue,
            }
            facts.made[result.index()] = Some((operation.clone(), operands.clone()));
        }
        facts
    }

    fn made(&self, value: ValueId) -> Option<(&Operation, &[ValueId])> {
        self.made[value.index()].as_ref().map(|(operation, operands)| (operation, &**operands))
    }

    /// Whether all extents of a size are known to be nonnegative.
    pub fn is_size(&self, value: ValueId) -> bool {
        match self.made(value) {
            Some((Operation::Size, _)) => true,
            Some((Operation::Integer(extent), _)) => *extent >= 0,
            Some((Operation::Tuple, members)) => members.iter().all(|member| self.is_size(*member)),
            Some((Operation::Get(_), tuple)) => {
                self.is_size(tuple[0]) || self.counted[tuple[0].index()].is_some()
            }
            _ => self.counted[value.index()].is_some(),
        }
    }

    /// Whether an index is known to be within a tensor.
    pub fn is_inside(&self, index: ValueId, tensor: ValueId) -> bool {
        self.sizes[tensor.index()].is_some_and(|size| self.is_below(index, size))
    }

    /// Whether an index is known to be within a tensor of this size.
    pub fn is_below(&self, index: ValueId, size: ValueId) -> bool {
        if self.counted[index.index()] == Some(size) {
            return true;
        }
        match (self.made(index), self.made(size)) {
            (Some((Operation::Integer(index), _)), Some((Operation::Integer(size), _))) => {
                (0..*size).contains(index)
            }
            (Some((Operation::Tuple, members)), _) => {
                members.iter().enumerate().all(|(member, index)| self.is_below_member(*index, size, member))
            }
            _ => self.counts_below(index, 0, size, MOST_CHOICES),
        }
    }

    /// Whether an index plus an offset is known to be below a size: it is the counter of a loop plus a constant, where
    /// the loop's size is this size minus at least that constant. Both branches of a choice are looked at, in at most
    /// `choices` nested ones.
    ///
    /// The size is that of a tensor, so it is not negative. Then no constant up to `MOST_OFFSET` overflows.
    fn counts_below(&self, index: ValueId, offset: i64, size: ValueId, choices: u32) -> bool {
        let (index, own) = self.without_offset(index);
        let offset = offset + own;
        if let Some(counted) = self.counted[index.index()] {
            let (base, of_size) = self.without_offset(size);
            let (counted_base, of_counted) = self.without_offset(counted);
            return base == counted_base && offset >= 0 && of_counted + offset <= of_size;
        }
        match self.made(index) {
            Some((Operation::If(..), results)) if choices > 0 => {
                results.iter().all(|result| self.counts_below(*result, offset, size, choices - 1))
            }
            _ => false,
        }
    }

    /// A value as another one plus a constant.
    fn without_offset(&self, value: ValueId) -> (ValueId, i64) {
        let constant = |value| match self.made(value) {
            Some((Operation::Integer(constant), _)) => Some(*constant),
            _ => None,
        };
        let (base, offset) = match self.made(value) {
            Some((Operation::Scalar(Scalar::AddI), &[one, other])) => {
                match (constant(one), constant(other)) {
                    (_, Some(constant)) => (one, constant),
                    (Some(constant), _) => (other, constant),
                    _ => return (value, 0),
                }
            }
            Some((Operation::Scalar(Scalar::SubI), &[one, other])) => match constant(other) {
                Some(constant) => (one, constant.saturating_neg()),
                None => return (value, 0),
            },
            _ => return (value, 0),
        };
        if (-MOST_OFFSET..=MOST_OFFSET).contains(&offset) { (base, offset) } else { (value, 0) }
    }

    /// Whether a member of an index is below the same member of a size: it counts a loop over that extent.
    fn is_below_member(&self, index: ValueId, size: ValueId, member: usize) -> bool {
        // A member of the counter of a loop over several extents.
        if let Some((Operation::Get(own), tuple)) = self.made(index)
            && let Some(counted) = self.counted[tuple[0].index()]
        {
            return counted == size && *own == member || self.same_member((counted, *own), (size, member));
        }
        let Some(counted) = self.counted[index.index()] else { return false };
        match self.made(size) {
            Some((Operation::Tuple, members)) => members[member] == counted,
            _ => self.made(counted) == Some((&Operation::Get(member), &[size][..])),
        }
    }

    fn same_member(&self, one: (ValueId, usize), other: (ValueId, usize)) -> bool {
        let member = |(size, member): (ValueId, usize)| match self.made(size) {
            Some((Operation::Tuple, members)) => Some(members[member]),
            _ => None,
        };
        match (member(one), member(other)) {
            (Some(one), Some(other)) => one == other,
            (Some(one), None) => self.made(one) == Some((&Operation::Get(other.1), &[other.0][..])),
            (None, Some(other)) => self.made(other) == Some((&Operation::Get(one.1), &[one.0][..])),
            (None, None) => one == other,
        }
    }

    /// Whether an instruction can fail for a reason other than a loop's size, or has an effect.
    pub fn fails(&self, types: &Types, body: &Body, instruction: &Instruction) -> bool {
        let Instruction { result, operation, operands, .. } = instruction;
        let scalar = [TypeId::FLOAT, TypeId::INTEGER, TypeId::UNIT].contains(&body.ty(*result));
        match operation {
            Operation::AddTo(_) | Operation::Assert(_) | Operation::Print | Operation::Call(_) => true,
            Operation::Bounds | Operation::ArgMax => true,
            Operation::Index => !self.is_inside(operands[0], operands[1]),
            Operation::Scalar(Scalar::DivI) => !matches!(
                self.made(operands[1]),
                Some((Operation::Integer(divisor), _)) if *divisor != 0
            ),
            Operation::Add => !scalar,
            Operation::Dot => types.element(body.ty(operands[0])).is_some(),
            // An empty sum of tensors fails.
            Operation::Loop(Loop::Sum, turn) => !scalar || self.block_fails(types, body, *turn),
            operation => operation.blocks().any(|block| self.block_fails(types, body, block)),
        }
    }

    /// Like [`Facts::fails`], for a block. Inside it, a loop whose size may be negative can fail too.
    fn block_fails(&self, types: &Types, body: &Body, id: BlockId) -> bool {
        body.block(id).instructions.iter().any(|instruction| {
            let is_loop = matches!(instruction.operation, Operation::Loop(..));
            is_loop && !self.is_size(instruction.operands[0]) || self.fails(types, body, instruction)
        })
    }
}

struct Pruner<'t> {
    types: &'t Types,
    facts: Facts,
    live: Vec<bool>,
    /// The sizes of the enclosing loops.
    around: Vec<ValueId>,
}

impl Pruner<'_> {
    fn block(&mut self, body: &mut Body, id: BlockId) {
        let mut instructions = std::mem::take(&mut body.blocks[id.index()].instructions);
        self.live[body.block(id).result.index()] = true;
        let mut kept: Vec<Instruction> = Vec::with_capacity(instructions.len());
        // The sizes that later loops of this block check.
        let mut checked = Vec::new();
        while let Some(mut instruction) = instructions.pop() {
            if !self.live[instruction.result.index()] && !self.facts.fails(self.types, body, &instruction) {
                let Operation::Loop(..) = instruction.operation else { continue };
                let size = instruction.operands[0];
                if self.facts.is_size(size) || checked.contains(&size) || self.around.contains(&size) {
                    continue;
                }
                body.values[instruction.result.index()].ty = TypeId::UNIT;
                instruction.operation = Operation::Bounds;
                instruction.operands.truncate(1);
            }
            // A later check cannot replace this one across a print: the same text must be printed before a failure.
            if let Operation::Print | Operation::Call(_) = instruction.operation {
                checked.clear();
            }
            if let Operation::Loop(..) = instruction.operation {
                checked.push(instruction.operands[0]);
            }
            let is_loop = matches!(instruction.operation, Operation::Loop(..));
            self.around.extend(is_loop.then(|| instruction.operands[0]));
            for inner in instruction.operation.blocks() {
                self.block(body, inner);
            }
            self.around.truncate(self.around.len() - usize::from(is_loop));
            for operand in &instruction.operands {
                self.live[operand.index()] = true;
            }
            kept.push(instruction);
        }
        kept.reverse();
        body.blocks[id.index()].instructions = kept;
    }
}
