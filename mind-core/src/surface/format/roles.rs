//! The role of each token in the layout: for example a comma of a list, a sign before its operand, or the end of a
//! statement.
//!
//! The text has been parsed, so the tokens follow the grammar. The role of a token follows from its neighbours and the
//! bracket around it. A text that does not parse would be laid out badly, but no token would be lost.

use super::scan::{Before, Raw, TokenKind};
use crate::{
    map::{Map, Tightness},
    surface::{
        ast::BinaryOp,
        parse::{OPERATORS, is_keyword},
    },
};

/// A word, literal, operator or bracket.
pub(super) struct Token<'a> {
    pub(super) text: &'a str,
    pub(super) before: Before<'a>,
    pub(super) role: TokenRole,
    /// The numbers of groups that begin before it and end after it, without that of a bracket.
    pub(super) opens: usize,
    pub(super) closes: usize,
    /// Whether a line break follows, because it ends a statement, an item or an attribute.
    pub(super) ends_line: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenRole {
    /// A name, keyword or literal.
    Word,
    /// Opens the bracket with this index.
    Open(usize),
    Close(usize),
    Comma,
    /// A comma before a closing bracket, where it has no meaning.
    LastComma,
    /// The end of a statement or item.
    Semicolon,
    Colon,
    /// `..`, and the `;` before a step.
    Tight,
    /// `::`
    Path,
    Dot {
        breaks: bool,
    },
    /// A sign before its operand, or `#`.
    Prefix,
    Binary,
    /// `=` of an argument, `->`.
    Spaced,
    /// `=` or `+=` of a statement that ends with token `last`.
    Assign {
        last: usize,
    },
    /// A token of an attribute, whose spacing is kept.
    AsWritten,
    End,
}

/// A pair of brackets.
pub(super) struct Bracket {
    pub(super) kind: BracketKind,
    /// Whether there are line breaks inside, regardless of its length.
    pub(super) is_long: bool,
    /// Whether all its elements are short numbers, so that several are put on a line.
    pub(super) is_filled: bool,
    /// Whether a comma is allowed before its end but not required.
    pub(super) may_end_with_comma: bool,
    /// The token up to which the line must fit if the bracket is not broken.
    pub(super) until: Option<usize>,
    commas: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum BracketKind {
    /// A body: statements in braces.
    Body,
    /// Fields of an item.
    Struct,
    /// Fields of an expression or a pattern.
    Fields,
    /// Braces of `use`.
    Use,
    /// Parameters of an item.
    Parameters,
    /// Arguments.
    Call,
    /// Parentheses around one expression, `pub(crate)`.
    Plain,
    Tuple,
    /// An array, subscripts, the dims of a type.
    List,
    /// `#[…]`
    Attribute,
    /// A bracket in an attribute.
    Meta,
    /// `<…>` of dims.
    Angle,
    /// `|…|`
    Bars,
}

/// The kind of the current item.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ItemKind {
    Function,
    Struct,
    Constant,
    Use,
    Closure,
}

/// An open bracket, or the whole text.
struct Level {
    /// The index and the first token; `None` for the text.
    bracket: Option<(usize, usize)>,
    /// Whether the current tokens are of a type.
    in_type: bool,
    /// Whether the previous token ends an operand.
    behind_operand: bool,
    /// The first token of the current operand.
    operand: Option<usize>,
    /// The dots of method calls on the operand.
    dots: Vec<usize>,
    /// Open chains of operators, loosest first, with their first tokens.
    chains: Vec<(Tightness, usize)>,
    /// The first token of the current statement, in a body.
    statement: Option<usize>,
    is_let: bool,
    /// The `=` of the current statement or item.
    assign: Option<usize>,
    /// Whether the current element begins with `..`.
    is_rest: bool,
    /// Whether the current tokens are before the body of a loop or a branch.
    is_before_body: bool,
    item: Option<ItemKind>,
}

impl Level {
    fn new(bracket: Option<(usize, usize)>, in_type: bool) -> Self {
        Self {
            bracket,
            in_type,
            behind_operand: false,
            operand: None,
            dots: Vec::new(),
            chains: Vec::new(),
            statement: None,
            is_let: false,
            assign: None,
            is_rest: false,
            is_before_body: false,
            item: None,
        }
    }
}

