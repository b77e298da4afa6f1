//! Functions compiled with `MIND_PROFILE` set record how long their steps take, others record nothing. A program is
//! built both ways: as part of this test, and as a separate crate.

mod program;

use std::path::Path;

use mind::__private::profile;
use mind_tests::{Project, is_in_gate};

/// How often the crate calls the program.
const RUNS: usize = 3;

#[test]
fn steps_are_timed_where_the_environment_of_the_build_asks() {
    if !is_in_gate("a program that is built with MIND_PROFILE") {
        return;
    }
    let output = profiled();
    let (results, records) = output.split_once('\n').expect("results, and a line for each record");
    assert_eq!(results, format!("{:?}", program::results()), "clocks change no bit");
    let records: Vec<Vec<&str>> = records.lines().map(|line| line.split('|').collect()).collect();

    // The titles of the steps in the listing of the plan.
    let titles = program::layer::PLAN.lines().take_while(|line| !line.is_empty());
    let titles: Vec<&str> =
        titles.filter(|line| line.starts_with(|c: char| " 0123456789".contains(c))).collect();
    let (rows, inner, columns) = (40, 300, 70);
    let [product, sum] = &records[..] else { panic!("a product and a sum: {output}") };
    for (record, flops, functions, bytes) in [
        // Each element costs `inner` multiplications and additions, a bias and a rectifier. The bytes are those of
        // operands and result.
        (
            product,
            rows * columns * (2 * inner + 2),
            0,
            4 * (rows * inner + inner * columns + columns + rows * columns),
        ),
        (sum, rows * columns * 2, rows * columns, 4 * rows * columns),
    ] {
        let [function, position, title, found @ .., least, total] = &record[..] else { panic!("{record:?}") };
        assert_eq!(*function, "layer");
        let position: usize = position.parse().expect("a position");
        let listed = titles.iter().any(|line| *line == format!("{:>3}  {title}", position + 1));
        assert!(listed, "{title:?} is not in\n{}", program::layer::PLAN);
        assert_eq!(found, [flops, functions, bytes, RUNS].map(|number| number.to_string()), "{title}");
        let [least, total]: [u128; 2] = [least, total].map(|time| time.parse().expect("nanoseconds"));
        assert!(least > 0 && least * RUNS as u128 <= total, "{least} ns at least, {total} ns in all");
    }
}

#[test]
fn nothing_is_noted_otherwise() {
    let _ = program::results();
    assert!(profile::take().is_empty());
}

/// Builds the program as a crate with `MIND_PROFILE` set, and returns its output.
fn profiled() -> String {
    let main = format!(
        "#[path = {:?}]\nmod program;\n\nfn main() {{\n    for run in 0..{RUNS} {{\n        let results = program::results();\n        \
         if run == 0 {{ println!(\"{{results:?}}\"); }}\n    }}\n    for r in mind::__private::profile::take() {{\n        let s = r.step;\n        \
         println!(\"{{}}|{{}}|{{}}|{{}}|{{}}|{{}}|{{}}|{{}}|{{}}\", s.function, s.position, s.title, s.flops, s.functions, s.bytes, r.runs, \
         r.least.as_nanos(), r.total.as_nanos());\n    }}\n}}\n",
        Path::new(env!("CARGO_MANIFEST_DIR")).join("profile/program.rs")
    );
    let project = Project::new(env!("CARGO_TARGET_TMPDIR"), "profiled", &["knossos"]);
    project.write("src/main.rs", main);
    let output = project.cargo(&["run"], &[("MIND_PROFILE", "1")]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("the program prints text")
}
