//! Random programs as Rust: emitted, compiled by rustc, run, and compared with the interpreter.
//!
//! The differential tests execute plans; this one also has the emitter and the borrow checker in the loop. All programs
//! are one crate, built beside the workspace's own.

extern crate proc_macro;

#[allow(dead_code, reason = "the parts that report errors are for the macro")]
#[path = "../../mind-macros/src/emit/mod.rs"]
mod emit;

use std::{collections::BTreeSet, fmt::Write, fs, path::Path, process::Command};

use mind_core::{
    canon::canonicalise,
    dim::Dim,
    interp::{self, Elements, Value},
    ir::Module,
    ops::Profile,
    opt::optimise,
    plan::{Plan, plan},
    surface::lower::Structure,
    testing::{random_inputs, random_module},
    text::{core_ir, mic},
    ty::Type,
    verify::verify,
};
use proc_macro2::TokenStream;
use quote::format_ident;

/// Programs a run: as many as rustc compiles in a moment.
const PROGRAMS: u64 = 100;

#[test]
fn emitted_programs_compute_what_the_interpreter_does() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("emitted");
    fs::create_dir_all(folder.join("src")).expect("the target folder can be written");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let manifest = format!(
        "[package]\nname = \"emitted\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n[profile.dev]\ndebug = 0\n\n\
         [dependencies]\nmind-dsl = {{ path = {root:?}, default-features = false }}\n"
    );
    fs::write(folder.join("Cargo.toml"), manifest).expect("the target folder can be written");
    fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock")).expect("the lock file can be copied");
    let cases: Vec<Case> = (0..).filter_map(case).take(PROGRAMS as usize).collect();
    fs::write(folder.join("src/main.rs"), program(&cases)).expect("the target folder can be written");
    let output = Command::new(env!("CARGO"))
        .args(["run", "--quiet", "--offline", "--target-dir"])
        .arg(Path::new(env!("CARGO_TARGET_TMPDIR")).join("emitted-target"))
        .current_dir(&folder)
        .output()
        .expect("cargo runs");
    let text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{text}");
    assert!(text.contains(&format!("{PROGRAMS} programs agree")), "{text}");
}

/// A program with inputs and what the interpreter makes of them.
struct Case {
    name: String,
    module: Module,
    plan: Plan,
    inputs: Vec<Value>,
    expected: Vec<Value>,
}

/// The program of a seed, if the macro could make it and it runs: every symbol is a dimension of its own somewhere.
fn case(seed: u64) -> Option<Case> {
    let module = random_module(seed, 4 + (seed % 12) as usize);
    let canonical = canonicalise(verify(module.clone(), Profile::Extended).expect("random modules verify"));
    let inputs = random_inputs(&canonical, seed)?;
    let expected = interp::run(&canonical, &inputs).ok()?;
    let plan = plan(&optimise(&canonical), &[]);
    let own: BTreeSet<_> = canonical.inputs().flat_map(|(_, ty)| ty.shape.to_vec()).collect();
    let bound = |symbol: &std::sync::Arc<str>| own.contains(&Dim::symbol(symbol.clone()));
    plan.symbols.iter().all(bound).then(|| Case {
        name: format!("case_{seed}"),
        module,
        plan,
        inputs,
        expected,
    })
}

fn program(cases: &[Case]) -> String {
    let mut text =
        String::from("#![allow(warnings)]\nuse mind::{Const, Element, Shape, Tensor, TensorRef};\n\n");
    for case in cases {
        let _ = writeln!(text, "{}\n", items(case));
        let _ = writeln!(text, "{}", check(case));
    }
    text.push_str("fn main() {\n");
    for case in cases {
        let _ = writeln!(text, "    check_{}();", case.name);
    }
    let _ = writeln!(text, "    println!(\"{} programs agree\");\n}}", cases.len());
    text.push_str(
        "
fn agree(case: &str, output: usize, found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len(), \"{case}: output {output}\");
    let finite = expected.iter().filter(|v| v.is_finite());
    let largest = finite.fold(1.0, |largest: f64, v| largest.max(v.abs()));
    for (found, expected) in found.iter().zip(expected) {
        let extreme = !found.is_finite() || !expected.is_finite() || largest > 1e30;
        let close = (found - expected).abs() <= tolerance * largest;
        assert!(found == expected || extreme || close, \"{case}: output {output}: {found}, expected {expected}\");
    }
}
",
    );
    text
}

fn items(case: &Case) -> String {
    let leaves: Vec<_> = case.plan.results.iter().cloned().map(Structure::Value).collect();
    let parameters = case.module.inputs().map(|(name, ty)| emit::Parameter {
        name: format_ident!("{}", &**name),
        structure: Structure::Value(ty.clone()),
        update: false,
    });
    let (root, _) = emit::Root::take(TokenStream::new());
    let item = emit::Item {
        root: &root,
        attributes: Default::default(),
        visibility: Default::default(),
        name: format_ident!("{}", case.name),
        symbols: case.plan.symbols.iter().map(|symbol| format_ident!("{}", &**symbol)).collect(),
        parameters: parameters.collect(),
        result: Structure::Tuple(leaves),
        plan: &case.plan,
        value_name: &|_| None,
        import: TokenStream::new(),
        constants: emit::Constants {
            core_ir: core_ir::print(&case.module),
            mic: mic::print(&case.module),
            params: Dim::ZERO,
            flops: Dim::ZERO,
        },
    };
    emit::item(&item).to_string()
}

/// A function that calls the program on its inputs and compares each result.
fn check(case: &Case) -> String {
    let mut text = format!("fn check_{}() {{\n", case.name);
    let mut arguments = String::new();
    for (position, ((_, ty), value)) in case.module.inputs().zip(&case.inputs).enumerate() {
        let elements = list(&value.elements);
        if ty.rank() == 0 {
            let _ = writeln!(text, "    let input_{position} = {elements}[0];");
            let _ = write!(arguments, "input_{position}, ");
        } else {
            let dims = dims(ty, &value.shape);
            let _ = writeln!(
                text,
                "    let input_{position} = Tensor::from_vec({dims}, {elements}.to_vec()).unwrap();"
            );
            let _ = write!(arguments, "&input_{position}, ");
        }
    }
    let _ = writeln!(text, "    let outputs = {}({arguments});", case.name);
    for (position, value) in case.expected.iter().enumerate() {
        let tolerance = match value.elements {
            Elements::F32(_) => "1e-4",
            Elements::F64(_) => "1e-11",
            Elements::I32(_) | Elements::I64(_) => "0.0",
        };
        let found = match value.shape[..] {
            [] => format!("&[outputs.{position} as f64]"),
            _ => format!("&outputs.{position}.iter().map(|v| *v as f64).collect::<Vec<_>>()"),
        };
        let expected: Vec<String> = value.elements.to_f64().into_iter().map(float).collect();
        let expected = expected.join(", ");
        let _ =
            writeln!(text, "    agree({:?}, {position}, {found}, &[{expected}], {tolerance});", case.name);
    }
    text.push_str("}\n");
    text
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
    }
}

fn float(value: f64) -> String {
    format!("f64::from_bits({:#x})", value.to_bits())
}
