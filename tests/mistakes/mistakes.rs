//! Compiler messages for wrong programs: each `ui/*.rs` fails to compile with the message recorded in its `.stderr`.
//!
//! The name of a case begins with the codes it reports, one for each error, as in `e3003_inner_dimensions`. A case
//! `rust_…` is rustc's own error about generated types. `TRYBUILD=overwrite cargo test -p mind-mistakes` records the
//! messages: review the difference. `MIND_TESTS=all cargo test -p mind-mistakes` compiles all cases, and
//! `cargo test -p mind-mistakes -- every trybuild=NAME` those whose path contains `NAME`. The gate compiles one in four.
//!
//! With the feature `ndarray`, the programs of `ui/ndarray`, which use arrays, are compiled instead.
//!
//! These tests are a separate package because trybuild compiles every dependency of a package twice.

#[allow(dead_code, reason = "other tests build crates with it")]
#[path = "../support/project.rs"]
mod project;
#[path = "../support/sample.rs"]
mod sample;

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use project::folder_of_crates;
use sample::{a_quarter, is_in_gate};

#[test]
fn every_mistake_is_reported_as_recorded() {
    let is_asked_for =
        env::var_os("TRYBUILD").is_some() || env::args().any(|argument| argument.starts_with("trybuild="));
    if !is_asked_for && !is_in_gate("programs that rustc refuses") {
        return;
    }
    folder_of_crates(env!("CARGO_TARGET_TMPDIR"));
    let cases = trybuild::TestCases::new();
    if cfg!(feature = "ndarray") {
        cases.compile_fail("ui/ndarray/*.rs");
        return;
    }
    if is_asked_for {
        cases.compile_fail("ui/*.rs");
    } else {
        a_quarter("programs that rustc refuses", programs("ui"))
            .iter()
            .for_each(|program| cases.compile_fail(program));
    }
    cases.compile_fail(write_nested_program(10_000));
}

/// The programs in a folder, in the order of their names.
fn programs(folder: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the folder is beside this file");
    let mut programs: Vec<_> = entries
        .map(|entry| entry.expect("the folder can be read").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .collect();
    programs.sort();
    programs
}

/// Writes a program with more nested brackets than any recursion survives, and the expected message. Each bracket is on
/// its own line, so that the message shows only one.
fn write_nested_program(depth: usize) -> String {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let program = folder.join("e1008_nested_brackets.rs");
    let source = format!(
        "use mind::mind;\n\nmind! {{\n    fn f(x: f32) -> f32 {{\n{}x\n{}    }}\n}}\n\nfn main() {{}}\n",
        "(\n".repeat(depth),
        ")\n".repeat(depth)
    );
    let stderr = "\
error: [E1008] brackets nest deeper than the limit of 256
         help: name the inner parts with `let`
   --> $DIR/e1008_nested_brackets.rs:260:1
    |
260 | (
    | ^
";
    fs::write(&program, source).expect("the program can be written");
    fs::write(program.with_extension("stderr"), stderr).expect("the recorded message can be written");
    program.to_str().expect("the path is text").to_owned()
}
