//! `mind convert`: the same program in another form.

use std::path::Path;

use mind_core::{
    ir::Module,
    ops::Profile,
    text::{core_ir, json, mic},
};

use crate::{
    args::{ConvertArguments, Form, OutputForm},
    graph::{Picture, Subject, dot},
    input::Program,
    output,
    report::Outcome,
};

/// Runs the command.
pub fn run(arguments: &ConvertArguments) -> Outcome {
    let (module, context) = Program::read(&arguments.input)?.verified(Profile::Extended)?;
    let function = context.function.as_deref();
    let text = print(&module, arguments.to, function, || Subject {
        title: context.title(),
        output_names: (0..module.outputs().len()).map(|position| context.output_name(position)).collect(),
        ..Subject::default()
    });
    output::write(&arguments.output.output, &text)
}

/// A module in a form; `subject` is asked for only where a picture is made.
pub fn print(
    module: &Module,
    form: OutputForm,
    function: Option<&str>,
    subject: impl FnOnce() -> Subject,
) -> String {
    match (form, function) {
        (OutputForm::Mic, None) => mic::print(module),
        (OutputForm::Mic, Some(function)) => mic::print_named(module, &function.into(), &[]),
        (OutputForm::CoreIr, _) => core_ir::print(module),
        (OutputForm::Json, _) => json::print_pretty(module),
        (OutputForm::Dot, _) => dot::render(&Picture::of(module, &subject())),
    }
}

/// The form to write where none is said: that of the file's extension, else that of the input.
pub fn default_form(output: &Path, input: Form) -> OutputForm {
    let extension = output.extension().map(|extension| extension.to_string_lossy().to_ascii_lowercase());
    match extension.as_deref() {
        Some("mic") => return OutputForm::Mic,
        Some("ir") => return OutputForm::CoreIr,
        Some("json") => return OutputForm::Json,
        Some("dot" | "gv") => return OutputForm::Dot,
        Some(_) | None => {}
    }
    match input {
        Form::Mic | Form::Mind | Form::Ks => OutputForm::Mic,
        Form::CoreIr => OutputForm::CoreIr,
        Form::Json => OutputForm::Json,
    }
}
