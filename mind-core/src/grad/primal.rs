//! The primal in a gradient module: checks whether it can be differentiated, and copies it.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use crate::{
    build::{Builder, free_names},
    grad::{
        AutodiffError, Cotangent, GradientOptions, Wrt,
        activity::Activity,
        push,
        scan::{self, Loops},
    },
    ir::{Inst, Module, Op, ValueId},
    map::Map,
    ops::results_of_pullback,
};

/// A copy of a primal, and the cotangents that the derivative starts from.
pub(super) struct Copy {
    /// Holds the copy and the seeds, and nothing else.
    pub(super) builder: Builder,
    /// The copy of each primal value.
    pub(super) values: Vec<ValueId>,
    /// The cotangent of each output.
    pub(super) seeds: Vec<ValueId>,
    /// For each loop with a derivative, the loops of the derivative.
    pub(super) loops: BTreeMap<ValueId, Loops>,
}

/// Copies a primal into a new builder. Requested cotangents are further inputs.
///
/// In Core v1 an extension is an error, E5001. The exception is a [`StopGradient`](crate::map::Map::StopGradient) that
/// no derivative with respect to any input would reach: its operand replaces it. Where one would reach it, nothing in
/// Core v1 stops the derivative of the gradient there.
pub(super) fn copy(
    primal: &Module,
    options: &GradientOptions,
    activity: &Activity<'_>,
) -> Result<Copy, AutodiffError> {
    let mut builder = Builder::new();
    let mut values = Vec::with_capacity(primal.insts().len());
    let fault = |error| AutodiffError::Verification(format!("{error}"));
    for (name, ty) in primal.inputs() {
        values.push(builder.input(name.clone(), ty.clone()).map_err(fault)?);
    }
    let mut seeds = Vec::new();
    match options.cotangent {
        Cotangent::One | Cotangent::First => {}
        Cotangent::Input => {
            let names = names_for(primal, "cotangent");
            for (output, name) in primal.outputs().iter().zip(names) {
                seeds.push(builder.input(name, primal.ty(*output).clone()).map_err(fault)?);
            }
        }
    }
    let inputs = 0..primal.inputs().count();
    let by_any = Activity::new(primal, inputs.map(ValueId::new));
    let mut loops = BTreeMap::new();
    let results_read = loop_results_read(primal, options.cotangent);
    for (value, inst) in primal.iter().skip(values.len()) {
        let operands = inst.operands.map(|operand| values[operand.index()]);
        let allowed = inst.op.info().profile <= options.profile;
        let derived = inst.op.as_loop().filter(|_| allowed).map(|scan| {
            let types: Vec<_> = inst.operands.iter().map(|operand| primal.ty(*operand)).collect();
            let wanted: Vec<_> = inst.operands.iter().map(|operand| activity.is_active(*operand)).collect();
            scan::loops(scan, &types, &wanted, &results_read[&value])
        });
        let derived = derived.transpose()?.flatten();
        values.push(if let Some(derived) = derived {
            let forward = derived.forward.clone().into();
            loops.insert(value, derived);
            push(&mut builder, forward, &operands)?
        } else if allowed {
            push(&mut builder, inst.op.clone(), &operands)?
        } else if inst.op == Op::Map(Map::StopGradient) && !by_any.is_active(inst.operands[0]) {
            operands[0]
        } else {
            return Err(activity.unsupported(value));
        });
    }
    match options.cotangent {
        Cotangent::One | Cotangent::First => {
            seeds.extend(
                primal.outputs().iter().take(1).map(|output| builder.constant(primal.ty(*output).dtype, 1.0)),
            );
        }
        Cotangent::Input => {}
    }
    Ok(Copy { builder, values, seeds, loops })
}

