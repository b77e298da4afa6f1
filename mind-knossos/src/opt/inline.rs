//! Inlines calls of small functions.

use std::borrow::Cow;

use crate::ir::{
    Block, BlockId, Body, Definition, Derivative, FunctionId, Instruction, Operation, Program, ValueId,
};

/// The maximum number of instructions in an inlined function.
const MOST_OF_CALLEE: usize = 150;

/// The maximum number of instructions in a function after inlining.
const MOST_OF_CALLER: usize = 3000;

/// Inlines the calls of small functions in a body.
pub(super) fn inline(program: &Program, own: FunctionId, body: Body) -> Body {
    Inliner::new(body, |id, _| callee(program, own, id).map(Cow::Borrowed)).inlined()
}

/// The body of a function that can be inlined: it is small, contains no calls, and the program does not define its
/// derivatives.
fn callee(program: &Program, own: FunctionId, id: FunctionId) -> Option<&Body> {
    let Definition::Defined(body) = &program.function(id).definition else { return None };
    let derivatives = [Derivative::Fwd, Derivative::Rev, Derivative::SufFwdPass, Derivative::SufRevPass];
    let written = derivatives.iter().any(|derivative| program.written_derivative(*derivative, id).is_some());
    let calls = body.blocks.iter().flat_map(|block| &block.instructions).any(|instruction| {
        matches!(instruction.operation, Operation::Call(_) | Operation::Pack(_) | Operation::Unpack(..))
    });
    (id != own && !written && !calls).then_some(body)
}

/// The number of instructions in a block and in the blocks in it.
pub(super) fn count(body: &Body, id: BlockId) -> usize {
    let instructions = body.block(id).instructions.iter();
    instructions.map(|own| 1 + own.operation.blocks().map(|inner| count(body, inner)).sum::<usize>()).sum()
}

/// Replaces calls by the instructions of the callee.
pub(super) struct Inliner<F> {
    /// The body that replaces a call of this function, which is the given instruction.
    callee: F,
    body: Body,
    /// The replacement of each value.
    same: Vec<ValueId>,
    size: usize,
}

impl<'p, F: Fn(FunctionId, &Instruction) -> Option<Cow<'p, Body>>> Inliner<F> {
    pub fn new(body: Body, callee: F) -> Self {
        let size = count(&body, body.entry);
        let same = (0..body.values.len()).map(ValueId::new).collect();
        Self { callee, body, same, size }
    }

    /// The body with the callees that are small in place of their calls, as far as it stays small.
    pub fn inlined(mut self) -> Body {
        self.block(self.body.entry);
        self.body
    }

    fn block(&mut self, id: BlockId) {
        let instructions = std::mem::take(&mut self.body.blocks[id.index()].instructions);
        let mut written = Vec::with_capacity(instructions.len());
        for mut instruction in instructions {
            for operand in &mut instruction.operands {
                *operand = self.same[operand.index()];
            }
            match instruction.operation {
                Operation::Call(callee) => {
                    let callee = (self.callee)(callee, &instruction);
                    match callee.filter(|callee| self.has_room(callee)) {
                        Some(callee) => {
                            let result = self.copy(&callee, &instruction.operands, &mut written);
                            self.same[instruction.result.index()] = result;
                        }
                        None => written.push(instruction),
                    }
                }
                _ => {
                    for inner in instruction.operation.blocks() {
                        self.block(inner);
                    }
                    written.push(instruction);
                }
            }
        }
        let block = &mut self.body.blocks[id.index()];
        block.instructions = written;
        block.result = self.same[block.result.index()];
    }

    fn has_room(&self, callee: &Body) -> bool {
        let size = count(callee, callee.entry);
        size <= MOST_OF_CALLEE && self.size + size <= MOST_OF_CALLER
    }

    /// Emits the instructions of a function for these operands and returns its result.
    fn copy(&mut self, callee: &Body, operands: &[ValueId], written: &mut Vec<Instruction>) -> ValueId {
        self.size += count(callee, callee.entry);
        let first = self.body.values.len();
        self.body.values.extend(callee.values.iter().cloned());
        self.same.extend((first..self.body.values.len()).map(ValueId::new));
        let mut values: Vec<_> = (first..self.body.values.len()).map(ValueId::new).collect();
        let entry = callee.block(callee.entry);
        for (parameter, operand) in entry.parameters.iter().zip(operands) {
            values[parameter.index()] = *operand;
        }
        let first = self.body.blocks.len();
        let block_of = |id: BlockId| BlockId::new(first + id.index());
        let of_block = |block: &Block| Block {
            parameters: block.parameters.iter().map(|value| values[value.index()]).collect(),
            instructions: block.instructions.iter().map(|own| moved(own, &values, &block_of)).collect(),
            result: values[block.result.index()],
        };
        let blocks: Vec<Block> = callee.blocks.iter().map(of_block).collect();
        self.body.blocks.extend(blocks);
        // The entry's instructions replace the call. The copied entry block remains empty and unused.
        let entry_here = block_of(callee.entry);
        written.append(&mut self.body.blocks[entry_here.index()].instructions);
        self.body.blocks[entry_here.index()].parameters.clear();
        values[entry.result.index()]
    }
}

fn moved(own: &Instruction, values: &[ValueId], block_of: &impl Fn(BlockId) -> BlockId) -> Instruction {
    Instruction {
        result: values[own.result.index()],
        operation: match &own.operation {
            Operation::Loop(form, body) => Operation::Loop(*form, block_of(*body)),
            Operation::If(then, otherwise) => Operation::If(block_of(*then), block_of(*otherwise)),
            operation => operation.clone(),
        },
        operands: own.operands.iter().map(|operand| values[operand.index()]).collect(),
        place: own.place,
    }
}
