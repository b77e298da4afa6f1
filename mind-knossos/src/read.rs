//! Reads a text as nested lists.
//!
//! The reader is not recursive: open lists are on a stack in a vector. The nesting depth is limited, so that code that
//! walks the lists can recurse.

use mind_core::diag::{Code, Diag, Diags};

use crate::ir::Position;

/// The maximum nesting depth of lists.
pub const MAX_NESTING: usize = 256;

/// The forms of a text, with their lists in an arena.
#[derive(Debug)]
pub(super) struct Forms<'a> {
    nodes: Vec<Node<'a>>,
    /// The outermost forms.
    pub top: Vec<FormId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FormId(u32);

#[derive(Debug)]
struct Node<'a> {
    place: Position,
    form: Form<'a>,
    /// Whether it is a list in brackets, the syntax of derivative names.
    is_bracketed: bool,
}

/// A list or an atom.
#[derive(Debug, PartialEq)]
pub(super) enum Form<'a> {
    List(Vec<FormId>),
    Name(&'a str),
    Integer(i64),
    Float(f64),
    String(String),
    /// A form with an error, which was reported.
    Wrong,
}

impl<'a> Forms<'a> {
    pub fn place(&self, id: FormId) -> Position {
        self.nodes[id.0 as usize].place
    }

    pub fn get(&self, id: FormId) -> &Form<'a> {
        &self.nodes[id.0 as usize].form
    }

    /// Whether it is a list in brackets, `[rev f]`, rather than in parentheses.
    pub fn is_bracketed(&self, id: FormId) -> bool {
        self.nodes[id.0 as usize].is_bracketed
    }

    /// The members, if it is a list.
    pub fn list(&self, id: FormId) -> Option<&[FormId]> {
        match self.get(id) {
            Form::List(members) => Some(members),
            _ => None,
        }
    }

    /// The name, if it is one.
    pub fn name(&self, id: FormId) -> Option<&'a str> {
        match self.get(id) {
            Form::Name(name) => Some(name),
            _ => None,
        }
    }

    /// A description for messages.
    pub fn describe(&self, id: FormId) -> String {
        match self.get(id) {
            Form::List(members) => match members.first().map(|first| self.get(*first)) {
                Some(Form::Name(name)) => format!("a list `({name} …)`"),
                Some(_) => "a list".into(),
                None => "an empty list `()`".into(),
            },
            Form::Name(name) => format!("`{name}`"),
            Form::Integer(value) => format!("`{value}`"),
            Form::Float(value) => format!("`{value:?}`"),
            Form::String(_) => "a string".into(),
            Form::Wrong => "a malformed form".into(),
        }
    }
}

/// Reads a text.
pub(super) fn read<'a>(text: &'a str, diags: &mut Diags) -> Forms<'a> {
    let mut reader = Reader {
        text,
        at: 0,
        place: Position { line: 1, column: 1 },
        forms: Forms { nodes: Vec::with_capacity(text.len() / 4), top: Vec::new() },
        open: Vec::new(),
        too_deep: false,
        is_cut: false,
        form_is_deep: false,
        diags,
    };
    reader.run();
    reader.forms
}

struct Reader<'a, 'd> {
    text: &'a str,
    at: usize,
    place: Position,
    forms: Forms<'a>,
    /// The lists that are not closed yet, innermost last.
    open: Vec<Open>,
    /// Whether lists nest too deep in the text, which is reported once.
    too_deep: bool,
    /// Whether lists nest too deep in the current outermost form.
    form_is_deep: bool,
    /// Whether the text ends inside a comment or a string. This explains all open lists.
    is_cut: bool,
    diags: &'d mut Diags,
}

/// A list that is not closed yet.
struct Open {
    begin: Position,
    bracket: char,
    members: Vec<FormId>,
}

