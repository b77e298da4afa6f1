//! The command `mind` for tensor programs in files: it creates projects, and checks, formats, converts, differentiates,
//! runs, measures and draws programs.
//!
//! Install it with `cargo install mind-cli`. Rust programs use the library [`mind-dsl`](https://docs.rs/mind-dsl)
//! instead. This crate has only the function that runs the command.
#![forbid(unsafe_code)]

mod args;
#[cfg(feature = "bench")]
mod bench;
mod commands;
mod dims;
mod graph;
mod input;
mod literal;
mod memory;
mod npy;
mod numbers;
mod output;
mod plan;
mod prediction;
mod report;
mod source;
mod spelling;
mod style;

use std::process::ExitCode;

use clap::Parser;

/// Runs the command with the arguments of this process. Returns the exit code for the process.
pub fn main() -> ExitCode {
    let arguments = args::Arguments::parse();
    match commands::run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => ExitCode::from(failure.print(&style::Style::of_errors(arguments.color))),
    }
}
