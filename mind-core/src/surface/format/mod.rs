//! The formatter: the single form in which `mind fmt` writes programs. It is that of rustfmt where the grammar is
//! Rust's.
//!
//! A text is scanned with its comments, and each token is assigned its role in the layout. Texts and possible line
//! breaks are then printed within the width. No step recurses, and each takes time proportional to the text.

mod layout;
mod print;
mod roles;
mod scan;

#[cfg(test)]
mod tests;

use super::{ast::Program, lex, parse};
use crate::diag::{Code, Diag, Diags, Site};

/// The indentation of a level.
const INDENT: usize = 4;

/// The maximum length of a line in characters, where it can be kept.
const WIDTH: usize = 110;

/// Formats items or a closure. Tokens, comments and their order are unchanged. Only commas before a closing bracket are
/// added or removed, with the line break that follows them.
///
/// ```
/// use mind_core::surface::format;
/// let text = "fn twice(x:f32[3,])->f32[3]{ /* both */ x+x }";
/// let expected = "fn twice(x: f32[3]) -> f32[3] {\n    /* both */ x + x\n}\n";
/// assert_eq!(format(text).unwrap(), expected);
/// assert_eq!(format(expected).unwrap(), expected);
/// ```
///
/// # Errors
/// The errors of [`lex()`] and [`parse`](parse()) for a text with invalid syntax; E1007 for a bare expression.
pub fn format(text: &str) -> Result<String, Diags> {
    let (tokens, mut diags) = lex(text);
    let (program, more) = parse(tokens);
    diags.extend(more);
    if let (Program::Expression(_), true) = (&program, diags.is_empty()) {
        diags.push(expression_in_file());
    }
    // Errors in names do not prevent formatting.
    if diags.as_slice().iter().any(|diag| diag.code.info().name.starts_with("E1")) {
        return Err(diags);
    }
    let (mark, text) = match text.strip_prefix(MARK) {
        Some(text) => (MARK, text),
        None => ("", text),
    };
    let (tokens, brackets) = roles::tokens(text, scan::scan(text));
    Ok(mark.to_owned() + &print::print(&layout::pieces(&tokens, &brackets)))
}

/// The byte order mark that some editors put before a text.
const MARK: &str = "\u{feff}";

/// The error E1007 for a file that contains an expression.
pub fn expression_in_file() -> Diag {
    Diag::new(Code::E1007, Site::Nowhere, "found an expression, expected `fn`, `const` or a closure")
        .help("a file cannot use Rust variables: declare parameters, as in `|x: f32[3]| relu(x)`")
}

/// The tokens and comments of a text without lexical errors, in order. Leaves out what formatting may change: commas
/// before a closing bracket, and blanks at the ends of comment lines.
#[cfg(any(test, feature = "testing"))]
pub(crate) fn essence(text: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    let mut comma = None;
    for token in scan::scan(text.strip_prefix(MARK).unwrap_or(text)) {
        let comments = token.before.comments.iter().map(|comment| comment.text.to_owned());
        let is_last = matches!(token.text, ")" | "]" | "}" | ">" | "|");
        if let Some(comma) = comma.take().filter(|_| is_last) {
            parts.truncate(comma);
        }
        parts.extend(comments);
        comma = (token.text == ",").then_some(parts.len());
        parts.push(token.text.to_owned());
    }
    parts
}
