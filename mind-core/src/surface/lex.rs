//! The lexer: converts a text to tokens, and reports every error that prevents that.
//!
//! rustc lexes the contents of `mind!`. Texts from files are lexed here, so that their errors have the codes and sites
//! of the language.

use proc_macro2::{LineColumn, TokenStream};
use unicode_ident::{is_xid_continue, is_xid_start};

use crate::diag::{Code, Diag, Diags, Site};

#[cfg(test)]
mod tests;

/// The tokens of `text`, and every lexical error in it. If there are errors, the tokens are those of a text in which
/// the errors have been mended, so that the rest can be parsed.
///
/// Outside of rustc, the spans of the tokens have line and column.
///
/// ```
/// use mind_core::surface::lex;
/// let (tokens, mistakes) = lex("fn f(x: f32[3]) -> f32[3] { x × x }");
/// assert_eq!(mistakes.as_slice()[0].message, "invalid character `×` (U+00D7)");
/// assert_eq!(tokens.to_string(), "fn f (x : f32 [3]) -> f32 [3] { x x }");
/// ```
///
/// # Errors
/// Returns E1002 to E1006 as in the table of codes, and E1007 for brackets that do not match.
pub fn lex(text: &str) -> (TokenStream, Diags) {
    let mut scanner = Scanner::new(text.strip_prefix('\u{feff}').unwrap_or(text));
    scanner.run();
    let Scanner { mended, mut diags, .. } = scanner;
    match mended.parse() {
        Ok(tokens) => (tokens, diags),
        Err(error) => {
            let site = Site::token(proc_macro2::LexError::span(&error));
            // For a mended text, this would be a second report of the same error.
            if diags.is_empty() {
                diags.push(Diag::new(Code::E1007, site, "found invalid text"));
            }
            (TokenStream::new(), diags)
        }
    }
}

/// The characters that Rust's grammar allows besides words, numbers, strings and brackets.
const PUNCTUATION: &str = "~!@#$%^&*-=+|;:,<.>/?'";

/// The maximum number of errors that are reported for one text.
const MAX_REPORTED: usize = 32;

struct Scanner<'a> {
    rest: &'a str,
    at: LineColumn,
    open: Vec<Open>,
    /// The number of each of `)`, `]` and `}` that are expected.
    expected: [usize; 3],
    /// The text up to here with its errors mended; every character keeps its line and column.
    mended: String,
    /// Whether the text ends in a comment or string.
    is_cut: bool,
    diags: Diags,
}

/// An open bracket.
#[derive(Clone, Copy)]
struct Open {
    /// The bracket that closes it.
    closing: char,
    at: LineColumn,
    /// The first token directly in it that cannot be in a bracket of this kind. If the bracket is never closed, it is
    /// reported and closed there.
    foreign: Option<ForeignToken>,
}

#[derive(Clone, Copy)]
struct ForeignToken {
    text: &'static str,
    at: LineColumn,
    /// Its position in the mended text.
    mended: usize,
}

impl<'a> Scanner<'a> {
    fn new(text: &'a str) -> Self {
        let at = LineColumn { line: 1, column: 0 };
        let (open, expected) = (Vec::new(), [0; 3]);
        Self { rest: text, at, open, expected, mended: String::new(), is_cut: false, diags: Diags::new() }
    }

    fn run(&mut self) {
        while let Some(char) = self.rest.chars().next() {
            let next = self.rest[char.len_utf8()..].chars().next();
            match char {
                '/' if next == Some('/') => self.keep(self.rest.find('\n').unwrap_or(self.rest.len())),
                '/' if next == Some('*') => self.block_comment(),
                '(' | '[' | '{' => self.open(char),
                ')' | ']' | '}' => self.close(char),
                ';' => self.skip_foreign(";", ")"),
                '-' if next == Some('>') => self.skip_foreign("->", ")]"),
                '"' => self.string(0, Escapes::Text),
                '\'' => self.quote(0, Escapes::Text),
                '0'..='9' => self.number(),
                _ if char == '_' || is_xid_start(char) => self.word(),
                _ if PUNCTUATION.contains(char) || is_space(char) => self.keep(char.len_utf8()),
                _ => self.invalid(char),
            }
        }
        if !self.is_cut {
            self.unclosed();
        }
        self.mended.extend(self.open.iter().rev().map(|open| open.closing));
    }

