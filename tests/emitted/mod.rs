//! Random programs are emitted as Rust, compiled by rustc, run, and compared with the interpreter.
//!
//! The differential tests execute plans. These tests also cover the emitter and the borrow checker. All programs are in
//! one crate, which is built beside those of the workspace.

mod by_hand;
mod every_row;
#[path = "../support/extents.rs"]
mod extents;
mod huge;
mod knossos;
mod length;
mod slopes;

use std::{
    collections::{BTreeMap, BTreeSet},
    env,
    fmt::Write,
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

use mind_core::{
    canon::canonicalise,
    dim::{Bindings, Dim},
    interp::{Array, Elements},
    ops::Profile,
    opt::{optimise, unoptimised},
    plan::{Limits, Plan, Update, plan_by},
    surface::lower::Structure,
    testing::{Bounded, possible_updates, random_inputs, random_module, run_bounded},
    ty::{DType, Type},
    verify::verify,
};
use mind_tests::{Project, few, is_in_gate, sample};
use proc_macro2::TokenStream;
use quote::format_ident;

use crate::{differential::execute, emit};

/// The number of random programs if all are tried.
const PROGRAMS: usize = 100;

#[test]
fn emitted_programs_compute_what_the_interpreter_does() {
    if !is_in_gate("programs that are emitted") {
        return;
    }
    let random: Vec<Case> = (0..).filter_map(case).take(PROGRAMS).collect();
    assert_varied(&random);
    let mut cases = few("random programs", random);
    cases.extend(sample("plans by hand", by_hand::plans()).into_iter().map(case_by_hand));
    let text = run("emitted", &program(&cases));
    assert!(text.contains(&format!("{} programs agree", cases.len())), "{text}");
}

#[test]
fn every_row_is_what_the_interpreter_has_it_be() {
    if !is_in_gate("the programs of rows") {
        return;
    }
    let cases = few("rows", every_row::cases());
    let text = run("every_row", &program(&cases));
    assert!(text.contains(&format!("{} programs agree", cases.len())), "{text}");
}

#[test]
fn derivatives_of_every_row_are_within_their_bounds() {
    if !is_in_gate("derivatives of rows") {
        return;
    }
    let exact = slopes::exact();
    let all = few("derivatives", slopes::all(&exact));
    let program = compile("slopes", &slopes::program(&all));
    let [given, found] = ["operands.bin", "found.bin"].map(|name| program.with_file_name(name));
    fs::write(&given, slopes::operands(&all)).expect("the target folder can be written");
    let mut errors = slopes::Errors::default();
    for level in slopes::LEVELS {
        execute_binary(Command::new(&program).args([&given, &found]).env("MIND_SIMD", level));
        errors.join(&all, &fs::read(&found).expect("the program writes what it found"));
    }
    errors.check();
    slopes::check_tables();
}

/// Builds a program as a crate with this name, runs it and returns its output.
fn run(name: &str, program: &str) -> String {
    execute_binary(&mut Command::new(compile(name, program)))
}

/// The output of a program, which must succeed.
fn execute_binary(program: &mut Command) -> String {
    let output = program.output().expect("the program runs");
    let text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{text}");
    text
}

/// Builds a program as a crate with this name.
///
/// This calls rustc directly, because Cargo would build the crates of the tests one after the other.
fn compile(name: &str, program: &str) -> PathBuf {
    let source = folder(name).join("main.rs");
    let binary = source.with_file_name(format!("main{}", env::consts::EXE_SUFFIX));
    fs::write(&source, program).expect("the target folder can be written");
    let Library { file, dependencies } = LIBRARY.get_or_init(library);
    let rustc = Path::new(env!("CARGO")).with_file_name(format!("rustc{}", env::consts::EXE_SUFFIX));
    let mut rustc = Command::new(rustc);
    let rustc = rustc.args(["--edition", "2024", "-C", "debug-assertions=on", "-C", "overflow-checks=on"]);
    let rustc = rustc.arg("--extern").arg(format!("mind={}", file.display()));
    let rustc = dependencies.iter().fold(rustc, |rustc, folder| rustc.arg("-L").arg(folder));
    let output = rustc.arg("-o").arg(&binary).arg(&source).output().expect("rustc runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    binary
}

/// The folder of the program of a test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).expect("the target folder can be written");
    folder
}

/// The library with which programs are built.
struct Library {
    file: PathBuf,
    /// The folders of its dependencies, for the target and for the compiler.
    dependencies: Vec<PathBuf>,
}

static LIBRARY: OnceLock<Library> = OnceLock::new();

/// Builds the library as Cargo builds it for a crate that depends on it.
fn library() -> Library {
    let project = Project::new(env!("CARGO_TARGET_TMPDIR"), "emitted-library", &["fft", "knossos"]);
    project.write("src/lib.rs", "");
    let output = project.cargo(&["build", "--message-format=json"], &[]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let messages = String::from_utf8_lossy(&output.stdout);
    // The file of a crate with this ending.
    let made = |name: &str, end: &str| {
        let of_crate =
            |line: &&str| line.contains("compiler-artifact") && line.contains(&format!(r#""name":"{name}""#));
        let artifact = messages.lines().find(of_crate).expect("cargo says what it made");
        let file = artifact.split('"').find(|text| text.ends_with(end)).expect("it made such a file");
        PathBuf::from(file.replace(r"\\", r"\"))
    };
    let file = made("mind", ".rlib");
    let macros = made("mind_macros", env::consts::DLL_SUFFIX);
    let folder = |file: &Path| file.parent().expect("it is in a folder").to_owned();
    Library { dependencies: vec![folder(&file), folder(&macros)], file }
}

/// A program with inputs, and the interpreter's results.
struct Case {
    name: String,
    plan: Plan,
    inputs: Vec<Array>,
    /// The returned results.
    expected: Vec<Bounded>,
    /// The updated inputs after the call, by position.
    updated: BTreeMap<usize, Bounded>,
    /// Expressions that are computed as well.
    bare: Vec<Bare>,
}

/// An expression over `input_0` and so on.
struct Bare {
    expression: String,
    /// The output that it must be equal to.
    output: usize,
}

/// The program of a seed. Returns `None` if the macro could not make it, or if it does not run: every symbol must be a
/// dimension of an input. One program in three is not optimised. Every other one updates the inputs that it can.
fn case(seed: u64) -> Option<Case> {
    let module = random_module(seed, 4 + (seed % 12) as usize);
    let canonical = canonicalise(verify(module, Profile::Extended).expect("random modules verify"));
    let inputs = random_inputs(&canonical, seed)?;
    let mut outputs: Vec<_> = run_bounded(&canonical, &inputs).ok()?.into_iter().map(Some).collect();
    let updates = if seed.is_multiple_of(2) { possible_updates(&canonical) } else { Vec::new() };
    let program = if seed.is_multiple_of(3) { unoptimised(&canonical) } else { optimise(&canonical) };
    // Every other program runs its products in strips of a few elements.
    let limits = if seed % 4 < 2 { Limits { large: 1, larger: 0, bytes: 16 } } else { Limits::default() };
    let plan = plan_by(&program, &updates, &limits);
    let own: BTreeSet<_> = canonical.inputs().flat_map(|(_, ty)| ty.shape.to_vec()).collect();
    let bound = |symbol: &std::sync::Arc<str>| own.contains(&Dim::symbol(symbol.clone()));
    let mut after = |update: &Update| Some((update.input, outputs[update.output].take()?));
    let updated =
        updates.iter().map(|update| after(update).expect("each output goes to one input")).collect();
    plan.symbols.iter().all(bound).then(|| Case {
        name: format!("case_{seed}"),
        plan,
        inputs,
        expected: outputs.into_iter().flatten().collect(),
        updated,
        bare: Vec::new(),
    })
}

/// Checks that the random programs differ in everything that affects the emitted code.
fn assert_varied(cases: &[Case]) {
    let count = |what: &dyn Fn(&Case) -> bool| cases.iter().filter(|case| what(case)).count();
    for (what, count) in [
        ("extents at run time", count(&|case| !case.plan.symbols.is_empty())),
        ("several results", count(&|case| case.expected.len() > 1)),
        ("updates", count(&|case| !case.updated.is_empty())),
    ] {
        assert!(count * 7 > cases.len(), "{count} of {} have {what}", cases.len());
    }
}

/// A handwritten plan, with the results of the executor of plans.
fn case_by_hand((name, plan, inputs): (String, Plan, Vec<Array>)) -> Case {
    let mut bindings = Bindings::new();
    for (parameter, value) in plan.inputs.iter().zip(&inputs) {
        for (dim, extent) in parameter.ty.shape.iter().zip(&value.shape) {
            if let Some(symbol) = dim.as_symbol() {
                bindings.insert(symbol.clone(), Dim::literal(*extent as i64));
            }
        }
    }
    let run = |nests: execute::Nests| {
        execute::execute(&plan, &inputs, &bindings, nests)
            .unwrap_or_else(|failure| panic!("{name} cannot fail, but does: {}", failure.error))
    };
    let (outcome, lowered) = (run(execute::Nests::Defined), run(execute::Nests::Lowered));
    for (expected, found) in outcome.results.iter().zip(&lowered.results) {
        nearly(expected.clone()).check(found).unwrap_or_else(|why| panic!("{name}: {why}"));
    }
    let after = outcome.inputs.into_iter().enumerate().filter(|(input, _)| plan.inputs[*input].updated);
    Case {
        updated: after.map(|(input, value)| (input, nearly(value))).collect(),
        expected: outcome.results.into_iter().map(nearly).collect(),
        name,
        plan,
        inputs,
        bare: Vec::new(),
    }
}

/// Accepts small differences: the kernels and their order are the same, but rustc chooses how loops are fused.
fn nearly(value: Array) -> Bounded {
    let elements = value.elements.to_f64();
    let largest = elements.iter().fold(1.0, |largest: f64, element| largest.max(element.abs()));
    Bounded { bounds: vec![1e-4 * largest; elements.len()], value }
}

fn program(cases: &[Case]) -> String {
    let mut text =
        String::from("#![allow(warnings)]\nuse mind::{Const, Element, Shape, Tensor, TensorRef, mind};\n\n");
    // In every other program each step is a separate function.
    let each_step = emit::Lengths { whole: 0, part: 0 };
    for (case, lengths) in cases.iter().zip([each_step, emit::Lengths::DEFAULT].into_iter().cycle()) {
        let _ = writeln!(text, "{}\n", items(&case.name, &case.plan, lengths));
        let _ = writeln!(text, "{}", check(case));
    }
    assert!(text.contains("part_0"), "no program is in parts");
    text.push_str("fn main() {\n");
    for case in cases {
        let _ = writeln!(text, "    check_{}();", case.name);
    }
    let _ = writeln!(text, "    println!(\"{} programs agree\");\n}}", cases.len());
    text.push_str(
        "
fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(4).map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap())).collect()
}

fn agree(case: &str, output: usize, found: &[f64], expected: &[f64], bounds: &[f64]) {
    assert_eq!(found.len(), expected.len(), \"{case}: output {output}\");
    for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
        let bound = bounds[i.min(bounds.len() - 1)];
        let near = found == expected || bound.is_infinite() || (found - expected).abs() <= bound;
        assert!(near, \"{case}: output {output}: {found}, expected {expected} within {bound}\");
    }
}
",
    );
    text
}

/// The items of a program.
fn items(name: &str, plan: &Plan, lengths: emit::Lengths) -> String {
    let leaves: Vec<_> = plan.results.iter().cloned().map(Structure::Value).collect();
    let parameters = plan.inputs.iter().map(|input| emit::Parameter {
        name: format_ident!("{}", &*input.name),
        structure: Structure::Value(input.ty.clone()),
        update: input.updated,
        end: proc_macro2::Span::call_site(),
    });
    let (root, _) = emit::Root::take(TokenStream::new());
    let item = emit::Item {
        root: &root,
        attributes: Default::default(),
        visibility: Default::default(),
        name: format_ident!("{name}"),
        symbols: plan.symbols.iter().map(|symbol| format_ident!("{}", &**symbol)).collect(),
        parameters: parameters.collect(),
        result: Structure::Tuple(leaves),
        plan,
        value_name: &|_| None,
        value_span: &|_| None,
        watched_text: &|_| emit::WatchedText::default(),
        import: TokenStream::new(),
        memory: None,
        arguments: emit::Arguments::OF_ITEMS,
        lengths,
        constants: emit::Constants {
            core_ir: String::new(),
            mic: String::new(),
            updates: Vec::new(),
            params: Dim::ZERO,
            flops: Dim::ZERO,
        },
    };
    emit::Emitter::new(&item).items().to_string()
}

/// A function that calls the program on its inputs and compares each result.
fn check(case: &Case) -> String {
    let mut text = format!("fn check_{}() {{\n", case.name);
    let mut arguments = String::new();
    for (position, (input, value)) in case.plan.inputs.iter().zip(&case.inputs).enumerate() {
        let ty = &input.ty;
        let elements = in_a_file(&value.elements, &format!("{}_input_{position}", case.name))
            .unwrap_or_else(|| list(&value.elements));
        let made = match ty.rank() {
            0 => format!("{elements}[0]"),
            _ => format!("Tensor::from_vec({}, {elements}.to_vec()).unwrap()", dims(ty, &value.shape)),
        };
        let _ = writeln!(text, "    let mut input_{position} = {made};");
        let lent = match (ty.rank(), input.updated) {
            (_, true) => "&mut ",
            (0, false) => "",
            (_, false) => "&",
        };
        let _ = write!(arguments, "{lent}input_{position}, ");
    }
    write_into_form(&mut text, case, &arguments);
    let _ = writeln!(text, "    let outputs = {}({arguments});", case.name);
    for (position, expected) in case.expected.iter().enumerate() {
        for results in ["outputs", "written"] {
            let output = elements(&format!("{results}.{position}"), &expected.value);
            agree(&mut text, &case.name, position, &output, expected);
        }
    }
    for (input, expected) in &case.updated {
        let found = elements(&format!("input_{input}"), &expected.value);
        agree(&mut text, &case.name, case.expected.len() + input, &found, expected);
    }
    for Bare { expression, output } in &case.bare {
        let _ = writeln!(text, "    let found = mind!({expression});");
        let expected = &case.expected[*output];
        agree(&mut text, &case.name, *output, &of_tensor("found", expected.value.dtype()), expected);
    }
    text.push_str("}\n");
    text
}

/// Calls the form that writes to the caller's results, with a new workspace, on copies of the inputs.
fn write_into_form(text: &mut String, case: &Case, arguments: &str) {
    let (mut made, mut out, mut written) = (String::new(), String::new(), String::new());
    for input in 0..case.inputs.len() {
        let _ = writeln!(made, "        let mut input_{input} = input_{input}.clone();");
    }
    for (output, (expected, ty)) in case.expected.iter().zip(&case.plan.results).enumerate() {
        let (value, place) = match ty.rank() {
            0 => ("Default::default()".to_string(), "&mut"),
            _ => (format!("Tensor::zeros_with({})", dims(ty, &expected.value.shape)), "&mut *"),
        };
        let _ = writeln!(made, "        let mut out_{output} = {value};");
        let _ = write!(out, "{place} out_{output}, ");
        let _ = write!(written, "out_{output}, ");
    }
    let out = if out.is_empty() { out } else { format!("({out}), ") };
    let name = &case.name;
    let _ = writeln!(
        text,
        "    let written = {{\n{made}        {name}_into({arguments}{out}&mut mind::Workspace::new()).unwrap();\n        \
         ({written})\n    }};"
    );
}

/// The elements of a tensor.
fn of_tensor(variable: &str, dtype: DType) -> String {
    format!("&{variable}.iter().map(|v| {}).collect::<Vec<_>>()", as_float("*v", dtype))
}

/// An element as a float.
fn as_float(element: &str, dtype: DType) -> String {
    if dtype == DType::Bool { format!("f64::from({element})") } else { format!("{element} as f64") }
}

/// The elements of a variable that holds a returned result or an updated parameter.
fn elements(variable: &str, value: &Array) -> String {
    match value.shape[..] {
        [] => format!("&[{}]", as_float(variable, value.dtype())),
        _ => of_tensor(variable, value.dtype()),
    }
}

/// Writes the code that compares elements.
fn agree(text: &mut String, case: &str, position: usize, found: &str, expected: &Bounded) {
    let Bounded { value, bounds } = expected;
    let floats = |elements: &[f64]| elements.iter().copied().map(float).collect::<Vec<_>>().join(", ");
    let expected = match in_a_file(&value.elements, &format!("{case}_{position}")) {
        Some(read) => format!("&{read}.iter().map(|v| *v as f64).collect::<Vec<_>>()"),
        None => format!("&[{}]", floats(&value.elements.to_f64())),
    };
    // The last bound stands for all equal ones at the end.
    let repeated = bounds.iter().rev().take_while(|bound| bounds.last() == Some(*bound)).count();
    let bounds = floats(&bounds[..=bounds.len() - repeated]);
    let _ = writeln!(text, "    agree({case:?}, {position}, {found}, {expected}, &[{bounds}]);");
}

/// Writes many elements to a file, which rustc reads faster than literals. Returns the expression that reads it.
fn in_a_file(elements: &Elements, name: &str) -> Option<String> {
    let Elements::F32(elements) = elements else { return None };
    if elements.len() <= 1000 {
        return None;
    }
    let bytes: Vec<u8> = elements.iter().flat_map(|element| element.to_le_bytes()).collect();
    let path = folder("elements").join(format!("{name}.bin"));
    fs::write(&path, bytes).expect("the target folder can be written");
    Some(format!("floats(include_bytes!({path:?}))"))
}

fn dims(ty: &Type, extents: &[usize]) -> String {
    let dims = ty.shape.iter().zip(extents);
    let dims = dims.map(|(dim, extent)| match dim.as_literal() {
        Some(extent) => format!("Const::<{extent}>, "),
        None => format!("{extent}_usize, "),
    });
    format!("({})", dims.collect::<String>())
}

fn list(elements: &Elements) -> String {
    match elements {
        Elements::U8(elements) => {
            format!("[{}]", elements.iter().map(|v| format!("{v}_u8, ")).collect::<String>())
        }
        Elements::I32(elements) => {
            format!("[{}]", elements.iter().map(|v| format!("{v}_i32, ")).collect::<String>())
        }
        Elements::I64(elements) => {
            format!("[{}]", elements.iter().map(|v| format!("{v}_i64, ")).collect::<String>())
        }
        Elements::F32(elements) => {
            format!("[{}]", elements.iter().map(|v| format!("{v:?}_f32, ")).collect::<String>())
        }
        Elements::F64(elements) => {
            format!("[{}]", elements.iter().map(|v| format!("{v:?}_f64, ")).collect::<String>())
        }
        Elements::Bool(elements) => {
            format!("[{}]", elements.iter().map(|v| format!("{v}, ")).collect::<String>())
        }
    }
}

fn float(value: f64) -> String {
    format!("f64::from_bits({:#x})", value.to_bits())
}
