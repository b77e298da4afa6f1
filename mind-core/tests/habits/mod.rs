//! Code written out of habit from NumPy, JAX, PyTorch and TensorFlow, the message that it gets, and the fixed code.
//!
//! A case in a `.txt` file of this folder is a program as in `mind!`, its message, and the fixed program:
//!
//! ```text
//! # the axis is `dim` in PyTorch
//! fn f(x: f32[2, 3]) -> f32[2] { sum(x, dim = 1) }
//! ----
//! 1:40 `dim`: [E2007] …
//! ---- mended
//! fn f(x: f32[2, 3]) -> f32[2] { sum(x, axis = 1) }
//! ====
//! ```
//!
//! With a first line `given x: f32[2, 3]` the program is an expression among Rust variables. Each case reports one
//! error, at tokens of the program, with help and without internal terms of the compiler. If the help shows code, the
//! fixed program contains that code. With `MIND_BLESS` set, messages are recorded anew.
#![allow(clippy::unwrap_used, reason = "a test that unwraps nothing fails, as it should")]

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use mind_core::canon::canonicalise;
use mind_core::diag::{Diag, Site};
use mind_core::interp::{Array, Elements, run};
use mind_core::ops::Profile;
use mind_core::surface::ast::Program;
use mind_core::surface::{lower, parse};
use mind_core::ty::{DType, Type};
use mind_core::verify::verify;
use mind_core::{open, pipeline};

/// Text that must not occur in messages: names of generated code and of the compiler's internals.
const INTERNAL: &[&str] = &["__", "Inferred", "Shapes<", "Span", "ExprId", "Dyn", "%0", "ident", "token"];

struct Case {
    file: PathBuf,
    title: String,
    wrong: String,
    said: String,
    mended: String,
}

#[test]
fn each_mistake_is_told_once_at_its_tokens_with_the_way_out() {
    let mut faults = String::new();
    for case in cases() {
        let found = mistakes(&case.wrong);
        let said = found.iter().map(|diag| report(&case.wrong, diag)).collect::<String>();
        let mut fault = |text: &str| {
            writeln!(faults, "{}: {}: {text}\n{}\n{said}", case.file.display(), case.title, case.wrong)
                .unwrap();
        };
        let [diag] = &found[..] else {
            fault(&format!("{} mistakes are told, needed one", found.len()));
            continue;
        };
        if underlined(&case.wrong, diag.site).is_none() {
            fault("the marked text is not a part of the program");
        }
        if let Some(word) = INTERNAL.iter().find(|word| said.contains(**word)) {
            fault(&format!("`{word}` is no word of the user's"));
        }
        match &diag.help {
            None => fault("no way out is shown"),
            Some(help) if !leads_to(help, &case) => fault("the mended program has not what the help shows"),
            Some(_) => {}
        }
        if said != case.said && std::env::var_os("MIND_BLESS").is_none() {
            fault(&format!("another thing was said:\n{}", case.said));
        }
    }
    if std::env::var_os("MIND_BLESS").is_some() {
        bless();
    }
    assert!(faults.is_empty(), "{faults}");
}

#[test]
fn each_mended_program_compiles_to_a_verified_module() {
    let mut faults = String::new();
    for case in cases() {
        let found = mistakes(&case.mended);
        if !found.is_empty() {
            let said = found.iter().map(|diag| report(&case.mended, diag)).collect::<String>();
            writeln!(faults, "{}: {}\n{}\n{said}", case.file.display(), case.title, case.mended).unwrap();
        }
    }
    assert!(faults.is_empty(), "{faults}");
}

type OfOne = fn(f64) -> f64;
type OfTwo = fn(f64, f64) -> f64;

