//! The programs of `tests/ks` as Rust, in both precisions, against the interpreter.

use std::{
    fmt::Write,
    fs,
    path::{Path, PathBuf},
};

use mind_core::{
    diag::Site,
    knossos::{
        check,
        emit::{Export, Options, Request, compile, emit},
        interp::{self, Precision},
        verify,
    },
};

/// A program in a precision, and what the interpreter says of it.
struct Case {
    name: String,
    rust: String,
    /// What it prints, or how it fails.
    expected: Result<String, String>,
    tolerance: f64,
}

#[test]
fn every_knossos_program_does_what_the_interpreter_says() {
    let of_path = |path: &PathBuf| {
        PRECISIONS.map(|precision| {
            let plain = case(path, precision);
            [optimised(path, precision, &plain), plain]
        })
    };
    let cases: Vec<Case> = sources("").iter().flat_map(of_path).flatten().collect();
    assert!(cases.len() >= 240, "{}", cases.len());
    agree("emitted-ks", &cases);
}

#[test]
fn every_knossos_program_that_fails_does_so_as_the_interpreter_says() {
    let fails = |path: &PathBuf| {
        let text = fs::read_to_string(path).expect("the corpus can be read");
        text.contains(";=== failure")
    };
    let paths = sources("errors").into_iter().filter(fails);
    let cases: Vec<Case> = paths.map(|path| case(&path, Precision::F64)).collect();
    assert!(cases.len() >= 10, "{}", cases.len());
    agree("emitted-ks-errors", &cases);
}

const PRECISIONS: [Precision; 2] = [Precision::F64, Precision::F32];

fn sources(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ks").join(folder);
    let entries = fs::read_dir(folder).expect("the corpus is there");
    let paths = entries.map(|entry| entry.expect("a folder can be read").path());
    let mut paths: Vec<_> = paths.filter(|path| path.extension().is_some_and(|is| is == "ks")).collect();
    paths.sort();
    paths
}

fn case(path: &Path, precision: Precision) -> Case {
    let text = fs::read_to_string(path).expect("the corpus can be read");
    let mut program = check(&text).expect("the program has no mistake");
    // In a tuple texts are shown in quotes.
    let function = program.expression("(print (tuple (main)))").expect("there is a main");
    let options = interp::Options { precision, ..interp::Options::default() };
    let expected = match interp::run(&program, function, &[], &options) {
        Ok(outcome) => Ok(outcome.printed),
        Err(failure) => {
            let interp::Failure { code, message, place, function, .. } = failure;
            // How large a tensor may be is what the machine has.
            let message = if code.to_string() == "E6004" { String::new() } else { message };
            Err(format!("{code}: program.ks:{}:{}: {message}|in `{function}`", place.line, place.column))
        }
    };
    let stem = path.file_stem().expect("a file has a name").to_string_lossy();
    let (name, tolerance) = match precision {
        Precision::F64 => (format!("{stem}_f64"), 1e-12),
        Precision::F32 => (format!("{stem}_f32"), 1e-4),
    };
    let options = Options { precision, module: format!("inner_{name}"), ..Options::default() };
    let rust = emit(&program, &[Export::new(function, "run")], &options);
    Case { name, rust, expected, tolerance }
}

/// The same as the macros have it: improved before derivatives are made and after.
fn optimised(path: &Path, precision: Precision, plain: &Case) -> Case {
    let text = fs::read_to_string(path).expect("the corpus can be read");
    let text = text + "\n(def run Integer () (print (tuple (main))))";
    let request = Request { export: Some(vec![("run".into(), Site::Nowhere)]), grad: Vec::new() };
    let (program, exports) = compile(&text, &[], &request).expect("the program has no mistake");
    verify(&program).expect("the IR keeps its promises");
    let name = format!("{}_optimised", plain.name);
    let options = Options { precision, module: format!("inner_{name}"), ..Options::default() };
    let rust = emit(&program, &exports, &options);
    Case { name, rust, expected: plain.expected.clone(), tolerance: plain.tolerance }
}

/// Runs every case and compares.
fn agree(name: &str, cases: &[Case]) {
    let mut program = String::from("#![allow(warnings)]\n");
    for Case { name, rust, .. } in cases {
        let _ = writeln!(program, "mod {name} {{\n{rust}}}");
    }
    program.push_str("fn main() {\n");
    for Case { name, .. } in cases {
        let _ = writeln!(
            program,
            "    print!(\"\\n=== {name}\\n\");\n    if let Err(error) = {name}::try_run() {{ print!(\"{{error}}\"); }}"
        );
    }
    program.push_str("}\n");
    let output = super::run(name, &program);
    let mut failures = String::new();
    for Case { name, expected, tolerance, .. } in cases {
        let found = output.split_once(&format!("\n=== {name}\n")).expect("every case is run").1;
        let found = found.split("\n=== ").next().unwrap_or_default();
        let right = match expected {
            Ok(expected) => same_text(found, expected, *tolerance),
            Err(expected) => expected.split('|').all(|part| found.contains(part)),
        };
        if !right {
            let _ = writeln!(failures, "{name}: expected\n{expected:?}\nfound\n{found}\n");
        }
    }
    assert!(failures.is_empty(), "{failures}");
}

/// Whether two texts are the same up to the last digits of the numbers in them.
fn same_text(found: &str, expected: &str, tolerance: f64) -> bool {
    let words = |text: &str| -> Vec<String> {
        text.split(|c: char| c.is_whitespace() || "()[]".contains(c)).map(str::to_owned).collect()
    };
    let (found, expected) = (words(found), words(expected));
    found.len() == expected.len()
        && found.iter().zip(&expected).all(|(found, expected)| {
            found == expected
                || match (found.parse::<f64>(), expected.parse::<f64>()) {
                    (Ok(found), Ok(expected)) => {
                        (found - expected).abs() <= tolerance * expected.abs().max(1.0)
                    }
                    _ => false,
                }
        })
}
