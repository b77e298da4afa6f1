//! The text forms of a module. Each format has one file with its printer and parser.
//!
//! [`core_ir`] is the specification's reference encoding. [`mic`] is the compact form for storage and tools. Both
//! represent every module exactly: `parse(print(module))` equals `module`, bit for bit.
//!
//! Parsing checks that the text is well formed, that every reference is to a value defined above it, and the
//! [`Limits`]. [`Document::verify`] checks the meaning of a module. Its errors have the lines of the text.
//!
//! ```
//! use mind_core::{ops::Profile, text::{Limits, core_ir, mic}};
//! let document = mic::parse_document(
//!     "mic@1\n# Twice x.\nS0 \"x\"\nT0 [f32;N]\nN1 input S0 T0\nN2 add N1 N1 T0\nO N2\n",
//!     &Limits::default(),
//! )?;
//! assert_eq!(document.docs, ["Twice x."]);
//! let module = document.verify(Profile::CoreV1)?;
//! assert_eq!(core_ir::print(&module).lines().nth(1), Some("%1 = Add (%0, %0) : f32[N]"));
//! # Ok::<(), mind_core::diag::Diags>(())
//! ```

pub mod core_ir;
mod cursor;
#[cfg(feature = "json")]
pub mod json;
mod lines;
pub mod mic;
mod read;
mod write;

use std::{collections::BTreeMap, sync::Arc};

use lines::Lines;

use crate::{
    definitions::Numbering,
    diag::{Code, Diag, Diags, Site},
    ir::{Module, ValueId},
    ops::Profile,
    verify::{Verified, VerifyError, verify_named},
};

/// Size limits of a text. Exceeding one returns E1008 before memory is allocated for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the text; 10 MiB by default.
    pub bytes: usize,
    /// Lines of the text; 1,000,000 by default.
    pub lines: usize,
    /// Instructions; 100,000 by default.
    pub nodes: usize,
    /// The rank of a type; 8 by default, which is also the maximum rank of a value.
    pub rank: usize,
    /// Elements listed by one literal; 1,000,000 by default. A number that fills a tensor counts as one.
    pub literal: usize,
    /// Errors reported before reading stops; 100 by default.
    pub errors: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            bytes: 10 << 20,
            lines: 1_000_000,
            nodes: 100_000,
            rank: crate::ty::MAX_RANK,
            literal: 1_000_000,
            errors: 100,
        }
    }
}

/// The text form that a document was read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextForm {
    /// [`core_ir`].
    CoreIr,
    /// [`mic`].
    Mic,
}

/// A parsed text: the module, not verified yet, with its name and comments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// The form it was read from.
    pub form: TextForm,
    /// The module.
    pub module: Module,
    /// The name of the function: the first symbol of a MIC text, if no node uses it.
    pub name: Option<Arc<str>>,
    /// The comment lines above the first entry of a MIC text, without `#` and the space after it.
    pub docs: Vec<String>,
    /// The comment lines elsewhere in a MIC text.
    pub comments: Vec<Comment>,
    /// The numbers of the values.
    numbers: Numbering,
    /// The line of each value.
    lines: Lines,
    /// The line of each output.
    output_lines: Lines,
    /// The positions of nested modules, by the instruction that holds each.
    inner: BTreeMap<ValueId, Inner>,
    /// The last line.
    end: u32,
}

/// The positions in the text of a module that an instruction holds.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Inner {
    /// The numbers of its values.
    numbers: Numbering,
    /// The line of each value.
    lines: Lines,
    /// The values whose lines already have a reported error, ascending.
    reported: Vec<ValueId>,
    inner: BTreeMap<ValueId, Inner>,
}

/// A comment line of a MIC text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comment {
    /// The entry below it.
    pub above: Above,
    /// The comment without `#` and the space after it.
    pub text: String,
}

/// The entry that a comment is above.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Above {
    /// An entry of the tables of symbols and types, or the first node.
    Nodes,
    /// The node of a value.
    Node(ValueId),
    /// An output, by its position.
    Output(usize),
    /// The end of the text.
    End,
}

impl Document {
    /// The name of a value in the text: `%2` or `N3`.
    pub fn value_name(&self, value: ValueId) -> String {
        self.name_within(&[], value)
    }

    /// The name of a value in the nested module reached through these instructions, outermost first.
    fn name_within(&self, holders: &[ValueId], value: ValueId) -> String {
        let numbers = match holders {
            [] => Some(&self.numbers),
            holders => self.inner(holders).map(|inner| &inner.numbers),
        };
        match numbers.and_then(|numbers| Some((numbers.prefix(), numbers.number(value)?))) {
            Some((prefix, number)) => format!("{prefix}{number}"),
            None => value.to_string(),
        }
    }

    /// The positions of the nested module reached through these instructions, outermost first.
    fn inner(&self, holders: &[ValueId]) -> Option<&Inner> {
        let (first, rest) = holders.split_first()?;
        rest.iter().try_fold(self.inner.get(first)?, |inner, holder| inner.inner.get(holder))
    }

