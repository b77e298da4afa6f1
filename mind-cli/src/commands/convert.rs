//! `mind convert`: the same program in another form, MIC in its canonical one.

use std::path::Path;

use mind_core::{
    canon::canonicalise,
    diag::{Code, Diag},
    ir::Module,
    ops::Profile,
    text::{Limits, core_ir, json, mic},
    verify::Verified,
};

use super::stablehlo;
use crate::{
    args::{ConvertArguments, EngineOptions, Form, OutputForm},
    graph::{Picture, Subject, dot},
    input::{Context, Program},
    output,
    report::{Failure, Mistake, Outcome},
    source::MOST_BYTES,
};

/// Runs the command.
pub fn run(arguments: &ConvertArguments) -> Outcome {
    let (module, context) = Program::read(&arguments.input)?.verified(Profile::Extended)?;
    let module = match arguments.to {
        OutputForm::Mic if !arguments.as_is => canonicalise(module).into_verified(),
        OutputForm::Mic | OutputForm::CoreIr | OutputForm::Json | OutputForm::Dot | OutputForm::StableHlo => {
            module
        }
    };
    let outputs = module.outputs().len();
    let written =
        Written { form: arguments.to, function: context.function.as_deref(), engine: &arguments.engine };
    let text = print(module, &context, &written, || Subject {
        title: context.title(),
        output_names: (0..outputs).map(|position| context.output_name(position)).collect(),
        ..Subject::default()
    })?;
    output::write(&arguments.output.output, &text)
}

/// How a module is written.
pub struct Written<'a> {
    pub form: OutputForm,
    /// The name of the function.
    pub function: Option<&'a str>,
    pub engine: &'a EngineOptions,
}

/// A module in a form; `subject` is asked for only where a picture is made.
///
/// # Errors
/// As [`readable`], and as [`stablehlo::text`].
pub fn print(
    module: Verified,
    context: &Context,
    written: &Written<'_>,
    subject: impl FnOnce() -> Subject,
) -> Outcome<String> {
    stablehlo::check_use(written.form, written.engine)?;
    match (written.form, written.function) {
        (OutputForm::Mic, None) => readable(mic::print(&module), Form::Mic),
        (OutputForm::Mic, Some(function)) => {
            readable(mic::print_named(&module, &function.into(), &[]), Form::Mic)
        }
        (OutputForm::CoreIr, _) => readable(core_ir::print(&module), Form::CoreIr),
        (OutputForm::Json, _) => readable(json(&module), Form::Json),
        (OutputForm::Dot, _) => Ok(dot::render(&Picture::of(&module, &subject()))),
        (OutputForm::StableHlo, _) => stablehlo::text(module, context, written.engine),
    }
}

/// The JSON of a module: a line for each item, or all on one line where that would be more than is read.
pub fn json(module: &Module) -> String {
    let text = json::print_pretty(module);
    if text.len() <= Limits::default().bytes { text } else { json::print(module) }
}

/// A text that is about to be written, read first: whatever the reader's limits are, what is written keeps them.
///
/// # Errors
/// E1008 for what exceeds a limit.
pub fn readable(text: String, form: Form) -> Outcome<String> {
    let limits = Limits::default();
    let read = match form {
        Form::Mic => mic::parse(&text, &limits),
        Form::CoreIr => core_ir::parse(&text, &limits),
        Form::Json => json::parse(&text, &limits),
        Form::Mind if text.len() as u64 > MOST_BYTES => {
            let message = format!("what would be written has more than the limit of {MOST_BYTES} bytes");
            return Err(Failure::mistake(Mistake::new(Code::E1008, message)));
        }
        Form::Mind | Form::Ks => return Ok(text),
    };
    let Err(diags) = read else { return Ok(text) };
    let refuse = |diag: &Diag| {
        let message = format!("what would be written as {} could not be read: {}", form.name(), diag.message);
        Mistake::new(diag.code, message)
    };
    Err(Failure::Mistakes(diags.as_slice().iter().map(refuse).collect()))
}

/// The form to write where none is said: that of the file's extension, else that of the input.
pub fn default_form(output: &Path, input: Form) -> OutputForm {
    let extension = output.extension().map(|extension| extension.to_string_lossy().to_ascii_lowercase());
    match extension.as_deref() {
        Some("mic") => return OutputForm::Mic,
        Some("ir") => return OutputForm::CoreIr,
        Some("json") => return OutputForm::Json,
        Some("dot" | "gv") => return OutputForm::Dot,
        Some("mlir") => return OutputForm::StableHlo,
        Some(_) | None => {}
    }
    match input {
        Form::Mic | Form::Mind | Form::Ks => OutputForm::Mic,
        Form::CoreIr => OutputForm::CoreIr,
        Form::Json => OutputForm::Json,
    }
}
