//! The first half of a reverse derivative: a copy of the function's instructions that also packs tapes.

use std::collections::HashMap;

use super::reverse::{Kept, Key, Record, Reverse};
use crate::{
    ir::{BlockId, Instruction, Loop, Operation, ValueId},
    types::TypeId,
};

/// The new value of each source value.
pub(super) type Map = HashMap<ValueId, ValueId>;

impl Reverse<'_> {
    /// Emits the instructions of a block and returns its result. If `taped`, instructions also produce their records.
    pub(super) fn replay(&mut self, id: BlockId, map: &mut Map, taped: bool) -> ValueId {
        let source = self.source;
        let block = source.block(id);
        // If both halves run together, calls come last: their cotangents depend on the other instructions.
        let is_last = |this: &Self, instruction: &Instruction| {
            this.path.as_ref().is_some_and(|path| path.runs(id) && path.contains(instruction.result))
        };
        for last in [false, true] {
            for instruction in &block.instructions {
                if is_last(self, instruction) == last {
                    self.b.place = instruction.place;
                    self.replay_instruction(instruction, map, taped);
                }
            }
        }
        self.operand(map, block.result)
    }

    /// Like [`Self::replay`], but returns the tuple of the result and the block's tape.
    pub(super) fn replay_packed(&mut self, id: BlockId, map: &mut Map, kept: &Kept, taped: bool) -> ValueId {
        let result = self.replay(id, map, taped);
        let values: Vec<_> = kept.keys.iter().map(|key| self.replayed(map, *key)).collect();
        let tape = self.b.emit(Operation::Pack(kept.layout), values, TypeId::TAPE);
        self.b.tuple(&mut self.program.types, &[result, tape])
    }

    /// A value that the second half needs.
    pub(super) fn replayed(&mut self, map: &mut Map, key: Key) -> ValueId {
        match key {
            Key::Value(value) => self.operand(map, value),
            Key::Structure(value) => {
                let value = self.operand(map, value);
                self.b.structure(&self.program.types, value)
            }
            Key::Record(value) => self.record_of[&value],
        }
    }

    /// The new value of a source value. A value of a block that is not copied here comes from the tape of its block.
    pub(super) fn operand(&mut self, map: &Map, value: ValueId) -> ValueId {
        match map.get(&value) {
            Some(here) => *here,
            None => self.need(Key::Value(value)),
        }
    }

    fn replay_instruction(&mut self, instruction: &Instruction, map: &mut Map, taped: bool) {
        let Instruction { result, operation, operands, .. } = instruction;
        let ty = self.source.ty(*result);
        // A block that runs again must not add again to accumulators outside of it.
        let adds = matches!(operation, Operation::AddTo(_) | Operation::Part(_));
        if adds && !map.contains_key(&operands[0]) {
            let unit = self.b.unit();
            map.insert(*result, unit);
            return;
        }
        let values: Vec<_> = operands.iter().map(|operand| self.operand(map, *operand)).collect();
        let record = if taped { self.records.get(result).cloned() } else { None };
        let value = match (operation, record) {
            _ if self.runs_both(instruction) => self.path_instruction(instruction, values, map),
            (Operation::If(then, otherwise), Some(Record::Branch(first, second))) => {
                let blocks = [(*then, first), (*otherwise, second)].map(|(block, kept)| {
                    self.b.begin(&[]);
                    let both = self.replay_packed(block, map, &kept, taped);
                    self.b.end(both)
                });
                let both = self.program.types.tuple([ty, TypeId::TAPE]);
                let both = self.b.emit(Operation::If(blocks[0], blocks[1]), values, both);
                self.split(*result, both)
            }
            (Operation::Loop(form, body), Some(Record::Turns(kept))) => {
                self.replay_taped_loop(*form, *body, &kept, *result, values, map)
            }
            (Operation::Call(_), Some(Record::Call(first, tape))) => {
                let both = self.program.types.tuple([ty, tape]);
                let both = self.b.emit(Operation::Call(first), values, both);
                self.split(*result, both)
            }
            (Operation::If(then, otherwise), _) => {
                let blocks = [*then, *otherwise].map(|block| {
                    self.b.begin(&[]);
                    let result = self.replay(block, map, taped);
                    self.b.end(result)
                });
                self.b.emit(Operation::If(blocks[0], blocks[1]), values, ty)
            }
            (Operation::Loop(form, body), _) => {
                self.begin_body(*body, map);
                let turn = self.replay(*body, map, false);
                let body = self.b.end(turn);
                self.b.emit(Operation::Loop(*form, body), values, ty)
            }
            _ => self.b.emit(operation.clone(), values, ty),
        };
        if let Some(name) = &self.source.values[result.index()].name {
            self.b.name(value, name.clone());
        }
        map.insert(*result, value);
        self.begin_accumulator(*result, value);
    }

    /// Splits the pair of a value and its record. Stores the record and returns the value.
    fn split(&mut self, result: ValueId, both: ValueId) -> ValueId {
        let record = self.b.get(&self.program.types, both, 1);
        self.record_of.insert(result, record);
        self.b.get(&self.program.types, both, 0)
    }

    pub(super) fn begin_body(&mut self, body: BlockId, map: &mut Map) -> Vec<ValueId> {
        let own = &self.source.block(body).parameters;
        let types: Vec<_> = own.iter().map(|parameter| self.source.ty(*parameter)).collect();
        let given = self.b.begin(&types);
        map.extend(own.iter().copied().zip(given.iter().copied()));
        given
    }

    fn replay_taped_loop(
        &mut self,
        form: Loop,
        body: BlockId,
        kept: &Kept,
        result: ValueId,
        values: Vec<ValueId>,
        map: &mut Map,
    ) -> ValueId {
        let ty = self.source.ty(result);
        let given = self.begin_body(body, map);
        let counter = self.b.ty(given[0]);
        let both = self.replay_packed(body, map, kept, true);
        let types = &mut self.program.types;
        let rank = types.rank_of_index(counter).unwrap_or(1);
        let tapes = types.tensor(rank, TypeId::TAPE);
        match form {
            Loop::Build | Loop::Sum => {
                let turn = self.b.end(both);
                let pair = self.b.ty(both);
                let types = &mut self.program.types;
                let element = types.members(pair).map_or(TypeId::UNIT, |members| members[0]);
                let (pairs, elements) = (types.tensor(rank, pair), types.tensor(rank, element));
                let unzipped = types.tuple([elements, tapes]);
                let size = values[0];
                let pairs = self.b.emit(Operation::Loop(Loop::Build, turn), values, pairs);
                let unzipped = self.b.emit(Operation::Unzip, [pairs], unzipped);
                let elements = self.split(result, unzipped);
                match form {
                    Loop::Build => elements,
                    _ => self.b.sum(&mut self.program.types, size, |b, types, i| b.index(types, i, elements)),
                }
            }
            // An iteration results in (carried, tape), as required by a scan.
            Loop::Fold => {
                let turn = self.b.end(both);
                let scan = self.program.types.tuple([ty, tapes]);
                let scan = self.b.emit(Operation::Loop(Loop::Scan, turn), values, scan);
                self.split(result, scan)
            }
            // An iteration results in ((carried, kept), tape), which is rearranged to (carried, (kept, tape)).
            Loop::Scan => {
                let (own, tape) =
                    (self.b.get(&self.program.types, both, 0), self.b.get(&self.program.types, both, 1));
                let (carried, out) =
                    (self.b.get(&self.program.types, own, 0), self.b.get(&self.program.types, own, 1));
                let pair = self.b.tuple(&mut self.program.types, &[out, tape]);
                let turn = self.b.tuple(&mut self.program.types, &[carried, pair]);
                let (pair, carried, out) = (self.b.ty(pair), self.b.ty(carried), self.b.ty(out));
                let turn = self.b.end(turn);
                let types = &mut self.program.types;
                let (pairs, outs) = (types.tensor(1, pair), types.tensor(1, out));
                let (scan, unzipped) = (types.tuple([carried, pairs]), types.tuple([outs, tapes]));
                let scan = self.b.emit(Operation::Loop(Loop::Scan, turn), values, scan);
                let (last, pairs) =
                    (self.b.get(&self.program.types, scan, 0), self.b.get(&self.program.types, scan, 1));
                let unzipped = self.b.emit(Operation::Unzip, [pairs], unzipped);
                let outs = self.split(result, unzipped);
                self.b.tuple(&mut self.program.types, &[last, outs])
            }
        }
    }
}