/// The suggested formulas for functions compute these functions, tested at a few points.
#[test]
fn what_stands_for_a_function_computes_it() {
    let functions: &[(&str, OfOne)] = &[
        ("square", |x| x * x),
        ("reciprocal", f64::recip),
        ("relu6", |x| x.clamp(0.0, 6.0)),
        ("leaky_relu", |x| x.max(0.01 * x)),
        ("sigmoid", sigmoid),
        ("log_sigmoid", |x| sigmoid(x).ln()),
        ("softplus", |x| x.exp().ln_1p()),
        ("silu", |x| x * sigmoid(x)),
        ("elu", |x| if x > 0.0 { x } else { x.exp_m1() }),
        ("ln", f64::ln),
        ("negative", |x| -x),
    ];
    for (name, function) in functions {
        for x in [0.25, 1.75, 7.0, -0.5, -3.0] {
            let expected = function(x);
            if expected.is_finite() {
                let found = computed(&written(&format!("{name}(x)")), &[("x", x)]);
                assert!(
                    (found - expected).abs() <= 1e-12 * expected.abs().max(1.0),
                    "{name}({x}): {found}, not {expected}"
                );
            }
        }
    }
    let pairs: &[(&str, OfTwo)] = &[
        ("floormod(x, y)", |x, y| x - y * (x / y).floor()),
        ("rem_euclid(x, y)", f64::rem_euclid),
        ("floordiv(x, y)", |x, y| (x / y).floor()),
        ("clip(x, y, 2.0)", |x, y| x.clamp(y, 2.0)),
        ("if_else(x < y, x, y)", f64::min),
        ("heaviside(x, y)", |x, y| {
            if x > 0.0 {
                1.0
            } else if x == 0.0 {
                y
            } else {
                0.0
            }
        }),
        ("l1_loss(x, y)", |x, y| (x - y).abs()),
        ("mse_loss(x, y)", |x, y| (x - y) * (x - y)),
        ("fmod(x, y)", |x, y| x % y),
        ("power(x * x, y)", |x, y| (x * x).powf(y)),
        ("subtract(x, y - x)", |x, y| x - (y - x)),
    ];
    for (call, function) in pairs {
        for (x, y) in [(0.25, 1.75), (-0.5, -3.0), (7.0, 1.5)] {
            let (found, expected) = (computed(&written(call), &[("x", x), ("y", y)]), function(x, y));
            assert!(
                (found - expected).abs() <= 1e-12 * expected.abs().max(1.0),
                "{call} at {x}, {y}: {found}"
            );
        }
    }
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// The code that the help for a call suggests.
fn written(call: &str) -> String {
    let found = mistakes(&format!("given x: f64, y: f64\n{call}"));
    let help =
        found.first().and_then(|diag| diag.help.clone()).unwrap_or_else(|| panic!("{call} has no way out"));
    help.split('`').nth(1).unwrap().to_owned()
}

/// Evaluates an expression at these numbers.
fn computed(expression: &str, at: &[(&str, f64)]) -> f64 {
    let program =
        mind_core::testing::open_program(expression).unwrap_or_else(|diags| panic!("{expression}\n{diags}"));
    let module = open::instantiate(&program, &vec![Type::scalar(DType::F64); program.leaves.len()]).unwrap();
    let number = |leaf: &open::Leaf| at.iter().find(|(name, _)| *name == leaf.text).unwrap().1;
    let inputs: Vec<_> =
        program.leaves.iter().map(|leaf| Array::new(vec![], Elements::from(vec![number(leaf)]))).collect();
    let results = run(&canonicalise(verify(module, Profile::Extended).unwrap()), &inputs).unwrap();
    match &results[0].elements {
        Elements::F64(elements) => elements[0],
        other => panic!("{expression} gives {other:?}"),
    }
}

#[test]
fn there_are_as_many_habits_as_promised() {
    let mut wrong: Vec<_> = cases().into_iter().map(|case| case.wrong).collect();
    wrong.sort();
    wrong.dedup();
    assert!(wrong.len() >= 150, "{} different mistakes", wrong.len());
}

/// Every case, in the order of the files.
fn cases() -> Vec<Case> {
    files().into_iter().flat_map(|file| read(&file)).collect()
}

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/habits");
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = entries.filter(|path| path.extension().is_some_and(|e| e == "txt")).collect();
    files.sort();
    assert!(!files.is_empty());
    files
}

