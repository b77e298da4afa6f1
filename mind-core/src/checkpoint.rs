//! Functions whose derivatives compute their values again: turns a module into a loop of one step that keeps no
//! residuals.

use crate::{
    build::{Builder, extracted},
    diag::Code,
    dim::Dim,
    ir::{Arrange, Guard, Inst, Module, Nested, Nesting, Op, Own, Scan, ValueId},
    ops::OpError,
    ty::{MAX_RANK, Shape, Type},
};

/// The module whose derivatives keep its inputs, and compute its other values again from them.
///
/// It computes the same values in a loop of one step with `checkpoint = 1`. The optimiser inlines the loop, and leaves
/// the loop of a derivative apart, which runs the module again.
///
/// A module without inputs is returned as it is, and so is one with a value that has no room for two more axes.
///
/// # Errors
/// E1008 if the new module would exceed the limits of nested modules.
pub fn checkpoint(module: &Module) -> Result<Module, Box<OpError>> {
    let results = module.outputs().iter().map(|output| module.ty(*output));
    let mut types = module.inputs().map(|(_, ty)| ty).chain(results);
    if module.inputs().len() == 0 || module.outputs().is_empty() || types.any(|ty| ty.rank() + 2 > MAX_RANK) {
        return Ok(module.clone());
    }
    let mut builder = Builder::new();
    let inputs = module.inputs().map(|(name, ty)| builder.input(name.clone(), ty.clone()));
    let inputs = inputs.collect::<Result<Vec<_>, _>>()?;
    let outputs = run_once(&mut builder, module.clone(), &inputs)?;
    Ok(builder.finish(outputs))
}

/// Adds a loop of one step that runs `module`, and returns its outputs.
fn run_once(builder: &mut Builder, module: Module, inputs: &[ValueId]) -> Result<Vec<ValueId>, Box<OpError>> {
    let step = |ty: &Type| [Dim::ONE].into_iter().chain(ty.shape.iter().cloned()).collect();
    let mut operands = Vec::new();
    for input in inputs {
        let shape = step(builder.ty(*input));
        operands.push(builder.push(Op::Arrange(Arrange::reshape(shape)), &[*input])?);
    }
    let shapes: Vec<Shape> = module.outputs().iter().map(|output| module.ty(*output).shape.clone()).collect();
    let body = Nested::new(module).map_err(|fault| {
        let op = Op::Arrange(Arrange::reshape(builder.ty(operands[0]).shape.clone()));
        OpError::new(&op, Code::E1008).problem(fault.to_string())
    })?;
    let first =
        builder.push(Scan { checkpoint: 1, ..Scan::new(body, 0, Guard::Always) }.into(), &operands)?;
    let mut outputs: Vec<ValueId> = Vec::new();
    for (at, shape) in shapes.into_iter().enumerate() {
        let result = if at == 0 { first } else { builder.push(Op::further_result(at), &[first])? };
        outputs.push(builder.push(Op::Arrange(Arrange::reshape(shape)), &[result])?);
    }
    Ok(outputs)
}

/// Modules with the results of `module` whose derivatives keep fewer of its values. They are to be tried in this order.
/// Each comes with the origins of its values: the value of `module` that a value computes, if any.
pub fn variants(module: &Module) -> impl Iterator<Item = (Module, Vec<Option<ValueId>>)> {
    /// The numbers of parts.
    const PARTS: [usize; 10] = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32];

    let with_loops = with_checkpointed_loops(module);
    PARTS.into_iter().flat_map(move |count| {
        let modules = [(count > 1).then(|| module.clone()), with_loops.clone()];
        modules.into_iter().flatten().filter_map(move |module| in_parts(&module, count))
    })
}

/// The module in `count` parts, of which all but the last are run as [`checkpoint`] runs a module, and for each of its
/// values the value of `module` that it computes, if any. The derivatives of the result keep what one part passes to
/// another. The parts compute about equally many bytes, and few bytes pass between them (T. Chen et al., "Training Deep
/// Nets with Sublinear Memory Cost", 2016).
///
/// `None` if an extent is not known, if there are too few instructions, or if an instruction cannot be run again.
fn in_parts(module: &Module, count: usize) -> Option<(Module, Vec<Option<ValueId>>)> {
    let cuts = cuts(module, count)?;
    let last_uses = last_uses(module);
    let (mut builder, mut origins) = (Builder::new(), Vec::new());
    let mut values: Vec<Option<ValueId>> = vec![None; module.insts().len()];
    for (value, (name, ty)) in module.inputs().enumerate() {
        values[value] = Some(builder.input(name.clone(), ty.clone()).ok()?);
    }
    let is_constant = |value: ValueId| matches!(module.inst(value).op, Op::Const(_));
    let mut start = module.inputs().len();
    for end in cuts {
        let part: Vec<(ValueId, &Inst)> = module.iter().take(end).skip(start).collect();
        let mut reads: Vec<ValueId> = Vec::new();
        part.iter().for_each(|(_, inst)| reads.extend(inst.operands.iter()));
        reads.retain(|value| value.index() < start);
        reads.sort_unstable();
        reads.dedup();
        let (constants, inputs): (Vec<_>, Vec<_>) = reads.into_iter().partition(|value| is_constant(*value));
        let outputs: Vec<ValueId> = part.iter().map(|(value, _)| *value).collect();
        let outputs: Vec<ValueId> = outputs
            .into_iter()
            .filter(|value| last_uses[value.index()] >= end && !is_constant(*value))
            .collect();
        let named =
            inputs.iter().map(|value| (*value, format!("v{}", value.index()), module.ty(*value).clone()));
        let constants = constants.into_iter().map(|value| (value, module.inst(value)));
        let body = extracted(named, constants.chain(part.iter().copied()), &outputs);
        let mut types = inputs.iter().chain(&outputs).map(|value| module.ty(*value));
        if inputs.is_empty() || outputs.is_empty() || types.any(|ty| ty.rank() + 2 > MAX_RANK) {
            return None;
        }
        let inputs: Vec<ValueId> = inputs.iter().map(|value| values[value.index()]).collect::<Option<_>>()?;
        let made = run_once(&mut builder, body, &inputs).ok()?;
        origins.resize(builder.insts().len(), None);
        for (value, made) in outputs.into_iter().zip(made) {
            values[value.index()] = Some(made);
            origins[made.index()] = Some(value);
        }
        // A constant of a part may be read after it.
        for (value, inst) in part.into_iter().filter(|(value, _)| is_constant(*value)) {
            values[value.index()] = Some(builder.push(inst.op.clone(), &[]).ok()?);
        }
        start = end;
    }
    for (value, inst) in module.iter().skip(start) {
        let operands: Option<Vec<ValueId>> =
            inst.operands.iter().map(|operand| values[operand.index()]).collect();
        values[value.index()] = Some(builder.push(inst.op.clone(), &operands?).ok()?);
        origins.resize(builder.insts().len(), None);
        origins[builder.insts().len() - 1] = Some(value);
    }
    let outputs: Option<Vec<ValueId>> =
        module.outputs().iter().map(|output| values[output.index()]).collect();
    let inputs = module.inputs().len();
    origins
        .iter_mut()
        .enumerate()
        .take(inputs)
        .for_each(|(value, origin)| *origin = Some(ValueId::new(value)));
    Some((builder.finish(outputs?), origins))
}

