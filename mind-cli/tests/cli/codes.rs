//! Tests that the command reports every error code that the table of codes assigns to it.

use std::collections::BTreeSet;

use mind_core::diag::{Arises, Code};

use crate::support::Folder;

/// A program, the command to run on it, and the expected code.
const CASES: &[(&str, &str, Code)] = &[
    ("fn f(a: i32) -> i32 { a + a }", "run f.mind --input a=0.5", Code::E1005),
    ("fn f<N>(x: f32[N]) -> f32 { sum(x) }", "run f.mind --input x=1", Code::E2001),
    ("fn f(x: f32) -> f32 { exp(x) }", "grad f.mind --wrt y", Code::E2002),
    ("fn f<N>(x: f32[N]) -> f32 { sum(x) }", "convert f.mind --to stablehlo", Code::E2003),
    ("fn f(x: f32) -> f32 { exp(x) }", "run f.mind", Code::E2007),
    ("fn f(x: f32) -> f32 { exp(x) }", "grad f.mind --wrt x,x", Code::E2008),
    ("fn f<N>(x: f32[N]) -> f32 { sum(x) }", "stats f.mind --dim N=-1", Code::E3006),
    (
        "fn f(x: f32[1, 2, 2, 1], w: f32[1, 1, 1, 1]) -> f32 { sum(conv2d(x, w)) }",
        "grad f.mind --wrt w --profile core-v1",
        Code::E5001,
    ),
    ("fn f(x: f32[2]) -> f32[2] { exp(x) }", "grad f.mind --wrt x", Code::E5004),
    ("fn f(x: f32, i: i64) -> f32 { exp(x) }", "grad f.mind --wrt i", Code::E5005),
    ("fn f(i: i64) -> f32 { gather([0.5, 1.5], i) }", "run f.mind --input i=2", Code::E6001),
    ("fn f(x: f32) -> f32 { exp(x) }", "run f.mind --input x=1 --on xla --plugin f.mind", Code::E6002),
    ("fn f(a: i64, b: i64) -> i64 { a / b }", "run f.mind --input a=1 --input b=0", Code::E6010),
];

/// The codes that other tests cover, since they need a special file.
const ELSEWHERE: [Code; 4] = [Code::E1001, Code::E1008, Code::E6004, Code::E6009];

#[test]
fn every_code_of_the_command_is_given() {
    for (program, command, code) in CASES {
        let folder = Folder::new().with("f.mind", program);
        let said = folder.mind(command).mistakes();
        assert!(said.starts_with(&format!("mind: error[{code}]: ")), "{command}: {said}");
    }
    let shown: BTreeSet<Code> = CASES.iter().map(|(_, _, code)| *code).chain(ELSEWHERE).collect();
    let listed = Code::ALL.iter().filter(|code| code.info().arises.contains(&Arises::Command));
    assert_eq!(shown, listed.copied().collect());
}
