//! Fuses loops: avoids building tensors that are used by only one loop.

use std::collections::{HashMap, VecDeque};

use super::{failures::Facts, inline::count};
use crate::{
    ir::{Block, BlockId, Body, Instruction, Loop, Operation, ValueDef, ValueId},
    scalars::Scalar,
    types::TypeId,
};

/// Replaces `size (build n f)` by `n`, and `index i (build n f)` by `f i`. If `i` is not known to be below `n`, a check
/// of `i` comes first. An index is replaced:
///
/// - in each iteration of a loop of `n` over its counter, if this is the tensor's only use. So `sum (build n f)` builds
///   nothing;
/// - if the tensor is built and read at most once each time, and `f` cannot fail at another index;
/// - wherever `f` is as cheap as an element access, if no check has to run in more than one iteration.
pub(super) fn fuse(body: &mut Body) {
    let count = body.values.len();
    let same = (0..count).map(ValueId::new).collect();
    let mut fuser = Fuser {
        same,
        built: vec![None; count],
        facts: Facts::of(body),
        uses: Vec::new(),
        loops: Vec::new(),
        results: Vec::new(),
    };
    fuser.sizes(body, body.entry);
    fuser.uses = vec![0; body.values.len()];
    count_uses(body, body.entry, &mut fuser.uses);
    fuser.built = vec![None; count];
    fuser.facts = Facts::of(body);
    fuser.indices(body, body.entry, None);
}

/// A tensor that is built by a loop.
#[derive(Clone, Copy)]
struct Built {
    size: ValueId,
    turn: BlockId,
    /// The block of the loop.
    block: BlockId,
    /// The number of loops around that block.
    loops: usize,
}

/// The replacement of an index into a tensor.
struct Fused {
    turn: BlockId,
    /// Whether the body is copied, because the tensor has other uses.
    copied: bool,
    /// The size to check the index against, if a check is needed.
    check: Option<ValueId>,
}

struct Fuser {
    /// The replacement of each value.
    same: Vec<ValueId>,
    built: Vec<Option<Built>>,
    facts: Facts,
    /// The number of uses of each value.
    uses: Vec<usize>,
    /// The enclosing loops, innermost last.
    loops: Vec<Around>,
    /// The results of replaced indices, whose values are known at the end of the inserted instructions.
    results: Vec<ValueId>,
}

/// A loop whose body is being processed: the block around it, its size and its counter.
#[derive(Clone, Copy)]
struct Around {
    block: BlockId,
    size: ValueId,
    counter: ValueId,
}

impl Fuser {
    fn note(&mut self, instruction: &Instruction, block: BlockId) {
        if let Operation::Loop(Loop::Build, turn) = instruction.operation {
            let size = instruction.operands[0];
            let loops = self.loops.len();
            self.built[instruction.result.index()] = Some(Built { size, turn, block, loops });
        }
    }

    fn sizes(&mut self, body: &mut Body, id: BlockId) {
        let mut instructions = std::mem::take(&mut body.blocks[id.index()].instructions);
        for instruction in &mut instructions {
            for operand in &mut instruction.operands {
                *operand = self.same[operand.index()];
            }
            for inner in instruction.operation.blocks() {
                self.sizes(body, inner);
            }
            self.note(instruction, id);
            if instruction.operation == Operation::Size
                && let Some(built) = self.built[instruction.operands[0].index()]
            {
                self.same[instruction.result.index()] = built.size;
            }
        }
        // Replaced instructions must not count as uses.
        instructions.retain(|instruction| self.same[instruction.result.index()] == instruction.result);
        let block = &mut body.blocks[id.index()];
        block.instructions = instructions;
        block.result = self.same[block.result.index()];
    }

