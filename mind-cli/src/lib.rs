//! The `mind` command as a function: projects begun, and tensor programs checked, formatted, converted, differentiated, run, measured and drawn.
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
mod report;
mod source;
mod spelling;
mod style;

use std::process::ExitCode;

use clap::Parser;

/// Does what the arguments of this process ask for. The code is that with which it is to exit.
pub fn main() -> ExitCode {
    let arguments = args::Arguments::parse();
    match commands::run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => ExitCode::from(failure.tell(&style::Style::of_errors(arguments.color))),
    }
}
