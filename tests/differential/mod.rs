//! Random well-typed programs: compares the results of their plans, run with the kernels, with the naive interpreter
//! within rounding errors, with and without the optimiser.

mod check;
pub mod execute;
mod nan;

use std::{collections::BTreeSet, ops::Range};

use check::{compare, compare_on, gradient, verified};
use mind_core::{
    batch::batch,
    canon::canonicalise,
    checkpoint::variants,
    dim::Dim,
    interp::Elements,
    ir::{Module, ValueId},
    loops::{Execution, LoweredStep, Statement, of_step},
    opt::{optimise, optimise_exactly},
    plan::{Limits, plan, plan_by},
    surface::{lex, lower, lower::Function, parse},
    testing::{
        Bounded, Random, possible_updates, random_inputs, random_module, run_bounded, shrink, special_inputs,
    },
    text::core_ir,
};
use mind_tests::{sample, some};
use nan::has_nan_where_the_interpreter_has;

/// The number of programs. The number of a program is its seed, so a failure identifies the program.
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

/// Batches of short vectors and small matrices, which the optimiser splits into columns. The batch is longer than a block
/// of a nest.
#[test]
fn batches_of_small_programs_compute_what_the_interpreter_does() {
    let extent = 37;
    let split = std::cell::Cell::new(0);
    check_seeds(0..PROGRAMS / 4, &|module| {
        let over: Vec<ValueId> = (0..module.inputs().count()).map(ValueId::new).collect();
        let canonical = canonicalise(verified(module));
        let Ok(batched) = batch(&canonical, &over, &Dim::literal(extent)) else { return Ok(()) };
        let batched = batched.module;
        let first = gradient(&batched);
        for module in [Some(batched), first].into_iter().flatten() {
            let canonical = canonicalise(verified(&module));
            split.set(split.get() + usize::from(*optimise(&canonical) != *optimise_exactly(&canonical)));
            compare(&module, &[])?;
        }
        Ok(())
    });
    assert!(split.get() > 0, "no program has columns");
}

#[test]
fn batches_of_short_vectors_compute_what_the_interpreter_does() {
    let program = include_str!("programs/short_vectors.mind");
    for (name, module) in some("functions", functions(program)) {
        let first = gradient(&module);
        let second = first.as_ref().and_then(gradient);
        for module in [Some(module), first, second].into_iter().flatten() {
            compare(&module, &[]).unwrap_or_else(|why| panic!("{name}: {why}"));
        }
    }
}

/// Tensors that are joined, or placed among zeros, and read element by element. Known extents are those of long tensors.
#[test]
fn sections_compute_what_the_interpreter_does() {
    let program = include_str!("programs/sections.mind");
    let split = std::cell::Cell::new(0);
    for (name, module) in some("functions", functions(program)) {
        let first = gradient(&module);
        let second = first.as_ref().and_then(gradient);
        for module in [Some(module), first, second].into_iter().flatten() {
            let canonical = canonicalise(verified(&module));
            split.set(split.get() + usize::from(*optimise(&canonical) != *optimise_exactly(&canonical)));
            for seed in 1..4 {
                let Some(inputs) = random_inputs(&verified(&module), seed) else { continue };
                compare_on(&module, &[], &inputs).unwrap_or_else(|why| panic!("{name}: {why}"));
            }
        }
    }
    assert!(split.get() > 2, "{} functions have sections", split.get());
}

/// A step before a check does not write parts of results, neither rows nor columns.
#[test]
fn results_are_not_written_before_a_check() {
    let program = "
        fn columns(x: f64[20, 2], t: f64[9, 2]) -> (f64[20, 2], f64[20, 2]) {
            let y = exp(x[.., 0]) * x[.., 1];
            (stack([y, -y], axis = 1), gather(t, i64(y * 9.0)))
        }
        fn rows(x: f64[2, 20], t: f64[9, 2]) -> (f64[2, 20], f64[20, 2]) {
            let y = exp(x[0]) * x[1];
            (stack([y, -y], axis = 0), gather(t, i64(y * 9.0)))
        }
        fn beside(x: f64[2, 20], t: f64[9, 2]) -> (f64[2, 20], f64[20, 2]) {
            let y = exp(x[0]) * x[1];
            (stack([y - 1.0, y], axis = 0), gather(t, i64((y - 1.0) * 9.0)))
        }
    ";
    for (name, module) in some("functions", functions(program)) {
        let inputs = random_inputs(&verified(&module), 7).expect("known shapes");
        assert!(run_bounded(&verified(&module), &inputs).is_err(), "{name} fails");
        compare_on(&module, &[], &inputs).unwrap_or_else(|why| panic!("{name}: {why}"));
    }
}