/// The tokens of a text with their roles, and the brackets. The last token is the end of the text.
pub(super) fn tokens<'a>(text: &'a str, raw: Vec<Raw<'a>>) -> (Vec<Token<'a>>, Vec<Bracket>) {
    let mut reader = Reader {
        text,
        raw: raw.into_iter().peekable(),
        tokens: Vec::new(),
        brackets: Vec::new(),
        levels: vec![Level::new(None, false)],
    };
    while reader.raw.peek().is_some_and(|raw| raw.kind != TokenKind::End) {
        reader.token();
    }
    reader.finish_element();
    while reader.levels.len() > 1 {
        reader.abandon();
    }
    if let Some(end) = reader.raw.next() {
        reader.push(end.text, end.before, TokenRole::End);
    }
    (reader.tokens, reader.brackets)
}

/// The words with which items begin.
const ITEMS: &[&str] = &["pub", "fn", "const", "struct", "use", "extern"];

/// The maximum length in characters of numbers that share a line, as in rustfmt.
const SHORT: usize = 10;

struct Reader<'a, I: Iterator<Item = Raw<'a>>> {
    text: &'a str,
    raw: std::iter::Peekable<I>,
    tokens: Vec<Token<'a>>,
    brackets: Vec<Bracket>,
    levels: Vec<Level>,
}

