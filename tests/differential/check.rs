//! Compares a program's plans, run with the kernels, with the naive interpreter.

use std::collections::BTreeMap;

use mind_core::{
    canon::canonicalise,
    dim::{Bindings, Dim},
    grad::{AutodiffError, Cotangent, GradientOptions, Wrt, differentiate},
    interp::Array,
    ir::{Module, Op, ValueId},
    ops::Profile,
    opt::{Optimised, optimise, optimise_by, unoptimised},
    plan::{Limits, Plan, Update, plan_by},
    testing::{Bounded, random_inputs, run_bounded, same},
    text::core_ir,
    ty::DType,
    verify::{Verified, verify},
};

use super::execute::{Failure, Nests, Outcome, execute};

pub fn verified(module: &Module) -> Verified {
    verify(module.clone(), Profile::Extended)
        .unwrap_or_else(|errors| panic!("{errors:?}\n{}", core_ir::print(module)))
}

/// Runs the interpreter, and the plans of the optimised and of the unoptimised program, with their nests as defined and
/// as lowered loops, on the same inputs. Returns the first difference.
pub fn compare(module: &Module, updates: &[Update]) -> Result<(), String> {
    match random_inputs(&verified(module), 7) {
        Some(inputs) => compare_on(module, updates, &inputs),
        None => Ok(()),
    }
}

/// Like [`compare`], with the given inputs.
pub fn compare_on(module: &Module, updates: &[Update], inputs: &[Array]) -> Result<(), String> {
    let verified = verified(module);
    // Operations without effect on the results do not run, so they do not fail either.
    let canonical = canonicalise(verified);
    let expected = run_bounded(&canonical, inputs);
    let forms: [(&str, &dyn Fn() -> Optimised, Limits); 5] = [
        ("optimised", &|| optimise(&canonical), Limits::default()),
        ("by section", &|| optimise_by(&canonical, 1), Limits::default()),
        ("as it is", &|| unoptimised(&canonical), Limits::default()),
        ("by short strips", &|| optimise(&canonical), Limits { large: 1, larger: 0, bytes: 12 }),
        ("by strips", &|| optimise(&canonical), Limits { large: 1, larger: 0, bytes: 64 }),
    ];
    for (form, program, limits) in forms {
        let plan = plan_by(&program(), updates, &limits);
        if form == "by section" && *program() == *optimise(&canonical) {
            continue;
        }
        if limits != Limits::default() && !plan.steps.iter().any(|step| step.strips().is_some()) {
            continue;
        }
        for nests in [Nests::Defined, Nests::Lowered] {
            let outcome = execute(&plan, inputs, &bindings(module, inputs), nests);
            let agree = match (&expected, outcome) {
                (Ok(expected), Ok(outcome)) => agree(&plan, updates, expected, inputs, &outcome),
                (Err(expected), Err(found)) if found.error.code() == expected.code.to_string() => {
                    untouched(inputs, &found)
                }
                (expected, found) => Err(format!(
                    "the interpreter gives {:?}, the plan {:?}",
                    expected.as_ref().map(|_| "results"),
                    found.map(|_| "results").map_err(|failure| failure.error)
                )),
            };
            agree.map_err(|why| format!("{form}, nests {nests:?}: {why}"))?;
        }
    }
    Ok(())
}

/// Checks that results and updated inputs equal the interpreter's, and that other inputs are unchanged.
fn agree(
    plan: &Plan,
    updates: &[Update],
    expected: &[Bounded],
    inputs: &[Array],
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

/// Checks that a failed run leaves everything unchanged that its caller sees.
fn untouched(inputs: &[Array], failure: &Failure) -> Result<(), String> {
    if failure.has_written {
        return Err(format!("a result was written before {}", failure.error));
    }
    match inputs.iter().zip(&failure.inputs).position(|(before, after)| !same(before, after)) {
        Some(input) => Err(format!("input {input} was written before {}", failure.error)),
        None => Ok(()),
    }
}

fn unchanged(plan: &Plan, before: &[Array], after: &[Array]) -> Result<(), String> {
    let mut inputs = plan.inputs.iter().zip(before.iter().zip(after));
    match inputs.find(|(input, (before, after))| !input.updated && !same(before, after)) {
        Some((input, _)) => Err(format!("input {} has changed", input.name)),
        None => Ok(()),
    }
}

pub fn bindings(module: &Module, inputs: &[Array]) -> Bindings {
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
pub fn gradient(module: &Module) -> Option<Module> {
    let (insts, outputs) = module.clone().into_parts();
    let output = outputs.into_iter().find(|output| insts[output.index()].ty.dtype.is_float())?;
    let module = Module::from_parts(insts, vec![output]);
    let canonical = canonicalise(verify(module.clone(), Profile::Extended).ok()?);
    let inputs = module.iter().take_while(|(_, inst)| matches!(inst.op, Op::Input { .. }));
    let wrt: Vec<Wrt> = inputs
        .filter(|(_, inst)| matches!(inst.ty.dtype, DType::F32 | DType::F64))
        .map(|(input, _): (ValueId, _)| Wrt { input, zero_ok: true })
        .collect();
    let options = GradientOptions { wrt, cotangent: Cotangent::Input, profile: Profile::Extended };
    match differentiate(&canonical, &options) {
        Ok(gradient) => Some(gradient.module.into_verified().into_module()),
        // Derivatives of factorizations are text of the library.
        Err(AutodiffError::UnsupportedOp { op: "Cholesky" | "Lu" | "Qr" | "Eigh" | "Svd", .. }) => None,
        Err(error) => panic!("{error}\n{}", core_ir::print(&module)),
    }
}
