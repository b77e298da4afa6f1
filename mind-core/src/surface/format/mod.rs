//! Programs in the language in the one form that `mind fmt` gives them: rustfmt's, where Rust's grammar is the same.
//!
//! A text is scanned with its comments, each token is told what it is to the layout, then texts and the places where
//! lines may end are printed within the width. No step recurses, and each takes time in proportion to the text.

mod layout;
mod print;
mod roles;
mod scan;

#[cfg(test)]
mod tests;

use super::{ast::Program, lex, parse};
use crate::diag::{Code, Diag, Diags, Site};

/// How far a level is indented.
const INDENT: usize = 4;

/// The longest line where it can be helped, in characters.
const WIDTH: usize = 110;

/// Formats items or a closure. Tokens and comments stay as they are and in their order; only commas before a closing
/// bracket come and go with the line that they end.
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
/// What [`lex()`] and [`parse`](parse()) say of a text whose syntax is wrong; E1007 for a bare expression.
pub fn format(text: &str) -> Result<String, Diags> {
    let (tokens, mut diags) = lex(text);
    let (program, more) = parse(tokens);
    diags.extend(more);
    if let (Program::Expression(_), true) = (&program, diags.is_empty()) {
        diags.push(expression_in_file());
    }
    // What is wrong with names is wrong in whatever form.
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

/// What some editors put before a text.
const MARK: &str = "\u{feff}";

/// E1007 for a file that holds an expression.
pub fn expression_in_file() -> Diag {
    Diag::new(Code::E1007, Site::Nowhere, "found an expression, expected `fn`, `const` or a closure")
        .help("a file sees no Rust variables: name what is given, as `|x: f32[3]| relu(x)`")
}

/// The tokens and comments of a text without lexical mistakes, in their order, without what formatting may change:
/// commas before a closing bracket, blanks at the ends of lines of comments.
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
