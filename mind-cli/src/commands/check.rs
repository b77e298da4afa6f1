//! `mind check`: reports every mistake in every file.

use std::{
    io::{self, Write},
    path::Path,
    rc::Rc,
};

use mind_core::{
    ir::Module,
    surface::{self, ast, reused_keys::reused_keys},
};

use crate::{
    args::{CheckArguments, Form},
    input::Program,
    numbers::counted,
    output,
    report::{Failure, Mistake, Outcome, Source, Spot},
    source::name_of,
    style::Style,
};

/// Runs the command. A failure on one file does not prevent checking the others.
pub fn run(arguments: &CheckArguments, out: &Style, err: &Style) -> Outcome {
    let mut worst = 0;
    for file in &arguments.files {
        match check_file(file, arguments, out, err) {
            Ok(()) => {}
            Err(Failure::ReaderGone) => return Err(Failure::ReaderGone),
            Err(failure) => worst = worst.max(failure.print(err)),
        }
    }
    if worst == 0 { Ok(()) } else { Err(Failure::Reported(worst)) }
}

/// Checks every function of a file. Mistakes in one function do not prevent checking the others. A file without mistakes
/// may have warnings.
fn check_file(file: &Path, arguments: &CheckArguments, out: &Style, err: &Style) -> Outcome {
    let mut mistakes = Vec::new();
    let programs = Program::read_all(file, &arguments.reading)?;
    if programs.is_empty() && !arguments.quiet {
        output::print(&format!("{}: {}, no function\n", name_of(file), out.good("ok")))?;
    }
    let source = programs.iter().flatten().next().map(|program| program.context.source.clone());
    for program in programs {
        match program.and_then(|program| check(program, arguments, out)) {
            Ok(()) => {}
            Err(Failure::Mistakes(more)) => mistakes.extend(more),
            Err(failure) => return Err(failure),
        }
    }
    if !mistakes.is_empty() {
        return Err(Failure::Mistakes(mistakes));
    }
    for warning in source.iter().filter(|source| source.form == Form::Mind).flat_map(warnings) {
        // If standard error is closed, the warning cannot be shown anywhere.
        _ = writeln!(io::stderr(), "{}\n", warning.render(err));
    }
    Ok(())
}

/// The warnings about the functions of a file of the language.
fn warnings(source: &Rc<Source>) -> Vec<Mistake> {
    let (program, _) = surface::parse(surface::lex(&source.text).0);
    let bodies: Vec<_> = match &program {
        ast::Program::Block(block) => {
            let functions = block.functions.iter().filter_map(|function| function.body.as_ref());
            functions.chain(block.templates.iter().filter_map(|template| template.body.as_ref())).collect()
        }
        ast::Program::Closure(closure) => closure.body.iter().collect(),
        ast::Program::Expression(expression) => vec![&expression.body],
    };
    let keys = bodies.into_iter().flat_map(reused_keys);
    keys.map(|key| Mistake::warning(key.message).at(source, Spot::from(key.site)).help(key.help)).collect()
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
