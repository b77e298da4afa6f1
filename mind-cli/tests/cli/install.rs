//! Tests of the crates that the commands of the README compile. Without these tests, dependencies would return one by
//! one, and nobody would notice their cost.

use std::{collections::BTreeSet, process::Command};

/// The names of the crates in the dependency tree of a package.
fn crates(package: &str, edges: &str) -> BTreeSet<String> {
    let arguments =
        ["tree", "--offline", "--package", package, "--edges", edges, "--prefix", "none", "--no-dedupe"];
    let tree = Command::new(env!("CARGO")).args(arguments).current_dir(env!("CARGO_MANIFEST_DIR")).output();
    let tree = tree.expect("cargo runs");
    assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
    let text = String::from_utf8(tree.stdout).expect("cargo prints text");
    text.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect()
}

fn assert_few(crates: &BTreeSet<String>, most: usize, without: &[&str]) {
    let unwanted: Vec<_> = without.iter().filter(|name| crates.contains(**name)).collect();
    assert!(unwanted.is_empty(), "{unwanted:?} should be for those who ask for them");
    assert!(crates.len() <= most, "{} crates, needed {most} or fewer: {crates:?}", crates.len());
}

#[test]
fn an_installation_compiles_neither_the_run_time_nor_the_compiler_twice() {
    let crates = crates("mind-cli", "normal,build");
    assert!(crates.contains("mind-core"), "{crates:?}");
    assert_few(&crates, 39, &["mind-dsl", "mind-macros", "mind-rt", "mind-xla", "ndarray", "zip"]);
}

#[test]
fn the_first_command_compiles_no_crate_of_other_examples() {
    let crates = crates("mind-dsl", "normal,build,dev");
    assert!(crates.contains("png"), "{crates:?}");
    assert_few(&crates, 29, &["ndarray", "mind-files", "serde"]);
}
