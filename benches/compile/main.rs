//! Measures how long programs take to compile. For each workload it generates a crate, builds the dependencies, and
//! then times the crate alone.
//!
//! Run `cargo bench -p mind-benches --bench compile`. Words after `--` select the measurements whose names contain one
//! of them: `expressions`, `functions`, `horner`, `digits`, `minimal`, `vgg`, `layers`, `repeated`.

mod object;
mod programs;
mod project;

use project::{Build, Project};

/// A name, and the function that measures and prints.
type Measurement = (&'static str, fn(&Project));

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let project = Project::new();
    let measurements: [Measurement; 8] = [
        ("expressions", expressions),
        ("functions", functions),
        ("horner", horner),
        ("digits", digits),
        ("minimal", minimal),
        ("vgg", vgg),
        ("layers", layers),
        ("repeated", repeated),
    ];
    for (name, measure) in measurements {
        if wanted.is_empty() || wanted.iter().any(|word| name.contains(word.as_str())) {
            measure(&project);
        }
    }
}

/// Measures expressions over Rust variables.
fn expressions(project: &Project) {
    for (what, end) in [("", ""), (", its type written", " : f32[32, 64]")] {
        let seconds = project.least_time(Build::Check, &programs::chain(30, end));
        println!("check, a chain of 30 expressions{what}: {seconds:.2} s");
    }
    let seconds = project.least_time(Build::Release, &programs::hundred());
    println!("release build, 100 expressions of 10 operations: {seconds:.1} s");
}

/// Measures functions of many operations.
fn functions(project: &Project) {
    for operations in [250, 500, 1000, 2000] {
        let function = programs::function(operations);
        let [check, build] = [Build::Check, Build::Release].map(|build| project.least_time(build, &function));
        println!("a function of {operations} operations: check {check:.2} s, release build {build:.2} s");
    }
}

/// Measures a polynomial, written out, and its gradient by the coefficients: loops with many sums.
fn horner(project: &Project) {
    for count in [32, 64, 128] {
        let seconds = project.processor_time(Build::Release, &programs::horner(count));
        println!(
            "release build, Horner's rule of {count} coefficients with its gradient: {seconds:.1} s of processor time \
             (bound at 128: 10 s)"
        );
    }
}

/// Measures the expansion of the digits example's macro, in a debug build with default settings.
fn digits(project: &Project) {
    let mut times = project.expansions(&programs::digits(), 9);
    times.sort_by(f64::total_cmp);
    println!(
        "the digits example's expansion: {:.1} ms at least, {:.1} ms in the middle (bound: 20 ms)",
        times[0],
        times[times.len() / 2]
    );
}

/// Measures a program of one operation, including all dependencies.
fn minimal(project: &Project) {
    for build in [Build::Debug, Build::Release] {
        let seconds = project.time_from_nothing(build, &programs::minimal());
        println!("a minimal program from nothing, {}: {seconds:.1} s (bound: 20 s)", build.name());
    }
}

/// Measures a deep network and its gradient.
fn vgg(project: &Project) {
    let seconds = project.least_time(Build::Release, &programs::vgg());
    println!(
        "release build, VGG-16 with its gradient: {seconds:.1} s (bound: 20 s), {} KB of machine code",
        code(project)
    );
}

/// Measures how the machine code grows with the layers of a network and its gradient.
fn layers(project: &Project) {
    for count in [4, 8, 16] {
        let seconds = project.least_time(Build::Release, &programs::convolutions(count));
        println!(
            "release build, {count} equal convolutions with their gradient: {seconds:.1} s, {} KB of machine code",
            code(project)
        );
    }
    project.least_time(Build::Release, &programs::convolutions(0));
    println!("the same without layers: {} KB of machine code", code(project));
}

/// Measures how the time grows with the length of repetitive programs.
fn repeated(project: &Project) {
    for (name, program, lengths) in programs::REPEATED {
        for length in *lengths {
            let [debug, release] =
                [Build::Debug, Build::Release].map(|build| project.processor_time(build, &program(*length)));
            println!("{name}, {length} times: debug {debug:.1} s, release {release:.1} s of processor time");
        }
    }
}

/// Kilobytes of machine code in the last release build. Rust's own library is a constant part of it.
fn code(project: &Project) -> String {
    match object::code_size(&project.executable()) {
        Ok(bytes) => (bytes / 1000).to_string(),
        Err(error) => format!("({error})"),
    }
}