/// Zeros, infinities, NaN, and very large and small numbers in every input, up to the second derivative.
#[test]
fn special_values_give_what_the_interpreter_gives() {
    check_seeds(0..PROGRAMS / 4, &|module| {
        let first = gradient(module);
        let second = first.as_ref().and_then(gradient);
        for module in [Some(module.clone()), first, second].into_iter().flatten() {
            let Some(inputs) = special_inputs(&verified(&module), 7) else { continue };
            compare_on(&module, &[], &inputs)?;
            has_nan_where_the_interpreter_has(&module, &inputs)?;
        }
        Ok(())
    });
}

/// Products that are large enough for every kernel, including the other crate's. Random programs have small extents.
#[test]
fn large_products_compute_what_the_interpreter_does() {
    let program = "
        fn layer(x: f32[140, 300], w: f32[300, 40], b: f32[40]) -> f32[140, 40] { relu(x @ w + b) }
        fn wide(x: f32[33, 8], w: f32[8, 530]) -> f32[33, 530] { (x @ w) * 0.5 }
        fn batched(x: f64[3, 40, 20], y: f64[3, 20, 44]) -> f64[3, 40, 44] { x @ y - 1.0 }
        fn transposed(x: f64[36, 270], y: f64[33, 36]) -> f64[270, 33] { x.T @ y.T }
    ";
    for (name, module) in some("functions", functions(program)) {
        let gradient = gradient(&module).expect("it has a gradient");
        for module in [module, gradient] {
            compare(&module, &[]).unwrap_or_else(|why| panic!("{name}: {why}"));
        }
    }
}

/// Operations along the rows of a product, a few rows at a time: with sums over rows, rows of one batch and of several,
/// large results, and values that derivatives compute again.
#[test]
fn strips_of_products_compute_what_the_interpreter_does() {
    let program = include_str!("programs/strips.mind");
    for (name, module) in some("functions", functions(program)) {
        let optimised = optimise(&canonicalise(verified(&module)));
        let plan = plan_by(&optimised, &[], &Limits { large: 1, larger: 0, bytes: 12 });
        assert!(plan.steps.iter().any(|step| step.strips().is_some()), "{name} has strips");
        let first = gradient(&module);
        let second = first.as_ref().and_then(gradient);
        for module in [Some(module), first, second].into_iter().flatten() {
            compare(&module, &[]).unwrap_or_else(|why| panic!("{name}: {why}"));
        }
    }
}

/// Columns that are masked in all rows of a strip are left out, unless the other factor is infinite, because 0 times
/// infinity is NaN.
#[test]
fn what_rows_do_not_see_changes_nothing() {
    let program = include_str!("programs/what_rows_do_not_see_changes_nothing.mind");
    for (name, module) in some("functions", functions(program)) {
        let optimised = optimise(&canonicalise(verified(&module)));
        let plan = plan_by(&optimised, &[], &Limits { large: 1, larger: 0, bytes: 12 });
        let mut strips = plan.steps.iter().filter_map(|step| step.strips());
        assert!(strips.any(|strips| strips.seen.is_some()), "{name} leaves columns out");
        let first = gradient(&module);
        let second = first.as_ref().and_then(gradient);
        second.iter().for_each(|second| compare(second, &[]).unwrap_or_else(|why| panic!("{name}: {why}")));
        for module in [Some(module), first].into_iter().flatten() {
            compare(&module, &[]).unwrap_or_else(|why| panic!("{name}: {why}"));
            for input in 0..module.inputs().count() {
                let mut inputs = random_inputs(&verified(&module), 7).expect("known shapes");
                match &mut inputs[input].elements {
                    Elements::F32(elements) => *elements.last_mut().expect("an element") = f32::INFINITY,
                    Elements::F64(elements) => *elements.last_mut().expect("an element") = f64::INFINITY,
                    _ => continue,
                }
                let compared = compare_on(&module, &[], &inputs)
                    .and_then(|()| has_nan_where_the_interpreter_has(&module, &inputs));
                compared.unwrap_or_else(|why| panic!("{name}, infinity at the end of input {input}: {why}"));
            }
        }
    }
}

/// Masked columns are kept if their values are used in another way.
#[test]
fn what_counts_without_being_seen_is_kept() {
    let program = include_str!("programs/what_counts_without_being_seen_is_kept.mind");
    for (name, module) in some("functions", functions(program)) {
        let optimised = optimise(&canonicalise(verified(&module)));
        let plan = plan_by(&optimised, &[], &Limits { large: 1, larger: 0, bytes: 12 });
        let strips: Vec<_> = plan.steps.iter().filter_map(|step| step.strips()).collect();
        assert!(!strips.is_empty(), "{name} has strips");
        assert!(strips.iter().all(|strips| strips.seen.is_none()), "{name} has all columns");
        compare(&module, &[]).unwrap_or_else(|why| panic!("{name}: {why}"));
    }
}