fn read(file: &Path) -> Vec<Case> {
    let text = fs::read_to_string(file).unwrap();
    let cases = text.split("====\n").filter(|case| !case.trim().is_empty());
    cases
        .map(|case| {
            let (title, rest) = case.trim_start().split_once('\n').expect("a case has a title");
            let (wrong, rest) = rest.split_once("----\n").expect("a case has a line `----`");
            let (said, mended) = rest.split_once("---- mended\n").expect("a case has a line `---- mended`");
            let title = title.strip_prefix("# ").expect("a title begins with `# `").to_owned();
            Case {
                file: PathBuf::from(file.file_name().unwrap()),
                title,
                wrong: wrong.trim_end().to_owned(),
                said: said.to_owned(),
                mended: mended.trim_end().to_owned(),
            }
        })
        .collect()
}

fn bless() {
    for file in files() {
        let cases = read(&file).into_iter().map(|case| {
            let said: String = mistakes(&case.wrong).iter().map(|diag| report(&case.wrong, diag)).collect();
            format!("# {}\n{}\n----\n{said}---- mended\n{}\n====\n", case.title, case.wrong, case.mended)
        });
        fs::write(&file, cases.collect::<Vec<_>>().join("\n")).unwrap();
    }
}

/// Every error of a program, from the same phases as in the macro.
fn mistakes(text: &str) -> Vec<Diag> {
    let (given, source) = match text.strip_prefix("given ") {
        Some(rest) => rest.split_once('\n').expect("an expression stands below what is given"),
        None => ("", text),
    };
    let (program, mut diags) = parse(source.parse().expect("the program is made of tokens"));
    match &program {
        Program::Expression(expression) => {
            let (program, more) = open::lower(expression);
            diags.extend(more);
            if let Some(program) = program.filter(|_| diags.is_empty()) {
                let given = types(given);
                let leaf = |leaf: &open::Leaf| {
                    let ty = given.iter().find(|(name, _)| *name == leaf.text);
                    ty.unwrap_or_else(|| panic!("{source}: `{}` is not given", leaf.text)).1.clone()
                };
                let leaves: Vec<_> = program.leaves.iter().map(leaf).collect();
                if let Err(diag) = open::instantiate(&program, &leaves) {
                    diags.push(diag);
                }
            }
        }
        Program::Block(_) | Program::Closure(_) => {
            let (lowered, more) = lower(&program);
            diags.extend(more);
            for function in &lowered.functions {
                if let Some(source) = &function.program {
                    verify(source.module.clone(), Profile::Extended).expect("lowered modules are valid");
                }
                if let Some(result) = pipeline::compile(function) {
                    diags.keep(result);
                }
                if let Some(request) = &function.gradient
                    && let Some(result) = pipeline::compile_gradient(function, request)
                {
                    diags.keep(result);
                }
            }
        }
    }
    diags.into_iter().collect()
}

/// Reads `x: f32[2, 3], self.w: i64[3]`.
fn types(text: &str) -> Vec<(String, Type)> {
    let names = text.split(": ").map(|part| part.rsplit([' ', ',']).next().unwrap_or_default());
    let names: Vec<_> = names.take(text.matches(": ").count()).map(str::to_owned).collect();
    // In a function, names are plain identifiers.
    let plain = names
        .iter()
        .enumerate()
        .fold(text.to_owned(), |text, (i, name)| text.replacen(&format!("{name}: "), &format!("a{i}: "), 1));
    let (block, _) = parse(format!("fn f({plain}) -> i64 {{ 0 }}").parse().unwrap());
    let (lowered, diags) = lower(&block);
    assert!(diags.is_empty(), "{text}: {diags:?}");
    let parameters = lowered.functions[0].parameters.iter();
    names.into_iter().zip(parameters.map(|parameter| parameter.structure.leaves()[0].clone())).collect()
}

