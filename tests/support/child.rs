//! Runs tests in separate processes.

use std::{env, process::Command};

/// A command that runs one test of this binary and no other. `module` is the `module_path!()` of the test.
pub fn child(module: &str, test: &str) -> Command {
    let mut command = Command::new(env::current_exe().expect("the binary has a path"));
    // The harness names tests without the crate.
    let path = match module.split_once("::") {
        Some((_, module)) => format!("{module}::{test}"),
        None => test.to_owned(),
    };
    command.args([&path, "--exact"]);
    command
}
