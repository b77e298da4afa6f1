//! Every message for wrong programs occurs for a program in `tests/ks/errors` or in another test.

use std::{
    fs,
    path::{Path, PathBuf},
};

use mind_core::diag::Code;
use mind_knossos::{
    check,
    interp::{self, Options, Value},
    ir::Derivative,
};

use super::corpus::files;

/// A part of every message in each file of `src`, in the order of the file. A test below checks the counts.
const FRONT: &[(&str, &[&str])] = &[
    (
        "read.rs",
        &[
            "unexpected character",
            "lists nest deeper than the limit",
            "no list is open",
            "expected `)`, found `]`",
            "expected `)`: the list is not closed",
            "the comment is not closed",
            "the string is not closed",
            "unknown escape",
            "is out of range for",
        ],
    ),
    (
        "bind.rs",
        &[
            "only a function that returns Float has a gradient",
            "which Rust functions cannot use",
            "is already bound",
        ],
    ),
    (
        "grad/mod.rs",
        &[
            "derivatives have more instructions than the limit",
            "is declared but not defined, so it has no derivative",
        ],
    ),
    ("rules.rs", &["does not hold"]),
    ("emit/exports.rs", &["but not defined"]),
    (
        "elaborate/declarations.rs",
        &[
            "expected a declaration such as",
            "expected `def`, `edef`, `gdef` or `rule`",
            "expected `(def name type params body)`",
            "is a lambda: lambdas are only arguments of primitives",
            "the body: expected",
            "expected the name of the rule as a string",
            "the sides of a rule: expected",
            "the argument type in the name: expected",
            "is built in and cannot be redefined",
            "the argument of `[rev f]`: expected",
            "the result of `[rev f]`: expected",
            "is defined twice",
            "differs from its declaration: expected",
            "expected parameters such as",
            "duplicate parameter",
            "expected the name of a parameter",
            "expected `:` and a type",
            "expected a parameter such as",
        ],
    ),
    (
        "elaborate/expressions.rs",
        &[
            "the type has more parts than the limit",
            "a lambda cannot be called",
            "expected the name of a function to call, found `3`",
            "expected an expression, found",
            "expected the name of a function to call, found a list",
            "is not a variable",
            "a lambda is not a value",
            "expected `(if Bool T T)`",
            "the branches of `if`: expected",
            "the condition of `if`: expected",
            "expected bindings such as",
            "expected a name and a value",
            "the pattern: expected a tuple",
            "expected a name, found",
            "expected a name or a list of names",
            "does not match the argument types",
            "is not of the form `get$i$n`",
            "and only functions can be called",
            "no overload of `area` takes",
        ],
    ),
    (
        "elaborate/function_names.rs",
        &[
            "expected a function name such as",
            "expected a function name, found",
            "expected the name of a derivative",
            "is built in and cannot be redefined",
            "is ambiguous",
            "is used before its definition",
        ],
    ),
    (
        "elaborate/lambdas.rs",
        &[
            "arguments, found",
            "expected a lambda such as `(lam (i : Integer) body)`, found a list",
            "expected a lambda such as `(lam (i : Integer) body)`, found `1.0`",
            "the parameter of the lambda: expected",
            "cannot be summed",
            "the body of the lambda: expected",
        ],
    ),
    (
        "elaborate/mod.rs",
        &["expected an expression", "the end of the text", "expected a type, found", "after `def`"],
    ),
    (
        "elaborate/types.rs",
        &[
            "expected a type, found `2`",
            "expected a type, found an empty list",
            "needs a rank and an element type",
            "needs 1 type, found",
            "is over the limit of 8",
            "expected a rank of at least 1",
            "expected `)` after",
            "expected Integer, found Float",
        ],
    ),
    ("interp/accumulators.rs", &["the tape belongs to another function"]),
    (
        "interp/structure.rs",
        &[
            "cannot add tensors of sizes",
            "cannot add tapes of different branches",
            "the maximum of an empty tensor is undefined",
            "is out of range of a tensor",
        ],
    ),
    (
        "interp/machine.rs",
        &[
            "the program exceeded the limit of",
            "is declared but not defined",
            "is a Rust function",
            "has no body",
            "calls nest deeper than the limit",
            "by zero",
            "the values of `ts_dot` have different sizes",
            "the assertion failed",
            "have different sizes",
            "the tape belongs to another function",
            "is negative",
            "is over the limit of",
            "more than the limit of 1048576",
            "an empty sum of",
        ],
    ),
    (
        "interp/mod.rs",
        &["takes 1 arguments, found 0", "argument 1 of `main`: expected", "cannot start a thread"],
    ),
];

