//! `mind completions`: a script that completes the command line.

use clap::CommandFactory;

use crate::{
    args::{Arguments, CompletionsArguments},
    output,
    report::{Failure, Outcome},
};

/// Runs the command.
pub fn run(arguments: &CompletionsArguments) -> Outcome {
    // The script is collected first, since writing it directly panics if the reader has closed the pipe.
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "mind", &mut script);
    match String::from_utf8(script) {
        Ok(script) => output::print(&script),
        Err(_) => Err(Failure::usage("the completion script is not text")),
    }
}
