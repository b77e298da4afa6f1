//! Diagnostics of program texts in files, shown with file, line, column and the source line.

use std::fmt::Write;

use proc_macro2::LineColumn;

use crate::diag::{Diag, Note, Site};

/// The number of characters of a long line that are shown.
const WIDTH: usize = 120;

/// All lines of a diagnostic of `text`, the contents of `file`: the message, the place with its source line and the
/// mistake underlined, then the notes and the help. Tokens come from [`crate::surface::lex()`] of `text`.
///
/// ```
/// use mind_core::{diag::{Code, Diag, Site}, snippet};
/// let diag = Diag::new(Code::E2002, Site::Text { line: 2, column: 5 }, "undefined name `v`").help("write `w`");
/// let shown = "\
/// [E2002] undefined name `v`
///   at net.mind:2:5
///     |
///   2 | x @ v
///     |     ^
///   help: write `w`";
/// assert_eq!(snippet::render(&diag, "net.mind", "let a = w;\nx @ v"), shown);
/// ```
pub fn render(diag: &Diag, file: &str, text: &str) -> String {
    let mut shown = format!("[{}] {}", diag.code, diag.message);
    if let Some(range) = range(diag.site) {
        shown += &underlined(range, file, text);
    }
    for Note { text, site } in &diag.notes {
        shown += &match range(*site) {
            Some((LineColumn { line, column }, _)) => format!("\n  {text} at {file}:{line}:{}", column + 1),
            None => format!("\n  {text}"),
        };
    }
    if let Some(help) = &diag.help {
        shown += &format!("\n  help: {help}");
    }
    shown
}

/// The start and the end of a site. Lines count from 1 and columns from 0.
fn range(site: Site) -> Option<(LineColumn, LineColumn)> {
    match site {
        Site::Nowhere => None,
        Site::Tokens { first, last } => Some((first.start(), last.end())),
        Site::Text { line, column } => {
            let at = |column: u32| LineColumn { line: line as usize, column: column as usize };
            Some((at(column.saturating_sub(1)), at(column)))
        }
    }
}

/// `file:line:column`, the line, and carets under the part of the range that is on this line.
fn underlined((start, end): (LineColumn, LineColumn), file: &str, text: &str) -> String {
    let LineColumn { line, column } = start;
    let mut shown = format!("\n  at {file}:{line}:{}", column + 1);
    let Some(source) = text.lines().nth(line.saturating_sub(1)) else { return shown };
    let source: Vec<char> = source.trim_start_matches('\u{feff}').chars().collect();
    let end = if end.line == line { end.column } else { source.len() };
    // A long line is cut around the place.
    let from = if source.len() > WIDTH { column.saturating_sub(WIDTH / 2) } else { 0 };
    let to = source.len().min(from + WIDTH);
    let (before, after) = (if from > 0 { "…" } else { "" }, if to < source.len() { "…" } else { "" });
    let visible: String = source.get(from..to).unwrap_or_default().iter().collect();
    let blank = |char: &char| if *char == '\t' { '\t' } else { ' ' };
    let indent: String = source[from.min(to)..column.clamp(from.min(to), to)].iter().map(blank).collect();
    let beyond = " ".repeat(column.saturating_sub(to.max(from)));
    let carets = "^".repeat(end.min(to).saturating_sub(column).max(1));
    let margin = " ".repeat(line.to_string().len());
    let indent = if before.is_empty() { indent } else { format!(" {indent}") };
    write!(
        shown,
        "\n  {margin} |\n  {line} | {before}{visible}{after}\n  {margin} | {indent}{beyond}{carets}"
    )
    .expect("writing to a string does not fail");
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Code;

    fn shown(line: u32, column: u32, text: &str) -> String {
        render(&Diag::new(Code::E1007, Site::Text { line, column }, "wrong"), "f", text)
    }

    #[test]
    fn tokens_are_underlined_from_first_to_last() {
        let text = "a\n\tb + çç\n";
        let tokens: Vec<_> = text.parse::<proc_macro2::TokenStream>().unwrap().into_iter().collect();
        let site = Site::Tokens { first: tokens[1].span(), last: tokens[3].span() };
        let diag = Diag::new(Code::E2004, site, "wrong").note_at(Site::token(tokens[0].span()), "`a` is");
        assert_eq!(
            render(&diag, "f", text),
            "[E2004] wrong\n  at f:2:2\n    |\n  2 | \tb + çç\n    | \t^^^^^^\n  `a` is at f:1:1"
        );
    }

    #[test]
    fn what_goes_on_below_is_underlined_to_the_end_of_its_first_line() {
        let text = "x(a,\nb)";
        let tokens: Vec<_> = text.parse::<proc_macro2::TokenStream>().unwrap().into_iter().collect();
        let site = Site::Tokens { first: tokens[0].span(), last: tokens[1].span() };
        let found = render(&Diag::new(Code::E2004, site, "wrong"), "f", text);
        assert!(found.ends_with("1 | x(a,\n    | ^^^^"), "{found}");
    }

    #[test]
    fn places_at_and_beyond_the_end_are_shown() {
        assert!(shown(1, 4, "abc").ends_with("1 | abc\n    |    ^"));
        assert!(shown(1, 6, "abc").ends_with("1 | abc\n    |      ^"));
        assert_eq!(shown(2, 1, "abc"), "[E1007] wrong\n  at f:2:1");
        assert_eq!(shown(1, 1, ""), "[E1007] wrong\n  at f:1:1");
        assert!(shown(12, 1, &"\n".repeat(12)).ends_with("\n     |\n  12 | \n     | ^"));
    }

    #[test]
    fn of_a_long_line_the_place_is_shown() {
        let text = format!("{}!{}", "a".repeat(100_000), "b".repeat(100_000));
        let found = shown(1, 100_001, &text);
        assert!(found.len() < 1_000);
        let lines: Vec<&str> = found.lines().collect();
        let caret = lines[4].chars().position(|char| char == '^').unwrap();
        assert_eq!(lines[3].chars().nth(caret), Some('!'), "{found}");
        assert!(lines[3].starts_with("  1 | …aaa") && lines[3].ends_with("bbb…"));
    }
}