/// Messages that no program of the corpus can cause, with the file that tests each. `None` if only a failure to create
/// a thread causes it.
const ELSEWHERE: &[(&str, Option<&str>)] = &[
    ("only a function that returns Float has a gradient", Some("tests/knossos/bindings.rs")),
    ("which Rust functions cannot use", Some("tests/knossos/bindings.rs")),
    ("is already bound", Some("tests/knossos/bindings.rs")),
    ("derivatives have more instructions than the limit", Some("tests/knossos/messages.rs")),
    ("does not hold", Some("src/rules.rs")),
    ("but not defined", Some("../tests/mistakes/ui/e2002_ks_declared_and_not_bound.stderr")),
    ("the end of the text", Some("tests/knossos/messages.rs")),
    ("the program exceeded the limit of", Some("tests/knossos/limits.rs")),
    ("more than the limit of 1048576", Some("tests/knossos/limits.rs")),
    ("is a Rust function", Some("tests/knossos/bindings.rs")),
    ("has no body", Some("tests/knossos/messages.rs")),
    ("takes 1 arguments, found 0", Some("tests/knossos/messages.rs")),
    ("argument 1 of `main`: expected", Some("tests/knossos/messages.rs")),
    ("cannot start a thread", None),
];

fn package() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: PathBuf) -> String {
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn every_message_is_said_of_a_program() {
    let recorded: Vec<String> = files(&package().join("../tests/ks/errors"))
        .into_iter()
        .map(|path| read(path).split_once(";=== ").expect("something is recorded").1.to_owned())
        .collect();
    let mut missing = Vec::new();
    for part in FRONT.iter().flat_map(|(_, parts)| *parts) {
        let is_said = match ELSEWHERE.iter().find(|(other, _)| other == part) {
            Some((_, Some(test))) => read(package().join(test)).contains(part),
            Some((_, None)) => true,
            None => recorded.iter().any(|text| text.contains(part)),
        };
        if !is_said {
            missing.push(part);
        }
    }
    assert!(missing.is_empty(), "no program has the messages {missing:#?}");
}

#[test]
fn the_table_has_every_message_of_the_sources() {
    for (file, parts) in FRONT {
        let text = read(package().join("src").join(file));
        let code = text.split("#[cfg(test)]").next().expect("a split has a first part");
        let says = |line: &&str| {
            let makes =
                ["Code::E", "unexpected(", "wrong_parts(", ".same("].iter().any(|what| line.contains(what));
            makes && !line.contains("fn ") && !line.trim_start().starts_with("//")
        };
        let count = code.lines().filter(says).count();
        assert_eq!(count, parts.len(), "{file} makes other messages than the table has");
    }
}

#[test]
fn callers_of_the_interpreter_are_told_what_they_gave() {
    let mut program = check("(def main Float (x : Float) (sin x))").expect("it has no mistake");
    let main = program.overloads("main")[0];
    let run = |program: &_, function, arguments: &[Value]| {
        interp::run(program, function, arguments, &Options::default()).expect_err("it fails").message
    };
    assert_eq!(run(&program, main, &[]), "`main` takes 1 arguments, found 0");
    let integer = [Value::Integer(1)];
    assert_eq!(run(&program, main, &integer), "argument 1 of `main`: expected Float, found 1");
    // A derivative that `complete` has not generated yet.
    let reverse = program.derivative(Derivative::Rev, main);
    let both = [Value::Float(0.5), Value::Float(1.0)];
    assert_eq!(run(&program, reverse, &both), "`[rev main]` has no body");
    let diags = program.expression("1 2").expect_err("one is enough");
    assert!(diags.as_slice()[0].message.contains("expected the end of the text, found `2`"));
}

/// Each function calls the derivative of the previous one, which calls a derivative too.
#[test]
fn derivatives_that_grow_without_end_are_one_mistake() {
    const LIMIT: &str = "derivatives have more instructions than the limit of";
    let chain: String =
        (1..40).map(|i| format!("(def f{i} Float (x : Float) (mul x ([rev f{}] x 1.0)))", i - 1)).collect();
    let diags = check(&format!("(def f0 Float (x : Float) (mul x x)) {chain}")).expect_err("it is refused");
    let found: Vec<_> = diags.into_iter().map(|diag| (diag.code, diag.message)).collect();
    assert!(matches!(&found[..], [(Code::E1008, message)] if message.contains(LIMIT)), "{found:?}");
}
