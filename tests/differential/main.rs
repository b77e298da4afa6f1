//! Random well-typed programs: what the plan computes through the kernels against the naive interpreter.

mod execute;

use std::collections::BTreeMap;

use execute::execute;
use mind_core::{
    canon::canonicalise,
    dim::{Bindings, Dim},
    grad::{Cotangent, GradientOptions, Wrt, differentiate},
    interp::{self, Elements, Value},
    ir::{Module, Op, ValueId},
    ops::Profile,
    opt::optimise,
    plan::{Plan, Update, plan},
    testing::{Random, random_inputs, random_module, shrink},
    text::core_ir,
    ty::DType,
    verify::{Verified, verify},
};

/// Programs a run; each is a seed, so a failure names the program.
const PROGRAMS: u64 = 2_000;

#[test]
fn plans_compute_what_the_interpreter_does() {
    check_all(&|module| compare(module, &[]));
}

#[test]
fn updates_in_place_leave_what_the_interpreter_does() {
    check_all(&|module| {
        let updates = possible_updates(module);
        if updates.is_empty() { Ok(()) } else { compare(module, &updates) }
    });
}

#[test]
fn plans_of_gradients_compute_what_the_interpreter_does() {
    check_all(&|module| match gradient(module) {
        Some(gradient) => compare(&gradient, &[]),
        None => Ok(()),
    });
}

/// Runs a check on every program; a failing one is made as small as it still fails.
fn check_all(check: &dyn Fn(&Module) -> Result<(), String>) {
    for seed in 0..PROGRAMS {
        let mut module = random_module(seed, 4 + (seed % 12) as usize);
        let Err(mut why) = check(&module) else { continue };
        while let Some((smaller, reason)) =
            shrink(&module).into_iter().find_map(|m| Some((m.clone(), check(&m).err()?)))
        {
            (module, why) = (smaller, reason);
        }
        panic!("seed {seed}: {why}\n{}", core_ir::print(&module));
    }
}

fn verified(module: &Module) -> Verified {
    verify(module.clone(), Profile::Extended)
        .unwrap_or_else(|errors| panic!("{errors:?}\n{}", core_ir::print(module)))
}

/// Runs interpreter and plan on the same inputs; the difference, if there is one.
fn compare(module: &Module, updates: &[Update]) -> Result<(), String> {
    let verified = verified(module);
    let Some(inputs) = random_inputs(&verified, 7) else { return Ok(()) };
    // What is not needed does not run, so it does not fail either.
    let canonical = canonicalise(verified);
    let expected = interp::run(&canonical, &inputs);
    let plan = plan(&optimise(&canonical), updates);
    let outcome = execute(&plan, &inputs, &bindings(module, &inputs));
    match (expected, outcome) {
        (Ok(expected), Ok(outcome)) => {
            let mut results = outcome.results.iter();
            for (output, expected) in expected.iter().enumerate() {
                let found = match updates.iter().find(|update| update.output == output) {
                    Some(update) => &outcome.inputs[update.input],
                    None => results.next().expect("as many results as outputs that are not updates"),
                };
                agree(found, expected).map_err(|why| format!("output {output}: {why}"))?;
            }
            unchanged(&plan, &inputs, &outcome.inputs)
        }
        (Err(expected), Err(found)) if found.code() == expected.code.to_string() => Ok(()),
        (expected, found) => Err(format!(
            "the interpreter gives {:?}, the plan {:?}",
            expected.map(|_| "results"),
            found.map(|_| "results")
        )),
    }
}

fn unchanged(plan: &Plan, before: &[Value], after: &[Value]) -> Result<(), String> {
    let mut inputs = plan.inputs.iter().zip(before.iter().zip(after));
    match inputs.find(|(input, (before, after))| !input.updated && before != after) {
        Some((input, _)) => Err(format!("input {} has changed", input.name)),
        None => Ok(()),
    }
}

fn agree(found: &Value, expected: &Value) -> Result<(), String> {
    if found.shape != expected.shape {
        return Err(format!("shape {:?}, expected {:?}", found.shape, expected.shape));
    }
    let tolerance = match expected.elements {
        Elements::F32(_) => 1e-4,
        Elements::F64(_) => 1e-11,
        Elements::I32(_) | Elements::I64(_) => 0.0,
    };
    let (found, expected) = (found.elements.to_f64(), expected.elements.to_f64());
    let largest = expected.iter().filter(|v| v.is_finite()).fold(1.0, |largest: f64, v| largest.max(v.abs()));
    for (position, (found, expected)) in found.iter().zip(&expected).enumerate() {
        let equal = found == expected || (found.is_nan() && expected.is_nan());
        // Overflow to infinity and cancellation to NaN depend on the order of a sum.
        let extreme = !expected.is_finite() || !found.is_finite() || largest > 1e30;
        if !equal && !extreme && (found - expected).abs() > tolerance * largest {
            return Err(format!("element {position} is {found}, expected {expected}"));
        }
    }
    Ok(())
}

fn bindings(module: &Module, inputs: &[Value]) -> Bindings {
    let mut bindings = BTreeMap::new();
    for ((_, ty), value) in module.inputs().zip(inputs) {
        for (dim, extent) in ty.shape.iter().zip(&value.shape) {
            if let Some(symbol) = dim.as_symbol() {
                bindings.insert(symbol.clone(), Dim::literal(*extent as i64));
            }
        }
    }
    bindings
}

/// Each input is updated by the last output of its type that no other input has.
fn possible_updates(module: &Module) -> Vec<Update> {
    let mut updates: Vec<Update> = Vec::new();
    for (input, (_, ty)) in module.inputs().enumerate() {
        let fits = |output: &usize| {
            module.ty(module.outputs()[*output]) == ty
                && !updates.iter().any(|update| update.output == *output)
        };
        if let Some(output) = (0..module.outputs().len()).rev().find(fits) {
            updates.push(Update { output, input });
        }
    }
    updates
}

/// The gradient of the sum of the first float output by every float input.
fn gradient(module: &Module) -> Option<Module> {
    let (insts, outputs) = module.clone().into_parts();
    let output = outputs.into_iter().find(|output| insts[output.index()].ty.dtype.is_float())?;
    let module = Module::from_parts(insts, vec![output]);
    let canonical = canonicalise(verify(module.clone(), Profile::Extended).ok()?);
    let inputs = module.iter().take_while(|(_, inst)| matches!(inst.op, Op::Input { .. }));
    let wrt: Vec<Wrt> = inputs
        .filter(|(_, inst)| matches!(inst.ty.dtype, DType::F32 | DType::F64))
        .map(|(input, _): (ValueId, _)| Wrt { input, zero_ok: true })
        .collect();
    let options =
        GradientOptions { wrt, cotangent: Cotangent::Input, profile: Profile::Extended, verify: true };
    let gradient = differentiate(&canonical, &options);
    Some(
        gradient
            .unwrap_or_else(|error| panic!("{error}\n{}", core_ir::print(&module)))
            .module
            .into_verified()
            .into_module(),
    )
}

#[test]
fn random_programs_differ() {
    let mut random = Random::new(1);
    let seeds = [random.bits() % PROGRAMS, random.bits() % PROGRAMS];
    let [a, b] = seeds.map(|seed| core_ir::print(&random_module(seed, 10)));
    assert_ne!(a, b);
}
