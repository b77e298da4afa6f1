//! The accumulators of a run.

use std::sync::Arc;

use mind_core::diag::Code;

use super::{
    Precision, Value,
    outcome::{Fault, fault},
    structure::{accumulator, add, position},
    value::Accumulator,
};
use crate::ir::Projection;

/// The values of the accumulators.
#[derive(Debug, Default)]
pub(super) struct Accumulators {
    slots: Vec<Value>,
    /// The slots of accumulators that were read.
    free: Vec<usize>,
}

impl Accumulators {
    /// Creates an accumulator with this value.
    pub fn make(&mut self, zero: Value) -> Value {
        let slot = match self.free.pop() {
            Some(slot) => {
                self.slots[slot] = zero;
                slot
            }
            None => {
                self.slots.push(zero);
                self.slots.len() - 1
            }
        };
        Value::Accumulator(Accumulator { slot, path: Arc::new([]) })
    }

    /// The values of all accumulators.
    pub fn values(&self) -> &[Value] {
        &self.slots
    }

    /// Removes the value of an accumulator, which must not be used afterwards.
    pub fn read(&mut self, value: &Value) -> Value {
        let slot = accumulator(value).slot;
        self.free.push(slot);
        std::mem::replace(&mut self.slots[slot], Value::Integer(0))
    }

    /// The part of an accumulator that the steps lead to.
    pub fn part(
        &self,
        whole: &Value,
        steps: &[Projection],
        indices: &[&Value],
    ) -> Result<Accumulator, Fault> {
        let whole = accumulator(whole);
        let mut path = whole.path.to_vec();
        let mut indices = indices.iter();
        let mut at = self.at(whole);
        for step in steps {
            let next = match (step, at) {
                (Projection::Member(member), Value::Tuple(_)) => *member,
                (Projection::Element, Value::Tensor(tensor)) => {
                    position(indices.next().expect("each such step has an index"), &tensor.size)?
                }
                (Projection::Taped(layout, member), Value::Tape(tape)) if tape.layout == *layout => *member,
                _ => return fault(Code::E6010, "the tape belongs to another function"),
            };
            path.push(next);
            at = child(at, next);
        }
        Ok(Accumulator { slot: whole.slot, path: path.into() })
    }

    /// Adds a value to a part.
    pub fn add_to(&mut self, precision: Precision, part: &Accumulator, value: &Value) -> Result<(), Fault> {
        let mut slot = std::mem::replace(&mut self.slots[part.slot], Value::Integer(0));
        let to = part.path.iter().fold(&mut slot, |value, next| match value {
            Value::Tuple(members) => &mut Arc::make_mut(members)[*next],
            Value::Tensor(tensor) => &mut Arc::make_mut(tensor).elements[*next],
            Value::Tape(tape) => &mut Arc::make_mut(&mut tape.values)[*next],
            other => other,
        });
        let added = add(precision, to, value);
        self.slots[part.slot] = slot;
        added
    }

    fn at(&self, part: &Accumulator) -> &Value {
        part.path.iter().fold(&self.slots[part.slot], |value, next| child(value, *next))
    }
}

fn child(value: &Value, position: usize) -> &Value {
    match value {
        Value::Tuple(members) => &members[position],
        Value::Tensor(tensor) => &tensor.elements[position],
        Value::Tape(tape) => &tape.values[position],
        other => unreachable!("{other} has no parts"),
    }
}