/// The module with `checkpoint` in its loops, about the square root of the number of steps. This excludes nested loops and
/// those of unknown length. `None` if all others have `checkpoint` already.
fn with_checkpointed_loops(module: &Module) -> Option<Module> {
    /// The fewest steps of such a loop.
    const FEWEST: i64 = 4;

    let mut insts = module.insts().to_vec();
    let mut is_changed = false;
    for inst in &mut insts {
        let Op::Own(Own::Nesting(Nesting::Scan(scan))) = &mut inst.op else { continue };
        let ranks = inst.operands.iter().map(|operand| module.ty(*operand).rank());
        let counted = Scan::counted(&scan.accesses(ranks));
        let steps = counted.and_then(|at| module.ty(*inst.operands.get(at)?).shape[0].as_literal());
        if let Some(steps) = steps.filter(|steps| *steps >= FEWEST && scan.checkpoint == 0) {
            let root = (steps as f64).sqrt().ceil() as i64;
            // A number that does not divide the steps needs padded operands.
            let divides = |kept: &i64| steps % kept == 0;
            scan.checkpoint = (root..2 * root).find(divides).unwrap_or(root);
            is_changed = true;
        }
    }
    is_changed.then(|| Module::from_parts(insts, module.outputs().to_vec()))
}

/// The positions at which the parts of [`in_parts`] end, except for the last.
fn cuts(module: &Module, count: usize) -> Option<Vec<usize>> {
    let (insts, first) = (module.insts(), module.inputs().len());
    if insts.iter().any(|inst| inst.op.has_effect()) {
        return None;
    }
    let last_uses = last_uses(module);
    // For each position: the bytes computed before it; the bytes of these that are read from it on; whether it is
    // between a loop and one of its results.
    let mut computed = vec![0_u64; insts.len() + 1];
    let mut crossing = vec![0_i128; insts.len() + 1];
    let mut splits_results = vec![false; insts.len() + 1];
    for (value, inst) in module.iter().skip(first) {
        let at = value.index();
        let elements = u64::try_from(inst.ty.shape.element_count().ok()?.as_literal()?).ok()?;
        let bytes = elements.checked_mul(inst.ty.dtype.bytes() as u64)?;
        computed[at + 1] = computed[at].checked_add(bytes)?;
        if !matches!(inst.op, Op::Const(_)) && last_uses[at] > at {
            crossing[at + 1] += i128::from(bytes);
            crossing[last_uses[at].min(insts.len() - 1) + 1] -= i128::from(bytes);
        }
        if let Some((of, _)) = module.place_of(value) {
            splits_results[of.index() + 1..=at].fill(true);
        }
    }
    for at in 1..crossing.len() {
        crossing[at] += crossing[at - 1];
    }
    let total = u128::from(computed[insts.len()]);
    let reaches =
        |at: usize, halves: usize| u128::from(computed[at]) * 2 * count as u128 >= total * halves as u128;
    let mut cuts = Vec::new();
    let mut from = first + 1;
    for part in 1..count {
        let near =
            (from..insts.len()).filter(|at| reaches(*at, 2 * part - 1) && !reaches(*at - 1, 2 * part + 1));
        let cut = near.filter(|at| !splits_results[*at]).min_by_key(|at| crossing[*at])?;
        cuts.push(cut);
        from = cut + 1;
    }
    Some(cuts)
}

/// For each value, the position of the last instruction that reads it; the number of instructions for an output.
fn last_uses(module: &Module) -> Vec<usize> {
    let mut last_uses = vec![0; module.insts().len()];
    for (value, inst) in module.iter() {
        inst.operands.iter().for_each(|operand| last_uses[operand.index()] = value.index());
    }
    module.outputs().iter().for_each(|output| last_uses[output.index()] = module.insts().len());
    last_uses
}