/// `1:40 `dim`: [E2007] …`, with further lines.
fn report(text: &str, diag: &Diag) -> String {
    let place = match (diag.site, underlined(text, diag.site)) {
        (Site::Tokens { first, .. }, Some(tokens)) => {
            let start = first.start();
            format!("{}:{} `{tokens}`", start.line, start.column + 1)
        }
        _ => "nowhere".to_owned(),
    };
    let lines = format!("{place}: {diag}\n");
    // Keeps only line and column, because the file name contains the number of strings parsed before.
    let parts = lines.split("<parsed string ").enumerate();
    parts.map(|(i, part)| part.split_once(">:").filter(|_| i > 0).map_or(part, |(_, rest)| rest)).collect()
}

/// The underlined tokens, if they are in the program.
fn underlined(text: &str, site: Site) -> Option<String> {
    let Site::Tokens { first, last } = site else { return None };
    let source = if text.starts_with("given ") { text.split_once('\n')?.1 } else { text };
    let lines: Vec<&str> = source.lines().collect();
    let (start, end) = (first.start(), last.end());
    let cut = |line: usize, from: usize, to: Option<usize>| {
        let line = lines.get(line.checked_sub(1)?)?;
        let to = to.unwrap_or(line.chars().count());
        (from < to).then(|| line.chars().take(to).skip(from).collect::<String>())
    };
    if start.line == end.line {
        return cut(start.line, start.column, Some(end.column)).filter(|text| !text.is_empty());
    }
    let middle = (start.line + 1..end.line).map(|line| cut(line, 0, None).unwrap_or_default());
    let mut parts = vec![cut(start.line, start.column, None)?];
    parts.extend(middle);
    parts.push(cut(end.line, 0, Some(end.column))?);
    Some(parts.join(" "))
}

/// Whether the number of occurrences of some code shown by the help differs between the fixed and the wrong program.
/// Dots in the shown code match any text. Help that shows no code is accepted.
fn leads_to(help: &str, case: &Case) -> bool {
    let shown: Vec<_> = help.split('`').skip(1).step_by(2).collect();
    let (wrong, mended) = (plain(&case.wrong), plain(&case.mended));
    shown.is_empty()
        || shown.iter().any(|shown| count(&mended, &plain(shown)) != count(&wrong, &plain(shown)))
}

/// A text with spaces only between words.
fn plain(text: &str) -> String {
    let words: Vec<_> = text.split_whitespace().collect();
    let mut plain = String::new();
    for word in words {
        if plain.ends_with(is_of_name) && word.starts_with(is_of_name) {
            plain.push(' ');
        }
        plain.push_str(word);
    }
    plain
}

fn is_of_name(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// Counts the occurrences of `pattern` in `text`. Its parts between dots must occur in order. A match inside a name or
/// a longer postfix form does not count.
fn count(text: &str, pattern: &str) -> usize {
    let is_name = is_of_name;
    let is_type = ["f32", "f64", "i32", "i64"].contains(&pattern);
    let is_call = pattern.contains('(');
    let of_name = |before: &str, after: &str| {
        let dot = is_call && before.ends_with('.') && !before.ends_with("..");
        pattern.starts_with(is_name) && (before.ends_with(|last: char| is_name(last) || last == '"') || dot)
            || pattern.ends_with(is_name)
                && after.starts_with(|next: char| is_name(next) || next == '[' && !is_type || next == '"')
            || after.starts_with('.') && !after.starts_with("..")
    };
    let starts = text.char_indices().map(|(at, _)| at);
    { starts }
        .filter(|start| {
            let mut at = *start;
            let mut parts = pattern.split('…');
            let first = parts.next().unwrap_or_default();
            text[at..].starts_with(first) && {
                at += first.len();
                parts.all(|part| text[at..].find(part).map(|behind| at += behind + part.len()).is_some())
                    && !of_name(&text[..*start], &text[at..])
            }
        })
        .count()
}
