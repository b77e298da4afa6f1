//! `mind stats`: the cost of a program.

use std::collections::BTreeMap;

use mind_core::{
    canon::canonicalise_mapped,
    dim::{Bindings, Dim, DimResult, Overflow, Symbol},
    interp::check_requirements,
    ir::{Const, Module, Op},
    loops,
    ops::Profile,
    opt::optimise,
    plan::{Listing, Peak, Plan, Step, listing, peak, plan},
    stats,
    surface::lower::EinsumOrder,
    ty::Type,
    verify::requirements,
};

use super::check::summary;
use crate::{
    args::StatsArguments,
    dims,
    input::Program,
    numbers::{counted, grouped},
    output,
    plan::Names,
    prediction::{machine::Machine, table, time, work},
    report::{Failure, Mistake, Outcome, Spot},
    style::Style,
};

/// Runs the command.
pub fn run(arguments: &StatsArguments, style: &Style) -> Outcome {
    let (module, context) = Program::read(&arguments.input)?.verified(Profile::Extended)?;
    let bindings: Bindings = dims::parse_extents(&module, &context, &arguments.dims)?
        .into_iter()
        .map(|(symbol, extent)| (symbol, Dim::literal(extent)))
        .collect();
    let missing: Vec<_> =
        dims::symbols(&module).into_iter().filter(|symbol| !bindings.contains_key(&**symbol)).collect();
    if missing.is_empty() {
        check_requirements(&requirements(&module), &bindings).map_err(|error| {
            Failure::mistake(Mistake::new(error.code, error.message).at(&context.source, Spot::default()))
        })?;
    }
    let summary = summary(&module);
    let kinds = kinds(&module);
    let (canonical, map) = canonicalise_mapped(module);
    let optimised = optimise(&canonical);
    let names = Names::new(&context, &map, &optimised);
    let plan = plan(&optimised, &context.updates);
    let times = predicted(arguments, &plan, &missing, &bindings)?;
    let show = |dim: DimResult| match dim.and_then(|dim| dim.substitute(&bindings)) {
        Ok(dim) => dim.as_literal().map_or_else(|| dim.to_string(), grouped),
        Err(Overflow::Range) => "more than 2^63".to_owned(),
        Err(overflow @ Overflow::Large { .. }) => overflow.to_string(),
    };
    let types = |types: &[Type]| -> (DimResult, DimResult) {
        let elements = |ty: &Type| ty.shape.element_count();
        let bytes = |ty: &Type| elements(ty)?.mul(&Dim::literal(ty.dtype.bytes() as i64));
        (total(types.iter().map(elements)), total(types.iter().map(bytes)))
    };
    let mut text = format!("{}: {summary}\n", style.strong(&context.title()));
    let mut line = |name: &str, value: String| text.push_str(&format!("  {name:<15} {value}\n"));
    let inputs: Vec<Type> = canonical.inputs().map(|(_, ty)| ty.clone()).collect();
    let outputs: Vec<Type> = canonical.outputs().iter().map(|output| canonical.ty(*output).clone()).collect();
    let (elements, bytes) = types(&inputs);
    line("parameters", format!("{} bytes, {}", show(bytes), several(&show(elements), "element")));
    let (elements, bytes) = types(&outputs);
    line("results", format!("{} bytes, {}", show(bytes), several(&show(elements), "element")));
    let constants = canonical.insts().iter().map(|inst| {
        let Op::Const(Const::Tensor { data, .. }) = &inst.op else { return Ok(Dim::ZERO) };
        Ok(Dim::literal((data.stored() * data.dtype().bytes()) as i64))
    });
    line("constants", format!("{} bytes", show(total(constants))));
    line("arithmetic", several(&show(stats::flops(&canonical)), "operation"));
    let of = |bytes: u64| grouped(i64::try_from(bytes).unwrap_or(i64::MAX));
    match peak(&plan, &bindings) {
        Some(Peak { bytes, live, .. }) => {
            line("peak memory", format!("{} bytes besides parameters and results", of(bytes)));
            if live > 0 {
                let above = (bytes as f64 / live as f64 - 1.0) * 100.0;
                let live = of(live);
                line("liveness", format!("{live} bytes live at the same time, peak {above:.1} % above"));
            }
        }
        None => {
            let has_loops = plan.steps.iter().any(|step| matches!(step, Step::Loop(_)));
            let of_loops = if has_loops { ", temporaries of loops" } else { "" };
            let bytes = show(arena_bytes(&plan));
            line("peak memory", format!("{bytes} bytes besides parameters{of_loops} and results"));
        }
    }
    let most = kinds.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    text.push_str("\noperations\n");
    for (name, count) in kinds {
        text.push_str(&format!("  {name:<most$}  {count}\n"));
    }
    if !context.einsums.is_empty() {
        text.push_str("\neinsum\n");
    }
    for EinsumOrder { equation, order, multiplications } in &context.einsums {
        let count = several(&show(multiplications.clone()), "multiplication");
        text.push_str(&format!("  {equation}  as {order}, {count}\n"));
    }
    if arguments.plan || arguments.loops {
        text.push_str(&format!("\nplan: {}\n", counted(plan.steps.len(), "step")));
        let value_name = |value| names.of(value);
        let shown = Listing { plan: &plan, value_name: &value_name, bindings: &bindings };
        text.push_str(&listing(&shown));
        text.push_str(&times);
        if arguments.loops {
            text.push_str("\nloops:\n");
            text.push_str(&loops::listing(&shown));
        }
    }
    output::print(&text)
}

