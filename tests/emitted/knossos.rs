//! Compiles the programs of `tests/ks` to Rust, in both precisions, and compares them with the interpreter.

use std::{
    fmt::Write,
    fs,
    path::{Path, PathBuf},
};

use mind_core::{diag::Site, random::Random};
use mind_knossos::{
    check,
    emit::{Export, Options, Request, compile, emit},
    interp::{self, Precision},
    ir::Function,
    sample::Sampler,
    testing::{RandomProgram, main_at, random_program},
    types::TypeId,
    verify,
};
use mind_tests::{chain as length, few, is_in_gate, sample};

/// A program in a precision, and the interpreter's outcome.
struct Case {
    name: String,
    rust: String,
    /// The printed text, or the failure.
    expected: Result<String, String>,
    tolerance: f64,
}

#[test]
fn every_knossos_program_does_what_the_interpreter_says() {
    if !is_in_gate("programs in Knossos") {
        return;
    }
    let of_path = |(position, path): (usize, &PathBuf)| {
        let (name, text) = read(path);
        // One precision without optimisation and the other optimised. The structure of a program does not depend on the
        // precision.
        let [first, second] = if position.is_multiple_of(2) { [0, 1] } else { [1, 0] };
        let as_written = plain(&name, &text, PRECISIONS[second]);
        let other = plain(&name, &text, PRECISIONS[first]);
        [optimised(&text, PRECISIONS[first], &other), as_written]
    };
    let sources = sources("");
    assert!(sources.len() >= 70, "{}", sources.len());
    let cases: Vec<Case> =
        few("programs in Knossos", sources.iter().enumerate()).into_iter().flat_map(of_path).collect();
    agree("emitted-ks", &cases);
}

#[test]
fn every_knossos_program_that_fails_does_so_as_the_interpreter_says() {
    if !is_in_gate("programs in Knossos that fail") {
        return;
    }
    let programs = sources("errors").into_iter().map(|path| read(&path));
    let failing: Vec<_> = programs.filter(|(_, text)| text.contains(";=== failure")).collect();
    assert!(failing.len() >= 40, "{}", failing.len());
    let failing = few("programs in Knossos that fail", failing);
    let count = failing.len();
    let cases: Vec<Case> = failing
        .into_iter()
        .flat_map(|(name, text)| {
            let plain = plain(&name, &text, Precision::F64);
            // The macros reject declarations without a definition.
            let is_whole = !text.contains("is declared but not defined");
            let optimised = is_whole.then(|| {
                let mut optimised = optimised(&text, Precision::F64, &plain);
                // An inlined function fails in another function, but at the same place.
                if let Err(expected) = &mut optimised.expected {
                    expected.truncate(expected.find('|').unwrap_or_default());
                }
                optimised
            });
            [plain].into_iter().chain(optimised)
        })
        .collect();
    assert!(cases.len() * 4 >= count * 5, "{} of {count}", cases.len());
    agree("emitted-ks-errors", &cases);
}

/// The number of random programs if all are tried.
const PROGRAMS: usize = 40;

#[test]
fn random_knossos_programs_do_what_the_interpreter_says() {
    if !is_in_gate("random programs in Knossos") {
        return;
    }
    let random = |seed: u64| {
        let program = random_program(seed, 4 + seed as usize % 29);
        let orders = seed as usize % 3;
        let (text, at, mut changes) = (program.to_string(), program.arguments(seed), Random::new(seed));
        let text = main_at(&text, RandomProgram::NAME, &at, orders, &mut changes)?;
        let name = format!("random_{seed}");
        let [double, single] = in_both_precisions(&name, &text);
        let optimised = optimised(&text, Precision::F64, double.as_ref()?);
        Some([double, single, Some(optimised)])
    };
    let programs = few("random programs in Knossos", (0..).filter_map(random).take(PROGRAMS));
    let count = programs.len();
    let cases: Vec<Case> = programs.into_iter().flatten().flatten().collect();
    assert!(cases.len() > count * 5 / 2, "{} of {count}", cases.len());
    agree("emitted-ks-random", &cases);
}

