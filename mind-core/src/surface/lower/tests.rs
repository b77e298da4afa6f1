//! What programs lower to, and what is said of those that make no sense.

use std::fmt::Write;

use super::{Function, lower};
use crate::diag::Diags;
use crate::surface::{golden, parse};

fn report(diags: &Diags) -> String {
    let lines = diags.as_slice().iter().map(|diag| format!("{}: {diag}\n", diag.site)).collect::<String>();
    // Only line and column: the name counts the strings parsed before.
    let parts = lines.split("<parsed string ").enumerate();
    parts.map(|(i, part)| part.split_once(">:").filter(|_| i > 0).map_or(part, |(_, rest)| rest)).collect()
}

/// Every function with its instructions, then every mistake.
fn lowered(source: &str) -> String {
    let (program, parse_diags) = parse(source.parse().unwrap());
    let (lowered, diags) = lower(&program);
    let mut text = String::new();
    for function in &lowered.functions {
        print(function, &mut text);
    }
    text + &report(&parse_diags) + &report(&diags)
}

fn print(function: &Function, text: &mut String) {
    let Some(source) = &function.program else { return };
    assert_eq!(source.sites.len(), source.module.insts().len());
    writeln!(text, "{} -> {}, updates {:?}", function.name, function.result, function.updates).unwrap();
    for (id, inst) in source.module.iter() {
        let attributes = (inst.op.info().attributes)(&inst.op);
        let attributes: Vec<_> = attributes.iter().map(|(name, value)| format!(" {name}={value:?}")).collect();
        let operands: Vec<_> = inst.operands.iter().map(ToString::to_string).collect();
        let (name, operands, ty) = (inst.op.info().name, operands.join(", "), &inst.ty);
        let attributes = attributes.concat().replace("Literal(", "(").replace("Dim(", "(");
        writeln!(text, "  {id} = {name}({operands}){attributes}: {ty}").unwrap();
    }
    let outputs: Vec<_> = source.module.outputs().iter().map(ToString::to_string).collect();
    writeln!(text, "  => {}", outputs.join(", ")).unwrap();
}

/// Only the mistakes.
fn wrong(source: &str) -> String {
    let (program, parse_diags) = parse(source.parse().unwrap());
    assert!(parse_diags.is_empty(), "{}", report(&parse_diags));
    report(&lower(&program).1)
}

#[test]
fn programs_lower_to_core_ir() {
    golden::check("lower/programs.txt", lowered);
}

#[test]
fn every_mistake_is_named_where_it_stands() {
    golden::check("lower/errors.txt", wrong);
}
