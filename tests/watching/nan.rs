//! `MIND_CHECK=nan`: the value that a message names, and that nothing is searched without the variable.

use std::path::Path;

use mind_tests::{Project, is_in_gate};

mod program;

/// The output of the program: for each call the message of its panic, or its result.
const TOLD: &str = include_str!("nan/told.txt");

/// The note about an input that is NaN, which is printed once.
const NOTE: &str = "MIND_CHECK=nan: `entropy`: `p`, f32[2], is already NaN as given at [1], 1 of 2 elements; values \
                    computed from it are NaN too\n";

#[test]
fn the_first_value_that_went_nan_is_named_where_the_environment_of_the_build_asks() {
    if !is_in_gate("a program that is built with MIND_CHECK") {
        return;
    }
    let program = Program::new();
    let [text, notes] = program.run(Some("nan"));
    assert_eq!(text, TOLD);
    assert_eq!(notes, NOTE);
    // Cargo builds the program again without the variable.
    let [text, notes] = program.run(None);
    assert!(!text.contains("MIND_CHECK"), "{text}");
    assert_eq!(text.lines().filter(|line| *line == ";").count(), program::told().len());
    assert_eq!(notes, "");
}

#[test]
fn nothing_is_searched_otherwise() {
    for told in program::told() {
        assert!(!told.contains("MIND_CHECK"), "{told}");
    }
}

#[test]
fn anything_else_that_is_asked_for_is_an_error() {
    if !is_in_gate("a program that is built with MIND_CHECK") {
        return;
    }
    let output = Program::new().cargo(Some("inf"));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success());
    assert!(said.contains("MIND_CHECK is \"inf\", needed \"nan\" or nothing"), "{said}");
}

/// The program as a crate of its own.
struct Program(Project);

impl Program {
    fn new() -> Self {
        let project = Project::new(env!("CARGO_TARGET_TMPDIR"), "checked", &["knossos"]);
        let main = "mod program;\n\nfn main() {\n    for told in program::told() {\n        println!(\"{told}\\n;\");\n    }\n}\n";
        project.write("src/main.rs", main);
        for file in ["program.rs", "program.mind"] {
            let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("watching/nan").join(file);
            project.write(&format!("src/{file}"), std::fs::read(from).expect("the program is there"));
        }
        Self(project)
    }

    fn cargo(&self, check: Option<&str>) -> std::process::Output {
        let check = check.map(|check| ("MIND_CHECK", check));
        self.0.cargo(&["run"], check.as_slice())
    }

    /// Runs the program. Returns its standard output and its standard error.
    fn run(&self, check: Option<&str>) -> [String; 2] {
        let output = self.cargo(check);
        let [text, notes] =
            [output.stdout, output.stderr].map(|text| String::from_utf8(text).expect("it prints text"));
        assert!(output.status.success(), "{notes}");
        [text.replace('\\', "/"), notes]
    }
}