impl<'a> Reader<'a, '_> {
    fn run(&mut self) {
        if self.text.starts_with('\u{feff}') {
            self.at += '\u{feff}'.len_utf8();
        }
        while let Some(character) = self.peek() {
            let place = self.place;
            match character {
                _ if character.is_whitespace() => self.advance(),
                ';' => self.skip_while(|character| character != '\n'),
                '#' if self.rest().starts_with("#|") => self.block_comment(),
                '(' | '[' => {
                    self.begin_of_declaration(place);
                    self.advance();
                    self.open(place, character);
                }
                ')' | ']' => {
                    self.advance();
                    self.close(place, character);
                }
                '"' => self.string(),
                _ if character.is_ascii_digit() || "+-".contains(character) && self.digit_follows() => {
                    self.number()
                }
                _ if begins_name(character) => {
                    let start = self.at;
                    self.skip_while(continues_name);
                    self.push(place, Form::Name(&self.text[start..self.at]));
                }
                _ => {
                    self.advance();
                    let message = format!("unexpected character {character:?}");
                    self.diags.push(Diag::new(Code::E1002, place.into(), message));
                    self.push(place, Form::Wrong);
                }
            }
        }
        self.abandon("at the end of the text");
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn digit_follows(&self) -> bool {
        self.rest().as_bytes().get(1).is_some_and(u8::is_ascii_digit)
    }

    fn advance(&mut self) {
        let Some(character) = self.peek() else { return };
        self.at += character.len_utf8();
        if character == '\n' {
            self.place = Position { line: self.place.line + 1, column: 1 };
        } else {
            self.place.column += 1;
        }
    }

    fn skip_while(&mut self, wanted: impl Fn(char) -> bool) {
        while self.peek().is_some_and(&wanted) {
            self.advance();
        }
    }

    fn push(&mut self, place: Position, form: Form<'a>) {
        self.push_list(place, form, false);
    }

    fn push_list(&mut self, place: Position, form: Form<'a>, is_bracketed: bool) {
        let id = FormId(self.forms.nodes.len() as u32);
        self.forms.nodes.push(Node { place, form, is_bracketed });
        match self.open.last_mut() {
            Some(list) => list.members.push(id),
            None => self.forms.top.push(id),
        }
    }

    fn open(&mut self, begin: Position, bracket: char) {
        if self.open.len() >= MAX_NESTING && !self.too_deep {
            self.too_deep = true;
            let message = format!("lists nest deeper than the limit of {MAX_NESTING}");
            let diag = Diag::new(Code::E1008, begin.into(), message);
            self.diags.push(diag.help("name the inner parts with `let`, or make them functions"));
        }
        self.open.push(Open { begin, bracket, members: Vec::new() });
    }

    fn close(&mut self, place: Position, bracket: char) {
        let Some(Open { begin, bracket: opening, members }) = self.open.pop() else {
            let message = format!("unexpected `{bracket}`: no list is open");
            return self.diags.push(Diag::new(Code::E1007, place.into(), message));
        };
        let expected = if opening == '(' { ')' } else { ']' };
        if bracket != expected {
            let message = format!("expected `{expected}`, found `{bracket}`");
            let diag = Diag::new(Code::E1007, place.into(), message);
            self.diags.push(diag.note_at(begin.into(), format!("`{opening}` opens the list")));
        }
        // An outermost form that nests too deep is discarded, so that code that walks forms can recurse.
        self.form_is_deep |= self.open.len() >= MAX_NESTING;
        let form = if self.form_is_deep { Form::Wrong } else { Form::List(members) };
        self.form_is_deep &= !self.open.is_empty();
        self.push_list(begin, form, opening == '[');
    }

    /// Handles a declaration in the first column. It cannot be in a list, so the lists before it were not closed.
    fn begin_of_declaration(&mut self, place: Position) {
        let begins = ["(def ", "(edef ", "(gdef ", "(rule "];
        if place.column == 1 && begins.iter().any(|begin| self.rest().starts_with(begin)) {
            self.abandon(&format!("before the declaration on line {}", place.line));
        }
    }

    /// Reports the open lists as one error, and closes them.
    fn abandon(&mut self, when: &str) {
        let count = self.open.len();
        if let (Some(first), Some(last)) = (self.open.first(), self.open.last()) {
            let lists = if count == 1 { "the list is".into() } else { format!("{count} lists are") };
            let mut diag =
                Diag::new(Code::E1007, last.begin.into(), format!("expected `)`: {lists} not closed {when}"));
            if count > 1 {
                diag = diag.note_at(first.begin.into(), "the outermost list begins");
            }
            if !self.too_deep && !self.is_cut {
                self.diags.push(diag);
            }
            let place = first.begin;
            self.open.clear();
            self.push(place, Form::Wrong);
        }
    }

    fn block_comment(&mut self) {
        let (begin, mut depth) = (self.place, 0_usize);
        loop {
            let step = match self.rest().as_bytes() {
                [b'#', b'|', ..] => 1,
                [b'|', b'#', ..] => -1,
                [] => {
                    self.is_cut = true;
                    let message = "the comment is not closed: each `#|` needs its own `|#`";
                    return self.diags.push(Diag::new(Code::E1006, begin.into(), message));
                }
                _ => 0,
            };
            self.advance();
            if step != 0 {
                self.advance();
                depth = depth.saturating_add_signed(step);
                if depth == 0 {
                    return;
                }
            }
        }
    }

    fn string(&mut self) {
        let begin = self.place;
        self.advance();
        let mut string = String::new();
        loop {
            let place = self.place;
            let Some(character) = self.peek() else {
                self.is_cut = true;
                self.diags.push(Diag::new(Code::E1003, begin.into(), "the string is not closed"));
                return self.push(begin, Form::Wrong);
            };
            self.advance();
            match character {
                '"' => return self.push(begin, Form::String(string)),
                '\\' => {
                    let escaped = self.peek();
                    self.advance();
                    match escaped {
                        Some('n') => string.push('\n'),
                        Some('t') => string.push('\t'),
                        Some('r') => string.push('\r'),
                        Some('0') => string.push('\0'),
                        Some(same @ ('\\' | '"' | '\'')) => string.push(same),
                        None => {}
                        Some(other) => {
                            let message = format!("unknown escape `\\{other}`");
                            let diag = Diag::new(Code::E1004, place.into(), message);
                            self.diags
                                .push(diag.help("the escapes are \\\\, \\\", \\', \\n, \\t, \\r and \\0"));
                        }
                    }
                }
                _ => string.push(character),
            }
        }
    }

    fn number(&mut self) {
        let (place, start) = (self.place, self.at);
        self.advance();
        self.skip_while(continues_name);
        let text = &self.text[start..self.at];
        let form = match number(text) {
            Ok(form) => form,
            Err(why) => {
                self.diags.push(Diag::new(Code::E1005, place.into(), format!("`{text}` {why}")));
                Form::Wrong
            }
        };
        self.push(place, form);
    }
}