    /// Reports the innermost bracket that is open at the end, with the brackets around it.
    fn unclosed(&mut self) {
        let (reported, open): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.open).into_iter().partition(|open| open.foreign.is_some());
        for open in reported.into_iter().rev() {
            self.left_open(open, "");
        }
        self.open = open;
        let mut open = self.open.iter().rev();
        let Some(&Open { closing, at, .. }) = open.next() else { return };
        let message = format!("found the end, expected `{closing}` for this `{}`", opening(closing));
        let diag = Diag::new(Code::E1007, text_site(at), message);
        let diag = open.take(3).fold(diag, |diag, &Open { closing, at, .. }| {
            diag.note_at(text_site(at), format!("`{}` is also open, opened", opening(closing)))
        });
        self.push(|_| diag);
    }

    /// Blanks the rest of the text: it belongs to a string or comment that is never closed.
    fn cut(&mut self) {
        self.is_cut = true;
        self.blank(self.rest.len());
    }

    /// Skips `bytes` of the text and keeps them.
    fn keep(&mut self, bytes: usize) {
        let text = self.skip(bytes);
        self.mended += text;
    }

    /// As [`Self::keep`], but replaces the text by blanks.
    fn blank(&mut self, bytes: usize) {
        let blank = |char| if char == '\n' { '\n' } else { ' ' };
        let text = self.skip(bytes);
        self.mended.extend(text.chars().map(blank));
    }

    fn skip(&mut self, bytes: usize) -> &'a str {
        let (text, rest) = self.rest.split_at(bytes);
        self.at = self.at_byte(bytes);
        self.rest = rest;
        text
    }

    /// The position `bytes` further.
    fn at_byte(&self, bytes: usize) -> LineColumn {
        let text = &self.rest[..bytes];
        match text.rsplit_once('\n') {
            None => LineColumn { column: self.at.column + text.chars().count(), ..self.at },
            Some((lines, last)) => LineColumn {
                line: self.at.line + lines.matches('\n').count() + 1,
                column: last.chars().count(),
            },
        }
    }

    /// Reports an error `ahead` bytes further.
    fn report(&mut self, code: Code, ahead: usize, message: String, help: Option<&str>) {
        self.push(|scanner| {
            let diag = Diag::new(code, text_site(scanner.at_byte(ahead)), message);
            Diag { help: help.map(str::to_owned), ..diag }
        });
    }

    fn push(&mut self, diag: impl FnOnce(&Self) -> Diag) {
        match self.diags.as_slice().len() {
            0..MAX_REPORTED => {
                let diag = diag(self);
                self.diags.push(diag);
            }
            MAX_REPORTED => {
                let message =
                    format!("more than {MAX_REPORTED} errors of this kind: the others are not shown");
                self.diags.push(Diag::new(Code::E1008, text_site(self.at), message));
            }
            _ => {}
        }
    }

    fn invalid(&mut self, char: char) {
        let help = stands_for(char).map(|known| format!("write `{known}`"));
        let message = format!("invalid character `{}` (U+{:04X})", char.escape_debug(), u32::from(char));
        self.report(Code::E1002, 0, message, help.as_deref());
        self.blank(char.len_utf8());
    }

    fn block_comment(&mut self) {
        let (mut depth, mut end) = (0_usize, 0);
        let bytes = self.rest.as_bytes();
        while end < bytes.len() {
            match &bytes[end..] {
                [b'/', b'*', ..] => (depth, end) = (depth + 1, end + 2),
                [b'*', b'/', ..] => (depth, end) = (depth - 1, end + 2),
                _ => end += 1,
            }
            if depth == 0 {
                return self.keep(end);
            }
        }
        let message = "this block comment is never closed, needed `*/`".to_owned();
        let help = (depth > 1).then_some("block comments nest: each `/*` needs its own `*/`");
        self.report(Code::E1006, 0, message, help);
        self.cut();
    }

    fn open(&mut self, char: char) {
        let closing = match char {
            '(' => ')',
            '[' => ']',
            _ => '}',
        };
        self.open.push(Open { closing, at: self.at, foreign: None });
        self.expected[kind(closing)] += 1;
        self.keep(1);
    }

    fn close(&mut self, char: char) {
        if self.expected[kind(char)] == 0 {
            let message = format!("found `{char}`, but no `{}` is open", opening(char));
            self.report(Code::E1007, 0, message, None);
            return self.blank(1);
        }
        // Brackets inside it that are still open were left open.
        while let Some(open) = self.open.pop() {
            self.expected[kind(open.closing)] -= 1;
            if open.closing == char {
                break;
            }
            self.left_open(open, char.encode_utf8(&mut [0; 4]));
        }
        self.keep(1);
    }

    /// Skips `text`, which cannot be directly in brackets that are closed by `closings`.
    fn skip_foreign(&mut self, text: &'static str, closings: &str) {
        let (at, mended) = (self.at, self.mended.len());
        if let Some(open) = self.open.last_mut()
            && closings.contains(open.closing)
        {
            open.foreign.get_or_insert(ForeignToken { text, at, mended });
        }
        self.keep(text.len());
    }

    /// Reports a bracket that is not closed before the current token, and closes it.
    fn left_open(&mut self, open: Open, found: &str) {
        let Open { closing, at: opened, foreign } = open;
        // Beyond the limit of reports, the bracket is closed at the end: an insertion in the middle takes time
        // proportional to the text.
        let foreign = foreign.filter(|_| self.diags.as_slice().len() < MAX_REPORTED);
        let (found, at) = foreign.map_or((found, self.at), |foreign| (foreign.text, foreign.at));
        let message = format!("found `{found}`, expected `{closing}`");
        let note = format!("`{}` is opened", opening(closing));
        self.push(|_| Diag::new(Code::E1007, text_site(at), message).note_at(text_site(opened), note));
        let place = foreign.map_or(self.mended.len(), |foreign| foreign.mended);
        // Replacing a blank moves no other character.
        if foreign.is_some() && self.mended[..place].ends_with(' ') {
            self.mended.replace_range(place - 1..place, closing.encode_utf8(&mut [0; 4]));
        } else {
            self.mended.insert(place, closing);
        }
    }

    /// Skips a word, or a literal that begins like one.
    fn word(&mut self) {
        let word = word(self.rest);
        let (prefix, behind) = self.rest.split_at(word);
        match (prefix, behind.as_bytes().first()) {
            ("b", Some(b'"')) => self.string(1, Escapes::Bytes),
            ("c", Some(b'"')) => self.string(1, Escapes::C),
            ("b", Some(b'\'')) => self.quote(1, Escapes::Bytes),
            ("r" | "br" | "cr", Some(b'"' | b'#')) => self.raw(word),
            _ => self.keep(word),
        }
    }

    /// Skips a string whose quote is `quote` bytes further.
    fn string(&mut self, quote: usize, escapes: Escapes) {
        let (mut end, mut right) = (quote + 1, true);
        loop {
            match self.rest[end..].find(['"', '\\']).map(|found| end + found) {
                None => {
                    let message = "this string is never closed, needed `\"`".to_owned();
                    self.report(Code::E1003, 0, message, None);
                    return self.cut();
                }
                Some(found) if self.rest[found..].starts_with('"') => break end = found + 1,
                Some(found) => {
                    let (length, is_right) = self.escape(found, escapes);
                    (end, right) = (found + length, right && is_right);
                }
            }
        }
        self.literal(end, right);
    }

    /// Skips a string or character that ends `end` bytes further.
    fn literal(&mut self, end: usize, escapes_are_right: bool) {
        let has_suffix = self.rest[end..].starts_with(|first| first == '_' || is_xid_start(first));
        let end = if has_suffix { end + word(&self.rest[end..]) } else { end };
        let text = &self.rest[..end];
        if text.parse::<proc_macro2::Literal>().is_ok() {
            return self.keep(end);
        }
        if escapes_are_right {
            self.report(Code::E1004, 0, format!("`{}` is not a literal", text.escape_debug()), None);
        }
        self.zero(end);
    }

    /// Skips `bytes` that are not a literal, and replaces them by the literal `0`.
    fn zero(&mut self, bytes: usize) {
        let start = self.mended.len();
        self.blank(bytes);
        self.mended.replace_range(start..=start, "0");
    }

    /// The length in bytes of the escape `at` bytes further, and whether it is valid.
    fn escape(&mut self, at: usize, escapes: Escapes) -> (usize, bool) {
        let text = &self.rest[at..];
        let mut chars = text.chars().skip(1);
        let (length, right) = match chars.next() {
            Some('n' | 'r' | 't' | '\\' | '0' | '\'' | '"' | '\n') => (2, true),
            Some('\r') if chars.next() == Some('\n') => (3, true),
            Some('x') => {
                let digits = hexadecimal(&text[2..], 2);
                let ascii = digits.starts_with(|first: char| ('0'..'8').contains(&first));
                (2 + digits.len(), digits.len() == 2 && (ascii || escapes != Escapes::Text))
            }
            Some('u') => {
                let digits = text[2..].strip_prefix('{').map_or("", |inside| hexadecimal(inside, 16));
                let closed = text[2..].get(1 + digits.len()..).is_some_and(|rest| rest.starts_with('}'));
                let value = u32::from_str_radix(&digits.replace('_', ""), 16).ok().and_then(char::from_u32);
                match closed {
                    true => (4 + digits.len(), value.is_some() && escapes != Escapes::Bytes),
                    false => (2, false),
                }
            }
            Some(other) => (1 + other.len_utf8(), false),
            None => (1, true),
        };
        if !right {
            let message = format!("invalid escape sequence `{}`", &text[..length]);
            let help = r#"escape sequences are \n \r \t \\ \0 \" \' \x41 \u{1F600}; write `\\` for the character itself"#;
            self.report(Code::E1004, at, message, Some(help));
        }
        (length, right)
    }

    /// Skips `'a'` or the name of a lifetime.
    fn quote(&mut self, quote: usize, escapes: Escapes) {
        let inside = &self.rest[quote + 1..];
        let mut chars = inside.chars();
        let first = chars.next();
        let (end, right) = match first {
            Some('\\') => {
                let (length, right) = self.escape(quote + 1, escapes);
                (quote + 1 + length, right)
            }
            Some(first) if first != '\'' && first != '\n' && chars.next() == Some('\'') => {
                (quote + 1 + first.len_utf8(), true)
            }
            Some(first) if quote == 0 && (first == '_' || is_xid_start(first)) => {
                let end = 1 + word(&self.rest[1..]);
                if !self.rest[end..].starts_with('\'') {
                    return self.keep(end);
                }
                let message = format!("`{}'` is not a character: it contains several", &self.rest[..end]);
                self.report(Code::E1007, 0, message, None);
                return self.zero(end + 1);
            }
            _ => (self.rest.len(), true),
        };
        if self.rest[end..].starts_with('\'') {
            return self.literal(end + 1, right);
        }
        let message = "this character is never closed, needed `'`".to_owned();
        self.report(Code::E1003, 0, message, None);
        self.blank(quote + 1);
    }

    /// Skips `r"…"`, `r#"…"#` or `r#name`.
    fn raw(&mut self, prefix: usize) {
        let behind = &self.rest[prefix..];
        let inside = behind.trim_start_matches('#');
        let hashes = behind.len() - inside.len();
        if !inside.starts_with('"') {
            // For a raw name, the `#` belongs to the name.
            let name = word(inside);
            return match (hashes, prefix, &inside[..name]) {
                (1, 1, "" | "_" | "self" | "Self" | "super" | "crate") | (_, _, "") => {
                    self.keep(prefix);
                    let message = "found `#` after `r`, expected a raw string or name".to_owned();
                    self.report(Code::E1007, 0, message, None);
                    self.blank(hashes);
                }
                (1, 1, _) => self.keep(prefix + 1 + name),
                (_, _, _) => self.keep(prefix),
            };
        }
        let closing = format!("\"{}", &behind[..hashes]);
        match inside[1..].find(&closing) {
            Some(found) => self.literal(prefix + hashes + 1 + found + closing.len(), true),
            None => {
                let message = format!("this string is never closed, needed `{closing}`");
                self.report(Code::E1003, 0, message, None);
                self.cut();
            }
        }
    }

    fn number(&mut self) {
        let radix = match self.rest.as_bytes() {
            [b'0', b'x', ..] => 16,
            [b'0', b'o', ..] => 8,
            [b'0', b'b', ..] => 2,
            _ => {
                // A word after the digits is a suffix, whatever it is. A point or a sign belongs to the next token.
                let end = word(self.rest);
                return self.keep(end);
            }
        };
        let end = word(self.rest);
        let (text, digits) = (&self.rest[..end], &self.rest[2..end]);
        let first_bad = digits.chars().find(|char| *char != '_' && !char.is_digit(radix));
        let digit = match radix {
            16 => "hexadecimal",
            8 => "octal",
            _ => "binary",
        };
        let problem = match first_bad {
            _ if !digits.chars().any(|char| char.is_digit(radix)) => format!("it has no {digit} digit"),
            Some(bad) if bad.is_ascii_digit() => format!("`{bad}` is not a {digit} digit"),
            Some(_) | None => return self.keep(end),
        };
        self.report(Code::E1005, 0, format!("`{text}`: {problem}"), None);
        self.zero(end);
    }
}

