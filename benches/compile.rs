//! What programs cost to compile: a crate is generated for each workload, its dependencies are built, and then it alone is
//! timed.
//!
//! `cargo bench --bench compile`

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

fn main() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("compile");
    let project = Project::new(folder);
    for (what, end) in [("", ""), (", its type written", " : f32[32, 64]")] {
        let chain = project.time(&["check"], &chain(30, end));
        println!("check, a chain of 30 expressions{what}: {chain:.2} s");
    }
    println!(
        "release build, 100 expressions of 10 operations: {:.1} s",
        project.time(&["build", "--release"], &hundred())
    );
    for operations in [250, 500, 1000, 2000] {
        let function = function(operations);
        let (check, build) =
            (project.time(&["check"], &function), project.time(&["build", "--release"], &function));
        println!("a function of {operations} operations: check {check:.2} s, release build {build:.2} s");
    }
}

/// `h = relu(h @ w) + h`, again and again.
fn chain(length: usize, end: &str) -> String {
    let mut text = String::from(
        "use mind::{Tensor, mind};\n\nfn main() {\n    let w: Tensor![f32; 64, 64] = Tensor::full(0.01);\n    \
         let h: Tensor![f32; 32, 64] = Tensor::full(0.5);\n",
    );
    for _ in 0..length {
        let _ = writeln!(text, "    let h = mind!(relu(h @ w) + h{end});");
    }
    text + "    println!(\"{}\", h.as_slice()[0]);\n}\n"
}

fn hundred() -> String {
    let (mut text, mut calls) = (String::from("use mind::{Tensor, mind};\n"), String::new());
    for i in 0..100 {
        let k = 8 + i % 7;
        let _ = writeln!(
            text,
            "fn f{i}(x: &Tensor![f32; 16, {k}], w: &Tensor![f32; {k}, 12], b: &Tensor![f32; 12], s: f32) -> f32 {{\n    \
             mind!(sum(relu((x @ w + b) * {i}.5 - s) * (x @ w) + exp(b) / 2.0))\n}}"
        );
        let _ = writeln!(
            calls,
            "    t += f{i}(&Tensor::full(0.1), &Tensor::full(0.2), &Tensor::full(0.3), 0.5);"
        );
    }
    format!("{text}\nfn main() {{\n    let mut t = 0.0;\n{calls}    println!(\"{{t}}\");\n}}\n")
}

/// Elementwise operations, a product after every 25.
fn function(operations: usize) -> String {
    let mut text = String::from(
        "use mind::{Tensor, mind};\n\nmind! {\n    fn f(x: f32[32, 64], w: f32[64, 64]) -> f32 {\n        let h = x;\n",
    );
    for i in 0..operations {
        let step = match i % 25 {
            24 => "h @ w",
            i if i % 3 == 0 => "h * 0.5",
            i if i % 3 == 1 => "h + x",
            _ => "relu(h)",
        };
        let _ = writeln!(text, "        let h = {step};");
    }
    text + "        mean(h)\n    }\n}\n\nfn main() {\n    println!(\"{}\", f(&Tensor::full(0.5), &Tensor::full(0.01)));\n}\n"
}

/// A crate that depends on this one.
struct Project {
    folder: PathBuf,
}

impl Project {
    fn new(folder: PathBuf) -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        fs::create_dir_all(folder.join("src")).expect("the target folder can be written");
        let manifest = format!(
            "[package]\nname = \"compile\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
             [dependencies]\nmind-dsl = {{ path = {root:?}, default-features = false }}\n"
        );
        fs::write(folder.join("Cargo.toml"), manifest).expect("the target folder can be written");
        fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock")).expect("the lock file can be copied");
        Self { folder }
    }

    /// The least of three times, in seconds, that cargo takes for a program when its dependencies are there.
    fn time(&self, command: &[&str], program: &str) -> f64 {
        self.run(command, "fn main() {}\n");
        let runs = (0..3).map(|run| {
            let program = format!("{program}// {run}\n");
            let start = Instant::now();
            self.run(command, &program);
            start.elapsed().as_secs_f64()
        });
        runs.fold(f64::MAX, f64::min)
    }

    fn run(&self, command: &[&str], program: &str) {
        fs::write(self.folder.join("src/main.rs"), program).expect("the target folder can be written");
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(command).args(["--quiet", "--offline"]).current_dir(&self.folder);
        let output = cargo.env("CARGO_TARGET_DIR", self.folder.join("target")).output().expect("cargo runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}
