//! Tests that need a process of their own.

use std::{env, process::Command};

/// This binary again, to run one test and no other. The module is the `module_path!()` of the test.
pub fn child(module: &str, test: &str) -> Command {
    let mut command = Command::new(env::current_exe().expect("the binary has a path"));
    // The harness leaves the crate out.
    let path = match module.split_once("::") {
        Some((_, module)) => format!("{module}::{test}"),
        None => test.to_owned(),
    };
    command.args([&path, "--exact"]);
    command
}