/// Functions that each call the next; the last one calls itself. None is inlined, and inlining would need a stack frame
/// for all of them.
#[test]
fn thousands_of_functions_may_call_one_another_in_a_row() {
    if !is_in_gate("rows of functions in Knossos") {
        return;
    }
    let chain = |count: usize, body: &dyn Fn(usize) -> String, main: &str| {
        let functions =
            (1..count).rev().map(|next| format!("(def f{} Float (x : Float) {})\n", next - 1, body(next)));
        let last = format!("(def f{} Float (x : Float) (if (gt x 99.0) x (f{0} (add x 50.0))))\n", count - 1);
        format!("{last}{}(def main Float () {main})", functions.collect::<String>())
    };
    let calls = |next: usize| {
        format!(
            "(let (v (build 3 (lam (i : Integer) (mul x (to_float i))))) (sub (f{next} (mul x 0.99)) (index 1 v)))"
        )
    };
    // Each function calls itself and the next.
    let both =
        |next: usize| format!("(if (gt x 9.0) (add (f{} (sub x 9.0)) 1.0) (f{next} (mul x 1.5)))", next - 1);
    let programs = [
        ("long", chain(1000, &calls, "(f0 1.0)")),
        ("recursive", chain(300, &both, "(f0 1.0)")),
        ("reverse", chain(600, &calls, "([rev f0] 1.0 1.0)")),
    ];
    let programs = sample("rows of functions", programs);
    let cases: Vec<_> = programs.iter().map(|(name, text)| plain(name, text, Precision::F64)).collect();
    assert!(cases.iter().all(|case| case.expected.is_ok()));
    agree("emitted-ks-chains", &cases);
    // With more functions, rustc takes half a minute.
    let count = length(5000);
    let longer = plain("longer", &chain(count, &calls, "(f0 1.0)"), Precision::F64);
    assert!(
        longer.expected.is_ok() && longer.rust.contains(&format!("fn f{}", count - 1)),
        "{:?}",
        longer.expected
    );
}

/// The functions whose derivatives other tests compare with differences.
const FUNCTIONS: &str = include_str!("../../mind-knossos/tests/knossos/derivatives.ks");

#[test]
fn derivatives_of_every_primitive_and_construct_are_what_the_interpreter_says() {
    if !is_in_gate("derivatives in Knossos") {
        return;
    }
    let program = check(FUNCTIONS).expect("the functions have no mistake");
    let own = |function: &&Function| function.name.starts_with("d_");
    let functions: Vec<_> = program.functions.iter().filter(own).collect();
    let of_function = |function: &Function| {
        let main = |orders: usize| {
            let at = |seed: u64| {
                let mut sampler = Sampler::of_extent(seed, 3);
                let value = |ty: &TypeId| {
                    Some(sampler.value(&program.types, *ty)?.map_floats(&mut |x| 0.25 + x.abs() / 2.0))
                };
                let at: Vec<_> = function.parameters.iter().map(value).collect::<Option<_>>()?;
                main_at(FUNCTIONS, &function.name, &at, orders, &mut Random::new(seed))
            };
            (0..4).find_map(at).unwrap_or_else(|| panic!("{} fails at its samples", function.name))
        };
        // The structure of derivatives is the same in single precision, so one order is tested there, which saves time
        // in rustc.
        let second = main(2);
        let [double, _] = in_both_precisions(&function.name, &second);
        let [_, single] = in_both_precisions(&function.name, &main(1));
        let optimised = double.as_ref().map(|plain| optimised(&second, Precision::F64, plain));
        double.into_iter().chain(optimised).chain(single)
    };
    assert!(functions.len() > 70, "{}", functions.len());
    let functions = few("functions and their derivatives", functions);
    let count = functions.len();
    let cases: Vec<Case> = functions.into_iter().flat_map(of_function).collect();
    assert!(cases.len() * 4 > count * 7, "{} of {count}", cases.len());
    agree("emitted-ks-derivatives", &cases);
}

