//! A module always has the same gradient, bit for bit: twice in one process, in another process, in any build.

use std::process::Command;

use mind_core::{
    canon::Canonical,
    dim::Dim,
    grad::differentiate,
    ir::{Op, Product, Reduction},
    map::Map,
    ops::{self, Profile},
    reduce::Reduce,
    text::core_ir,
    ty::{DType, Shape, Type},
};

use super::support::{PROFILES, build, every_float, push, single};

/// Set when this program runs as the second process.
const PRINT: &str = "MIND_PRINT_GRADIENTS";

#[test]
fn a_module_differentiated_twice_gives_identical_text() {
    assert_eq!(every_gradient(), every_gradient());
}

#[test]
fn another_process_gives_identical_text() {
    let text = every_gradient();
    if std::env::var_os(PRINT).is_some() {
        println!("{text}");
        return;
    }
    let program = std::env::current_exe().expect("this program");
    let name = "gradient_checks::determinism::another_process_gives_identical_text";
    let other = Command::new(program).args([name, "--exact", "--nocapture"]).env(PRINT, "1").output();
    let printed = String::from_utf8(other.expect("this program runs").stdout).expect("text");
    assert!(printed.contains(&text), "the other process printed other gradients");
}

/// The gradients of every case of the table and of a network, in both profiles, as text.
fn every_gradient() -> String {
    let cases = ops::TABLE.iter().flat_map(|row| row.cases(DType::F32));
    let modules = cases.map(|case| single(&case.op, &case.operands)).chain([network()]);
    modules
        .flat_map(|module| PROFILES.map(|profile| gradient_text(&module, profile)))
        .collect::<Vec<_>>()
        .join("\n")
}

fn gradient_text(module: &Canonical, profile: Profile) -> String {
    match differentiate(module, &every_float(module, profile)) {
        Ok(gradient) => format!("{}{:?}", core_ir::print(&gradient.module), gradient.gradients),
        Err(error) => error.to_string(),
    }
}

/// Two dense layers with a symbolic batch and a cross-entropy.
pub fn network() -> Canonical {
    let n = Dim::symbol("N");
    let f32s = |dims: &[Dim]| Type::new(DType::F32, Shape::from_slice(dims));
    let types = [
        f32s(&[n.clone(), 8.into()]),
        f32s(&[n.clone(), 3.into()]),
        f32s(&[8.into(), 5.into()]),
        f32s(&[5.into()]),
        f32s(&[5.into(), 3.into()]),
        f32s(&[3.into()]),
    ];
    let last = |keepdims| Reduction { axes: vec![1], keepdims };
    build(&types, |b, inputs| {
        let [x, y, w1, b1, w2, b2] = *inputs else { panic!("six inputs") };
        let h = push(b, Op::Product(Product::MatMul), &[x, w1]);
        let h = push(b, Op::Map(Map::Add), &[h, b1]);
        let h = push(b, Op::Map(Map::Relu), &[h]);
        let z = push(b, Op::Product(Product::MatMul), &[h, w2]);
        let z = push(b, Op::Map(Map::Add), &[z, b2]);
        let power = push(b, Op::Map(Map::Exp), &[z]);
        let total = push(b, Op::Reduce(Reduce::Sum, last(true)), &[power]);
        let log = push(b, Op::Map(Map::Log), &[total]);
        let log = push(b, Op::Map(Map::Sub), &[z, log]);
        let chosen = push(b, Op::Map(Map::Mul), &[y, log]);
        let chosen = push(b, Op::Reduce(Reduce::Sum, last(false)), &[chosen]);
        let mean = push(b, Op::Reduce(Reduce::Mean, Reduction { axes: vec![0], keepdims: false }), &[chosen]);
        vec![push(b, Op::Map(Map::Neg), &[mean])]
    })
}
