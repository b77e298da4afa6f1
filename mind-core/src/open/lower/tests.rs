//! Tests the programs that expressions lower to, and the mistakes that do not depend on types.

use super::lower;
use crate::diag::Diags;
use crate::surface::{golden, parse_expression};

fn report(diags: &Diags) -> String {
    let lines = diags.as_slice().iter().map(|diag| format!("{}: {diag}\n", diag.site)).collect::<String>();
    // Keeps line and column only, since the name counts the strings parsed before.
    let parts = lines.split("<parsed string ").enumerate();
    parts.map(|(i, part)| part.split_once(">:").filter(|_| i > 0).map_or(part, |(_, rest)| rest)).collect()
}

/// The program, then every mistake.
fn lowered(source: &str) -> String {
    let (expression, diags) = parse_expression(source.parse().unwrap());
    assert!(diags.is_empty(), "{source}\n{}", report(&diags));
    let (program, diags) = lower(&expression.unwrap());
    assert_eq!(program.is_none(), !diags.is_empty(), "{source}");
    program.map_or_else(String::new, |program| program.to_string()) + &report(&diags)
}

#[test]
fn expressions_lower_to_open_programs() {
    golden::check("../open/programs.txt", lowered);
}

#[test]
fn every_mistake_is_named_where_it_stands() {
    golden::check("../open/errors.txt", lowered);
}

#[test]
fn long_chains_are_lowered_in_time_linear_in_their_length() {
    for source in [
        "x + ".repeat(5_000) + "x",
        "x".to_owned() + &".relu()".repeat(5_000),
        "x * y - ".repeat(5_000) + "x",
    ] {
        let (expression, _) = parse_expression(source.parse().unwrap());
        let (program, diags) = lower(&expression.unwrap());
        assert!(diags.is_empty());
        assert!(program.unwrap().nodes.len() >= 5_000);
    }
}

#[test]
fn gradients_of_gradients_are_refused_beyond_the_limit() {
    let source = "grad(sum(".repeat(40) + "exp(x * x)" + &"), wrt = x)".repeat(40);
    let found = lowered(&source);
    assert!(found.contains("[E1008] the expression exceeds the limit of 65536 operations"), "{found}");
}
