//! What must not be written before something else has been read or checked.

use crate::{
    ir::{Module, Op, ValueId},
    ops::Class,
    plan::{Update, build::scalar_op, fuse::Groups},
};

/// Which values some gather's indices are computed from: they are there before the checks, so never in a result.
pub(super) fn feeds_indices(module: &Module) -> Vec<bool> {
    let mut feeds = vec![false; module.insts().len()];
    for (value, inst) in module.iter().rev() {
        if let Op::Gather = inst.op {
            feeds[inst.operands[1].index()] = true;
        } else if let Op::ScatterAdd { .. } = inst.op {
            feeds[inst.operands[0].index()] = true;
        }
        if feeds[value.index()] {
            inst.operands.iter().for_each(|operand| feeds[operand.index()] = true);
        }
    }
    feeds
}

/// The values that a loop can store straight into the input they update: nothing else reads the new value, the loop
/// reads the old one at the element it stores and nowhere else, and no other such loop reads it at all.
pub(super) fn direct_updates(module: &Module, groups: &Groups, updates: &[Update]) -> Vec<Option<usize>> {
    let mut uses = vec![0; module.insts().len()];
    for inst in module.insts() {
        inst.operands.iter().for_each(|operand| uses[operand.index()] += 1);
    }
    module.outputs().iter().for_each(|output| uses[output.index()] += 1);
    // The input each value is a view of.
    let mut base: Vec<Option<usize>> = vec![None; module.insts().len()];
    for (value, inst) in module.iter() {
        base[value.index()] = match inst.op.info().class {
            Class::Input => Some(value.index()),
            Class::View => base[inst.operands[0].index()],
            Class::Constant | Class::Elementwise | Class::Reduction | Class::Kernel => None,
        };
    }
    let reads = |root: ValueId| {
        let members = groups.members(root).iter();
        members.flat_map(|member| module.inst(*member).operands.to_vec())
    };
    let mut direct: Vec<Option<usize>> = vec![None; module.insts().len()];
    let candidates: Vec<(ValueId, usize)> = updates
        .iter()
        .map(|update| (module.outputs()[update.output], update.input))
        .filter(|(value, input)| {
            let inst = module.inst(*value);
            let computed = inst.ty.rank() > 0 && scalar_op(&inst.op).is_some() && uses[value.index()] == 1;
            let own =
                |operand: ValueId| operand.index() == *input && module.ty(operand).shape == inst.ty.shape;
            computed && reads(*value).all(|operand| base[operand.index()] != Some(*input) || own(operand))
        })
        .collect();
    // How many of the loops read each input.
    let mut readers = vec![0; module.inputs().len()];
    let read_by = |root: ValueId| {
        let mut inputs: Vec<usize> = reads(root).filter_map(|operand| base[operand.index()]).collect();
        inputs.sort_unstable();
        inputs.dedup();
        inputs
    };
    for (value, _) in &candidates {
        read_by(*value).into_iter().for_each(|input| readers[input] += 1);
    }
    for (value, input) in &candidates {
        let own = usize::from(read_by(*value).contains(input));
        if readers[*input] == own {
            direct[value.index()] = Some(*input);
        }
    }
    direct
}