/// For each loop, whether an output with a cotangent depends on each of its results.
fn loop_results_read(primal: &Module, cotangent: Cotangent) -> BTreeMap<ValueId, Vec<bool>> {
    let count = match cotangent {
        Cotangent::One | Cotangent::First => 1,
        Cotangent::Input => primal.outputs().len(),
    };
    let mut is_read = vec![false; primal.insts().len()];
    primal.outputs().iter().take(count).for_each(|output| is_read[output.index()] = true);
    let mut of_loops: BTreeMap<ValueId, Vec<bool>> = BTreeMap::new();
    for (value, inst) in primal.iter().rev() {
        let loop_of =
            primal.place_of(value).and_then(|(of, result)| Some((of, primal.inst(of).op.as_loop()?, result)));
        if let Some((of, scan, result)) = loop_of {
            let outputs = scan.body.outputs();
            let results = of_loops.entry(of).or_insert_with(|| vec![false; outputs.len()]);
            results[result] = is_read[value.index()];
            // All results of a loop come after it.
            if of != value || !results.contains(&true) {
                continue;
            }
            // Each step reads the carries of the step before.
            let is_needed = |(at, is_read): &(usize, &bool)| **is_read || *at < scan.carry_count();
            let needed = results.iter().enumerate().filter(is_needed).map(|(at, _)| outputs[at]);
            let needed = scan.body.needed_by(needed);
            for (at, operand) in inst.operands.iter().enumerate() {
                // A loop of which no step runs returns its carries.
                is_read[operand.index()] |= needed[at] || at < scan.carry_count();
            }
        } else if is_read[value.index()] {
            // A pullback takes the place of the derivatives of the results that it is for.
            let results =
                inst.op.as_pullback().map(|module| results_of_pullback(module, inst.operands.len()));
            let read = inst.operands.iter().skip(results.unwrap_or(0));
            read.for_each(|operand| is_read[operand.index()] = true);
        }
    }
    of_loops
}

/// Returns E5004 if the derivative cannot start at the outputs.
pub(super) fn check_outputs(primal: &Module, cotangent: Cotangent) -> Result<(), AutodiffError> {
    let fault = |problem: String| Err(AutodiffError::UnsupportedShape(problem));
    let count = if cotangent == Cotangent::First { 1 } else { primal.outputs().len() };
    let types = || primal.outputs().iter().take(count).map(|output| primal.ty(*output));
    if let Some(ty) = types().find(|ty| !ty.dtype.is_float()) {
        return fault(format!("the output is {ty}, needed f32 or f64: only floats have a derivative"));
    }
    match cotangent {
        Cotangent::Input => Ok(()),
        Cotangent::One if count > 1 => {
            let types: Vec<_> = types().map(ToString::to_string).collect();
            fault(format!(
                "there are {} outputs, {}; needed one output, or one cotangent per output",
                types.len(),
                types.join(", ")
            ))
        }
        Cotangent::One | Cotangent::First => match types().find(|ty| ty.rank() > 0) {
            Some(ty) => fault(format!("the output is {ty}, needed a single {}, or a cotangent", ty.dtype)),
            None => Ok(()),
        },
    }
}

/// Returns E5005 if a parameter cannot have a gradient, whatever the module computes.
pub(super) fn check_parameters(primal: &Module, wrt: &[Wrt]) -> Result<(), AutodiffError> {
    let inputs: Vec<_> = primal.inputs().collect();
    for Wrt { input, .. } in wrt {
        let Some((name, ty)) = inputs.get(input.index()) else {
            let problem = format!("{input} is not an input");
            return Err(AutodiffError::NotDifferentiable { input: *input, problem });
        };
        if !ty.dtype.is_float() {
            let mut problem = format!("`{name}` is {ty}, needed f32 or f64");
            if let Some(uses) = only_as_indices(primal, *input) {
                problem.push_str(uses);
            }
            return Err(AutodiffError::NotDifferentiable { input: *input, problem });
        }
    }
    Ok(())
}

/// The end of the message on an integer parameter that is used for indexing alone; `None` for other parameters.
fn only_as_indices(primal: &Module, input: ValueId) -> Option<&'static str> {
    let mut uses = primal.insts().iter().filter(|inst| inst.operands.contains(&input)).peekable();
    uses.peek()?;
    let is_index = |inst: &Inst| {
        let Op::Rows(rows) = &inst.op else { return false };
        let mut operands = inst.operands.iter().enumerate();
        operands.all(|(position, operand)| *operand != input || position == rows.indices())
    };
    uses.all(is_index).then_some("; it reaches the output only as gather indices")
}

/// Names that no input has: for `tangent` these are `tangent`, `tangent1`, ….
pub(super) fn names_for(primal: &Module, name: &str) -> impl Iterator<Item = Arc<str>> + use<> {
    let taken: BTreeSet<Arc<str>> = primal.inputs().map(|(name, _)| name.clone()).collect();
    free_names(name, move |name| taken.contains(name)).map(Arc::from)
}
