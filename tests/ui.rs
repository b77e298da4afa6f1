//! What a user sees of a program that is wrong: each `tests/ui/*.rs` fails to compile with what its `.stderr` holds.
//!
//! A case is named by the codes it reports, one for each error, as `e3003_inner_dimensions`; `rust_…` is rustc's own
//! error about the types we generate. `TRYBUILD=overwrite cargo test --test ui` blesses; review the difference.
//!
//! With the feature `ndarray` functions take arrays beside tensors, and what rustc says of their arguments is in
//! `tests/ui/ndarray`.

use std::fs;
use std::path::{Path, PathBuf};

use mind_core::diag::{Arises, Code};
use mind_tests::folder_of_crates;

#[test]
fn every_mistake_is_reported_as_recorded() {
    folder_of_crates(env!("CARGO_TARGET_TMPDIR"));
    let cases = trybuild::TestCases::new();
    if cfg!(feature = "ndarray") {
        cases.compile_fail("ui/ndarray/*.rs");
        return;
    }
    let nested = write_nested_program(10_000);
    cases.compile_fail("ui/*.rs");
    cases.compile_fail(nested);
}

#[test]
fn every_code_that_the_macro_reports_has_a_case() {
    let covered: Vec<String> = cases().iter().flat_map(|case| codes_of_name(case)).collect();
    let missing: Vec<_> = Code::ALL
        .iter()
        .map(|code| code.info())
        .filter(|info| info.arises.contains(&Arises::Macro) && !covered.iter().any(|name| name == info.name))
        .map(|info| info.name)
        .collect();
    assert!(missing.is_empty(), "no case in tests/ui reports {missing:?}");
}

#[test]
fn every_case_reports_the_codes_of_its_name_and_nothing_else() {
    let mut wrong = String::new();
    for case in cases() {
        let Ok(stderr) = fs::read_to_string(case.with_extension("stderr")) else {
            wrong += &format!("{}: not blessed\n", case.display());
            continue;
        };
        let errors: Vec<_> = stderr.lines().filter(|line| line.starts_with("error")).collect();
        let mut found: Vec<_> = errors.iter().filter_map(|line| code_of_error(line)).collect();
        let mut named = codes_of_name(&case);
        found.sort();
        named.sort();
        // rustc's own errors come one a case, and alone.
        let expected = if named.is_empty() { 1 } else { named.len() };
        if found != named || errors.len() != expected || stderr.contains("warning") {
            wrong += &format!("{}: reports {errors:#?}\n", case.display());
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// The programs in `tests/ui`.
fn cases() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("ui");
    let entries = fs::read_dir(folder).expect("tests/ui is there");
    let paths = entries.map(|entry| entry.expect("tests/ui can be read").path());
    let mut cases: Vec<_> = paths.filter(|path| path.extension().is_some_and(|e| e == "rs")).collect();
    cases.sort();
    cases
}

/// `E2002` and `E3001` of `e2002_e3001_two_mistakes.rs`.
fn codes_of_name(case: &Path) -> Vec<String> {
    let name = case.file_stem().and_then(|stem| stem.to_str()).expect("cases have names");
    let is_code = |word: &&str| word.len() == 5 && word.starts_with('e') && word[1..].parse::<u16>().is_ok();
    name.split('_').take_while(is_code).map(str::to_uppercase).collect()
}

/// `E3003` of `error: [E3003] …`, or where rustc evaluates the rules of a bare expression.
fn code_of_error(line: &str) -> Option<String> {
    let evaluated = || line.strip_prefix("error[E0080]: evaluation panicked: [");
    let (code, _) = line.strip_prefix("error: [").or_else(evaluated)?.split_once(']')?;
    Some(code.to_owned())
}

/// Writes a program whose brackets nest deeper than any recursion survives, and what is said of it. Each bracket has a
/// line of its own, so that the message shows one.
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
    fs::write(program.with_extension("stderr"), stderr).expect("what is said of it can be written");
    program.to_str().expect("the path is text").to_owned()
}
