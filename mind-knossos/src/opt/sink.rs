//! Moves loops into the branch that uses their results.

use std::collections::HashMap;

use super::{failures::Facts, fuse::is_pure};
use crate::{
    ir::{BlockId, Body, Instruction, Operation, ValueDef, ValueId},
    types::{TypeId, Types},
};

/// Moves each loop whose result is used only in one branch of a later choice into this branch, so that it does not run
/// for the other one. The loop must not fail for a reason other than its size, which is checked where the loop was.
pub(super) fn sink(types: &Types, body: &mut Body) {
    let mut sinker = Sinker { facts: Facts::of(body), types };
    sinker.block(body, body.entry);
}

struct Sinker<'t> {
    facts: Facts,
    types: &'t Types,
}

/// The place of a value's uses in a block.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    /// All uses are in this branch.
    Branch(BlockId),
    Elsewhere,
}

impl Sinker<'_> {
    fn block(&mut self, body: &mut Body, id: BlockId) {
        let mut instructions = std::mem::take(&mut body.blocks[id.index()].instructions);
        let mut uses = HashMap::from([(body.block(id).result, Use::Elsewhere)]);
        let mut kept = Vec::with_capacity(instructions.len());
        // All uses of a value come after it.
        while let Some(mut instruction) = instructions.pop() {
            let own = uses.get(&instruction.result).copied();
            if let Some(Use::Branch(branch)) = own
                && self.may_move(body, &instruction)
            {
                note(body, &instruction, Use::Branch(branch), &mut uses);
                let size = instruction.operands[0];
                body.blocks[branch.index()].instructions.insert(0, instruction.clone());
                if self.facts.is_size(size) {
                    continue;
                }
                instruction.result = ValueId::new(body.values.len());
                body.values.push(ValueDef { ty: TypeId::UNIT, name: None });
                instruction.operation = Operation::Bounds;
                instruction.operands.truncate(1);
            }
            match instruction.operation {
                Operation::If(then, otherwise) => {
                    uses.insert(instruction.operands[0], Use::Elsewhere);
                    for branch in [then, otherwise] {
                        note_block(body, branch, Use::Branch(branch), &mut uses);
                    }
                }
                _ => note(body, &instruction, Use::Elsewhere, &mut uses),
            }
            kept.push(instruction);
        }
        kept.reverse();
        let inner: Vec<_> = kept.iter().flat_map(|own| own.operation.blocks()).collect();
        body.blocks[id.index()].instructions = kept;
        for inner in inner {
            self.block(body, inner);
        }
    }

    fn may_move(&self, body: &Body, instruction: &Instruction) -> bool {
        let Operation::Loop(_, turn) = instruction.operation else { return false };
        is_pure(body, turn) && !self.facts.fails(self.types, body, instruction)
    }
}

/// Notes the uses of values by an instruction and by the blocks in it.
fn note(body: &Body, instruction: &Instruction, place: Use, uses: &mut HashMap<ValueId, Use>) {
    instruction.operands.iter().for_each(|operand| note_value(*operand, place, uses));
    for inner in instruction.operation.blocks() {
        note_block(body, inner, place, uses);
    }
}

fn note_block(body: &Body, id: BlockId, place: Use, uses: &mut HashMap<ValueId, Use>) {
    for instruction in &body.block(id).instructions {
        note(body, instruction, place, uses);
    }
    note_value(body.block(id).result, place, uses);
}

fn note_value(value: ValueId, place: Use, uses: &mut HashMap<ValueId, Use>) {
    let all = uses.entry(value).or_insert(place);
    if *all != place {
        *all = Use::Elsewhere;
    }
}