/// Parses a number. The error says why it is not one.
fn number<'a>(text: &str) -> Result<Form<'a>, String> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.bytes().all(|byte| byte.is_ascii_digit()) {
        let value = text.parse().map_err(|_| "is out of range for an Integer of 64 bits")?;
        return Ok(Form::Integer(value));
    }
    let (mantissa, exponent) = match digits.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent.strip_prefix(['-', '+']).unwrap_or(exponent))),
        None => (digits, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    if fraction == Some("") {
        return Err("has no digit after the decimal point".into());
    }
    let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if !is_digits(whole) || ![fraction, exponent].into_iter().flatten().all(is_digits) {
        return Err("is neither a number nor a name: a name cannot begin with a digit".into());
    }
    let value: f64 = text.parse().map_err(|_| "is not a number")?;
    if value.is_finite() {
        Ok(Form::Float(value))
    } else {
        Err("is out of range for a Float of 64 bits".into())
    }
}

fn begins_name(character: char) -> bool {
    character.is_alphabetic() || "_':!$%&*+.,/<=>?@\\^|-~".contains(character)
}

fn continues_name(character: char) -> bool {
    begins_name(character) || character.is_numeric()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let mut diags = Diags::new();
        let forms = read(text, &mut diags);
        assert!(diags.is_empty(), "{:?}", diags.as_slice());
        forms.top.iter().map(|id| format!("{:?}", forms.get(*id))).collect()
    }

    #[test]
    fn words_are_told_apart() {
        assert_eq!(
            words("-1 1.5 -2e3 +7 +1.5 + +x a$1 - -x : \"a\\n\" ; no\n#| no #| no |# |# 7"),
            [
                "Integer(-1)",
                "Float(1.5)",
                "Float(-2000.0)",
                "Integer(7)",
                "Float(1.5)",
                "Name(\"+\")",
                "Name(\"+x\")",
                "Name(\"a$1\")",
                "Name(\"-\")",
                "Name(\"-x\")",
                "Name(\":\")",
                "String(\"a\\n\")",
                "Integer(7)"
            ]
        );
    }

    #[test]
    fn deep_nesting_is_one_mistake_and_no_recursion() {
        for text in ["(".repeat(10_000) + &")".repeat(10_000), "(".repeat(1_000_000)] {
            let mut diags = Diags::new();
            read(&text, &mut diags);
            let codes: Vec<_> = diags.as_slice().iter().map(|diag| diag.code).collect();
            assert_eq!(codes, [Code::E1008]);
        }
    }
}
