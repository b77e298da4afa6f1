//! MIC, `mic@1`: the compact text form of RFC-0001.
//!
//! One entry a line: symbols, types, nodes, outputs, each table in the order of first use and counted from 0, nodes
//! from 1. A module that a node holds stands below it, two spaces further in, with numbers of its own. The grammar and every decision where the RFC leaves one stand in `docs/mic.md`.
//!
//! The parser takes what the grammar allows: gaps in ids, so that a line can be added, changed or removed and nothing
//! else; entries nothing uses; `\r\n`. The printer has one way to write a module. Neither changes an instruction.

mod entries;
mod mnemonics;
mod nodes;
mod table;
mod write;

use std::sync::Arc;

use super::{Document, Limits, decode};
use crate::{diag::Diags, ir::Module};

/// The first line of every text.
const HEADER: &str = "mic@1";

/// What stands before a line of a module that an instruction holds, for each module that it stands in.
const INDENT: &str = "  ";

/// The text of a module, valid or not.
///
/// ```
/// use mind_core::{build::Builder, ir::{Op, Reduction}, reduce::Reduce, text::mic, ty::{DType, Shape, Type}};
/// let mut b = Builder::new();
/// let x = b.input("x", Type::new(DType::F32, Shape::literal(&[2, 3])))?;
/// let total = b.push(Op::Reduce(Reduce::Sum, Reduction { axes: vec![1], keepdims: false }), &[x])?;
/// assert_eq!(
///     mic::print(&b.finish([total])),
///     "mic@1\nS0 \"x\"\nT0 [f32;2,3]\nT1 [f32;2]\nN1 input S0 T0\nN2 sum N1 [1] kd=0 T1\nO N2\n"
/// );
/// # Ok::<(), Box<mind_core::ops::OpError>>(())
/// ```
pub fn print(module: &Module) -> String {
    write::text(module, None, &[], &[])
}

/// The text of a module with a name as the first symbol, for the function that it is, and with comment lines above all.
pub fn print_named(module: &Module, name: &Arc<str>, docs: &[String]) -> String {
    write::text(module, Some(name), docs, &[])
}

/// The text of a document's module with the function's name as the first symbol, and with its comments.
pub fn print_document(document: &Document) -> String {
    write::text(&document.module, document.name.as_ref(), &document.docs, &document.comments)
}

/// The module of a text, not verified.
///
/// # Errors
/// As [`parse_document`].
///
/// ```
/// use mind_core::text::{Form, Limits, mic, report};
/// let text = "mic@1\nS0 \"x\"\nT0 [f32;N,3]\nN1 input S0 T0\nN2 neg N1 T0\nO N2\n";
/// assert_eq!(mic::print(&mic::parse(text, &Limits::default())?), text);
/// let errors = mic::parse(&text.replace("O N2", "O N9"), &Limits::default()).unwrap_err();
/// assert_eq!(
///     report(&errors.as_slice()[0], "mic", Form::Mic),
///     "mic:6: error[E4003]: output 0 is N9, which is never defined"
/// );
/// # Ok::<(), mind_core::diag::Diags>(())
/// ```
pub fn parse(text: &str, limits: &Limits) -> Result<Module, Diags> {
    parse_document(text, limits).map(|document| document.module)
}

/// As [`parse_document`], of bytes.
///
/// # Errors
/// Also E1001 where they are not UTF-8.
pub fn parse_bytes(bytes: &[u8], limits: &Limits) -> Result<Document, Diags> {
    parse_document(decode(bytes, limits)?, limits)
}

/// A text as it was read, its module not verified.
///
/// # Errors
/// Every independent mistake with its line and column, one a line at most: E1009 for another version, E1002 to E1008
/// for what is malformed or too large, E2002 for an unknown operation, E2007 for a wrong number of operands, E4001 to
/// E4003 for references to what stands nowhere above and ids that do not ascend, E3006, E1008 and E4004 for what is no
/// type, E4005 and E4010 for data and padding that do not fit, E4013 for a gather along another axis than the first.
/// Where there is one, also what breaks the operations' own rules in other lines.
pub fn parse_document(text: &str, limits: &Limits) -> Result<Document, Diags> {
    entries::document(text, limits)
}
