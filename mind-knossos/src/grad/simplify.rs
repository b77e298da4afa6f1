//! Cleans up after the generation of derivatives: members taken out of values that were just packed, and unused values.

use crate::ir::{BlockId, Body, Instruction, Operation, ValueId};

/// Removes such instructions.
pub(super) fn simplify(body: &mut Body) {
    forward(body);
    let mut live = vec![false; body.values.len()];
    prune(body, body.entry, &mut live);
}

/// Replaces members taken out of a tuple or tape that was just packed.
pub(crate) fn forward(body: &mut Body) {
    let entry = body.entry;
    let mut forwarder = Forwarder {
        made: vec![None; body.values.len()],
        same: (0..body.values.len()).map(ValueId::new).collect(),
    };
    forwarder.block(body, entry);
}

/// Replaces members of tuples and tapes whose construction is visible.
struct Forwarder {
    /// The members of each tuple or tape.
    made: Vec<Option<Box<[ValueId]>>>,
    same: Vec<ValueId>,
}

impl Forwarder {
    fn block(&mut self, body: &mut Body, id: BlockId) {
        let mut instructions = std::mem::take(&mut body.blocks[id.index()].instructions);
        for instruction in &mut instructions {
            for operand in &mut instruction.operands {
                *operand = self.same[operand.index()];
            }
            for inner in instruction.operation.blocks() {
                self.block(body, inner);
            }
            let Instruction { result, operation, operands, .. } = instruction;
            match operation {
                Operation::Tuple | Operation::Pack(_) => {
                    self.made[result.index()] = Some(operands.as_slice().into());
                }
                Operation::Get(member) | Operation::Unpack(_, member) => {
                    if let Some(members) = &self.made[operands[0].index()] {
                        self.same[result.index()] = members[*member];
                    }
                }
                _ => {}
            }
        }
        let block = &mut body.blocks[id.index()];
        block.instructions = instructions;
        block.result = self.same[block.result.index()];
    }
}

/// Removes instructions that have no effect and whose results are not needed.
fn prune(body: &mut Body, id: BlockId, live: &mut [bool]) {
    let mut instructions = std::mem::take(&mut body.blocks[id.index()].instructions);
    live[body.block(id).result.index()] = true;
    let mut kept = Vec::with_capacity(instructions.len());
    while let Some(instruction) = instructions.pop() {
        if !live[instruction.result.index()] && !has_effect(body, &instruction) {
            continue;
        }
        for inner in instruction.operation.blocks() {
            prune(body, inner, live);
        }
        for operand in &instruction.operands {
            live[operand.index()] = true;
        }
        kept.push(instruction);
    }
    kept.reverse();
    body.blocks[id.index()].instructions = kept;
}

/// Whether an instruction has an effect beyond its result.
pub(super) fn has_effect(body: &Body, instruction: &Instruction) -> bool {
    match &instruction.operation {
        Operation::AddTo(_) | Operation::Assert(_) | Operation::Bounds => true,
        Operation::Print | Operation::Call(_) => true,
        operation => operation
            .blocks()
            .any(|block| body.block(block).instructions.iter().any(|inner| has_effect(body, inner))),
    }
}