    fn indices(&mut self, body: &mut Body, id: BlockId, around: Option<Around>) {
        let mut left = VecDeque::from(std::mem::take(&mut body.blocks[id.index()].instructions));
        let mut written = Vec::with_capacity(left.len());
        while let Some(mut instruction) = left.pop_front() {
            for operand in &mut instruction.operands {
                *operand = self.same[operand.index()];
            }
            if let Some(Fused { turn, copied, check }) = self.fused(body, id, &instruction, around) {
                let index = instruction.operands[0];
                if let Some(size) = check {
                    let result = self.value(body, TypeId::UNIT);
                    let (operation, operands) = (Operation::Bounds, vec![size, index]);
                    written.push(Instruction { result, operation, operands, place: instruction.place });
                }
                // The body of the building loop is inserted here and may be fused itself. The loop is now unused.
                let counter = body.block(turn).parameters[0];
                let block = if copied {
                    self.copy(body, turn, index)
                } else {
                    let block =
                        Block { parameters: vec![counter], instructions: Vec::new(), result: counter };
                    self.same[counter.index()] = index;
                    let block = std::mem::replace(&mut body.blocks[turn.index()], block);
                    self.uses[block.result.index()] -= 1;
                    block
                };
                let result =
                    Instruction { operation: Operation::Tuple, operands: vec![block.result], ..instruction };
                self.results.push(result.result);
                left.push_front(result);
                for own in block.instructions.into_iter().rev() {
                    left.push_front(own);
                }
                continue;
            }
            // The end of the instructions inserted for an index: its value is now known.
            if self.results.last() == Some(&instruction.result) {
                self.results.pop();
                // Uses of the element become uses of the body's result.
                self.uses[instruction.operands[0].index()] += self.uses[instruction.result.index()];
                self.same[instruction.result.index()] = instruction.operands[0];
                continue;
            }
            self.note(&instruction, id);
            match &instruction.operation {
                Operation::Loop(_, inner) => {
                    let counter = body.block(*inner).parameters[0];
                    let around = Around { block: id, size: instruction.operands[0], counter };
                    self.loops.push(around);
                    self.indices(body, *inner, Some(around));
                    self.loops.pop();
                }
                operation => {
                    for inner in operation.blocks() {
                        self.indices(body, inner, None);
                    }
                }
            }
            written.push(instruction);
        }
        let block = &mut body.blocks[id.index()];
        block.instructions = written;
        block.result = self.same[block.result.index()];
    }

    /// The replacement for an index into a tensor, if the body of the building loop can be inserted.
    fn fused(
        &self,
        body: &Body,
        block: BlockId,
        instruction: &Instruction,
        around: Option<Around>,
    ) -> Option<Fused> {
        if instruction.operation != Operation::Index {
            return None;
        }
        let (index, tensor) = (instruction.operands[0], instruction.operands[1]);
        let built = self.built[tensor.index()]?;
        let all = self.uses[tensor.index()];
        let is_counter = |around: &Around| index == around.counter && built.size == around.size;
        let turn_by_turn = around.is_some_and(|around| is_counter(&around) && built.block == around.block);
        let in_one_turn = built.block == block && self.loops.iter().any(is_counter);
        if all == 1 && turn_by_turn && is_pure(body, built.turn) {
            return Some(Fused { turn: built.turn, copied: false, check: None });
        }
        let known = self.facts.is_below(index, built.size);
        let as_often = built.loops == self.loops.len();
        let once = all == 1 && (in_one_turn || as_often);
        // A check in every iteration would cost more than it saves.
        let cheap = (known || as_often) && is_cheap(body, built.turn);
        // The other branch may be the only one that needs the tensor, so that `sink` builds it there.
        let in_branch = as_often && block != built.block && is_scalar(body, built.turn);
        ((once || cheap || in_branch) && self.is_total(body, built.turn)).then_some(Fused {
            turn: built.turn,
            copied: all > 1,
            check: (!known).then_some(built.size),
        })
    }

    fn value(&mut self, body: &mut Body, ty: TypeId) -> ValueId {
        let value = ValueId::new(body.values.len());
        body.values.push(ValueDef { ty, name: None });
        self.same.push(value);
        self.built.push(None);
        self.uses.push(0);
        value
    }

    /// Copies the body of a building loop for an index.
    fn copy(&mut self, body: &mut Body, turn: BlockId, index: ValueId) -> Block {
        let mut copies = HashMap::from([(body.block(turn).parameters[0], index)]);
        self.copy_block(body, turn, &mut copies)
    }

