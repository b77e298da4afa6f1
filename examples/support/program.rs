//! Functions shared by examples: the exit status, the progress bar and the display of paths.

#![allow(dead_code, reason = "each example uses a part of it")]

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

use indicatif::{ProgressBar, ProgressStyle};

/// A result whose error ends the program with a message.
pub type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// Runs a program and prints its error.
pub fn run(program: impl FnOnce() -> Outcome) -> ExitCode {
    match program() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// A progress bar of `count` units named `counted`, for example `learning ████ epoch 3/100, 2s`, followed by a message.
pub fn progress(doing: &str, counted: &str, count: usize) -> Outcome<ProgressBar> {
    let style = format!("{doing} {{bar:40.blue}} {counted} {{pos}}/{{len}}, {{elapsed}} {{msg}}");
    Ok(ProgressBar::new(count as u64).with_style(ProgressStyle::with_template(&style)?))
}

/// The path relative to the current directory, if it is below that.
pub fn shown(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    path.strip_prefix(here).unwrap_or(path).display().to_string()
}