    /// The line of a value.
    pub fn site(&self, value: ValueId) -> Site {
        let line = self.lines.get(value.index());
        line.map_or(Site::Nowhere, |line| Site::Text { line, column: 1 })
    }

    /// The line of a value in a module nested in `outer`. `inner` holds the path to the value: the instructions that
    /// hold modules, outermost first, then the value.
    fn inner_site(&self, outer: ValueId, inner: &[ValueId]) -> Site {
        let Some((value, holders)) = inner.split_last() else { return self.site(outer) };
        let holders: Vec<_> = [outer].iter().chain(holders).copied().collect();
        let line = self.inner(&holders).and_then(|inner| inner.lines.get(value.index()));
        line.map_or_else(|| self.site(outer), |line| Site::Text { line, column: 1 })
    }

    /// The line of an output, by its position. Returns the last line if there is no such output.
    pub fn output_site(&self, position: usize) -> Site {
        Site::Text { line: self.output_lines.get(position).unwrap_or(self.end), column: 1 }
    }

    /// Verifies the module and returns it.
    ///
    /// # Errors
    /// Every independent error, at its line, with the value names of the text.
    pub fn verify(self, profile: Profile) -> Result<Verified, Diags> {
        match verify_named(&self.module, profile, &|holders, value| self.name_within(holders, value)) {
            errors if errors.is_empty() => Ok(Verified::trusted(self.module, profile)),
            errors => {
                let mut diags = Diags::new();
                diags.extend(errors.into_iter().map(|error| self.diag(error)));
                Err(diags)
            }
        }
    }

    /// Returns the errors in the operands and types of instructions, except of those in `known`, which must be
    /// ascending. Errors of inputs and symbols are omitted because they may follow from reported errors.
    fn type_mistakes(&self, known: &[ValueId]) -> impl Iterator<Item = Diag> {
        let name = |holders: &[ValueId], value| self.name_within(holders, value);
        let errors = verify_named(&self.module, Profile::Extended, &name);
        let follows = |error: &VerifyError| {
            let known = match (error.value, &error.inner[..]) {
                (Some(outer), [holders @ .., last]) => {
                    let holders: Vec<_> = [outer].iter().chain(holders).copied().collect();
                    self.inner(&holders).is_some_and(|inner| inner.reported.binary_search(last).is_ok())
                }
                (Some(value), []) => known.binary_search(&value).is_ok(),
                (None, _) => true,
            };
            matches!(error.code, Code::E2003 | Code::E4004) || known
        };
        errors.into_iter().filter(move |error| !follows(error)).map(|error| self.diag(error))
    }

    /// Converts an error of the module to a diagnostic of the text.
    pub fn diag(&self, error: VerifyError) -> Diag {
        let site = match (error.value, error.output) {
            (Some(outer), _) if !error.inner.is_empty() => self.inner_site(outer, &error.inner),
            (Some(value), _) => self.site(value),
            (None, Some(output)) => self.output_site(output),
            (None, None) => Site::Text { line: self.end, column: 1 },
        };
        Diag::new(error.code, site, error.message)
    }
}

/// Formats a diagnostic of a text for command output, with further lines indented: `mic:3: error[E4001]: message` with
/// `source` as `mic`. In Core IR text the column is included: `core-ir:3:9: error[E4001]: message`.
pub fn report(diag: &Diag, source: &str, form: TextForm) -> String {
    let place = match (diag.site, form) {
        (Site::Text { line, .. }, TextForm::Mic) => format!(":{line}"),
        (Site::Text { line, column }, TextForm::CoreIr) => format!(":{line}:{column}"),
        (Site::Nowhere | Site::Tokens { .. }, TextForm::Mic | TextForm::CoreIr) => String::new(),
    };
    let shown = diag.to_string();
    let rest = shown.strip_prefix(&format!("[{}]", diag.code)).unwrap_or(&shown);
    format!("{source}{place}: error[{}]:{rest}", diag.code)
}

/// Decodes bytes as text.
///
/// # Errors
/// E1008 if there are more than the limit, E1001 if they are not UTF-8.
fn decode<'a>(bytes: &'a [u8], limits: &Limits) -> Result<&'a str, Diags> {
    let fail = |diag: Diag| {
        let mut diags = Diags::new();
        diags.push(diag);
        Err(diags)
    };
    if bytes.len() > limits.bytes {
        return fail(read::too_long(bytes, limits));
    }
    std::str::from_utf8(bytes).or_else(|error| {
        let at = error.valid_up_to();
        let line = bytes[..at].iter().filter(|byte| **byte == b'\n').count() + 1;
        let start = bytes[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
        let characters = bytes[start..at].iter().filter(|byte| **byte & 0xc0 != 0x80).count();
        let shown: Vec<_> = bytes[at..].iter().take(4).map(|byte| format!("{byte:02x}")).collect();
        let place = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let site = Site::Text { line: place(line), column: place(characters + 1) };
        let message = format!("not UTF-8 at byte {at}: {}", shown.join(" "));
        fail(Diag::new(Code::E1001, site, message))
    })
}
