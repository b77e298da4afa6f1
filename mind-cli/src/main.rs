//! The command `mind`: creates projects, and checks, formats, converts, differentiates, runs, measures and draws tensor
//! programs.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    mind_cli::main()
}
