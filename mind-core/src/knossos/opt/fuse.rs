//! Tensors that are built for one loop over them, which need not be built.

use std::collections::VecDeque;

use crate::knossos::{
    ir::{Block, BlockId, Body, Instruction, Loop, Operation, ValueId},
    prelude::Scalar,
};

/// `size (build n f)` is `n`; `index i (build n f)` is `f i` where that is the tensor's only use, and `i` is the counter of a
/// loop of `n`: in each turn, so that `sum (build n f)` builds nothing, or in the turn that builds the tensor, if `f` cannot fail.
pub(super) fn fuse(body: &mut Body) {
    let count = body.values.len();
    let same = (0..count).map(ValueId::new).collect();
    let mut fuser = Fuser {
        same,
        built: vec![None; count],
        sizes: vec![None; count],
        loops: Vec::new(),
        results: Vec::new(),
    };
    fuser.sizes(body, body.entry);
    let mut uses = vec![0; body.values.len()];
    count_uses(body, body.entry, &mut uses);
    fuser.built = vec![None; count];
    fuser.indices(body, body.entry, &uses, None);
}

/// A tensor that a loop builds.
#[derive(Clone, Copy)]
struct Built {
    size: ValueId,
    turn: BlockId,
    /// The block it is built in.
    block: BlockId,
}

struct Fuser {
    /// What a value is replaced by.
    same: Vec<ValueId>,
    built: Vec<Option<Built>>,
    /// The sizes of tensors, where they are asked for.
    sizes: Vec<Option<ValueId>>,
    /// The loops under way.
    loops: Vec<Around>,
    /// What stood for an index into a tensor that is not built, and gets its value at the end.
    results: Vec<ValueId>,
}

/// The loop whose body is at hand: the block around it, its size and its counter.
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
            self.built[instruction.result.index()] = Some(Built { size, turn, block });
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
            if instruction.operation == Operation::Size {
                let tensor = instruction.operands[0].index();
                match self.built[tensor] {
                    Some(built) => self.same[instruction.result.index()] = built.size,
                    None => self.sizes[tensor] = Some(instruction.result),
                }
            }
        }
        // What is replaced uses nothing any more.
        instructions.retain(|instruction| self.same[instruction.result.index()] == instruction.result);
        let block = &mut body.blocks[id.index()];
        block.instructions = instructions;
        block.result = self.same[block.result.index()];
    }

    fn indices(&mut self, body: &mut Body, id: BlockId, uses: &[usize], around: Option<Around>) {
        let mut left = VecDeque::from(std::mem::take(&mut body.blocks[id.index()].instructions));
        let mut written = Vec::with_capacity(left.len());
        while let Some(mut instruction) = left.pop_front() {
            for operand in &mut instruction.operands {
                *operand = self.same[operand.index()];
            }
            if let Some(turn) = self.fused(body, id, &instruction, uses, around) {
                // What a turn does comes here, and may be fused itself; the loop that it was of has no use any more.
                let counter = body.block(turn).parameters[0];
                let block = Block { parameters: vec![counter], instructions: Vec::new(), result: counter };
                let block = std::mem::replace(&mut body.blocks[turn.index()], block);
                self.same[counter.index()] = instruction.operands[0];
                let result =
                    Instruction { operation: Operation::Tuple, operands: vec![block.result], ..instruction };
                self.results.push(result.result);
                left.push_front(result);
                for own in block.instructions.into_iter().rev() {
                    left.push_front(own);
                }
                continue;
            }
            // The end of what was put in the place of an index: its value is known now.
            if self.results.last() == Some(&instruction.result) {
                self.results.pop();
                self.same[instruction.result.index()] = instruction.operands[0];
                continue;
            }
            self.note(&instruction, id);
            match &instruction.operation {
                Operation::Loop(_, inner) => {
                    let counter = body.block(*inner).parameters[0];
                    let around = Around { block: id, size: instruction.operands[0], counter };
                    self.loops.push(around);
                    self.indices(body, *inner, uses, Some(around));
                    self.loops.pop();
                }
                operation => {
                    for inner in operation.blocks() {
                        self.indices(body, inner, uses, None);
                    }
                }
            }
            written.push(instruction);
        }
        let block = &mut body.blocks[id.index()];
        block.instructions = written;
        block.result = self.same[block.result.index()];
    }

    /// What a turn does of the loop that builds a tensor for this index of it only.
    fn fused(
        &self,
        body: &Body,
        block: BlockId,
        instruction: &Instruction,
        uses: &[usize],
        around: Option<Around>,
    ) -> Option<BlockId> {
        if instruction.operation != Operation::Index {
            return None;
        }
        let (index, tensor) = (instruction.operands[0], instruction.operands[1]);
        let built = self.built[tensor.index()].filter(|_| uses[tensor.index()] == 1)?;
        let is_counter = |around: &Around| index == around.counter && built.size == around.size;
        let turn_by_turn = around.is_some_and(|around| is_counter(&around) && built.block == around.block);
        let in_one_turn = built.block == block && self.loops.iter().any(is_counter);
        (turn_by_turn && is_pure(body, built.turn) || in_one_turn && self.is_total(body, built.turn, built))
            .then_some(built.turn)
    }

    /// Whether a turn of the loop that builds a tensor can do nothing but make its element.
    fn is_total(&self, body: &Body, id: BlockId, built: Built) -> bool {
        let counter = body.block(built.turn).parameters[0];
        body.block(id).instructions.iter().all(|instruction| match &instruction.operation {
            Operation::Integer(_) | Operation::Float(_) | Operation::Bool(_) | Operation::Tuple => true,
            Operation::Get(_) | Operation::Size | Operation::Equal => true,
            Operation::Scalar(scalar) => *scalar != Scalar::DivI,
            Operation::If(..) => {
                instruction.operation.blocks().all(|inner| self.is_total(body, inner, built))
            }
            Operation::Index => {
                let tensor = instruction.operands[1].index();
                let size = self.sizes[tensor].or_else(|| self.built[tensor].map(|built| built.size));
                instruction.operands[0] == counter && size == Some(built.size)
            }
            _ => false,
        })
    }
}

/// Whether a block neither prints nor adds to anything.
fn is_pure(body: &Body, id: BlockId) -> bool {
    body.block(id).instructions.iter().all(|instruction| match &instruction.operation {
        Operation::AddTo(_) | Operation::Print | Operation::Call(_) | Operation::Read => false,
        operation => operation.blocks().all(|inner| is_pure(body, inner)),
    })
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
