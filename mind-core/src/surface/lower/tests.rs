//! What programs lower to, and what is said of those that make no sense.

use std::fmt::Write;

use super::{Function, lower};
use crate::diag::Diags;
use crate::surface::{golden, parse};
use crate::text::core_ir;

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
    text.push_str(&core_ir::print(&source.module));
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

#[test]
fn transforms_inline_gradients() {
    golden::check("lower/gradients.txt", lowered);
}
