//! `mind check`: reports every mistake in every file.

use std::path::Path;

use mind_core::ir::Module;

use crate::{
    args::CheckArguments,
    input::Program,
    numbers::counted,
    output,
    report::{Failure, Outcome},
    source::name_of,
    style::Style,
};

/// Runs the command. A failure on one file does not prevent checking the others.
pub fn run(arguments: &CheckArguments, out: &Style, err: &Style) -> Outcome {
    let mut worst = 0;
    for file in &arguments.files {
        match check_file(file, arguments, out) {
            Ok(()) => {}
            Err(Failure::ReaderGone) => return Err(Failure::ReaderGone),
            Err(failure) => worst = worst.max(failure.print(err)),
        }
    }
    if worst == 0 { Ok(()) } else { Err(Failure::Reported(worst)) }
}

/// Checks every function of a file. Mistakes in one function do not prevent checking the others.
fn check_file(file: &Path, arguments: &CheckArguments, out: &Style) -> Outcome {
    let mut mistakes = Vec::new();
    let programs = Program::read_all(file, &arguments.reading)?;
    if programs.is_empty() && !arguments.quiet {
        output::print(&format!("{}: {}, no function\n", name_of(file), out.good("ok")))?;
    }
    for program in programs {
        match program.and_then(|program| check(program, arguments, out)) {
            Ok(()) => {}
            Err(Failure::Mistakes(more)) => mistakes.extend(more),
            Err(failure) => return Err(failure),
        }
    }
    if mistakes.is_empty() { Ok(()) } else { Err(Failure::Mistakes(mistakes)) }
}

fn check(program: Program, arguments: &CheckArguments, out: &Style) -> Outcome {
    let (module, context) = program.verified(arguments.profile.into())?;
    if arguments.quiet {
        return Ok(());
    }
    let file = &context.source.name;
    let name = context.function.map_or(file.clone(), |function| format!("{file}: {function}"));
    output::print(&format!("{name}: {}, {}\n", out.good("ok"), summary(&module)))
}

/// `2 inputs, 5 operations, 1 output`.
pub fn summary(module: &Module) -> String {
    let inputs = module.inputs().len();
    let operations = module.insts().iter().filter(|inst| !inst.operands.is_empty()).count();
    let constants = module.insts().len() - inputs - operations;
    let mut parts = vec![counted(inputs, "input")];
    if constants > 0 {
        parts.push(counted(constants, "constant"));
    }
    parts.push(counted(operations, "operation"));
    parts.push(counted(module.outputs().len(), "output"));
    parts.join(", ")
}