/// The kind of a literal, which decides its valid escapes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Escapes {
    Text,
    Bytes,
    C,
}

fn text_site(at: LineColumn) -> Site {
    let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    Site::Text { line: number(at.line), column: number(at.column.saturating_add(1)) }
}

fn opening(closing: char) -> char {
    match closing {
        ')' => '(',
        ']' => '[',
        _ => '{',
    }
}

/// The index of a closing bracket in `expected`.
fn kind(closing: char) -> usize {
    match closing {
        ')' => 0,
        ']' => 1,
        _ => 2,
    }
}

/// The length in bytes of the word at the start of `text`.
pub(super) fn word(text: &str) -> usize {
    text.find(|char| !is_xid_continue(char)).unwrap_or(text.len())
}

/// The hexadecimal digits at the start of `text`, at most `most` of them.
fn hexadecimal(text: &str, most: usize) -> &str {
    let digits = text.bytes().take(most).take_while(|byte| byte.is_ascii_hexdigit() || *byte == b'_');
    &text[..digits.count()]
}

/// Whether a character is white space, as in Rust's lexer.
pub(super) fn is_space(char: char) -> bool {
    char.is_whitespace() || char == '\u{200e}' || char == '\u{200f}'
}

/// The token that a character from a typeset formula stands for.
fn stands_for(char: char) -> Option<&'static str> {
    Some(match char {
        '×' | '·' | '⋅' | '∗' | '⊙' => "*",
        '÷' | '∕' | '⁄' => "/",
        '−' | '–' | '—' => "-",
        '→' => "->",
        '“' | '”' => "\"",
        '‘' | '’' => "'",
        '；' => ";",
        '，' => ",",
        '：' => ":",
        '（' => "(",
        '）' => ")",
        _ => return None,
    })
}
