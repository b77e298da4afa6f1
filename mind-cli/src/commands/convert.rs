//! `mind convert`: writes a program in another form. MIC is written in canonical form.

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

/// Options for writing a module.
pub struct Written<'a> {
    pub form: OutputForm,
    /// The name of the function.
    pub function: Option<&'a str>,
    pub engine: &'a EngineOptions,
}

/// A module in a form. `subject` is called only for a picture.
///
/// # Errors
/// The errors of [`readable`] and [`stablehlo::text`].
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

/// The JSON of a module, with one line per item. If this exceeds the limit of the reader, all is on one line.
pub fn json(module: &Module) -> String {
    let text = json::print_pretty(module);
    if text.len() <= Limits::default().bytes { text } else { json::print(module) }
}

/// Reads a text before it is written, so that written texts always satisfy the limits of the reader.
///
/// # Errors
/// E1008 if the text exceeds a limit.
pub fn readable(text: String, form: Form) -> Outcome<String> {
    let limits = Limits::default();
    let read = match form {
        Form::Mic => mic::parse(&text, &limits),
        Form::CoreIr => core_ir::parse(&text, &limits),
        Form::Json => json::parse(&text, &limits),
        Form::Mind if text.len() as u64 > MOST_BYTES => {
            let message = format!("the output would have more bytes than the limit of {MOST_BYTES}");
            return Err(Failure::mistake(Mistake::new(Code::E1008, message)));
        }
        Form::Mind | Form::Ks => return Ok(text),
    };
    let Err(diags) = read else { return Ok(text) };
    let refuse = |diag: &Diag| {
        let message = format!("the output as {} could not be read back: {}", form.name(), diag.message);
        Mistake::new(diag.code, message)
    };
    Err(Failure::Mistakes(diags.as_slice().iter().map(refuse).collect()))
}

/// The default form to write: that of the file's extension, otherwise that of the input.
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
