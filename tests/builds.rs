//! Errors in expressions that `cargo check` cannot see, because they depend on the caller's generic parameters or on a
//! type that is inferred later. `cargo build` reports them.
#![cfg(gate)]

use std::{fs, path::Path};

use mind_tests::{Project, few, is_tried, sample};

struct Case {
    name: &'static str,
    source: &'static str,
    /// The error message, and the location in the user's program that is shown with it.
    says: &'static str,
    at: &'static str,
}

const CASES: [Case; 4] = [
    Case {
        name: "generic_shapes",
        source: "
use mind::{Const, Dim, Tensor, TensorRef, mind};

fn project<N: Dim>(x: &TensorRef<f32, (N, Const<3>)>, w: &TensorRef<f32, (N, Const<2>)>) -> Vec<f32> {
    mind!(late: relu(x @ w)).into_vec()
}

fn main() {
    let square: Tensor![f32; 3, 3] = Tensor::zeros();
    project(&square, &Tensor::from([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]));
    let x: Tensor![f32; 4, 3] = Tensor::zeros();
    project(&x, &Tensor::zeros());
}
",
        says: "[E3003] `@`: inner dimensions differ, 3 and 4: x is f32[4, 3], w is f32[4, 2]",
        at: "src/bin/generic_shapes.rs:5:24",
    },
    Case {
        name: "another_shape_is_written",
        source: "
use mind::{Tensor, mind};

fn main() {
    let x: Tensor![f32; 2, 3] = Tensor::zeros();
    let _: Tensor![f32; 2, 3] = mind!(x @ x.T).into();
}
",
        says: "[E2001] the expression: expected f32[2, 3], found f32[2, 2]",
        at: "src/bin/another_shape_is_written.rs:6:33",
    },
    Case {
        name: "another_rank_is_written",
        source: "
use mind::{Tensor, mind};

fn main() {
    let x: Tensor![f32; 2, 3] = Tensor::zeros();
    let _: Tensor![f32; 2] = mind!(x @ x.T).into();
}
",
        says: "[E2001] the expression: expected f32[2], found f32[2, 2]",
        at: "src/bin/another_rank_is_written.rs:6:30",
    },
    Case {
        name: "a_tensor_is_no_number",
        source: "
use mind::{Tensor, mind};

fn main() {
    let x: Tensor![f32; 2, 3] = Tensor::zeros();
    println!(\"{}\", f32::from(mind!(sum(x, axis = 0))));
}
",
        says: "[E2001] the expression: expected f32, found f32[3]",
        at: "src/bin/a_tensor_is_no_number.rs:6:20",
    },
];

#[test]
fn what_check_cannot_see_is_an_error_of_the_build() {
    let project = project("builds", &["knossos"], CASES.iter().map(|case| (case.name, case.source)));
    let (checks, text) = cargo(&project, &["check"]);
    assert!(checks, "{text}");
    let (builds, text) = cargo(&project, &["build", "--keep-going"]);
    assert!(!builds, "{text}");
    assert_eq!(
        text.matches("\nerror[E0080]").count() + usize::from(text.starts_with("error[E0080]")),
        CASES.len(),
        "{text}"
    );
    for case in &CASES {
        assert!(text.contains(case.says), "{}: {text}", case.name);
        assert!(text.contains(case.at), "{}: {text}", case.name);
    }
}

#[test]
fn a_knossos_program_without_its_feature_says_what_to_write() {
    let source = "mind::ks!(r#\"(def one Float () 1.0)\"#);\nfn main() {}\n";
    // Without the feature, this builds the whole compiler once more.
    for features in
        sample("builds of a program in Knossos, with its feature and without", [&["knossos"][..], &[]])
    {
        let project = project("builds-knossos", features, [("knossos", source)]);
        let (checks, text) = cargo(&project, &["check"]);
        assert_eq!(checks, !features.is_empty(), "{text}");
        if !checks {
            assert!(text.contains("add `features = [\"knossos\"]` to `mind-dsl` in Cargo.toml"), "{text}");
            assert!(text.contains("src/bin/knossos.rs:1:1"), "{text}");
        }
    }
}

#[test]
fn a_file_with_angle_brackets_keeps_its_lines_and_is_compiled_anew_when_it_changes() {
    let source = "mod model { mind::angle_include!(\"../model.rs\"); }\nfn main() { println!(\"{}\", model::sum()); }\n";
    let project = project("builds-angle", &["knossos"], [("angle", source)]);
    let model = |body: &str| {
        let text = format!(
            "//! A model.\nuse mind::{{Tensor, mind}};\n\npub fn sum() -> f32 {{\n    let x: Tensor![f32; 2] = Tensor::full(2.0);\n    \
             {body}\n}}\n"
        );
        project.write("src/model.rs", text);
    };
    let run = ["run", "--bin", "angle"];
    model("mind!< sum(x * y) >.into()");
    let (runs, text) = cargo(&project, &run);
    assert!(!runs && text.contains("cannot find value `y`") && text.contains("src/model.rs:6:20"), "{text}");
    model("let s: i32 = mind!< sum(x) >.into(); s");
    let (runs, text) = cargo(&project, &run);
    assert!(!runs && text.contains("src/model.rs:6:"), "{text}");
    model("mind!< sum(x)");
    let (runs, text) = cargo(&project, &run);
    assert!(
        !runs && text.contains("found the end, expected `>`") && text.contains("src/bin/../model.rs:6:5"),
        "{text}"
    );
    for factor in ["2.0", "3.0"] {
        model(&format!("mind!< {factor} * sum(x) >.into()"));
        let (runs, text) = cargo(&project, &run);
        assert!(runs, "{text}");
        assert_eq!(text.trim(), if factor == "2.0" { "8" } else { "12" });
        // The copy and the file are not newer than the build.
        let (_, text) = cargo(&project, &["build", "--bin", "angle", "--message-format=json"]);
        let artifacts = text
            .lines()
            .filter(|line| line.contains(r#""name":"angle""#) && line.contains("compiler-artifact"));
        assert!(
            artifacts.clone().count() == 1 && artifacts.clone().all(|line| line.contains(r#""fresh":true"#)),
            "{text}"
        );
    }
}

/// In a debug build, a user's crate compiles no kernels that are the same in every program, even if libraries are
/// optimised.
#[test]
fn kernels_that_are_the_same_in_every_program_are_not_compiled_in_it() {
    if !is_tried("a program beside an optimised run time") {
        return;
    }
    let source = "
use mind::{Tensor, mind};

mind! {
    fn turned<N, M>(x: f32[N, M]) -> f32[M, N] { x.T }
    fn columns<N, M>(x: f32[N, M]) -> f32[M] { sum(x, axis = 0) }
    fn total<N>(table: f32[N, 4], ids: i32[3]) -> f32 { sum(gather(table, ids)) }
    fn passed_back<N>(table: f32[N, 4], ids: i32[3]) -> f32[N, 4] { grad(total, wrt = table)(table, ids) }
}

fn main() {
    let x: Tensor![f32; 5, 4] = Tensor::full(1.0);
    let ids: Tensor![i32; 3] = Tensor::from([4, 0, 4]);
    assert!(turned(&turned(&x)) == x && columns(&x) == Tensor::full(5.0));
    assert!(passed_back(&x, &ids) == mind!(grad(sum(gather(x, ids)), wrt = x)));
    let _ = (mind!(x.T), mind!(sum(x, axis = 0)), mind!(sum(x)), mind!(x[1..3, ..]), mind!(gather(x, ids)));
}
";
    let project = project("builds-kernels", &["knossos"], [("kernels", source)]);
    let listing = project.write("kernels.ll", "");
    let emit = format!("--emit=llvm-ir={}", listing.display());
    let flags = ["-Ccodegen-units=1", "-Csymbol-mangling-version=v0", &emit];
    // An optimised library does not share its instances of generic functions.
    let optimised = ["--config", "profile.dev.package.mind-rt.opt-level=3"];
    let arguments = [&["rustc", "--bin", "kernels"], &optimised[..], &["--"], &flags].concat();
    let (builds, text) = cargo(&project, &arguments);
    assert!(builds, "{text}");
    let listing = fs::read_to_string(listing).expect("rustc has written it");
    let defined = |name: &str| listing.lines().any(|line| line.starts_with("define ") && line.contains(name));
    // The names are mangled, with their lengths. The libraries' names may have the older mangling.
    for method in ["12copy_strided", "6gather", "11scatter_add", "11sum_columns", "9are_equal", "4fill"] {
        // `<f32 as Compiled>::method`, or the same as a method of an `impl` block.
        let of = ["8Compiled", "4Sums", "$GT$"];
        let is_called = of.map(|of| listing.contains(&format!("{of}{method}")));
        assert!(is_called.contains(&true), "{method} is not called");
    }
    for kernel in ["9copy_axes", "9Transpose", "10ScatterAdd", "7Columns", "8InChains", "8SpecFill"] {
        assert!(!defined(kernel), "{kernel} is compiled in the program");
    }
}

/// A public function whose extents only run time knows is compiled in the library that contains it. With extents that
/// the caller's types know, it is compiled for these in the caller's crate.
#[test]
fn a_function_of_a_library_is_compiled_once_for_extents_of_run_time() {
    let library = "mind::mind! { pub fn doubled<N, M>(x: f32[N, M]) -> f32[N, M] { exp(x) * 2.0 } }\n";
    let program = |tensor: &str| {
        format!(
            "fn main() {{ assert!(builds_once::doubled(&mind::Tensor::<f32, _>::{tensor}).iter().all(|y| *y == 2.0)); }}\n"
        )
    };
    let (open, known) =
        (program("zeros_with((2_usize, 3_usize))"), program("zeros_with((2_usize, mind::Const::<3>))"));
    let project = project("builds-once", &[], [("open", &*open), ("known", &*known)]);
    project.write("src/lib.rs", library);
    for (name, compiles) in [("open", false), ("known", true)] {
        let listing = project.write(&format!("{name}.ll"), "");
        let emit = format!("--emit=llvm-ir={}", listing.display());
        let (builds, text) = cargo(
            &project,
            &["rustc", "--bin", name, "--", "-Ccodegen-units=1", "-Csymbol-mangling-version=v0", &emit],
        );
        assert!(builds, "{text}");
        let listing = fs::read_to_string(listing).expect("rustc has written it");
        let defines = listing.lines().any(|line| line.starts_with("define ") && line.contains("6Kernel"));
        assert_eq!(defines, compiles, "the loop of `{name}`");
        let (runs, text) = cargo(&project, &["run", "--bin", name]);
        assert!(runs, "{text}");
    }
}

/// The corrected programs of `mind-core/tests/habits`, in one crate: the code that error messages suggest compiles.
#[test]
fn what_mends_habits_of_other_libraries_compiles() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../mind-core/tests/habits");
    let entries = fs::read_dir(folder)
        .expect("the habits are there")
        .map(|entry| entry.expect("it can be read").path());
    let mut files: Vec<_> = entries.filter(|path| path.extension().is_some_and(|e| e == "txt")).collect();
    files.sort();
    let mut programs = Vec::new();
    for file in files {
        let text = fs::read_to_string(file).expect("it can be read");
        let mended = text.split("====\n").filter_map(|case| case.split_once("---- mended\n"));
        programs.extend(mended.map(|(_, program)| program.trim_end().to_owned()));
    }
    assert!(programs.len() >= 150, "{} programs", programs.len());
    let mut source = "#![allow(dead_code, unused_variables)]\nfn main() {}\n".to_owned();
    for (number, program) in few("mended programs", programs).iter().enumerate() {
        source += &in_rust(program, number);
    }
    let project = project("builds-habits", &["knossos"], [("habits", &*source)]);
    let (checks, text) = cargo(&project, &["check"]);
    assert!(checks, "{text}");
}

/// A program as Rust code: functions are in a module, closures and expressions in a function.
fn in_rust(program: &str, number: usize) -> String {
    if let Some(rest) = program.strip_prefix("given ") {
        let (given, expression) = rest.split_once('\n').expect("an expression stands below what is given");
        let dtypes = ["f32", "f64", "i32", "i64", "bool"];
        let parameters = dtypes.iter().fold(given.to_owned(), |given, dtype| {
            given.replace(&format!(": {dtype}["), &format!(": &mind::Tensor![{dtype}; "))
        });
        return format!("fn case_{number}({parameters}) {{ _ = mind::mind! {{ {expression} }}; }}\n");
    }
    if program.starts_with('|') {
        return format!("fn case_{number}() {{ _ = mind::mind!({program}); }}\n");
    }
    format!("mod case_{number} {{ mind::mind! {{\n{program}\n}} }}\n")
}

/// A crate with these programs.
fn project<'a>(
    name: &str,
    features: &[&str],
    programs: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Project {
    let project = Project::new(env!("CARGO_TARGET_TMPDIR"), name, features);
    for (name, source) in programs {
        project.write(&format!("src/bin/{name}.rs"), source);
    }
    project
}

/// Runs cargo and returns whether it succeeds, and its output.
fn cargo(project: &Project, arguments: &[&str]) -> (bool, String) {
    let output = project.cargo(arguments, &[]);
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&text).into_owned())
}
