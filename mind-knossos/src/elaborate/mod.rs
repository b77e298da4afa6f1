//! Translates nested lists to functions: names, types and overloads.
//!
//! Types are inferred bottom-up: the type of an expression follows from the types of its parts, without conversions. An
//! error is reported where it is found and leaves no value. Code that needs the value reports nothing more.

mod declarations;
mod expressions;
mod function_names;
mod lambdas;
mod types;

use mind_core::diag::{Code, Diag, Diags};

use crate::{
    build::Builder,
    ir::{Definition, FunctionId, Position, Program, ValueId},
    read::{FormId, Forms, read},
};

/// Reads and checks a text.
///
/// # Errors
/// Every independent error.
pub(super) fn elaborate(text: &str) -> Result<Program, Diags> {
    let mut program = Program::default();
    let mut diags = Diags::new();
    let forms = read(text, &mut diags);
    let mut elaborator = Elaborator {
        forms: &forms,
        program: &mut program,
        diags: &mut diags,
        b: Builder::default(),
        variables: Vec::new(),
    };
    elaborator.declarations();
    diags.into_result(program)
}

/// Reads and checks an expression over the functions of a program. Adds a function without parameters that computes it.
///
/// # Errors
/// Every independent error.
pub(super) fn elaborate_expression(program: &mut Program, text: &str) -> Result<FunctionId, Diags> {
    let mut diags = Diags::new();
    let forms = read(text, &mut diags);
    let mut elaborator = Elaborator {
        forms: &forms,
        program,
        diags: &mut diags,
        b: Builder::default(),
        variables: Vec::new(),
    };
    let made = match forms.top[..] {
        [form] => elaborator.function_of(form, "expression", &[], form),
        [] => {
            elaborator.report_at(Code::E1007, Position { line: 1, column: 1 }, "expected an expression");
            None
        }
        [_, second, ..] => {
            elaborator.unexpected(second, "the end of the text");
            None
        }
    };
    match made {
        Some(id) => diags.into_result(id),
        None => Err(diags),
    }
}

/// The state of the elaboration of a file.
struct Elaborator<'f, 'a> {
    forms: &'f Forms<'a>,
    program: &'f mut Program,
    diags: &'f mut Diags,
    /// The body of the current function.
    b: Builder,
    /// The variables in scope, the innermost last. A value is `None` if its error was reported.
    variables: Vec<(&'a str, Option<ValueId>)>,
}

/// A result, or `None` if an error was reported.
type Found<T = ValueId> = Option<T>;

impl Elaborator<'_, '_> {
    fn report(&mut self, code: Code, at: FormId, message: impl Into<String>) {
        self.report_at(code, self.forms.place(at), message);
    }

    fn report_at(&mut self, code: Code, place: Position, message: impl Into<String>) {
        self.diags.push(Diag::new(code, place.into(), message));
    }

    /// Reports `expected …, found …`.
    fn unexpected(&mut self, at: FormId, expected: &str) {
        // The error of a malformed form was already reported.
        if *self.forms.get(at) != super::read::Form::Wrong {
            let message = format!("expected {expected}, found {}", self.forms.describe(at));
            self.report(Code::E1007, at, message);
        }
    }

    /// Reports E1007 for a form with a wrong number of parts.
    fn wrong_parts(&mut self, at: FormId, usage: &str, keyword: &str, count: usize) {
        let parts = if count == 1 { "part" } else { "parts" };
        self.report(Code::E1007, at, format!("expected `{usage}`, found {count} {parts} after `{keyword}`"));
    }

    fn is_defined(&self, id: FunctionId) -> bool {
        matches!(self.program.function(id).definition, Definition::Defined(_) | Definition::Wrong)
    }
}