/// One value is used as several results, as the new value of a parameter, and in a check.
#[test]
fn values_in_several_places_are_in_each() {
    let program = include_str!("programs/values_in_several_places_are_in_each.mind");
    for (name, module) in some("functions", functions(program)) {
        for updates in [Vec::new(), possible_updates(&module)] {
            compare(&module, &updates).unwrap_or_else(|why| panic!("{name}: {why}"));
        }
    }
}

/// Cheap values are computed again where they are read, unless their operands are broadcast, transposed or of another
/// shape.
#[test]
fn what_is_computed_again_is_the_same() {
    let program = include_str!("programs/what_is_computed_again_is_the_same.mind");
    for (name, module) in some("functions", functions(program)) {
        compare(&module, &[]).unwrap_or_else(|why| panic!("{name}: {why}"));
    }
}

/// A program of which parts are computed again for the gradient, so that a bound on memory is met.
#[test]
fn programs_in_parts_compute_what_whole_programs_do() {
    let parts = std::cell::Cell::new(0);
    check_seeds(0..PROGRAMS / 4, &|module| parts_agree(module).map(|count| parts.set(parts.get() + count)));
    assert!(parts.get() > 0, "no program has parts");
    // The place with the fewest bytes is between a loop and its further results, where no part may end.
    let program = "
        fn several_results(x: f64[300]) -> f64 {
            let y = sin(x) * exp(x);
            let (s, c, _t) = fold (s, c, t) = (sum(y), cos(y), tan(y)) for _i in 0..3 { (s + sum(c * t), c * t, t + c) };
            s + sum(c * x)
        }
    ";
    for (name, module) in functions(program) {
        let count = parts_agree(&module).unwrap_or_else(|why| panic!("{name}: {why}"));
        assert!(count > 0, "{name} has parts");
    }
}

/// Compares a module and its gradient with the same in parts. Returns the number of ways to split it.
fn parts_agree(module: &Module) -> Result<usize, String> {
    let module = canonicalise(verified(module));
    let values = |module: &Module| {
        let module = verified(module);
        Some(run_bounded(&module, &random_inputs(&module, 7)?))
    };
    let whole = [values(&module), gradient(&module).and_then(|module| values(&module))];
    let mut count = 0;
    for (variant, _) in variants(&module).take(4) {
        count += 1;
        let first = gradient(&variant);
        let found = [values(&variant), first.as_ref().and_then(values)];
        for (whole, found) in whole.iter().zip(found) {
            match (whole, found) {
                (Some(Ok(whole)), Some(Ok(found))) => {
                    whole.iter().zip(found).try_for_each(|(whole, found)| whole.check(&found.value))?;
                }
                (Some(Err(_)), Some(Err(_))) | (None, None) => {}
                (whole, found) => return Err(format!("{whole:?} and {found:?}")),
            }
        }
        compare(&variant, &[])?;
        first.map_or(Ok(()), |gradient| compare(&gradient, &[]))?;
    }
    Ok(count)
}

/// Folds of short rows of which a matrix gives the elements: rows from one element to three chains, tiles that are full
/// and not.
#[test]
fn rows_across_lanes_compute_what_the_interpreter_does() {
    let program = include_str!("programs/rows_across_lanes.mind");
    let sizes =
        [(1, 1), (1, 8), (2, 16), (3, 24), (4, 31), (5, 33), (16, 32), (17, 7), (33, 64), (40, 3), (9, 65)];
    let mut modules = Vec::new();
    for (rows, len) in sizes {
        let extents = format!("{len}]");
        let known = program.replace("K", &rows.to_string()).replace("2 * D", &(2 * len).to_string());
        let known = known.replace("D]", &extents).replace("[D,", &format!("[{len},"));
        for (name, module) in functions(&known) {
            modules.push((format!("{name} of {rows} rows of {len}"), module));
        }
    }
    let has_tile = |module: &Module| variables(module).iter().any(|name| name.ends_with("tile"));
    assert_eq!(modules.iter().filter(|(_, module)| has_tile(module)).count(), 40, "functions with tiles");
    for (name, module) in some("functions of known sizes", modules) {
        let first = gradient(&module);
        for module in [Some(module), first].into_iter().flatten() {
            compare(&module, &[]).unwrap_or_else(|why| panic!("{name}: {why}"));
        }
    }
}