/// A program in both precisions. Single precision is left out if rounding changes more than the last digits.
fn in_both_precisions(name: &str, text: &str) -> [Option<Case>; 2] {
    let [double, single] = PRECISIONS.map(|precision| plain(name, text, precision));
    let is_steady = match (&double.expected, &single.expected) {
        (Ok(double), Ok(single)) => same_text(single, double, 1e-4),
        _ => true,
    };
    let double = Case { tolerance: 1e-9, ..double };
    [Some(double), is_steady.then_some(Case { tolerance: 1e-3, ..single })]
}

const PRECISIONS: [Precision; 2] = [Precision::F64, Precision::F32];

fn sources(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("ks").join(folder);
    let entries = fs::read_dir(folder).expect("the corpus is there");
    let paths = entries.map(|entry| entry.expect("a folder can be read").path());
    let mut paths: Vec<_> = paths.filter(|path| path.extension().is_some_and(|is| is == "ks")).collect();
    paths.sort();
    paths
}

/// The name and text of a program.
fn read(path: &Path) -> (String, String) {
    let name = path.file_stem().expect("a file has a name").to_string_lossy().into_owned();
    (name, fs::read_to_string(path).expect("the corpus can be read"))
}

fn plain(name: &str, text: &str, precision: Precision) -> Case {
    let mut program = check(text).expect("the program has no mistake");
    // In a tuple, texts are printed with quotes.
    let function = program.expression("(print (tuple (main)))").expect("there is a main");
    let options = interp::Options { precision, ..interp::Options::default() };
    let expected = match interp::run(&program, function, &[], &options) {
        Ok(outcome) => Ok(outcome.printed),
        Err(failure) => {
            let interp::Failure { code, message, place, function, .. } = failure;
            // The largest possible tensor depends on the machine.
            let message = if code.to_string() == "E6004" { String::new() } else { message };
            Err(format!("{code}: program.ks:{}:{}: {message}|in `{function}`", place.line, place.column))
        }
    };
    let (name, tolerance) = match precision {
        Precision::F64 => (format!("{name}_f64"), 1e-12),
        Precision::F32 => (format!("{name}_f32"), 1e-4),
    };
    let options = Options { precision, module: format!("inner_{name}"), ..Options::default() };
    let rust = emit(&program, &[Export::new(function, "run")], &options);
    Case { name, rust, expected, tolerance }
}

/// The same program as the macros compile it: optimised before and after derivatives are made.
fn optimised(text: &str, precision: Precision, plain: &Case) -> Case {
    let text = format!("{text}\n(def run Integer () (print (tuple (main))))");
    let request = Request { export: Some(vec![("run".into(), Site::Nowhere)]), grad: Vec::new() };
    let (program, exports) = compile(&text, &[], &request).expect("the program has no mistake");
    verify(&program).expect("the IR keeps its promises");
    let name = format!("{}_optimised", plain.name);
    let options = Options { precision, module: format!("inner_{name}"), ..Options::default() };
    let rust = emit(&program, &exports, &options);
    Case { name, rust, expected: plain.expected.clone(), tolerance: plain.tolerance }
}

/// Runs all cases and compares them.
fn agree(name: &str, cases: &[Case]) {
    let mut program = String::from("#![allow(warnings)]\n");
    for Case { name, rust, .. } in cases {
        let _ = writeln!(program, "mod {name} {{\n{rust}}}");
    }
    // Threads have the smallest stack that users' code runs on: 2 MiB.
    program.push_str("fn main() { std::thread::spawn(run).join().expect(\"nothing panics\") }\nfn run() {\n");
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

/// Whether two texts are equal except for the last digits of the numbers in them.
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
