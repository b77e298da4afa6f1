//! Smaller modules to replace a failing one by.

use std::collections::BTreeMap;

use crate::{
    ir::{Inst, Module, Op, ValueId},
    ops::Profile,
    verify::verify,
};

/// Smaller modules that verify, the smallest first. They have one value as the only output, an operand in place of an
/// output, or an instruction replaced by an earlier value of its type or by an input.
///
/// Repeat this with a smaller module that still fails, until there is none.
pub fn shrink(module: &Module) -> Vec<Module> {
    let mut candidates = Vec::new();
    for (value, inst) in module.iter() {
        candidates.push(with_outputs(module, vec![value]));
        if inst.op.is_input() {
            continue;
        }
        let earlier = (0..value.index()).map(ValueId::new).find(|earlier| module.ty(*earlier) == &inst.ty);
        candidates.extend(earlier.map(|earlier| replace(module, value, earlier)));
        candidates.push(cut(module, value));
        if module.outputs().contains(&value) {
            for operand in inst.operands.iter() {
                let outputs = module.outputs().iter();
                let outputs = outputs.map(|output| if *output == value { *operand } else { *output });
                candidates.push(with_outputs(module, outputs.collect()));
            }
        }
    }
    let mut smaller: Vec<Module> = candidates
        .into_iter()
        .map(|candidate| prune(&candidate))
        .filter(|candidate| {
            size(candidate) < size(module)
                && verify(candidate.clone(), Profile::Extended).is_ok()
                && (binds_symbols(candidate) || !binds_symbols(module))
        })
        .collect();
    smaller.sort_by_key(size);
    smaller.dedup();
    smaller
}

/// Whether each symbol alone is an extent of an input, which determines it. A module without such inputs cannot run, so
/// it would fail for another reason.
fn binds_symbols(module: &Module) -> bool {
    let mut symbols = Vec::new();
    let shapes = module.insts().iter().flat_map(|inst| inst.ty.shape.iter());
    shapes.for_each(|dim| dim.for_each_symbol(&mut |symbol| symbols.push(symbol.clone())));
    let inputs: Vec<_> = module.inputs().flat_map(|(_, ty)| ty.shape.iter()).collect();
    symbols.iter().all(|symbol| inputs.iter().any(|dim| dim.as_symbol() == Some(symbol)))
}

/// Operations weigh more than inputs, so that replacing an operation by an input makes a module smaller.
fn size(module: &Module) -> usize {
    let weight = |inst: &Inst| if inst.op.is_input() { 1 } else { 3 };
    module.insts().iter().map(weight).sum::<usize>() + module.outputs().len()
}

fn with_outputs(module: &Module, outputs: Vec<ValueId>) -> Module {
    Module::from_parts(module.insts().to_vec(), outputs)
}

/// The module with every use of `value` replaced by `other`.
fn replace(module: &Module, value: ValueId, other: ValueId) -> Module {
    let new = |old: ValueId| if old == value { other } else { old };
    let insts = module.insts().iter().map(|inst| Inst { operands: inst.operands.map(new), ..inst.clone() });
    Module::from_parts(insts.collect(), module.outputs().iter().copied().map(new).collect())
}

/// The module with the instruction replaced by a new input, after the other inputs.
fn cut(module: &Module, value: ValueId) -> Module {
    let inputs = module.inputs().len();
    // The new order: the inputs, the new input, the instructions between, and those after.
    let new = |old: ValueId| match old.index() {
        position if position == value.index() => ValueId::new(inputs),
        position if position < inputs || position > value.index() => old,
        position => ValueId::new(position + 1),
    };
    let mut name = format!("cut{}", value.index());
    while module.inputs().any(|(taken, _)| **taken == *name) {
        name.push('_');
    }
    let moved = |inst: &Inst| Inst { operands: inst.operands.map(new), ..inst.clone() };
    let mut insts: Vec<Inst> = module.insts()[..inputs].to_vec();
    let ty = module.ty(value).clone();
    insts.push(Inst { op: Op::Input { name: name.into() }, operands: crate::ir::Operands::NONE, ty });
    insts.extend(module.insts()[inputs..value.index()].iter().map(moved));
    insts.extend(module.insts()[value.index() + 1..].iter().map(moved));
    Module::from_parts(insts, module.outputs().iter().copied().map(new).collect())
}

/// The module without the instructions and inputs that no output needs.
fn prune(module: &Module) -> Module {
    let mut needed = vec![false; module.insts().len()];
    module.outputs().iter().for_each(|output| needed[output.index()] = true);
    for (value, inst) in module.iter().rev() {
        if needed[value.index()] {
            inst.operands.iter().for_each(|operand| needed[operand.index()] = true);
        }
    }
    let mut values = BTreeMap::new();
    let mut insts = Vec::new();
    for (value, inst) in module.iter().filter(|(value, _)| needed[value.index()]) {
        insts.push(Inst { operands: inst.operands.map(|operand| values[&operand]), ..inst.clone() });
        values.insert(value, ValueId::new(values.len()));
    }
    Module::from_parts(insts, module.outputs().iter().map(|output| values[output]).collect())
}
