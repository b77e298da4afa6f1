//! The `mind` command: projects begun, and tensor programs checked, formatted, converted, differentiated, run, measured and drawn.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    mind_cli::main()
}
