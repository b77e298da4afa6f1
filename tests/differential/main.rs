//! Random well-typed programs: what the plan computes through the kernels against the naive interpreter, as far as
//! rounding allows, with the optimiser and without.

mod execute;

use std::collections::BTreeMap;

use execute::{Outcome, execute};
use mind_core::{
    canon::canonicalise,
    dim::{Bindings, Dim},
    grad::{Cotangent, GradientOptions, Wrt, differentiate},
    interp::Value,
    ir::{Module, Op, ValueId},
    ops::Profile,
    opt::{Optimised, optimise, unoptimised},
    plan::{Plan, Update, plan},
    testing::{Bounded, Random, possible_updates, random_inputs, random_module, run_bounded, shrink},
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

/// Runs the interpreter, and the plans of the program optimised and as it is, on the same inputs; the difference, if
/// there is one.
fn compare(module: &Module, updates: &[Update]) -> Result<(), String> {
    let verified = verified(module);
    let Some(inputs) = random_inputs(&verified, 7) else { return Ok(()) };
    // What is not needed does not run, so it does not fail either.
    let canonical = canonicalise(verified);
    let expected = run_bounded(&canonical, &inputs);
    let forms: [(&str, &dyn Fn() -> Optimised); 2] =
        [("optimised", &|| optimise(&canonical)), ("as it is", &|| unoptimised(&canonical))];
    for (form, program) in forms {
        let plan = plan(&program(), updates);
        let outcome = execute(&plan, &inputs, &bindings(module, &inputs));
        let agree = match (&expected, outcome) {
            (Ok(expected), Ok(outcome)) => agree(&plan, updates, expected, &inputs, &outcome),
            (Err(expected), Err(found)) if found.code() == expected.code.to_string() => Ok(()),
            (expected, found) => Err(format!(
                "the interpreter gives {:?}, the plan {:?}",
                expected.as_ref().map(|_| "results"),
                found.map(|_| "results")
            )),
        };
        agree.map_err(|why| format!("{form}: {why}"))?;
    }
    Ok(())
}

/// Results and updated inputs are what the interpreter gives, and other inputs what they were.
fn agree(
    plan: &Plan,
    updates: &[Update],
    expected: &[Bounded],
    inputs: &[Value],
    outcome: &Outcome,
) -> Result<(), String> {
    let mut results = outcome.results.iter();
    for (output, expected) in expected.iter().enumerate() {
        let found = match updates.iter().find(|update| update.output == output) {
            Some(update) => &outcome.inputs[update.input],
            None => results.next().expect("as many results as outputs that are not updates"),
        };
        expected.check(found).map_err(|why| format!("output {output}: {why}"))?;
    }
    unchanged(plan, inputs, &outcome.inputs)
}

fn unchanged(plan: &Plan, before: &[Value], after: &[Value]) -> Result<(), String> {
    let mut inputs = plan.inputs.iter().zip(before.iter().zip(after));
    match inputs.find(|(input, (before, after))| !input.updated && before != after) {
        Some((input, _)) => Err(format!("input {} has changed", input.name)),
        None => Ok(()),
    }
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

/// Bounds on errors judge results only as long as they are narrow.
#[test]
fn nearly_every_result_is_known_to_four_digits() {
    let (mut elements, mut known) = (0, 0);
    for seed in 0..PROGRAMS / 4 {
        let module = verified(&random_module(seed, 4 + (seed % 12) as usize));
        let Some(inputs) = random_inputs(&module, 7) else { continue };
        for Bounded { value, bounds } in run_bounded(&module, &inputs).into_iter().flatten() {
            let near = |(element, bound): &(f64, &f64)| **bound <= 1e-4 * element.abs().max(1.0);
            elements += bounds.len();
            known += value.elements.to_f64().into_iter().zip(&bounds).filter(near).count();
        }
    }
    assert!(known * 10 > elements * 9, "{known} of {elements}");
}
