//! A position in a text that moves forward. Reads the tokens of both text forms and reports unexpected tokens.

mod dims;
mod numbers;

use std::borrow::Cow;

use super::TextForm;
use crate::{
    diag::{Code, Diag, Site},
    ty::DType,
};

pub(super) use dims::dim;
pub(super) use numbers::{ElementText, Quiet, data};

/// The value read, or an error, which is boxed because it is rare.
pub(super) type ReadResult<T> = Result<T, Box<Diag>>;

/// A position in a text. Past the end of the text it reads as the end of a line.
///
/// Functions that read the tokens of every line are inlined. The others take a copy of the cursor, so that a parser's
/// cursor stays in registers.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'a> {
    text: &'a str,
    at: usize,
    line: u32,
    form: TextForm,
    line_start: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str, form: TextForm) -> Self {
        Self { text, at: 0, line: 1, form, line_start: 0 }
    }

    pub(super) fn line(&self) -> u32 {
        self.line
    }

    #[inline(always)]
    pub(super) fn position(&self) -> usize {
        self.at
    }

    #[inline(always)]
    pub(super) fn is_at_end(&self) -> bool {
        self.at >= self.text.len()
    }

    #[inline(always)]
    pub(super) fn peek(&self) -> u8 {
        self.ahead(0)
    }

    #[inline(always)]
    pub(super) fn ahead(&self, by: usize) -> u8 {
        self.text.as_bytes().get(self.at + by).copied().unwrap_or(b'\n')
    }

    /// Moves to a position on this line.
    #[inline(always)]
    pub(super) fn rewind(&mut self, position: usize) {
        self.at = position;
    }

    #[inline(always)]
    pub(super) fn advance(&mut self, by: usize) {
        self.at += by;
    }

    #[inline(always)]
    pub(super) fn eat(&mut self, byte: u8) -> bool {
        if self.peek() != byte {
            return false;
        }
        self.at += 1;
        true
    }

    pub(super) fn eat_str(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token.as_bytes());
        self.at += if found { token.len() } else { 0 };
        found
    }

    #[inline(always)]
    fn rest(&self) -> &'a [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }

    /// The text from a position to the current one.
    pub(super) fn since(&self, start: usize) -> &'a str {
        &self.text[start..self.at]
    }

    /// Skips spaces and tabs. Returns whether there were any.
    #[inline]
    pub(super) fn skip_spaces(&mut self) -> bool {
        let start = self.at;
        while matches!(self.peek(), b' ' | b'\t') {
            self.at += 1;
        }
        self.at > start
    }

    /// Skips one or more spaces and tabs before a token, which `before` describes.
    #[inline(always)]
    pub(super) fn space(&mut self, before: &str) -> ReadResult<()> {
        if self.peek() == b' ' && self.ahead(1) > b' ' {
            self.at += 1;
            return Ok(());
        }
        self.at = self.spaces(before)?;
        Ok(())
    }

    /// The position after one or more spaces and tabs before a token, which `before` describes.
    #[cold]
    fn spaces(mut self, before: &str) -> ReadResult<usize> {
        if self.skip_spaces() && !self.is_at_line_end() { Ok(self.at) } else { self.unexpected(before) }
    }

    /// Skips spaces and tabs up to the end of the line.
    #[inline(always)]
    pub(super) fn line_end(&mut self) -> ReadResult<()> {
        if self.peek() != b'\n' {
            self.at = self.spaced_line_end()?;
        }
        Ok(())
    }

    /// The position of the end of the line, after spaces and tabs.
    #[cold]
    fn spaced_line_end(mut self) -> ReadResult<usize> {
        self.skip_spaces();
        if self.is_at_line_end() { Ok(self.at) } else { self.unexpected("the end of the line") }
    }

    /// Whether the line ends here, with `\n`, `\r\n` or the end of the text.
    #[inline(always)]
    pub(super) fn is_at_line_end(&self) -> bool {
        match self.peek() {
            b'\n' => true,
            b'\r' => self.ahead(1) == b'\n',
            _ => false,
        }
    }

    /// Returns the rest of the line without its line break and moves to the end of the line.
    pub(super) fn rest_of_line(&mut self) -> &'a str {
        let start = self.at;
        self.at += self.rest().iter().position(|byte| *byte == b'\n').unwrap_or(self.text.len() - start);
        let line = &self.text[start..self.at];
        line.strip_suffix('\r').unwrap_or(line)
    }

    /// Moves to the start of the next line from anywhere on this one.
    #[inline]
    pub(super) fn next_line(&mut self) {
        if self.text.as_bytes().get(self.at) != Some(&b'\n') {
            self.at += self.rest().iter().position(|byte| *byte == b'\n').unwrap_or(self.rest().len());
            if self.is_at_end() {
                return;
            }
        }
        self.at += 1;
        self.line += 1;
        self.line_start = self.at;
    }

    pub(super) fn site(self) -> Site {
        self.site_of(self.at)
    }

    /// The line and column of a position on this line.
    pub(super) fn site_of(self, position: usize) -> Site {
        let before = &self.text.as_bytes()[self.line_start..position.clamp(self.line_start, self.text.len())];
        // Bytes that do not continue a character.
        let characters = before.iter().filter(|byte| **byte & 0xc0 != 0x80).count();
        Site::Text { line: self.line, column: u32::try_from(characters + 1).unwrap_or(u32::MAX) }
    }

    /// Returns an error at the current position.
    #[cold]
    pub(super) fn fault<T>(self, code: Code, message: impl Into<String>) -> ReadResult<T> {
        self.fault_at(self.at, code, message)
    }

    /// Returns an error at a position on this line.
    #[cold]
    pub(super) fn fault_at<T>(
        self,
        position: usize,
        code: Code,
        message: impl Into<String>,
    ) -> ReadResult<T> {
        Err(Diag::new(code, self.site_of(position), message).into())
    }

    /// Returns E1007: the token at the current position is not the expected one.
    #[cold]
    pub(super) fn unexpected<T>(self, expected: &str) -> ReadResult<T> {
        let found = self.found();
        let diag = Diag::new(Code::E1007, self.site(), format!("found {found}, expected {expected}"));
        let begins = |comment: &&[u8]| self.rest().starts_with(comment);
        let is_comment = [&b"#"[..], b"//", b"/*", b";"].iter().any(begins);
        Err(match self.form {
            TextForm::Mic if is_comment => diag.help("put a comment on its own line, after `#`"),
            TextForm::CoreIr if is_comment => diag.help(
                "Core IR text has no comments: remove it, or write MIC, where a line that starts with `#` is a comment",
            ),
            TextForm::Mic | TextForm::CoreIr => diag,
        }
        .into())
    }

    /// The token at the current position, for messages.
    fn found(self) -> String {
        if self.is_at_end() {
            return "the end of the text".into();
        }
        if self.is_at_line_end() {
            return "the end of the line".into();
        }
        let rest = String::from_utf8_lossy(self.rest().split(|byte| *byte == b'\n').next().unwrap_or(&[]));
        let mut characters = rest.chars();
        let first = characters.next().unwrap_or(' ');
        let mut found = first.to_string();
        if is_word(first) {
            found.extend(characters.take_while(|character| is_word(*character)).take(30));
        }
        if found.chars().all(|character| !character.is_control()) {
            format!("`{found}`")
        } else {
            format!("`{}`", found.escape_default())
        }
    }

    #[inline(always)]
    pub(super) fn expect(&mut self, byte: u8, expected: &str) -> ReadResult<()> {
        if self.eat(byte) { Ok(()) } else { self.unexpected(expected) }
    }

    /// Reads decimal digits as a number that fits 64 bits.
    #[inline(always)]
    pub(super) fn digits(&mut self, expected: &str) -> ReadResult<u64> {
        // Most ids have one digit.
        if let (digit @ b'0'..=b'9', false) = (self.peek(), self.ahead(1).is_ascii_digit()) {
            self.at += 1;
            return Ok(u64::from(digit - b'0'));
        }
        let start = self.at;
        let (value, count) = self.decimal();
        // 19 digits always fit 64 bits.
        if matches!(count, 1..=19) { Ok(value) } else { self.unusual_digits(start, expected) }
    }

    /// Reads decimal digits. Returns their value in wrapping arithmetic and their count.
    #[inline(always)]
    fn decimal(&mut self) -> (u64, usize) {
        let start = self.at;
        let mut value: u64 = 0;
        while let digit @ b'0'..=b'9' = self.peek() {
            value = value.wrapping_mul(10).wrapping_add(u64::from(digit - b'0'));
            self.at += 1;
        }
        (value, self.at - start)
    }

    #[cold]
    fn unusual_digits(self, start: usize, expected: &str) -> ReadResult<u64> {
        if self.at == start {
            return self.unexpected(expected);
        }
        let digits = self.since(start);
        digits
            .parse()
            .or_else(|_| self.fault_at(start, Code::E1005, format!("{} exceeds 64 bits", shortened(digits))))
    }

    /// Reads a signed integer that fits 64 bits.
    pub(super) fn integer(&mut self, expected: &str) -> ReadResult<i64> {
        let start = self.at;
        let negative = self.eat(b'-');
        let magnitude = self.digits(expected)?;
        let value =
            if negative { 0i64.checked_sub_unsigned(magnitude) } else { i64::try_from(magnitude).ok() };
        match value {
            Some(value) => Ok(value),
            None => {
                let message = format!("{} exceeds 64 bits", self.since(start));
                self.fault_at(start, Code::E1005, message)
            }
        }
    }

    /// Reads a Rust identifier: letters, digits and underscores, not starting with a digit. It may have the prefix
    /// `r#`.
    pub(super) fn identifier(&mut self, expected: &str) -> ReadResult<&'a str> {
        let start = self.at;
        if self.peek() == b'r' && self.ahead(1) == b'#' {
            self.at += 2;
        }
        let name = self.at;
        while self.peek().is_ascii_alphanumeric() || self.peek() == b'_' || !self.peek().is_ascii() {
            if self.peek().is_ascii() {
                self.at += 1;
                continue;
            }
            let rest = &self.text[self.at..];
            let character = rest.chars().next().filter(|character| character.is_alphanumeric());
            let Some(character) = character else {
                let character = rest.chars().next().unwrap_or(' ');
                let message =
                    format!("`{}` is not allowed in the name of a dimension", character.escape_debug());
                return self.fault(Code::E1002, message);
            };
            self.at += character.len_utf8();
        }
        if self.at == name || self.text.as_bytes()[name].is_ascii_digit() {
            self.at = start;
            return self.unexpected(expected);
        }
        Ok(self.since(start))
    }

    /// Reads text in double quotes.
    #[inline(always)]
    pub(super) fn quoted(&mut self, expected: &str) -> ReadResult<Cow<'a, str>> {
        let start = self.at;
        self.expect(b'"', expected)?;
        let plain = self.at;
        while !matches!(self.peek(), b'"' | b'\\' | b'\n' | b'\r') {
            self.at += 1;
        }
        if self.peek() == b'"' {
            self.at += 1;
            return Ok(self.text[plain..self.at - 1].into());
        }
        let (text, end) = Self { at: start, ..*self }.escaped()?;
        self.at = end;
        Ok(text.into())
    }

    /// Reads text in double quotes that contains escapes. Returns it and the position of its end.
    #[cold]
    fn escaped(mut self) -> ReadResult<(String, usize)> {
        let start = self.at;
        self.at += 1;
        let mut text = String::new();
        loop {
            let run = self.at;
            while !matches!(self.peek(), b'"' | b'\\') && !self.is_at_line_end() {
                self.at += 1;
            }
            text.push_str(&self.text[run..self.at]);
            match self.peek() {
                b'"' => {
                    self.at += 1;
                    return Ok((text, self.at));
                }
                b'\\' => text.push(self.escape()?),
                _ => return self.unterminated(start),
            }
        }
    }

    fn unterminated<T>(self, start: usize) -> ReadResult<T> {
        self.fault_at(start, Code::E1003, "the string that starts here does not end on its line, needed `\"`")
    }

    fn escape(&mut self) -> ReadResult<char> {
        let start = self.at;
        self.at += 2;
        Ok(match self.text.as_bytes().get(start + 1) {
            Some(b'\\') => '\\',
            Some(b'"') => '"',
            Some(b'n') => '\n',
            Some(b't') => '\t',
            Some(b'r') => '\r',
            Some(b'u') => {
                let digits = self.rest().strip_prefix(b"{").unwrap_or(&[]);
                let length = digits.iter().take(7).take_while(|byte| byte.is_ascii_hexdigit()).count();
                let code = std::str::from_utf8(&digits[..length]).ok();
                let code = code.and_then(|digits| u32::from_str_radix(digits, 16).ok());
                let character = code.and_then(char::from_u32).filter(|_| digits.get(length) == Some(&b'}'));
                let Some(character) = character else {
                    let message = "`\\u` names no character, expected an escape such as `\\u{e9}`";
                    return self.fault_at(start, Code::E1004, message);
                };
                self.at += length + 2;
                character
            }
            _ => {
                let found = self.text[start + 1..].chars().next().filter(|found| *found != '\n');
                let found: String = found.map_or_else(String::new, |found| found.escape_debug().collect());
                let message = format!(
                    "`\\{found}` is not an escape, needed one of `\\\\`, `\\\"`, `\\n`, `\\t`, `\\r`, `\\u{{e9}}`"
                );
                return self.fault_at(start, Code::E1004, message);
            }
        })
    }

    /// Reads letters, digits, `_` and `.`: the characters in MIC's names of operations.
    pub(super) fn kind(&mut self) -> &'a [u8] {
        let rest = self.rest();
        let letter = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.');
        let length = rest.iter().position(|byte| !letter(byte)).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    /// The next eight bytes, the first in the lowest bits.
    #[inline(always)]
    pub(super) fn word(&self) -> Option<u64> {
        self.rest().first_chunk().copied().map(u64::from_le_bytes)
    }

    /// Reads the name of an element type.
    pub(super) fn dtype(&mut self) -> ReadResult<DType> {
        let letter = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let length = self.rest().iter().take_while(|byte| letter(byte)).count();
        match self.text.get(self.at..self.at + length).and_then(DType::from_name) {
            Some(dtype) => {
                self.at += length;
                Ok(dtype)
            }
            None => {
                let names: Vec<_> = DType::ALL.iter().map(|dtype| format!("`{dtype}`")).collect();
                self.unexpected(&format!("one of {}", names.join(", ")))
            }
        }
    }

    /// Reads one of the common numeric element types, if it is next.
    #[inline(always)]
    pub(super) fn known_dtype(&mut self) -> Option<DType> {
        let dtype = match self.rest().first_chunk()? {
            b"f32" => DType::F32,
            b"f64" => DType::F64,
            b"i32" => DType::I32,
            b"i64" => DType::I64,
            _ => return None,
        };
        self.at += 3;
        Some(dtype)
    }

    /// Reads a positive integer of at most 18 digits.
    #[inline(always)]
    pub(super) fn extent(&mut self) -> Option<i64> {
        let (value, digits) = self.decimal();
        (value > 0 && digits <= 18).then(|| value.cast_signed())
    }

    /// Reads the characters that a number can consist of, for [`ElementText`].
    pub(super) fn number(&mut self) -> &'a str {
        let start = self.at;
        while matches!(self.peek(), b'0'..=b'9' | b'.' | b'-' | b'+' | b':' | b'_')
            || self.peek().is_ascii_alphabetic()
        {
            self.at += 1;
        }
        self.since(start)
    }
}

pub(super) fn is_word(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '.' | '@' | '%')
}

/// A token, shortened for a message.
pub(super) fn shortened(token: &str) -> String {
    let end = token.char_indices().nth(40).map_or(token.len(), |(end, _)| end);
    if end < token.len() { format!("`{}…`", &token[..end]) } else { format!("`{token}`") }
}

/// Whether spaces are allowed between the tokens of a list or dimension: in Core IR text, but not in MIC.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Spaces {
    Allowed,
    None,
}

impl Spaces {
    pub(super) fn skip(self, cursor: &mut Cursor<'_>) {
        if self == Self::Allowed {
            cursor.skip_spaces();
        }
    }
}
