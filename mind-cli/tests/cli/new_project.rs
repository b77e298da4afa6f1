//! Tests that a project of `mind new` builds with `cargo run` and that its network learns. The first run takes a minute
//! of processor time. Without `MIND_TESTS=all`, Cargo only reads the project.

use std::{env, ffi::OsString, fs, path::Path, process::Command};

use assert_cmd::cargo::cargo_bin_cmd;

use crate::sample::every_case;

const CHECKOUT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// The output of Cargo in a project. Checks that it succeeds without warnings.
fn cargo(project: &Path, arguments: &[&str]) -> String {
    let output = Command::new(env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo")))
        .args(arguments)
        .args(["--offline", "--color", "never"])
        .current_dir(project)
        // The target folder is kept, so that only the first run of this test builds the library.
        .env("CARGO_TARGET_DIR", concat!(env!("CARGO_TARGET_TMPDIR"), "/new"))
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        .env("CARGO_INCREMENTAL", "0")
        .output()
        .expect("cargo runs");
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && !err.contains("warning"), "{arguments:?}: {out}\n{err}");
    out.into_owned()
}

#[test]
fn a_new_project_learns_in_a_debug_build() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let mut command = cargo_bin_cmd!("mind");
    command.current_dir(&folder).args(["new", "two-moons", "--path", CHECKOUT]).assert().success();
    let project = folder.path().join("two-moons");
    // The versions of the dependencies of this repository, which have been downloaded.
    fs::copy(format!("{CHECKOUT}/Cargo.lock"), project.join("Cargo.lock")).expect("there is one");
    if !every_case() {
        let read = cargo(&project, &["metadata", "--no-deps", "--format-version", "1"]);
        assert!(read.contains("\"name\":\"two-moons\"") && read.contains("\"name\":\"mind-dsl\""), "{read}");
        return;
    }
    let out = cargo(&project, &["run"]);
    let percent = |line: &str| -> Option<f64> {
        line.strip_suffix(" % of unseen points right")?.rsplit(' ').next()?.parse().ok()
    };
    let percents: Vec<f64> = out.lines().filter_map(percent).collect();
    assert_eq!((percents.len(), out.lines().count()), (7, 7), "{out}");
    assert!(percents[0] < 95.0 && percents[6] >= 99.0, "{out}");
}