/// Programs for all kinds of loops: long rows and many rows, few and short rows, sums along each axis. Random programs
/// have small extents.
#[test]
fn every_kind_of_loop_computes_what_the_interpreter_does() {
    let program = include_str!("programs/every_kind_of_loop.mind");
    let mut kinds = BTreeSet::new();
    let mut modules = Vec::new();
    for (name, module) in functions(program) {
        for module in [Some(module.clone()), gradient(&module)].into_iter().flatten() {
            kinds.extend(kinds_of_statements(&module));
            modules.push((name.clone(), module));
        }
    }
    for (name, module) in some("functions and gradients", modules) {
        compare(&module, &[]).unwrap_or_else(|why| panic!("{name}: {why}"));
    }
    let expected = [
        "Array",
        "Assign",
        "Blocks",
        "Borrow",
        "Chains",
        "Chunk",
        "Chunks",
        "Columns",
        "Combine",
        "CombineChains",
        "CombineChains in lanes",
        "Copy",
        "CopyInto",
        "Cut",
        "Divide",
        "Draw",
        "Draws",
        "Elements",
        "Fill",
        "FoldRows",
        "For",
        "If",
        "Mask",
        "Nonzero",
        "Number",
        "OneByOne",
        "Padded",
        "ProductRow",
        "PutBack",
        "Registers",
        "Size",
        "Store",
        "SumColumns",
        "TakeOut",
    ];
    assert_eq!(kinds.iter().map(|kind| &**kind).collect::<Vec<_>>(), expected);
}

/// The names of the variables of the loops of a module.
fn variables(module: &Module) -> Vec<String> {
    let plan = plan(&optimise(&canonicalise(verified(module))), &[]);
    let lowered = plan.steps.iter().filter_map(|step| of_step(&plan, step));
    let names = lowered.filter_map(|step| {
        Some(step.loops()?.variables.iter().map(|variable| variable.what.clone()).collect::<Vec<_>>())
    });
    names.flatten().collect()
}

/// The kinds of statements in the loops of a program.
fn kinds_of_statements(module: &Module) -> Vec<String> {
    let plan = plan(&optimise(&canonicalise(verified(module))), &[]);
    let mut kinds = Vec::new();
    for step in &plan.steps {
        let of = of_step(&plan, step);
        let Some(loops) = of.as_ref().and_then(LoweredStep::loops) else { continue };
        kinds.extend(matches!(loops.run, Execution::Cut(_)).then(|| "Cut".to_owned()));
        let mut rest: Vec<&Statement> = loops.body.iter().collect();
        while let Some(statement) = rest.pop() {
            let word = |text: String| text.split(|c: char| !c.is_alphanumeric()).next().map(str::to_owned);
            kinds.extend(match statement {
                Statement::Do(head, body) => {
                    rest.extend(body);
                    word(format!("{head:?}"))
                }
                Statement::CombineChains { lanes: true, .. } => Some("CombineChains in lanes".to_owned()),
                simple => word(format!("{simple:?}")),
            });
        }
    }
    kinds
}

/// The functions of a program in the surface language.
fn functions(program: &str) -> impl Iterator<Item = (String, Module)> {
    let (lowered, diags) = lower(&parse(lex(program).0).0);
    assert!(diags.is_empty() && !lowered.functions.is_empty(), "{diags:?}");
    let function = |function: Function| {
        (function.name.to_string(), function.program.expect("it has no mistakes").module)
    };
    lowered.functions.into_iter().map(function)
}

/// Runs a check on every program. A failing program is shrunk as long as it still fails.
fn check_all(check: &dyn Fn(&Module) -> Result<(), String>) {
    check_seeds(0..PROGRAMS, check);
}

fn check_seeds(seeds: Range<u64>, check: &dyn Fn(&Module) -> Result<(), String>) {
    for seed in sample("random programs", seeds) {
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

#[test]
fn random_programs_differ() {
    let mut random = Random::new(1);
    let seeds = [random.bits() % PROGRAMS, random.bits() % PROGRAMS];
    let [a, b] = seeds.map(|seed| core_ir::print(&random_module(seed, 10)));
    assert_ne!(a, b);
}

/// Error bounds are useful only if they are narrow.
#[test]
fn nearly_every_result_is_known_to_four_digits() {
    // Each result counts as one, so that no large result dominates.
    let (mut results, mut known) = (0, 0.0);
    for seed in 0..PROGRAMS / 2 {
        let module = verified(&random_module(seed, 4 + (seed % 12) as usize));
        let Some(inputs) = random_inputs(&module, 7) else { continue };
        for Bounded { value, bounds } in run_bounded(&module, &inputs).into_iter().flatten() {
            let near = |(element, bound): &(f64, &f64)| **bound <= 1e-4 * element.abs().max(1.0);
            let near = value.elements.to_f64().into_iter().zip(&bounds).filter(near).count();
            results += 1;
            known += near as f64 / bounds.len() as f64;
        }
    }
    assert!(known > f64::from(results) * 0.9, "{known} of {results}");
}
