//! The compiler as a library: from tokens to a plan, and each phase on long programs.
//!
//! `cargo bench -p mind-core`

use divan::{Bencher, black_box};
use mind_core::{
    build::Builder,
    canon::canonicalise,
    dim::Dim,
    grad::{Cotangent, GradientOptions, Wrt, differentiate},
    ir::{Module, Op, Reduction, ValueId},
    map::Map,
    ops::Profile,
    pipeline::{self, Compiled},
    reduce::Reduce,
    surface::{self, ast::Program},
    ty::{DType, Shape, Type},
    verify::verify,
};
use proc_macro2::TokenStream;

fn main() {
    divan::main();
}

/// The digits example's training step.
const STEP: &str = include_str!("step.mind");

#[divan::bench]
fn tokens_to_plans_of_a_training_step(bencher: Bencher<'_, '_>) {
    let tokens: TokenStream = STEP.parse().expect("the source is made of tokens");
    bencher.bench_local(|| {
        let (program, errors) = surface::parse(black_box(tokens.clone()));
        assert!(errors.is_empty());
        compile_all(&program)
    });
}

#[divan::bench]
fn syntax_trees_to_plans_of_a_training_step(bencher: Bencher<'_, '_>) {
    let (program, _) = surface::parse(STEP.parse().expect("the source is made of tokens"));
    bencher.bench_local(|| compile_all(black_box(&program)));
}

/// The plans of the three functions. The step inlines the other two.
fn compile_all(program: &Program) -> Vec<Compiled> {
    let (lowered, errors) = surface::lower(program);
    assert!(errors.is_empty());
    let plans: Option<Result<Vec<_>, _>> = lowered.functions.iter().map(pipeline::compile).collect();
    plans.expect("nothing is in error").expect("lowered modules are valid")
}

#[divan::bench(args = [100, 1_000, 10_000])]
fn verify_canonicalise_differentiate(bencher: Bencher<'_, '_>, instructions: usize) {
    phases(bencher, &chain(Dim::literal(32), instructions));
}

#[divan::bench(args = [100, 1_000, 10_000])]
fn verify_canonicalise_differentiate_symbolic(bencher: Bencher<'_, '_>, instructions: usize) {
    phases(bencher, &chain(Dim::symbol("N"), instructions));
}

#[divan::bench(args = [100, 1_000, 10_000])]
fn verify_many_inputs(bencher: Bencher<'_, '_>, inputs: usize) {
    let mut builder = Builder::new();
    let ty = Type::new(DType::F32, Shape::new([Dim::symbol("N"), Dim::literal(3)]));
    let inputs: Vec<ValueId> =
        (0..inputs).map(|n| builder.input(format!("x{n}"), ty.clone()).expect("a valid input")).collect();
    let sum = inputs
        .iter()
        .copied()
        .reduce(|sum, x| builder.push(Op::Map(Map::Add), &[sum, x]).expect("equal types"));
    let module = builder.finish([sum.expect("there are inputs")]);
    bencher.bench_local(|| verify(module.clone(), Profile::Extended).expect("a valid module"));
}

fn phases(bencher: Bencher<'_, '_>, module: &Module) {
    bencher.bench_local(|| {
        let canonical = canonicalise(verify(module.clone(), Profile::Extended).expect("a valid module"));
        let options = GradientOptions {
            wrt: vec![Wrt { input: ValueId::new(0), zero_ok: false }],
            cotangent: Cotangent::One,
            profile: Profile::Extended,
        };
        differentiate(&canonical, &options).expect("every operation has a derivative")
    });
}

/// `instructions` elementwise operations, each reading the last two values, under a sum.
fn chain(rows: Dim, instructions: usize) -> Module {
    let mut builder = Builder::new();
    let ty = Type::new(DType::F32, Shape::new([rows, Dim::literal(64)]));
    let x = builder.input("x", ty).expect("a valid input");
    let (mut before, mut last) = (x, x);
    for position in 0..instructions {
        let op = [Op::Map(Map::Add), Op::Map(Map::Mul), Op::Map(Map::Sub)][position % 3].clone();
        let next = builder.push(op, &[last, before]).expect("shapes agree");
        (before, last) = (last, next);
    }
    let sum = builder
        .push(Op::Reduce(Reduce::Sum, Reduction { axes: vec![0, 1], keepdims: false }), &[last])
        .expect("axes exist");
    builder.finish(vec![sum])
}
