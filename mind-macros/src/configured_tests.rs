//! Tests of `#[cfg(…)]` in a block.

use mind_core::diag::Code;
use proc_macro2::TokenStream;

use crate::configured::{MAX_CONDITIONS, configurations};

/// The combinations as `predicate => block`, one per line.
fn shown(written: &str) -> String {
    let configurations = configurations(&written.parse().unwrap()).map_err(|diag| diag.message).unwrap();
    configurations
        .iter()
        .map(|configuration| {
            format!("{} => {}\n", plain(&configuration.predicate), plain(&configuration.block))
        })
        .collect()
}

/// The text of the tokens without blanks, since these depend on who prints the tokens.
fn plain(tokens: &TokenStream) -> String {
    tokens.to_string().split_whitespace().collect()
}

#[test]
fn what_has_no_conditions_is_left_alone() {
    assert_eq!(shown("/// A layer.\n#[must_use] fn f(x: f32) -> f32 { x }"), "");
    // An expression is not a block, so its attributes are left alone.
    assert_eq!(shown("{ #[cfg(a)] let h = x; h }"), "");
}

#[test]
fn two_functions_of_one_name_are_never_there_together() {
    let written = "#[cfg(a)] fn u() { 1.0 } #[cfg(not(a))] fn u() { 2.0 } fn v() { u() }";
    let expected = "all(a) => fnu(){1.0}fnv(){u()}\nall(not(a)) => fnu(){2.0}fnv(){u()}\n";
    assert_eq!(shown(written), expected);
}

#[test]
fn conditions_are_independent() {
    let written = "#[cfg(a)] const N: dim = 1; #[cfg(b)] use l::{x, y}; fn f() { 1.0 }";
    let expected = "all(a,b) => constN:dim=1;usel::{x,y};fnf(){1.0}\nall(not(a),b) => usel::{x,y};fnf(){1.0}\n\
         all(a,not(b)) => constN:dim=1;fnf(){1.0}\nall(not(a),not(b)) => fnf(){1.0}\n";
    assert_eq!(shown(written), expected);
}

#[test]
fn fields_parameters_and_statements_go_too() {
    let written = "struct S<I, O> { w: f32[I, O], #[cfg(a)] /// A pair.\n pub d: Dense<I, O>, e: f32 }\n\
         fn f(s: S, #[cfg(a)] x: f32[2]) { #[cfg(a)] let s = S { e: 1, #[cfg(a)] d: g(x, 1) }; s }";
    let all = "structS<I,O>{w:f32[I,O],#[doc=\"Apair.\"]pubd:Dense<I,O>,e:f32}\
         fnf(s:S,x:f32[2]){lets=S{e:1,d:g(x,1)};s}";
    let none = "structS<I,O>{w:f32[I,O],e:f32}fnf(s:S,){s}";
    let shown = shown(written).replace("=r\"", "=\"");
    assert_eq!(shown, format!("all(a) => {all}\nall(not(a)) => {none}\n"));
}

#[test]
fn documentation_goes_with_what_it_is_of() {
    let written = "/// Old.\n#[cfg(a)] #[inline] pub(crate) fn f() { 1.0 } /// New.\n fn g() { 1.0 }";
    let configurations = configurations(&written.parse().unwrap()).ok().unwrap();
    assert!(
        plain(&configurations[0].block).contains("Old") && plain(&configurations[0].block).contains("inline")
    );
    assert!(
        !plain(&configurations[1].block).contains("Old")
            && !plain(&configurations[1].block).contains("inline")
    );
    assert!(plain(&configurations[1].block).contains("New"));
}

#[test]
fn a_negation_is_no_condition_of_its_own() {
    assert_eq!(shown("#[cfg(not(not(a)))] fn f() { 1.0 } #[cfg(a)] fn g() { 1.0 }").lines().count(), 2);
}

#[test]
fn what_stands_in_other_attributes_is_no_condition() {
    assert_eq!(shown("#[tool(#[cfg(a)] x)] fn f() { 1.0 }"), "");
    assert_eq!(shown("#[cfg_attr(a, inline)] fn f() { 1.0 }"), "");
}

#[test]
fn conditions_are_limited() {
    let block = |count: usize| -> TokenStream {
        (0..count).map(|n| format!("#[cfg(a{n})] fn f{n}() {{ 1.0 }}\n")).collect::<String>().parse().unwrap()
    };
    assert_eq!(configurations(&block(MAX_CONDITIONS)).ok().unwrap().len(), 1 << MAX_CONDITIONS);
    let diag = configurations(&block(MAX_CONDITIONS + 1)).err().unwrap();
    assert_eq!(diag.code, Code::E1008);
}

#[test]
fn what_nests_too_deep_is_not_followed() {
    let deep = format!("#[cfg(a)] fn f() {{ {}1.0{} }}", "(".repeat(2000), ")".repeat(2000));
    assert!(configurations(&deep.parse().unwrap()).ok().unwrap().is_empty());
}
