//! Inlines loops that have one step.

use std::collections::BTreeMap;

use super::segments::within_limits;
use crate::{
    build::Builder,
    dim::{Bindings, Dim},
    ir::{Access, Arrange, Guard, Inst, Module, Op, Scan, ValueId},
};

/// The module whose loops of one step are inlined, and for each of its values the value of `module` that it comes from.
/// `None` if no loop is.
pub(super) fn inlined(module: &Module) -> Option<(Module, Vec<ValueId>)> {
    module.iter().find_map(|(_, inst)| single_step(module, inst))?;
    let mut builder = Builder::new();
    let (mut values, mut origins) = (Vec::<ValueId>::with_capacity(module.insts().len()), Vec::new());
    let mut results: BTreeMap<ValueId, Vec<ValueId>> = BTreeMap::new();
    for (value, inst) in module.iter() {
        let operands: Vec<ValueId> = inst.operands.iter().map(|operand| values[operand.index()]).collect();
        let further = inst.op.as_further_result().zip(inst.operands.first());
        let further = further.and_then(|(position, of)| results.get(of).map(|results| results[position]));
        values.push(if let Some(result) = further {
            result
        } else if let Some(name) = inst.op.input_name() {
            within_limits(builder.input(name.clone(), inst.ty.clone()))?
        } else if let Some(scan) = single_step(module, inst) {
            let made = step(&mut builder, scan, &operands)?;
            let first = made[0];
            results.insert(value, made);
            first
        } else {
            within_limits(builder.push(inst.op.clone(), &operands))?
        });
        origins.resize(builder.insts().len(), value);
    }
    let outputs: Vec<ValueId> = module.outputs().iter().map(|output| values[output.index()]).collect();
    Some((builder.finish(outputs), origins))
}

/// The loop of an instruction, if it has one step and may be inlined. A loop with a `checkpoint` of several steps stays
/// a loop: see [`Scan::APART`].
fn single_step<'m>(module: &Module, inst: &'m Inst) -> Option<&'m Scan> {
    let scan = inst.op.as_loop()?;
    let accesses = scan.accesses(inst.operands.iter().map(|operand| module.ty(*operand).rank()));
    let counted = inst.operands.get(Scan::counted(&accesses)?)?;
    let has_one = module.ty(*counted).shape[0] == Dim::ONE;
    let is_inlined = has_one && scan.guard == Guard::Always && scan.checkpoint == 0 && !inst.op.has_effect();
    is_inlined.then_some(scan)
}

/// Emits the step of a loop. Returns the results of the loop.
fn step(builder: &mut Builder, scan: &Scan, operands: &[ValueId]) -> Option<Vec<ValueId>> {
    let accesses = scan.accesses(operands.iter().map(|operand| builder.ty(*operand).rank()));
    let mut inputs = Vec::with_capacity(operands.len());
    for (operand, access) in operands.iter().zip(accesses) {
        inputs.push(match access {
            Access::Carry | Access::Whole => *operand,
            Access::Element => {
                let shape = builder.ty(*operand).shape[1..].iter().cloned().collect();
                within_limits(builder.push(Op::Arrange(Arrange::reshape(shape)), &[*operand]))?
            }
        });
    }
    let mut results = within_limits(builder.inline(&scan.body, &inputs, &Bindings::new()))?;
    for result in results.iter_mut().skip(scan.carry_count()) {
        let shape = [Dim::ONE].into_iter().chain(builder.ty(*result).shape.iter().cloned()).collect();
        *result = within_limits(builder.push(Op::Arrange(Arrange::reshape(shape)), &[*result]))?;
    }
    Some(results)
}