    /// Copies a block and the branches in it, for other values in place of some.
    fn copy_block(&mut self, body: &mut Body, id: BlockId, copies: &mut HashMap<ValueId, ValueId>) -> Block {
        let block = body.block(id).clone();
        let mut instructions = Vec::with_capacity(block.instructions.len());
        for own in block.instructions {
            let operands =
                own.operands.iter().map(|operand| *copies.get(operand).unwrap_or(operand)).collect();
            let operation = match own.operation {
                Operation::If(then, otherwise) => {
                    let [then, otherwise] = [then, otherwise].map(|branch| {
                        let copy = self.copy_block(body, branch, copies);
                        body.blocks.push(copy);
                        BlockId::new(body.blocks.len() - 1)
                    });
                    Operation::If(then, otherwise)
                }
                operation => operation,
            };
            let result = self.value(body, body.ty(own.result));
            copies.insert(own.result, result);
            instructions.push(Instruction { result, operation, operands, ..own });
        }
        let result = *copies.get(&block.result).unwrap_or(&block.result);
        Block { parameters: Vec::new(), instructions, result }
    }

    /// Whether the body of a building loop cannot fail and has no effects.
    fn is_total(&self, body: &Body, id: BlockId) -> bool {
        body.block(id).instructions.iter().all(|instruction| match &instruction.operation {
            Operation::Integer(_) | Operation::Float(_) | Operation::Bool(_) | Operation::Tuple => true,
            Operation::Get(_) | Operation::Size | Operation::Equal => true,
            Operation::Scalar(scalar) => *scalar != Scalar::DivI,
            Operation::If(..) => instruction.operation.blocks().all(|inner| self.is_total(body, inner)),
            Operation::Index => self.facts.is_inside(instruction.operands[0], instruction.operands[1]),
            _ => false,
        })
    }
}

/// Whether a block neither prints nor adds to accumulators.
pub(super) fn is_pure(body: &Body, id: BlockId) -> bool {
    body.block(id).instructions.iter().all(|instruction| match &instruction.operation {
        Operation::AddTo(_) | Operation::Print | Operation::Call(_) | Operation::Read => false,
        operation => operation.blocks().all(|inner| is_pure(body, inner)),
    })
}

/// Whether a body costs no more than an element access.
fn is_cheap(body: &Body, id: BlockId) -> bool {
    const CHEAP_TURN: usize = 4;

    let instructions = &body.block(id).instructions;
    instructions.len() <= CHEAP_TURN && instructions.iter().all(is_arithmetic)
}

/// Whether a body costs no more than a few scalar operations and an element access.
fn is_scalar(body: &Body, id: BlockId) -> bool {
    const SCALAR_TURN: usize = 12;

    let is_scalar = |own: &Instruction| {
        let mut branches = own.operation.blocks();
        match own.operation {
            Operation::If(..) => branches.all(|branch| is_scalar(body, branch)),
            Operation::Index => true,
            Operation::Scalar(Scalar::LtI | Scalar::LteI | Scalar::GtI | Scalar::GteI) => true,
            _ => is_arithmetic(own),
        }
    };
    count(body, id) <= SCALAR_TURN && body.block(id).instructions.iter().all(is_scalar)
}

/// Whether an instruction is a literal, a tuple, or a scalar operation that takes about a cycle.
const fn is_arithmetic(instruction: &Instruction) -> bool {
    matches!(
        instruction.operation,
        Operation::Integer(_)
            | Operation::Float(_)
            | Operation::Bool(_)
            | Operation::Tuple
            | Operation::Get(_)
            | Operation::Scalar(
                Scalar::AddI
                    | Scalar::SubI
                    | Scalar::MulI
                    | Scalar::ToFloat
                    | Scalar::AddF
                    | Scalar::SubF
                    | Scalar::MulF
                    | Scalar::NegF
            )
    )
}

fn count_uses(body: &Body, id: BlockId, uses: &mut [usize]) {
    let block = body.block(id);
    for instruction in &block.instructions {
        for operand in &instruction.operands {
            uses[operand.index()] += 1;
        }
        for inner in instruction.operation.blocks() {
            count_uses(body, inner, uses);
        }
    }
    uses[block.result.index()] += 1;
}
