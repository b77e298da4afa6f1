//! The second halves of loops, for reverse mode.

use std::collections::HashMap;

use super::{
    place::At,
    reverse::{Key, Record, Reverse},
};
use crate::{
    ir::{BlockId, Instruction, Loop, Operation, ValueId},
    scalars::Scalar,
    types::TypeId,
};

impl<'p> Reverse<'p> {
    pub(super) fn turns(&mut self, instruction: &'p Instruction, form: Loop, body: BlockId) {
        let change = self.take(instruction.result);
        if change.is_none() && !self.adds(body) {
            return;
        }
        match form {
            Loop::Build | Loop::Sum => self.independent_turns(instruction, form, body, change),
            Loop::Fold | Loop::Scan => self.dependent_turns(instruction, form, body, change),
        }
    }

    fn independent_turns(
        &mut self,
        instruction: &'p Instruction,
        form: Loop,
        body: BlockId,
        change: Option<ValueId>,
    ) {
        let size = self.need(Key::Value(instruction.operands[0]));
        let own = self.source.block(body).parameters[0];
        let again = !self.is_expensive(body);
        let tapes = (!again).then(|| self.need(Key::Record(instruction.result)));
        let counter = self.b.begin(&[self.source.ty(own)])[0];
        let tape = match tapes {
            Some(tapes) => self.b.index(&self.program.types, counter, tapes),
            None => self.b.value(TypeId::TAPE),
        };
        self.open_frame(body, tape);
        self.know(Key::Value(own), counter);
        let change = change.map(|change| match form {
            Loop::Build => self.b.index(&self.program.types, counter, change),
            _ => change,
        });
        self.block(body, change);
        if again {
            self.run_again(&mut HashMap::from([(own, counter)]));
            self.close_frame();
        } else {
            let kept = self.close_frame();
            self.records.insert(instruction.result, Record::Turns(kept));
        }
        self.end_effects(size);
    }

    /// Whether an iteration should not be run again: it calls functions, or prints.
    fn is_expensive(&self, block: BlockId) -> bool {
        self.source.block(block).instructions.iter().any(|instruction| match &instruction.operation {
            Operation::Call(_) | Operation::Print => true,
            operation => operation.blocks().any(|inner| self.is_expensive(inner)),
        })
    }

    /// Runs backwards through the iterations of a fold or a scan, carrying the cotangent of the carried value.
    fn dependent_turns(
        &mut self,
        instruction: &'p Instruction,
        form: Loop,
        body: BlockId,
        change: Option<ValueId>,
    ) {
        let block = self.source.block(body);
        let (own_counter, own_carried) = (block.parameters[0], block.parameters[1]);
        let carried = self.source.ty(own_carried);
        let count = self.need(Key::Value(instruction.operands[0]));
        let tapes = self.need(Key::Record(instruction.result));
        let change = match change {
            Some(change) => change,
            None => {
                let structure = self.need(Key::Structure(instruction.result));
                let ty = self.program.types.tangent(self.source.ty(instruction.result));
                self.b.zero(&self.program.types, ty, structure)
            }
        };
        let (last, kept_changes) = match form {
            Loop::Scan => {
                let types = &self.program.types;
                (self.b.get(types, change, 0), Some(self.b.get(types, change, 1)))
            }
            _ => (change, None),
        };
        let one = self.b.integer(1);
        let last_turn = self.b.scalar(Scalar::SubI, &[count, one]);
        let given = self.b.begin(&[TypeId::INTEGER, self.b.ty(last)]);
        let counter = self.b.scalar(Scalar::SubI, &[last_turn, given[0]]);
        let tape = self.b.index(&self.program.types, counter, tapes);
        self.open_frame(body, tape);
        self.know(Key::Value(own_counter), counter);
        let turn_change = match kept_changes {
            Some(changes) => {
                let kept = self.b.index(&self.program.types, counter, changes);
                self.b.tuple(&mut self.program.types, &[given[1], kept])
            }
            None => given[1],
        };
        self.block(body, Some(turn_change));
        let before =
            if self.program.types.active(carried) { self.take_or_zero(own_carried) } else { given[1] };
        let kept = self.close_frame();
        let turn = self.b.end(before);
        let ty = self.b.ty(last);
        let first = self.b.emit(Operation::Loop(Loop::Fold, turn), [count, last], ty);
        self.records.insert(instruction.result, Record::Turns(kept));
        self.contribute(instruction.operands[1], Vec::new(), first);
    }

    pub(super) fn unzip(&mut self, instruction: &Instruction) {
        let Some(change) = self.take(instruction.result) else { return };
        let tensors = self.b.members(&self.program.types, change);
        for (member, tensor) in tensors.into_iter().enumerate() {
            let (_, element) = self.program.types.element(self.b.ty(tensor)).unwrap_or((1, TypeId::UNIT));
            if !self.program.types.active(element) {
                continue;
            }
            let size = self.b.size(&mut self.program.types, tensor);
            let counter = self.b.begin(&[self.b.ty(size)])[0];
            let part = self.b.index(&self.program.types, counter, tensor);
            self.contribute(
                instruction.operands[0],
                vec![At::GeneratedIndex(counter), At::Member(member)],
                part,
            );
            self.end_effects(size);
        }
    }

    /// Ends the body of a loop that is run only for its additions to accumulators.
    fn end_effects(&mut self, size: ValueId) {
        let unit = self.b.unit();
        let body = self.b.end(unit);
        let rank = self.program.types.rank_of_index(self.b.ty(size)).unwrap_or(1);
        let ty = self.program.types.tensor(rank, TypeId::UNIT);
        self.b.emit(Operation::Loop(Loop::Build, body), [size], ty);
    }
}
