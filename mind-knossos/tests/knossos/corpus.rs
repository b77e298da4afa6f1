//! Compares the output for every file of `tests/ks` with the text recorded at its end.

use std::{
    collections::BTreeSet,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use mind_core::{
    diag::{Arises, Code, Diag},
    snippet,
};
use mind_knossos::{
    check,
    interp::{Options, Precision, run},
    ir::{Check, Definition, Loop, Operation, Projection},
    scalars::Scalar,
    verify,
};

/// The recorded text follows this line.
const MARK: &str = ";=== ";

/// Applies `record` to every file of a folder and compares the results. With `MIND_BLESS` set, writes the results to
/// the ends of the files.
pub(crate) fn check_folder(folder: &str, record: impl Fn(&str, &str) -> String) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/ks").join(folder);
    let mut failures = String::new();
    let is_blessed = std::env::var_os("MIND_BLESS").is_some();
    let files = files(&folder);
    for path in if is_blessed { files } else { crate::sample::some("programs", files) } {
        let text = fs::read_to_string(&path).expect("the corpus can be read");
        let source = text.split_once(MARK).map_or(&*text, |(source, _)| source);
        let name = path.file_name().expect("a file has a name").to_string_lossy().into_owned();
        let found = format!("{source}{MARK}{}", record(&name, source));
        if found == text {
            continue;
        }
        if is_blessed {
            fs::write(&path, found).expect("the corpus can be written");
        } else {
            writeln!(
                failures,
                "{name}: recorded\n{}found\n{}",
                &text[source.len()..],
                &found[source.len()..]
            )
            .expect("writing to a string cannot fail");
        }
    }
    assert!(failures.is_empty(), "{failures}(MIND_BLESS=1 records what is there now)");
}

pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the corpus is there");
    let paths = entries.map(|entry| entry.expect("a folder can be read").path());
    let mut paths: Vec<_> = paths.filter(|path| path.extension().is_some_and(|is| is == "ks")).collect();
    paths.sort();
    paths
}

/// Converts lines to comments.
pub(crate) fn comments(text: &str) -> String {
    text.lines().map(|line| format!(";> {line}").trim_end().to_owned() + "\n").collect()
}

#[test]
fn programs_give_what_is_recorded() {
    check_folder("", |name, source| {
        let program = match check(source) {
            Ok(program) => program,
            Err(diags) => return "mistakes\n".to_owned() + &comments(&rendered(diags, name, source)),
        };
        assert_eq!(verify(&program), Ok(()), "{name}");
        let main = program.overloads("main")[0];
        let outcome = |precision| {
            let options = Options { precision, ..Options::default() };
            match run(&program, main, &[], &options) {
                Ok(outcome) => {
                    let printed = if outcome.printed.is_empty() { "" } else { "\n" };
                    format!("{}{printed}{}", outcome.printed, outcome.value.show(precision))
                }
                Err(failure) => failure.to_string(),
            }
        };
        let (double, single) = (outcome(Precision::F64), outcome(Precision::F32));
        let mut recorded = "main\n".to_owned() + &comments(&double);
        if single != double {
            recorded += &format!("{MARK}main in f32\n{}", comments(&single));
        }
        recorded
    });
}

#[test]
fn wrong_programs_are_told_what_is_recorded() {
    check_folder("errors", |name, source| match check(source) {
        Err(diags) => "mistakes\n".to_owned() + &comments(&rendered(diags, name, source)),
        Ok(program) => {
            let Some(main) = program.overloads("main").first() else {
                return "no mistake and no main\n".into();
            };
            match run(&program, *main, &[], &Options::default()) {
                Ok(outcome) => format!("no mistake\n;> {}\n", outcome.value),
                Err(failure) => {
                    "failure\n".to_owned() + &comments(&snippet::render(&failure.diag(), name, source))
                }
            }
        }
    });
}

fn rendered(diags: impl IntoIterator<Item = Diag>, name: &str, source: &str) -> String {
    diags.into_iter().map(|diag| snippet::render(&diag, name, source) + "\n").collect()
}

#[test]
fn the_corpus_is_as_large_as_it_should_be() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/ks");
    assert!(files(&root).len() >= 60, "{}", files(&root).len());
    assert!(files(&root.join("errors")).len() >= 50, "{}", files(&root.join("errors")).len());
    for path in files(&root) {
        let text = fs::read_to_string(&path).expect("the corpus can be read");
        assert!(text.contains(";=== main\n"), "{} has mistakes", path.display());
    }
    for path in files(&root.join("errors")) {
        let text = fs::read_to_string(&path).expect("the corpus can be read");
        assert!(!text.contains(";=== no mistake"), "{} has no mistake", path.display());
    }
}

