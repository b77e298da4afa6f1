//! `mind grad`: the program that computes a gradient.

use mind_core::ops::Profile;

use super::{
    convert::{Written, default_form, print},
    gradient::{gradient, picture_of},
};
use crate::{args::GradArguments, input::Program, output, report::Outcome};

/// Runs the command.
pub fn run(arguments: &GradArguments) -> Outcome {
    let (program, context) = Program::read(&arguments.input)?.verified(Profile::Extended)?;
    let subject = picture_of(&program, &context, &arguments.wrt);
    let form = arguments.to.unwrap_or_else(|| default_form(&arguments.output.output, context.source.form));
    let module = gradient(program, &context, &arguments.wrt, &arguments.gradient)?;
    let function = context.function.as_ref().map(|function| format!("{function}_grad"));
    let written = Written { form, function: function.as_deref(), engine: &arguments.engine };
    let text = print(module.into_verified(), &context, &written, || subject)?;
    output::write(&arguments.output.output, &text)
}
