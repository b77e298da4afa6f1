//! MIC, `mic@1`: the compact text form of RFC-0001.
//!
//! One entry per line, in this order: symbols, types, nodes, outputs. Each table is in the order of first use. Ids
//! count from 0, those of nodes from 1. A nested module is on the lines below its node, indented by two spaces, with
//! its own value numbers. `docs/mic.md` has the grammar and the decisions that the RFC leaves open.
//!
//! The parser accepts everything that the grammar allows. Ids may have gaps, so that a line can be added, changed or
//! removed without changing others. It also accepts unused entries and `\r\n`. The printer writes each module in
//! exactly one way. Neither changes an instruction.

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

/// The indentation of a nested module's line, for each level of nesting.
const INDENT: &str = "  ";

/// Prints a module, valid or not.
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

/// Prints a module with the function's name as the first symbol, and with comment lines at the top.
pub fn print_named(module: &Module, name: &Arc<str>, docs: &[String]) -> String {
    write::text(module, Some(name), docs, &[])
}

/// Prints a document's module with the function's name as the first symbol, and with its comments.
pub fn print_document(document: &Document) -> String {
    write::text(&document.module, document.name.as_ref(), &document.docs, &document.comments)
}

/// Parses a module without verifying it.
///
/// # Errors
/// See [`parse_document`].
///
/// ```
/// use mind_core::text::{Limits, TextForm, mic, report};
/// let text = "mic@1\nS0 \"x\"\nT0 [f32;N,3]\nN1 input S0 T0\nN2 neg N1 T0\nO N2\n";
/// assert_eq!(mic::print(&mic::parse(text, &Limits::default())?), text);
/// let errors = mic::parse(&text.replace("O N2", "O N9"), &Limits::default()).unwrap_err();
/// assert_eq!(
///     report(&errors.as_slice()[0], "mic", TextForm::Mic),
///     "mic:6: error[E4003]: output 0 is N9, which is never defined"
/// );
/// # Ok::<(), mind_core::diag::Diags>(())
/// ```
pub fn parse(text: &str, limits: &Limits) -> Result<Module, Diags> {
    parse_document(text, limits).map(|document| document.module)
}

/// Like [`parse_document`], for bytes.
///
/// # Errors
/// Also E1001 if they are not UTF-8.
pub fn parse_bytes(bytes: &[u8], limits: &Limits) -> Result<Document, Diags> {
    parse_document(decode(bytes, limits)?, limits)
}

/// Parses a document without verifying its module.
///
/// # Errors
/// Returns every independent error with its line and column, at most one per line:
///
/// - E1009: another version.
/// - E1002 to E1008: malformed or too large text.
/// - E2002: an unknown operation.
/// - E2007: a wrong number of operands.
/// - E3006, E1008, E4004: an invalid type.
/// - E4001 to E4003: references to values that are not defined above, and ids that do not ascend.
/// - E4005, E4010: data and padding that do not fit.
/// - E4013: a gather along an axis other than the first.
///
/// If there is an error, the list also holds violations of the operations' own rules in other lines.
pub fn parse_document(text: &str, limits: &Limits) -> Result<Document, Diags> {
    entries::document(text, limits)
}
