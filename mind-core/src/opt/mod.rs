//! The optimiser: the same results bit for bit, with less work.

use std::{
    collections::{BTreeSet, HashMap},
    ops::Deref,
};

use crate::{
    canon::Canonical,
    dim::Symbol,
    ir::{Inst, Module, Op, Operands, ValueId},
    ops::Requirement,
    verify,
};

/// A module whose every operation is computed once and contributes to an output.
#[derive(Clone, Debug, PartialEq)]
pub struct Optimised {
    module: Module,
    requirements: Vec<Requirement>,
    origins: Vec<ValueId>,
}

impl Optimised {
    /// For each value the one of the canonical module that it is.
    pub fn origins(&self) -> &[ValueId] {
        &self.origins
    }

    /// What must hold of symbolic extents for the program to run.
    pub fn requirements(&self) -> &[Requirement] {
        &self.requirements
    }

    /// Every unknown extent in the inputs' types, ascending.
    pub fn symbols(&self) -> Vec<Symbol> {
        let mut symbols = BTreeSet::new();
        for (_, ty) in self.module.inputs() {
            ty.shape
                .iter()
                .for_each(|dim| dim.for_each_symbol(&mut |symbol| _ = symbols.insert(symbol.clone())));
        }
        symbols.into_iter().collect()
    }
}

impl Deref for Optimised {
    type Target = Module;
    fn deref(&self) -> &Module {
        &self.module
    }
}

/// Removes what is computed twice, what nothing needs, and the barriers that only differentiation sees.
///
/// Requirements are those of the whole canonical module: what is optimised away must still be possible to run.
pub fn optimise(module: &Canonical) -> Optimised {
    let requirements = verify::requirements(module.as_verified());
    let live = live_values(module);
    let mut insts: Vec<Inst> = Vec::with_capacity(module.insts().len());
    let mut origins = Vec::with_capacity(module.insts().len());
    let mut replaced: Vec<ValueId> = Vec::with_capacity(module.insts().len());
    let mut known: HashMap<(Op, Operands), ValueId> = HashMap::with_capacity(module.insts().len());
    for (value, inst) in module.iter() {
        let operands = inst.operands.map(|operand| replaced[operand.index()]);
        let is_input = matches!(inst.op, Op::Input { .. });
        let next = ValueId::new(insts.len());
        let replacement = if matches!(inst.op, Op::StopGradient) {
            operands[0]
        } else if live[value.index()] || is_input {
            *known.entry((inst.op.clone(), operands)).or_insert(next)
        } else {
            next
        };
        if replacement == next && (live[value.index()] || is_input) {
            insts.push(Inst { op: inst.op.clone(), operands, ty: inst.ty.clone() });
            origins.push(value);
        }
        replaced.push(replacement);
    }
    let outputs = module.outputs().iter().map(|output| replaced[output.index()]).collect();
    Optimised { module: Module::from_parts(insts, outputs), requirements, origins }
}

fn live_values(module: &Module) -> Vec<bool> {
    let mut live = vec![false; module.insts().len()];
    module.outputs().iter().for_each(|output| live[output.index()] = true);
    for (value, inst) in module.iter().rev() {
        if live[value.index()] {
            inst.operands.iter().for_each(|operand| live[operand.index()] = true);
        }
    }
    live
}
