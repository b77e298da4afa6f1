//! Modules that cannot be written as StableHLO, with the reasons.

use mind_core::{
    diag::Code,
    ir::Module,
    stablehlo::{Error, Options, print},
    text::{Limits, mic},
};

use super::{canonical, functions};

fn module(program: &str) -> Module {
    functions(program)[0].program.clone().expect("it is right").module
}

fn refused(module: Module, extents: &[(&str, i64)]) -> Error {
    let extents = extents.iter().map(|(symbol, extent)| ((*symbol).into(), *extent)).collect();
    let options = Options { extents, ..Options::default() };
    print(&canonical(module), &options).expect_err("it is refused")
}

const PRODUCT: &str = "fn f<N, M, K>(x: f32[N, K], w: f32[K, M]) -> f32[N, M] { x @ w }";

#[test]
fn every_symbol_without_an_extent_is_named() {
    let error = refused(module(PRODUCT), &[("K", 3)]);
    assert_eq!(error.to_string(), "no extent is given for `M`, `N`");
    assert_eq!(error.code(), Code::E2003);
}

#[test]
fn every_symbol_that_is_not_there_is_named() {
    let error = refused(module(PRODUCT), &[("K", 3), ("k", 3), ("L", 1)]);
    assert_eq!(error.to_string(), "the program has no symbol `L`, `k`");
    assert_eq!(error.code(), Code::E2002);
}

#[test]
fn extents_keep_what_the_module_needs() {
    let error = refused(module(PRODUCT), &[("N", 3), ("M", 0), ("K", 1)]);
    assert_eq!((error.to_string().as_str(), error.code()), ("`M` is 0, needed at least 1", Code::E3006));
    let error = refused(module("fn f<N>(x: f32[N]) -> f32[N - 2] { x[2..] }"), &[("N", 2)]);
    assert_eq!((error.to_string().as_str(), error.code()), ("N - 2 is 0, needed at least 1", Code::E3006));
    let error = refused(module("fn f<N>(x: f32[N]) -> f32 { x[4] }"), &[("N", 2)]);
    assert_eq!(error.code(), Code::E6009, "{error}");
}

#[test]
fn elements_are_counted_before_anything_is_written() {
    let error = refused(module(PRODUCT), &[("N", i64::MAX), ("M", 2), ("K", 1)]);
    assert_eq!(error.code(), Code::E6004, "{error}");
    let error =
        refused(module("fn f<N>(y: f32[N], x: f32[2 * N]) -> f32 { sum(x) + sum(y) }"), &[("N", i64::MAX)]);
    assert!(matches!(error.code(), Code::E6004 | Code::E6009), "{error}");
}

#[test]
fn every_function_of_rust_is_named() {
    let text = "mic@1\nS0 \"x\"\nS1 \"my::two\"\nS2 \"my::one\"\nT0 [f32;2]\nN1 input S0 T0\n\
                N2 extern N1 S1 [2] T0\nN3 extern N2 S2 [2] T0\nN4 extern N3 S1 [2] T0\nO N4\n";
    every_one_is_named(text);
    let in_a_loop = "mic@1\nS0 \"x\"\nS1 \"my::two\"\nS2 \"my::one\"\nT0 [f32;2]\nT1 [f32;3,2]\nN1 input S0 T1\n\
                     N2 scan N1 ca=0 rv=0 cp=0 rs=0 T1\n  N1 input S0 T0\n  N2 extern N1 S2 [2] T0\n  O N2\n\
                     N3 scan N2 ca=0 rv=0 cp=0 rs=0 T1\n  N1 input S0 T0\n  N2 extern N1 S1 [2] T0\n  O N2\nO N3\n";
    every_one_is_named(in_a_loop);
}

fn every_one_is_named(text: &str) {
    let module = mic::parse(text, &Limits::default()).expect("it is right");
    let error = refused(module, &[]);
    assert_eq!(error.to_string(), "Rust functions cannot be lowered to StableHLO: `my::one`, `my::two`");
    assert_eq!(error.code(), Code::E6010);
}
