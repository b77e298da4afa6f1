//! `mind ks`: Knossos programs.

use std::{path::Path, rc::Rc};

use mind_core::diag::{Diags, Site};
use mind_knossos::{
    FunctionId, Program,
    interp::{self, Bools, Floats, Options, Outcome as Ran, Precision},
    rules::{Verdict, try_rule},
};

use super::with_help;
use crate::{
    args::{
        Form, KsArguments, KsBools, KsCheckArguments, KsCommand, KsFloats, KsGradArguments, KsPrecision,
        KsRunArguments, Memory,
    },
    numbers::counted,
    output,
    report::{Failure, Mistake, Outcome, Source},
    source::read_source,
    style::Style,
};

/// Runs the command.
pub fn run(arguments: &KsArguments, out: &Style, err: &Style) -> Outcome {
    match &arguments.command {
        KsCommand::Check(check) => check_all(check, out, err),
        KsCommand::Run(run) => run_call(run),
        KsCommand::Grad(grad) => gradient(grad),
    }
}

/// Checks all files. A failure on one file does not prevent checking the others.
fn check_all(arguments: &KsCheckArguments, out: &Style, err: &Style) -> Outcome {
    let mut worst = 0;
    for file in &arguments.files {
        match check(file, arguments, out) {
            Ok(()) => {}
            Err(Failure::ReaderGone) => return Err(Failure::ReaderGone),
            Err(failure) => worst = worst.max(failure.print(err)),
        }
    }
    if worst == 0 { Ok(()) } else { Err(Failure::Reported(worst)) }
}

fn check(file: &Path, arguments: &KsCheckArguments, out: &Style) -> Outcome {
    let (program, source) = read(file)?;
    let say = |text: &str| if arguments.quiet { Ok(()) } else { output::print(text) };
    let functions = counted(program.functions.len(), "function");
    let rules = counted(program.rules.len(), "rule");
    say(&format!("{}: {}, {functions}, {rules}\n", source.name, out.good("ok")))?;
    if arguments.print_ir {
        output::print(&mind_knossos::print(&program))?;
    }
    if !arguments.rules {
        return Ok(());
    }
    let mut broken = Vec::new();
    for rule in &program.rules {
        match try_rule(&program, rule) {
            Verdict::Holds(samples) => {
                say(&format!("rule {:?}: holds on {}\n", rule.name, counted(samples, "sample")))?;
            }
            Verdict::Untested => {
                say(&format!("rule {:?}: untested, its left side fails on every sample\n", rule.name))?;
            }
            Verdict::Fails(counterexample) => {
                broken.push(Mistake::of_diag(&counterexample.diag(rule), &source).in_columns());
            }
        }
    }
    if broken.is_empty() { Ok(()) } else { Err(Failure::Mistakes(broken)) }
}

fn read(file: &Path) -> Outcome<(Program, Rc<Source>)> {
    let source = read_source(file, Some(Form::Ks))?;
    let program = mind_knossos::check(&source.text).map_err(|diags| mistakes(&diags, &source))?;
    Ok((program, source))
}

fn mistakes(diags: &Diags, source: &Rc<Source>) -> Failure {
    let mistakes = diags.as_slice().iter().map(|diag| Mistake::of_diag(diag, source).in_columns());
    Failure::Mistakes(mistakes.collect())
}

fn run_call(arguments: &KsRunArguments) -> Outcome {
    let (mut program, source) = read(&arguments.file)?;
    if arguments.call == ["main"] && program.overloads("main").is_empty() {
        return Err(no_main(&program, &source));
    }
    let Ran { value, printed, .. } = evaluate(
        &mut program,
        &source,
        &format!("({})", arguments.call.join(" ")),
        &Options {
            bools: arguments.print_bools.into(),
            floats: arguments.print_floats.into(),
            ..options(arguments.precision, arguments.memory)
        },
    )?;
    let newline = if printed.is_empty() || printed.ends_with('\n') { "" } else { "\n" };
    output::print(&format!("{printed}{newline}{}\n", value.show(arguments.precision.into())))
}

/// The failure for a file without a `main`, which lists the functions of the file.
fn no_main(program: &Program, source: &Source) -> Failure {
    let of_text = program.functions.iter().filter(|function| function.place.line > 0);
    let mut names: Vec<&str> = of_text.map(|function| &*function.name).collect();
    names.sort_unstable();
    names.dedup();
    let help = match names[..] {
        [] => "define one: (def main Float () 1.0)".to_owned(),
        [first, ..] => {
            format!(
                "give a function and its arguments, as in `mind ks run FILE {first} …`; its functions are {}",
                names.join(", ")
            )
        }
    };
    Failure::with_help(format!("{} has no `main` to run", source.name), help)
}

fn gradient(arguments: &KsGradArguments) -> Outcome {
    let KsGradArguments { function, arguments: operands, cotangent, precision, memory, .. } = arguments;
    let (mut program, source) = read(&arguments.file)?;
    let operands = operands.join(" ");
    let call = format!("({})", format!("{function} {operands}").trim_end());
    let options = options(*precision, *memory);
    let value = evaluate(&mut program, &source, &call, &options)?.value;
    let argument = match arguments.arguments.len() {
        1 => operands,
        _ => format!("(tuple {operands})"),
    };
    let call = format!("([rev {function}] {argument} {cotangent})");
    let gradient = evaluate(&mut program, &source, &call, &options)?.value;
    let precision = options.precision;
    output::print(&format!("value     {}\ngradient  {}\n", value.show(precision), gradient.show(precision)))
}

/// The value of an expression over the functions of a program.
fn evaluate(program: &mut Program, source: &Rc<Source>, text: &str, options: &Options) -> Outcome<Ran> {
    let expression = Rc::new(Source { name: "<arguments>".into(), form: Form::Ks, text: text.into() });
    let id: FunctionId = program.expression(text).map_err(|diags| mistakes(&diags, &expression))?;
    interp::run(program, id, &[], options).map_err(|failure| {
        // The output of the program before the failure goes to standard output, like the rest of its output.
        if let Err(gone) = output::print(&failure.printed) {
            return gone;
        }
        let of = if failure.function == "expression" { &expression } else { source };
        let mut diag = failure.diag();
        if failure.place.line == 0 {
            diag.site = Site::Nowhere;
        }
        Failure::mistake(with_help(Mistake::of_diag(&diag, of).in_columns()))
    })
}

fn options(precision: KsPrecision, memory: Memory) -> Options {
    Options { precision: precision.into(), most_bytes: memory.most_bytes(), ..Options::default() }
}

impl From<KsBools> for Bools {
    fn from(bools: KsBools) -> Self {
        match bools {
            KsBools::Digits => Self::Digits,
            KsBools::Words => Self::Words,
        }
    }
}

impl From<KsFloats> for Floats {
    fn from(floats: KsFloats) -> Self {
        match floats {
            KsFloats::Six => Self::Six,
            KsFloats::Exact => Self::Exact,
        }
    }
}

impl From<KsPrecision> for Precision {
    fn from(precision: KsPrecision) -> Self {
        match precision {
            KsPrecision::F64 => Self::F64,
            KsPrecision::F32 => Self::F32,
        }
    }
}