impl<'a, I: Iterator<Item = Raw<'a>>> Reader<'a, I> {
    fn level(&mut self) -> &mut Level {
        self.levels.last_mut().expect("the level of the text is never left")
    }

    /// The kind of the innermost bracket; `None` outside of all brackets.
    fn kind(&self) -> Option<BracketKind> {
        let (bracket, _) = self.levels.last().and_then(|level| level.bracket)?;
        Some(self.brackets[bracket].kind)
    }

    fn push(&mut self, text: &'a str, before: Before<'a>, role: TokenRole) -> usize {
        self.tokens.push(Token { text, before, role, opens: 0, closes: 0, ends_line: false });
        self.tokens.len() - 1
    }

    fn token(&mut self) {
        let Some(raw) = self.raw.next() else { return };
        let is_in_attribute = matches!(self.kind(), Some(BracketKind::Attribute | BracketKind::Meta));
        let at = self.tokens.len();
        if self.kind() == Some(BracketKind::Body)
            && self.level().statement.is_none()
            && raw.kind != TokenKind::Close
            && raw.text != ";"
        {
            let is_let = raw.text == "let";
            let level = self.level();
            (level.statement, level.is_let) = (Some(at), is_let);
        }
        match raw.kind {
            TokenKind::Word | TokenKind::Literal => self.word(raw, is_in_attribute),
            TokenKind::Open => self.open(raw),
            TokenKind::Close => self.close(raw),
            TokenKind::Sign if is_in_attribute => {
                let text = if matches!(raw.text, ":" | ".") { self.joined(&raw) } else { raw.text };
                let role = match text {
                    "," => TokenRole::Comma,
                    "::" => TokenRole::Path,
                    "." => TokenRole::Dot { breaks: false },
                    "=" => TokenRole::Spaced,
                    _ => TokenRole::AsWritten,
                };
                self.push(text, raw.before, role);
            }
            TokenKind::Sign => self.operator(raw),
            TokenKind::End => {}
        }
    }

    fn word(&mut self, raw: Raw<'a>, is_in_attribute: bool) {
        let (is_name, text) = (raw.kind == TokenKind::Literal || !is_prefix(raw.text), raw.text);
        let at = self.push(text, raw.before, TokenRole::Word);
        if is_in_attribute {
            return;
        }
        let is_short = raw.kind == TokenKind::Literal && text.len() <= SHORT;
        self.is_filled_no_more_unless(is_short);
        let is_outside = self.kind().is_none();
        let level = self.level();
        level.is_before_body |= !is_outside && matches!(text, "for" | "if" | "while");
        if is_outside && level.item.is_none() {
            level.item = match text {
                "fn" => Some(ItemKind::Function),
                "struct" => Some(ItemKind::Struct),
                "const" => Some(ItemKind::Constant),
                "use" => Some(ItemKind::Use),
                _ => None,
            };
        }
        // A type ends before another word.
        level.in_type &= !level.behind_operand;
        level.operand.get_or_insert(at);
        level.behind_operand = is_name;
    }

    fn is_filled_no_more_unless(&mut self, holds: bool) {
        if let Some((bracket, _)) = self.level().bracket {
            self.brackets[bracket].is_filled &= holds;
        }
    }

    fn enter(&mut self, raw_text: &'a str, before: Before<'a>, kind: BracketKind, in_type: bool) {
        self.is_filled_no_more_unless(false);
        let number = self.brackets.len();
        let at = self.push(raw_text, before, TokenRole::Open(number));
        self.level().operand.get_or_insert(at);
        self.brackets.push(Bracket {
            kind,
            is_long: kind == BracketKind::Struct,
            is_filled: kind == BracketKind::List,
            may_end_with_comma: false,
            until: None,
            commas: 0,
        });
        self.levels.push(Level::new(Some((number, at)), in_type));
    }

    fn open(&mut self, raw: Raw<'a>) {
        let kind = self.opened(raw.text);
        let is_body = self.kind().is_none() && self.level().item == Some(ItemKind::Function);
        let level = self.level();
        level.in_type &= kind != BracketKind::Body;
        let in_type = level.in_type && raw.text != "{";
        let number = self.brackets.len();
        self.enter(raw.text, raw.before, kind, in_type);
        self.brackets[number].is_long |= is_body && kind == BracketKind::Body;
        if is_body && kind == BracketKind::Body {
            self.signature_ends(self.tokens.len() - 1);
        }
    }

    /// Requires that the parameters of the current function share a line only with all tokens up to `token`.
    fn signature_ends(&mut self, token: usize) {
        let last = self.brackets.iter_mut().rev().find(|bracket| bracket.kind == BracketKind::Parameters);
        if let Some(last) = last
            && last.until.is_none()
        {
            last.until = Some(token);
        }
    }

    /// The kind of the bracket that `open` opens.
    fn opened(&mut self, open: &str) -> BracketKind {
        let last = self.tokens.last();
        let is_word = last.is_some_and(|last| last.role == TokenRole::Word);
        let is_attribute = match self.tokens.as_slice() {
            [.., hash, bang] if bang.text == "!" => hash.text == "#",
            [.., hash] => hash.text == "#",
            [] => false,
        };
        let is_visibility = last.is_some_and(|last| last.text == "pub");
        let kind = self.kind();
        let level = self.level();
        match (open, kind) {
            (_, Some(BracketKind::Attribute | BracketKind::Meta)) => BracketKind::Meta,
            ("[", _) if is_attribute => BracketKind::Attribute,
            ("[", _) => BracketKind::List,
            ("(", _) if is_visibility => BracketKind::Plain,
            ("(", None) if level.item == Some(ItemKind::Function) && !level.in_type => {
                BracketKind::Parameters
            }
            ("(", _) if level.behind_operand && !level.in_type => BracketKind::Call,
            ("(", _) => BracketKind::Plain,
            (_, None) if level.item == Some(ItemKind::Struct) => BracketKind::Struct,
            (_, None) if level.item == Some(ItemKind::Use) => BracketKind::Use,
            (_, Some(BracketKind::Use)) => BracketKind::Use,
            (_, None) if level.item == Some(ItemKind::Function) => BracketKind::Body,
            ("{", _) if std::mem::take(&mut level.is_before_body) => BracketKind::Body,
            (_, _) if is_word && level.behind_operand && !level.in_type => BracketKind::Fields,
            (_, _) => BracketKind::Body,
        }
    }

    /// Leaves a level that is not a bracket: its `<` or `|` was an operator.
    fn abandon(&mut self) {
        if let Some((_, open)) = self.levels.pop().and_then(|level| level.bracket) {
            self.tokens[open].role = TokenRole::Binary;
        }
    }

    fn close(&mut self, raw: Raw<'a>) {
        while matches!(self.kind(), Some(BracketKind::Angle | BracketKind::Bars)) {
            self.finish_element();
            self.abandon();
        }
        self.leave(raw.text, raw.before);
    }

    /// Leaves the innermost bracket; `text` is its last token.
    fn leave(&mut self, text: &'a str, before: Before<'a>) {
        self.finish_element();
        self.finish_statement();
        let Some(Level { bracket: Some((number, open)), is_rest, .. }) = self.levels.pop() else { return };
        let is_empty = open + 1 == self.tokens.len();
        if self.is_carry(open) {
            let bracket = &mut self.brackets[number];
            bracket.kind = if bracket.commas > 0 { BracketKind::Tuple } else { BracketKind::Plain };
        }
        let last = self.tokens.last_mut().filter(|_| !is_empty);
        let ends_with_comma = last.as_ref().is_some_and(|last| last.role == TokenRole::Comma);
        let bracket = &mut self.brackets[number];
        let elements = bracket.commas + usize::from(!ends_with_comma);
        bracket.may_end_with_comma = !is_empty
            && match bracket.kind {
                BracketKind::Tuple => elements > 1,
                BracketKind::Fields => !is_rest,
                BracketKind::Struct
                | BracketKind::Use
                | BracketKind::Parameters
                | BracketKind::Call
                | BracketKind::List
                | BracketKind::Angle
                | BracketKind::Bars => true,
                BracketKind::Body | BracketKind::Plain | BracketKind::Attribute | BracketKind::Meta => false,
            };
        bracket.is_filled |= bracket.kind == BracketKind::Use;
        if bracket.may_end_with_comma
            && let Some(last) = last.filter(|_| ends_with_comma)
        {
            last.role = TokenRole::LastComma;
        }
        let kind = bracket.kind;
        let at = self.push(text, before, TokenRole::Close(number));
        self.level().behind_operand = true;
        self.closed(kind, open, at);
    }

    /// Whether a bracket is the pattern of a carry: `fold (a, b) = …`. `open` is its first token, and its last token
    /// has just been read.
    fn is_carry(&mut self, open: usize) -> bool {
        let is_behind_loop =
            open.checked_sub(1).is_some_and(|word| matches!(self.tokens[word].text, "fold" | "scan"));
        let text = self.text;
        let next = self.raw.peek().map_or("", |next| &text[next.at..]);
        is_behind_loop && next.starts_with('=') && !next.starts_with("==")
    }

    /// Ends the line after a bracket that is the last token of a statement, an item or an attribute.
    fn closed(&mut self, kind: BracketKind, open: usize, at: usize) {
        let next = self.raw.peek().map(|next| (next.kind, next.text));
        let is_word = matches!(next, Some((TokenKind::Word | TokenKind::Literal, _)));
        let around = self.kind();
        match (kind, around) {
            (BracketKind::Attribute, _) => {
                self.tokens[at].ends_line = matches!(around, None | Some(BracketKind::Struct));
                self.restart();
            }
            (BracketKind::Bars, _) => self.restart(),
            (BracketKind::Struct, None) => self.end_item(at),
            (BracketKind::Body, None) if self.level().item == Some(ItemKind::Function) => {
                // Other tokens continue the function.
                if !matches!(next, Some((TokenKind::Word, word)) if !ITEMS.contains(&word)) {
                    self.end_item(at);
                }
            }
            (BracketKind::Body, Some(BracketKind::Body)) if self.level().statement == Some(open) => {
                let goes_on = !is_word && !matches!(next, Some((TokenKind::Open, "{" | "(")));
                if !goes_on {
                    self.finish_element();
                    self.finish_statement();
                    self.end_line(at);
                }
            }
            (_, _) => {}
        }
    }

    fn end_item(&mut self, at: usize) {
        self.finish_element();
        self.end_line(at);
        let level = self.level();
        (level.item, level.in_type, level.assign) = (None, false, None);
    }

    fn end_line(&mut self, at: usize) {
        self.tokens[at].ends_line = true;
        if let Some((bracket, _)) = self.level().bracket {
            self.brackets[bracket].is_long = true;
        }
    }

    fn finish_statement(&mut self) {
        let last = self.tokens.len() - 1;
        let level = self.level();
        let (statement, assign) = (level.statement.take(), level.assign.take());
        level.is_let = false;
        if let Some(first) = statement {
            self.tokens[first].opens += 1;
            self.tokens[last].closes += 1;
        }
        if let Some(assign) = assign {
            self.tokens[assign].role = TokenRole::Assign { last };
        }
    }

    /// Ends the operand that ends with the last token.
    fn finish_operand(&mut self) -> Option<usize> {
        let last = self.tokens.len().wrapping_sub(1);
        let level = self.level();
        let (first, dots) = (level.operand.take(), std::mem::take(&mut level.dots));
        if let (Some(first), [dot, _, ..]) = (first, dots.as_slice()) {
            self.tokens[first].opens += 1;
            self.tokens[last].closes += 1;
            // An operand no wider than the indentation stays on the line of its first call, as in rustfmt.
            let is_narrow = first + 1 == *dot && self.tokens[first].text.len() <= super::INDENT;
            for dot in &dots[usize::from(is_narrow)..] {
                self.tokens[*dot].role = TokenRole::Dot { breaks: true };
            }
        }
        first
    }

    /// Ends the expression that ends with the last token.
    fn finish_element(&mut self) {
        self.finish_operand();
        let chains = std::mem::take(&mut self.level().chains).len();
        if let Some(last) = self.tokens.last_mut() {
            last.closes += chains;
        }
        self.level().behind_operand = false;
    }

    /// Begins an expression after the last token.
    fn restart(&mut self) {
        let level = self.level();
        level.dots.clear();
        (level.operand, level.behind_operand) = (None, false);
    }

    fn binary(&mut self, text: &'a str, before: Before<'a>, tightness: Tightness) {
        let mut first = self.finish_operand().unwrap_or(self.tokens.len() - 1);
        let mut ended = 0;
        let level = self.level();
        while let Some((_, start)) = level.chains.pop_if(|(open, _)| *open > tightness) {
            (first, ended) = (start, ended + 1);
        }
        let goes_on = level.chains.last().is_some_and(|(open, _)| *open == tightness);
        if !goes_on {
            level.chains.push((tightness, first));
        }
        level.behind_operand = false;
        self.tokens[first].opens += usize::from(!goes_on);
        if let Some(last) = self.tokens.last_mut() {
            last.closes += ended;
        }
        self.push(text, before, TokenRole::Binary);
    }

    /// Reads an operator, which may consist of several signs.
    fn operator(&mut self, first: Raw<'a>) {
        let closes_angle = first.text == ">" && self.kind() == Some(BracketKind::Angle);
        let text = if closes_angle { first.text } else { self.joined(&first) };
        let before = first.before;
        let kind = self.kind();
        let level = self.level();
        let behind_operand = level.behind_operand;
        let is_statement = matches!(kind, None | Some(BracketKind::Body));
        match text {
            ">" if closes_angle => self.leave(text, before),
            "|" if kind == Some(BracketKind::Bars) => {
                self.leave(text, before);
            }
            "|" | "||" if !behind_operand && !level.in_type => {
                if kind.is_none() {
                    level.item.get_or_insert(ItemKind::Closure);
                }
                if text == "|" {
                    self.enter(text, before, BracketKind::Bars, false);
                } else {
                    // An empty list of parameters.
                    self.push(text, before, TokenRole::Word);
                    self.restart();
                }
            }
            "<" if behind_operand
                && (level.in_type
                    || kind.is_none()
                        && matches!(level.item, Some(ItemKind::Function | ItemKind::Struct))) =>
            {
                self.enter(text, before, BracketKind::Angle, true);
            }
            "," => self.comma(text, before),
            ";" if is_statement => self.semicolon(text, before),
            ":" => {
                self.finish_element();
                let level = self.level();
                level.in_type |= match kind {
                    None => true,
                    Some(BracketKind::Body) => level.is_let && level.assign.is_none(),
                    Some(
                        BracketKind::Struct
                        | BracketKind::Parameters
                        | BracketKind::Bars
                        | BracketKind::Angle,
                    ) => true,
                    Some(
                        BracketKind::Fields
                        | BracketKind::Use
                        | BracketKind::Call
                        | BracketKind::Plain
                        | BracketKind::Tuple
                        | BracketKind::List
                        | BracketKind::Attribute
                        | BracketKind::Meta,
                    ) => false,
                };
                self.push(text, before, TokenRole::Colon);
            }
            "::" => {
                let at = self.push(text, before, TokenRole::Path);
                let level = self.level();
                level.operand.get_or_insert(at);
                level.behind_operand = false;
            }
            "." => {
                let at = self.push(text, before, TokenRole::Dot { breaks: false });
                self.level().behind_operand = false;
                self.dot(at);
            }
            ".." | "..=" | "..+" | ";" => {
                let begins = level.operand.is_none() && !behind_operand;
                level.is_rest |= begins;
                self.finish_element();
                self.is_filled_no_more_unless(false);
                self.push(text, before, TokenRole::Tight);
            }
            "->" | "=>" => {
                self.finish_element();
                self.level().in_type = text == "->";
                self.push(text, before, TokenRole::Spaced);
            }
            _ if is_assignment(text) => {
                self.finish_element();
                let at = self.push(text, before, TokenRole::Spaced);
                let level = self.level();
                level.in_type = false;
                if is_statement {
                    level.assign.get_or_insert(at);
                }
            }
            _ => {
                let operator = BinaryOp::all().find(|op| op.symbol() == text);
                match operator.filter(|_| behind_operand) {
                    Some(operator) => self.binary(text, before, operator.tightness()),
                    None => {
                        let at = self.push(text, before, TokenRole::Prefix);
                        self.level().operand.get_or_insert(at);
                    }
                }
            }
        }
    }

    /// The text of an operator that begins with `first`. Reads its further signs.
    fn joined(&mut self, first: &Raw<'a>) -> &'a str {
        let text: &'a str = self.text;
        let rest = &text[first.at..];
        let operator = OPERATORS.iter().find(|operator| rest.starts_with(**operator));
        let length = operator.map_or(first.text.len(), |operator| operator.len());
        // Each further sign of an operator is one byte and one token.
        for _ in first.text.len()..length {
            self.raw.next();
        }
        &rest[..length]
    }

    /// Records a dot if a method call follows it.
    fn dot(&mut self, at: usize) {
        // The tokens after the name have not been read. The text is searched for the second next token.
        let Some(next) = self.raw.peek() else { return };
        let behind = &self.text[next.at + next.text.len()..];
        if next.kind == TokenKind::Word && behind.trim_start().starts_with('(') {
            self.level().dots.push(at);
        }
    }

    fn comma(&mut self, text: &'a str, before: Before<'a>) {
        self.finish_element();
        self.push(text, before, TokenRole::Comma);
        let keeps_type = self.kind() == Some(BracketKind::Angle);
        let Some((number, _)) = self.level().bracket else { return };
        let bracket = &mut self.brackets[number];
        bracket.commas += 1;
        let starts_over = match bracket.kind {
            BracketKind::Plain => {
                bracket.kind = BracketKind::Tuple;
                false
            }
            BracketKind::Struct | BracketKind::Parameters | BracketKind::Bars | BracketKind::Call => true,
            BracketKind::Body
            | BracketKind::Fields
            | BracketKind::Use
            | BracketKind::Tuple
            | BracketKind::List
            | BracketKind::Attribute
            | BracketKind::Meta
            | BracketKind::Angle => false,
        };
        let level = self.level();
        level.in_type &= keeps_type || !starts_over;
        level.is_rest = false;
    }

    fn semicolon(&mut self, text: &'a str, before: Before<'a>) {
        self.finish_element();
        // A semicolon without a statement stays next to the one before it.
        if let Some(last) = self.tokens.last_mut()
            && last.role == TokenRole::Semicolon
            && before.comments.is_empty()
        {
            last.ends_line = false;
        }
        let at = self.push(text, before, TokenRole::Semicolon);
        self.finish_statement();
        self.end_line(at);
        if self.kind().is_none() {
            if self.level().item == Some(ItemKind::Function) {
                self.signature_ends(at);
            }
            self.end_item(at);
        }
    }
}

/// Whether an operand follows a word.
fn is_prefix(word: &str) -> bool {
    // The first segments of paths, words that are values, and `_`.
    const NAMES: &[&str] = &["crate", "self", "super", "Self", "true", "false", "_", "where"];
    is_keyword(word) && !NAMES.contains(&word)
}

/// Whether a text is an assignment operator.
fn is_assignment(text: &str) -> bool {
    match text.strip_suffix('=') {
        Some("") => true,
        Some(operator) => {
            let is_compared = matches!(operator, "=" | "!" | "<" | ">");
            !is_compared
                && (BinaryOp::all().any(|op| op.symbol() == operator)
                    || Map::operators().any(|map| map.row().label == operator))
        }
        None => false,
    }
}
