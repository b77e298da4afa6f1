//! Rust functions that programs declare: the valid bindings, and their form in the IR.

use mind_core::diag::Site;
use mind_knossos::{Binding, Program, Role, check_bound, interp, print, verify};

fn bindings(list: &[(Role, &str)]) -> Vec<Binding> {
    let binding =
        |(role, name): &(Role, &str)| Binding { role: *role, name: (*name).into(), site: Site::Nowhere };
    list.iter().map(binding).collect()
}

/// The errors of a program with bindings, one per line.
fn mistakes(text: &str, list: &[(Role, &str)]) -> Vec<String> {
    let diags = check_bound(text, &bindings(list)).expect_err("there is a mistake");
    diags.into_iter().map(|diag| format!("[{}] {}", diag.code, diag.message)).collect()
}

fn bound(text: &str, list: &[(Role, &str)]) -> Program {
    let program = check_bound(text, &bindings(list)).expect("the program has no mistake");
    assert_eq!(verify(&program), Ok(()), "{}", print(&program));
    program
}

#[test]
fn what_cannot_be_bound_is_told() {
    use Role::{Function, Fwd, Grad, Rev};
    assert_eq!(mistakes("(edef f Float Float)", &[(Function, "g")]), ["[E2002] undefined function `g`"]);
    assert_eq!(
        mistakes("(edef f (LM Float Float) Float)", &[(Function, "f")]),
        ["[E2001] `f` uses the type (LM Float Float), which Rust functions cannot use"]
    );
    assert_eq!(
        mistakes("(edef f Float Float)", &[(Function, "f"), (Function, "f")]),
        ["[E2008] `f` is already bound"]
    );
    assert_eq!(
        mistakes("(edef f Float Float)", &[(Rev, "f"), (Grad, "f")]),
        ["[E2008] `[rev f]` is already defined: only functions that `edef` declares can be bound"]
    );
    assert_eq!(
        mistakes(
            "(def f Float (x : Float) x) (def [fwd f] Float ((x : Float) (d : Float)) d)",
            &[(Fwd, "f")]
        ),
        ["[E2008] `[fwd f]` is already defined: only functions that `edef` declares can be bound"]
    );
    assert_eq!(
        mistakes("(edef f (Vec Float) Float)", &[(Grad, "f")]),
        ["[E5004] `f` returns (Tensor 1 Float), but only a function that returns Float has a gradient"]
    );
}

#[test]
fn a_derivative_that_is_asked_for_and_not_given_is_an_error() {
    for asks in ["(gdef rev f)", "(def g Float (x : Float) ([rev f] x 1.0))"] {
        let text = format!("(edef f Float Float) {asks}");
        assert_eq!(
            mistakes(&text, &[(Role::Function, "f")]),
            ["[E5001] `f` is a Rust function, and [rev f] is not defined"]
        );
        bound(&text, &[(Role::Function, "f"), (Role::Rev, "f")]);
        bound(&text, &[(Role::Function, "f"), (Role::Grad, "f")]);
    }
    assert_eq!(
        mistakes("(edef f Float Float) (gdef fwd f)", &[(Role::Function, "f")]),
        ["[E5001] `f` is a Rust function, and [fwd f] is not defined"]
    );
    bound("(edef f Float Float) (gdef fwd f)", &[(Role::Function, "f"), (Role::Rev, "f")]);
    assert_eq!(
        mistakes("(edef f (Vec Float) Float) (gdef fwd f)", &[(Role::Function, "f"), (Role::Rev, "f")]),
        ["[E5001] `f` is a Rust function, and [fwd f] is not defined"]
    );
}

#[test]
fn derivatives_are_written_in_the_ir_whatever_has_a_tangent() {
    let text = "(edef f (Tuple Float Integer) ((Vec Float) (Vec Integer) Bool (Tuple Integer Float))) \
        (edef g Float ()) (edef h Float Integer) \
        (gdef rev f) (gdef fwd f) (gdef rev g) (gdef rev h) (gdef shape f)";
    let names = ["f", "g", "h"];
    let roles = [Role::Function, Role::Rev, Role::Fwd];
    let list: Vec<_> = names.iter().flat_map(|name| roles.map(|role| (role, *name))).collect();
    let program = bound(text, &list);
    let listing = print(&program);
    assert_eq!(listing.matches(", a Rust function").count(), 9, "{listing}");
}

#[test]
fn every_overload_is_bound_or_the_one_that_is_named() {
    let text = "(edef f Float Float) (edef f Float Integer) (def g Float (x : Float) (f x))";
    let count = |list: &[(Role, &str)]| print(&bound(text, list)).matches(", a Rust function").count();
    assert_eq!(count(&[(Role::Function, "f")]), 2);
    assert_eq!(count(&[(Role::Function, "f_integer")]), 1);
}

#[test]
fn a_binding_of_a_declared_function_wins_over_the_prelude() {
    let text =
        "(edef dot Float ((Vec Float) (Vec Float))) (def f Float (v : Vec Float) (dot v v)) (gdef rev f)";
    let count = |list: &[(Role, &str)]| print(&bound(text, list)).matches(", a Rust function").count();
    assert_eq!(count(&[]), 0);
    assert_eq!(count(&[(Role::Function, "dot"), (Role::Rev, "dot")]), 2);
    assert_eq!(
        mistakes(text, &[(Role::Function, "dot")]),
        ["[E5001] `dot` is a Rust function, and [rev dot] is not defined"]
    );
}

#[test]
fn the_interpreter_has_no_functions_of_rust() {
    let program = bound("(edef f Float Float) (def main Float () (f 1.0))", &[(Role::Function, "f")]);
    let main = program.overloads("main")[0];
    let failure = interp::run(&program, main, &[], &interp::Options::default()).expect_err("it has not");
    assert_eq!(failure.code.to_string(), "E6010");
    assert!(failure.message.contains("`f` is a Rust function"), "{}", failure.message);
}