/// The predicted times of the steps, if they are wanted.
fn predicted(
    arguments: &StatsArguments,
    plan: &Plan,
    missing: &[Symbol],
    bindings: &Bindings,
) -> Outcome<String> {
    if arguments.threads.is_empty() {
        return Ok(String::new());
    }
    if !missing.is_empty() {
        let dims: Vec<_> = missing.iter().map(|symbol| format!("--dim {symbol}=32")).collect();
        return Err(Failure::with_help(
            format!("--threads needs all extents, and {} has none", missing.join(", ")),
            format!("add {}", dims.join(" ")),
        ));
    }
    let Some(file) = &arguments.machine else {
        return Err(Failure::with_help(
            "--threads needs the limits of a machine",
            "measure them by `mind bench --save machine.txt`, and add --machine machine.txt",
        ));
    };
    let machine = Machine::read(file)?;
    let steps = work::of_plan(plan, bindings);
    let prediction = |threads: &u16| {
        let threads = usize::from(*threads);
        (threads, time::predict(&steps, &machine, threads))
    };
    let predictions: Vec<_> = arguments.threads.iter().map(prediction).collect();
    Ok(table::table(plan, &machine, &predictions))
}

/// A number or formula, with the noun that it counts.
fn several(number: &str, what: &str) -> String {
    if number == "1" { format!("1 {what}") } else { format!("{number} {what}s") }
}

/// The number of occurrences of each operation in the program, most frequent first.
fn kinds(module: &Module) -> Vec<(&'static str, usize)> {
    let mut counts: BTreeMap<&'static str, usize> = BTreeMap::new();
    for inst in module.insts().iter().filter(|inst| !inst.operands.is_empty()) {
        *counts.entry(inst.op.info().name).or_insert(0) += 1;
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|(name, count)| (std::cmp::Reverse(*count), *name));
    counts
}

fn total(mut dims: impl Iterator<Item = DimResult>) -> DimResult {
    dims.try_fold(Dim::ZERO, |sum, dim| sum.add(&dim?))
}

/// The number of bytes of the arenas.
fn arena_bytes(plan: &Plan) -> DimResult {
    total(plan.arenas.iter().map(|arena| arena.len.mul(&Dim::literal(arena.dtype.bytes() as i64))))
}
