//! The costs of steps.

use mind_core::{
    pipeline::compile,
    plan::{Cost, Step},
    surface::{lex, lower, parse},
};

#[test]
fn a_product_costs_its_multiplications_and_what_it_finishes() {
    let costs = costs("fn f<N>(x: f32[N, 8], w: f32[8, 4], b: f32[4]) -> f32[N, 4] { relu(x @ w + b) }");
    // 8 multiplications and additions, the bias and the comparison for each of 4 N elements.
    assert_eq!(costs, [cost("72 * N", 0, "48 * N + 144")]);
}

#[test]
fn a_nest_costs_its_operations_and_reads_each_operand_once() {
    let costs = costs("fn f(x: f64[6, 5], y: f64[5]) -> f64[6, 5] { exp(x * y) + x }");
    assert_eq!(costs, [cost("60", 30, "520")]);
}

#[test]
fn a_convolution_costs_a_filter_for_each_pixel() {
    let costs = costs("fn f(x: f32[2, 5, 5, 3], k: f32[3, 3, 3, 4]) -> f32[2, 3, 3, 4] { conv2d(x, k) }");
    assert_eq!(costs, [cost("3888", 0, "1320")]);
}

/// The costs of the steps of a program's first function, except scalar steps.
fn costs(text: &str) -> Vec<(String, i64, String)> {
    let (program, _) = parse(lex(text).0);
    let (lowered, diags) = lower(&program);
    assert!(diags.is_empty(), "{diags:?}");
    let compiled = compile(&lowered.functions[0]).expect("it has a program").expect("it verifies");
    let plan = &compiled.plan;
    let steps = plan.steps.iter().filter(|step| !matches!(step, Step::Scalar(_) | Step::Load { .. }));
    steps.map(|step| shown(step.cost(plan).expect("small numbers"))).collect()
}

fn shown(Cost { flops, functions, bytes }: Cost) -> (String, i64, String) {
    (flops.to_string(), functions.as_literal().expect("known extents"), bytes.to_string())
}

fn cost(flops: &str, functions: i64, bytes: &str) -> (String, i64, String) {
    (flops.to_owned(), functions, bytes.to_owned())
}
