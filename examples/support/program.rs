//! What the examples that learn from data have in common: how they end, show progress and name files.

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

use indicatif::{ProgressBar, ProgressStyle};

/// What can go wrong in a program ends it with a message.
pub type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// Runs a program; an error is printed.
pub fn run(program: impl FnOnce() -> Outcome) -> ExitCode {
    match program() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// A bar of so many of what is counted, as `learning ████ epoch 3/100, 2s`, and behind that a message.
pub fn progress(doing: &str, counted: &str, count: usize) -> Outcome<ProgressBar> {
    let style = format!("{doing} {{bar:40.blue}} {counted} {{pos}}/{{len}}, {{elapsed}} {{msg}}");
    Ok(ProgressBar::new(count as u64).with_style(ProgressStyle::with_template(&style)?))
}

/// The path from where the user stands, if it is below.
pub fn shown(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    path.strip_prefix(here).unwrap_or(path).display().to_string()
}
