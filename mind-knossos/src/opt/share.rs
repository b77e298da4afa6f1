//! Common subexpressions.

use std::collections::HashMap;

use crate::{
    ir::{BlockId, Body, Instruction, Operation, ValueId},
    scalars::Scalar,
};

/// Computes cheap values only once where a previous result is in scope, for example the size of a tensor. Loops over
/// equal sizes then have the same size value. A tuple of all members of another tuple is replaced by that tuple.
pub(super) fn share(body: &mut Body) {
    let same = (0..body.values.len()).map(ValueId::new).collect();
    let mut sharer = Sharer { same, made: HashMap::new(), tuples: HashMap::new() };
    sharer.block(body, body.entry);
}

struct Sharer {
    /// The replacement of each value.
    same: Vec<ValueId>,
    /// The values defined in the open blocks.
    made: HashMap<(Cheap, Vec<ValueId>), ValueId>,
    /// The tuple and the position of each member taken from a tuple.
    tuples: HashMap<ValueId, (ValueId, usize)>,
}

/// A deterministic operation that costs no more than storing its result.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Cheap {
    Integer(i64),
    Scalar(Scalar),
    Tuple,
    Get(usize),
    Size,
}

impl Cheap {
    fn of(operation: &Operation) -> Option<Self> {
        match operation {
            Operation::Integer(value) => Some(Self::Integer(*value)),
            Operation::Scalar(scalar @ (Scalar::AddI | Scalar::SubI | Scalar::MulI | Scalar::DivI)) => {
                Some(Self::Scalar(*scalar))
            }
            Operation::Tuple => Some(Self::Tuple),
            Operation::Get(member) => Some(Self::Get(*member)),
            Operation::Size => Some(Self::Size),
            _ => None,
        }
    }
}

impl Sharer {
    fn block(&mut self, body: &mut Body, id: BlockId) {
        let mut instructions = std::mem::take(&mut body.blocks[id.index()].instructions);
        let mut own = Vec::new();
        instructions.retain_mut(|instruction| {
            for operand in &mut instruction.operands {
                *operand = self.same[operand.index()];
            }
            for inner in instruction.operation.blocks() {
                self.block(body, inner);
            }
            let Some(cheap) = Cheap::of(&instruction.operation) else { return true };
            let key = (cheap, instruction.operands.clone());
            if let Some(known) = self.whole(body, instruction).or_else(|| self.made.get(&key).copied()) {
                self.same[instruction.result.index()] = known;
                return false;
            }
            if let Operation::Get(member) = instruction.operation {
                self.tuples.insert(instruction.result, (instruction.operands[0], member));
            }
            self.made.insert(key.clone(), instruction.result);
            own.push(key);
            true
        });
        // These values are not in scope outside of the block.
        for key in own {
            self.made.remove(&key);
        }
        let block = &mut body.blocks[id.index()];
        block.instructions = instructions;
        block.result = self.same[block.result.index()];
    }

    /// The tuple whose members an instruction packs again.
    fn whole(&self, body: &Body, instruction: &Instruction) -> Option<ValueId> {
        if instruction.operation != Operation::Tuple {
            return None;
        }
        let (whole, _) = *self.tuples.get(instruction.operands.first()?)?;
        let in_order =
            |(position, member): (usize, &ValueId)| self.tuples.get(member) == Some(&(whole, position));
        let all = instruction.operands.iter().enumerate().all(in_order);
        (all && body.ty(whole) == body.ty(instruction.result)).then_some(whole)
    }
}