/// Every primitive and prelude function is used in a program.
#[test]
fn every_primitive_is_in_the_corpus() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/ks");
    let mut words = BTreeSet::new();
    for path in files(&root) {
        let text = fs::read_to_string(&path).expect("the corpus can be read");
        words.extend(text.split(|c: char| c.is_whitespace() || "()[]".contains(c)).map(str::to_owned));
    }
    let missing: Vec<_> = mind_knossos::function_names().filter(|name| !words.contains(*name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// Every code that the table assigns to Knossos is reported in the corpus.
#[test]
fn every_code_is_in_the_corpus() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/ks/errors");
    let recorded =
        files(&root).into_iter().map(|path| fs::read_to_string(path).expect("the corpus can be read"));
    let recorded: Vec<_> = recorded.collect();
    for code in Code::ALL.iter().filter(|code| code.info().arises.contains(&Arises::Knossos)) {
        let shown = format!("\n;> [{code}] ");
        assert!(recorded.iter().any(|text| text.contains(&shown)), "{code} has no program");
    }
}

/// Errors in the programs of `SYNTAX.md`, the informal page about Knossos: the text on the page, and the program in the
/// corpus with the same error.
const SLIPS: &[(&str, &str)] = &[
    ("(tsum (0 ", "tuple_for_arguments"),
    ("(let (7of9 (", "name_begins_with_digit"),
    ("(let (x (lam ", "lambda_stored"),
    (" (x y))", "variable_called"),
    ("(a : (Tuple Float Float) (b : (Tuple Float Float)))", "parameters_unparenthesised"),
    ("(tsum@ff ", "suffix_of_undefined"),
    ("(def f () ", "empty_type"),
    ("(atan2 i j)", "atan2_of_integers"),
    ("(def main Integer ((argc : Integer) (argv : (Tensor 1 String)))", "main_of_other_result"),
    ("(fold (lam (acc : (Tuple Float Float)) (get$1$2 acc) 1.0 v)", "fold_lambda_unclosed"),
    (" FALSE", "truth_capitalised"),
];

#[test]
fn every_slip_of_the_informal_page_is_a_mistake() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/ks/errors");
    for (slip, name) in SLIPS {
        let text = fs::read_to_string(root.join(format!("{name}.ks"))).expect("the corpus can be read");
        let (source, recorded) = text.split_once(MARK).expect("something is recorded");
        assert!(source.contains(slip) && recorded.starts_with("mistakes\n"), "{name} has no `{slip}`");
    }
}

/// Every operation of the IR is executed by a program or a derivative.
#[test]
fn every_operation_is_in_the_corpus() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/ks");
    let (mut found, mut scalars) = (BTreeSet::new(), Vec::new());
    for path in files(&root) {
        let program = check(&fs::read_to_string(&path).expect("the corpus can be read"));
        let program = program.unwrap_or_else(|_| panic!("{} has mistakes", path.display()));
        for function in &program.functions {
            let Definition::Defined(body) = &function.definition else { continue };
            for instruction in body.blocks.iter().flat_map(|block| &block.instructions) {
                found.insert(kind(&instruction.operation));
                if let Operation::Scalar(scalar) = instruction.operation {
                    scalars.push(scalar);
                }
            }
        }
    }
    let missing: Vec<_> = KINDS.iter().filter(|kind| !found.contains(*kind)).collect();
    assert!(missing.is_empty(), "{missing:?}");
    let missing: Vec<_> = Scalar::ALL.iter().filter(|scalar| !scalars.contains(scalar)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// The kinds that [`kind`] distinguishes.
const KINDS: [&str; 37] = [
    "integer",
    "float",
    "bool",
    "string",
    "scalar",
    "tuple",
    "get",
    "equal",
    "size",
    "index",
    "vec init",
    "arg max",
    "unzip",
    "structure",
    "zero",
    "add",
    "negate",
    "scale",
    "dot",
    "build",
    "sum",
    "fold",
    "scan",
    "if",
    "written assert",
    "assert of sizes",
    "print",
    "call",
    "accumulator",
    "add to all",
    "add to a part",
    "part",
    "read",
    "pack",
    "unpack",
    "taped",
    "element",
];

fn kind(operation: &Operation) -> &'static str {
    match operation {
        Operation::Integer(_) => "integer",
        Operation::Float(_) => "float",
        Operation::Bool(_) => "bool",
        Operation::String(_) => "string",
        Operation::Scalar(_) => "scalar",
        Operation::Tuple => "tuple",
        Operation::Get(_) => "get",
        Operation::Equal => "equal",
        Operation::Size => "size",
        Operation::Index => "index",
        Operation::VecInit => "vec init",
        Operation::ArgMax => "arg max",
        Operation::Unzip => "unzip",
        Operation::Structure => "structure",
        Operation::Zero => "zero",
        Operation::Add => "add",
        Operation::Negate => "negate",
        Operation::Scale => "scale",
        Operation::Dot => "dot",
        Operation::Loop(Loop::Build, _) => "build",
        Operation::Loop(Loop::Sum, _) => "sum",
        Operation::Loop(Loop::Fold, _) => "fold",
        Operation::Loop(Loop::Scan, _) => "scan",
        Operation::If(..) => "if",
        Operation::Assert(Check::Written) => "written assert",
        Operation::Assert(Check::Sizes(_)) => "assert of sizes",
        // Only the optimiser creates it.
        Operation::Bounds => "bounds",
        Operation::Print => "print",
        Operation::Call(_) => "call",
        Operation::Accumulator => "accumulator",
        Operation::AddTo(steps) if steps.is_empty() => "add to all",
        Operation::AddTo(steps) if steps.iter().any(|step| matches!(step, Projection::Taped(..))) => "taped",
        Operation::AddTo(_) => "add to a part",
        Operation::Part(steps) if steps.contains(&Projection::Element) => "element",
        Operation::Part(_) => "part",
        Operation::Read => "read",
        Operation::Pack(_) => "pack",
        Operation::Unpack(..) => "unpack",
    }
}
