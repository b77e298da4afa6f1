//! The origin of the extents of a value, for messages.

use crate::ir::{Inst, ValueId};

/// The place where an extent first appears.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// In the declared type of an input.
    Input {
        /// The input.
        input: ValueId,
        /// The axis of the input.
        axis: usize,
    },
    /// In an instruction that computes the extent or has it in an attribute.
    Made {
        /// The value that first has the extent.
        value: ValueId,
    },
}

/// Follows one axis of a value back to the place where its extent first appears, by
/// [`OpInfo::origin`](crate::ops::OpInfo::origin).
///
/// # Panics
/// If none of `insts` makes the value.
pub fn origin(insts: &[Inst], value: ValueId, axis: usize) -> Origin {
    let (mut value, mut axis) = (value, axis);
    loop {
        let inst = &insts[value.index()];
        if inst.op.is_input() {
            return Origin::Input { input: value, axis };
        }
        let types: Vec<_> = inst.operands.iter().map(|operand| &insts[operand.index()].ty).collect();
        match (inst.op.info().origin)(&inst.op, &types, axis) {
            Some((operand, of_axis)) => (value, axis) = (inst.operands[operand], of_axis),
            None => return Origin::Made { value },
        }
    }
}
