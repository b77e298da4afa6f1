use super::*;

fn mistakes(text: &str) -> Vec<String> {
    rust_of(text).unwrap_err().iter().map(|diag| diag.message.clone()).collect()
}

#[test]
fn a_block_is_rust_at_its_place() {
    let text =
        "//! Über Netze.\nfn f(x: &T) -> T {\n    // ä mind!< no >\n    mind!< relu(x @ w) > // and\n}\n";
    let copy = rust_of(text).unwrap();
    let expected =
        "//  Über Netze.\nfn f(x: &T) -> T {\n    // ä mind!< no >\n    mind!( relu(x @ w) ) // and\n}\n";
    assert_eq!(copy, expected);
    assert_eq!(copy.len(), text.len());
}

#[test]
fn a_block_of_items_gets_braces_and_one_before_a_semicolon_does_not() {
    assert_eq!(
        rust_of("mind!< fn f<N>(x: f32[N]) -> f32 { sum(x) } >").unwrap(),
        "mind!{ fn f<N>(x: f32[N]) -> f32 { sum(x) } }"
    );
    assert_eq!(rust_of("mind!< fn f() { 1 } >;").unwrap(), "mind!( fn f() { 1 } );");
}

#[test]
fn documentation_of_the_file_becomes_comments_and_that_of_modules_stays() {
    let text = "/* licence */\n//! One.\n/*! Two. */\nmod a { //! Three.\n}\n";
    assert_eq!(rust_of(text).unwrap(), "/* licence */\n//  One.\n/*  Two. */\nmod a { //! Three.\n}\n");
}

#[test]
fn what_a_copy_cannot_hold_is_refused() {
    assert_eq!(mistakes("mod layers;"), ["found `mod layers;`, expected a module with its content"]);
    assert_eq!(
        mistakes("//! Doc.\n#![allow(dead_code)]\nfn f() {}"),
        ["found an attribute `#![…]`, which an included file cannot have"]
    );
    assert_eq!(mistakes("fn f() { mind!< x }"), ["found the end, expected `>` for this `mind!<`"]);
    assert_eq!(mistakes("fn f() { ( }"), ["this is not valid Rust: a bracket, quote or character is wrong"]);
}
