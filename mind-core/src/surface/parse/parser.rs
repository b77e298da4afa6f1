//! The state of a parse, the reading of single tokens, and the errors for unexpected ones.

use proc_macro2::extra::DelimSpan;
use proc_macro2::{Delimiter, Ident, Literal, Spacing, Span, TokenTree};
use syn::buffer::Cursor;

use super::levels::Level;
use super::rustisms;
use crate::diag::{Code, Diag, Diags, Site};
use crate::surface::ast::{ExprId, Node, NodeKind};

/// Reads one sequence of tokens at a time: the input, or the inside of a bracket.
pub(super) struct Parser<'a> {
    pub(super) cursor: Cursor<'a>,
    /// The last token read, which is the site of "found the end".
    last: Span,
    /// The closing token of the bracket around the current tokens; empty at the top.
    pub(super) closing: &'static str,
    /// The innermost bracket that is read by recursion, such as the body of a function.
    bracket: Option<DelimSpan>,
    /// The number of open brackets that are read by recursion.
    depth: usize,
    /// The open brackets of the body that is being read, innermost last.
    pub(super) levels: Vec<Level<'a>>,
    /// The nodes of the body that is being read.
    pub(super) nodes: Vec<Node>,
    /// Whether the body binds names that could not be read.
    pub(super) names_lost: bool,
    /// The names bound by `let mut`. The error is reported there, and not again where they are assigned to.
    pub(super) mutable: Vec<String>,
    /// Whether an import could not be read, so that bodies may call unknown functions.
    pub(super) imports_lost: bool,
    /// The names of imports and structs that were rejected.
    pub(super) refused: Vec<Ident>,
    /// Whether names are Rust variables, because an expression is being read.
    pub(super) among_rust: bool,
    pub(super) diags: Diags,
}

/// The maximum nesting depth of brackets of types, dimensions, patterns and transforms, which are read by recursion.
const MAX_RECURSION: usize = 32;

/// The next token, as messages name it.
pub(super) enum Unexpected {
    Word(String),
    Operator(&'static str),
    Open(char),
    Other(String),
    End,
}

/// Operators, longest first.
pub(in crate::surface) const OPERATORS: &[&str] = &[
    "..=", "..+", "<<=", ">>=", "->", "=>", "..", "==", "!=", "<=", ">=", "&&", "||", "+=", "-=", "*=", "/=",
    "%=", "@=", "^=", "<<", ">>", "**", "::", "+", "-", "*", "/", "%", "@", "=", "<", ">", "!", "&", "|",
    "^", "?", ":", ";", ",", ".", "#", "$", "~",
];

/// Rust's keywords, none of which can be a name here. `gen` is a keyword in some editions only and is a name here in
/// all of them, see [`Parser::name`].
const KEYWORDS: &[&str] = &[
    "_", "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate", "do",
    "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "if", "impl", "in", "let", "loop",
    "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return", "self", "Self",
    "static", "struct", "super", "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use",
    "virtual", "where", "while", "yield",
];

/// Whether `name` is that of a transform.
pub(super) fn is_transform(name: &Ident) -> bool {
    crate::surface::ast::TransformKind::ALL.iter().any(|kind| name == kind.name())
}

pub(in crate::surface) fn is_keyword(word: &str) -> bool {
    KEYWORDS.contains(&word)
}

impl<'a> Parser<'a> {
    pub(super) fn new(cursor: Cursor<'a>, first: Span) -> Self {
        let nodes = Vec::new();
        let levels = Vec::new();
        Self {
            cursor,
            last: first,
            closing: "",
            bracket: None,
            depth: 0,
            levels,
            nodes,
            names_lost: false,
            mutable: Vec::new(),
            imports_lost: false,
            refused: Vec::new(),
            among_rust: false,
            diags: Diags::new(),
        }
    }

    pub(super) fn into_diags(self) -> Diags {
        self.diags
    }

    /// Reports `diag` and returns `value`.
    pub(super) fn give_up<T>(&mut self, diag: Diag, value: T) -> T {
        self.diags.push(diag);
        value
    }

    pub(super) fn at_end(&self) -> bool {
        self.cursor.eof()
    }

    /// The site of the next token, or of the last one at the end.
    pub(super) fn current_site(&self) -> Site {
        match self.peek_operator() {
            Some((_, site, _)) => site,
            None if self.at_end() && self.closing.is_empty() => Site::token(self.last),
            None => match self.cursor.any_group() {
                Some((_, delimiter, span, _)) if delimiter != Delimiter::None => Site::token(span.open()),
                Some(_) | None => Site::token(self.cursor.span()),
            },
        }
    }

    /// The site of the last token read.
    pub(super) fn before(&self) -> Site {
        Site::token(self.last)
    }

    pub(super) fn last_span(&self) -> Span {
        self.last
    }

    pub(super) fn advance(&mut self, last: Span, rest: Cursor<'a>) {
        self.last = last;
        self.cursor = rest;
    }

    /// The next token, for messages and for choosing between forms.
    pub(super) fn found(&self) -> Unexpected {
        if self.at_end() {
            return Unexpected::End;
        }
        if let Some((ident, _)) = self.cursor.ident() {
            return Unexpected::Word(ident.to_string());
        }
        if let Some((operator, _, _)) = self.peek_operator() {
            return Unexpected::Operator(operator);
        }
        let open = [(Delimiter::Parenthesis, '('), (Delimiter::Bracket, '['), (Delimiter::Brace, '{')];
        match open.into_iter().find(|(delimiter, _)| self.cursor.group(*delimiter).is_some()) {
            Some((_, open)) => Unexpected::Open(open),
            None => Unexpected::Other(
                self.cursor.token_tree().map_or_else(String::new, |(tree, _)| tree.to_string()),
            ),
        }
    }

    /// The error E1007 at the next token, with help for Rust syntax that the language does not have.
    pub(super) fn unexpected(&self, expected: &str) -> Diag {
        let (found, help) = match self.found() {
            Unexpected::Word(word) if is_keyword(&word) => {
                (format!("keyword `{word}`"), rustisms::word(&word))
            }
            Unexpected::Word(word) => {
                let before = self.last.source_text();
                (format!("`{word}`"), rustisms::words(before.as_deref(), &word))
            }
            Unexpected::Operator(operator) => {
                (format!("`{operator}`"), self.operator_help(operator, expected))
            }
            Unexpected::Open(open) => (format!("`{open}`"), None),
            Unexpected::Other(token) => (format!("`{token}`"), rustisms::literal(&token)),
            Unexpected::End if self.closing.is_empty() => ("the end".to_owned(), None),
            Unexpected::End => (format!("`{}`", self.closing), None),
        };
        let help = match self.found() {
            Unexpected::Word(word) if self.among_rust => {
                let before = self.last.source_text();
                let own = rustisms::word_among_rust(&word)
                    .or_else(|| rustisms::words_among_rust(before.as_deref()));
                own.or(help)
            }
            Unexpected::Operator(operator) if self.among_rust && !self.at_choice() => {
                rustisms::operator_among_rust(operator).or(help)
            }
            Unexpected::Word(_)
            | Unexpected::Operator(_)
            | Unexpected::Open(_)
            | Unexpected::Other(_)
            | Unexpected::End => help,
        };
        let diag = Diag::new(Code::E1007, self.current_site(), format!("found {found}, expected {expected}"));
        match help {
            Some(help) => diag.help(help),
            None => diag,
        }
    }

    /// The help for a line that ends in `// 2`, which is a comment in Rust; `dividend` is the text before it. The
    /// comment is searched for in the source text of the enclosing bracket, because rustc gives no text between two
    /// tokens.
    pub(super) fn floor_division(&self, dividend: &str) -> Option<String> {
        let text = self.bracket?.join().source_text()?;
        let next = if self.at_end() { Some(self.closing.to_owned()) } else { self.next_text() };
        let divisor = rustisms::floor_divisor(&text, &self.last.source_text()?, &next?)?;
        let written = format!("floor_divide({dividend}, {divisor})");
        Some(format!("`//` starts a comment in Rust: write a division rounded down as `{written}`"))
    }

    /// The text of the next token, or of its opening bracket.
    fn next_text(&self) -> Option<String> {
        match self.cursor.any_group() {
            Some((_, _, span, _)) => span.open().source_text(),
            None => self.cursor.span().source_text(),
        }
    }

    /// The help for an operator that is not allowed at its place.
    fn operator_help(&self, operator: &str, expected: &str) -> Option<&'static str> {
        match operator {
            ".." if !(expected.starts_with("an expression") || expected.starts_with("an operator")) => None,
            "+" if !expected.starts_with("an expression") => None,
            "->" if expected.starts_with("an operator") => Some("a field follows a dot, as in `net.w`"),
            "?" if self.at_choice() => Some(rustisms::CHOICE),
            "!" => {
                let before = self.last.source_text();
                before.and_then(|name| rustisms::macro_call(&name)).or_else(|| rustisms::operator("!"))
            }
            _ => rustisms::operator(operator),
        }
    }

    /// Whether `? a : b` comes next, up to the end of the statement.
    fn at_choice(&self) -> bool {
        if !self.at("?") {
            return false;
        }
        let mut rest = self.cursor;
        while let Some((tree, behind)) = rest.token_tree() {
            if let TokenTree::Punct(punct) = tree {
                match (punct.as_char(), punct.spacing()) {
                    (';' | ',', _) | (':', Spacing::Joint) => return false,
                    (':', Spacing::Alone) => return true,
                    _ => {}
                }
            }
            rest = behind;
        }
        false
    }

    /// The next operator, its site, and the position after it.
    pub(super) fn peek_operator(&self) -> Option<(&'static str, Site, Cursor<'a>)> {
        let (first, behind) = self.cursor.punct()?;
        let candidates =
            OPERATORS.iter().filter(|operator| char::from(operator.as_bytes()[0]) == first.as_char());
        { candidates }.find_map(|operator| {
            let (mut cursor, mut last, mut spacing) = (behind, first.span(), first.spacing());
            for char in operator.chars().skip(1) {
                let joint = spacing == Spacing::Joint;
                let (punct, rest) = cursor.punct().filter(|(punct, _)| joint && punct.as_char() == char)?;
                (cursor, last, spacing) = (rest, punct.span(), punct.spacing());
            }
            Some((*operator, Site::Tokens { first: first.span(), last }, cursor))
        })
    }

    pub(super) fn at(&self, operator: &str) -> bool {
        self.peek_operator().is_some_and(|(found, _, _)| found == operator)
    }

    /// Reads `operator` if it comes next.
    pub(super) fn take(&mut self, operator: &str) -> Option<Site> {
        let (_, site, rest) = self.peek_operator().filter(|(found, _, _)| *found == operator)?;
        if let Site::Tokens { last, .. } = site {
            self.advance(last, rest);
        }
        Some(site)
    }

    /// Whether `>` comes next, possibly joined to another sign.
    pub(super) fn at_angle(&self) -> bool {
        self.cursor.punct().is_some_and(|(punct, _)| punct.as_char() == '>')
    }

    /// Reads `>`, which may be joined to another sign.
    pub(super) fn take_angle(&mut self) -> bool {
        match self.cursor.punct().filter(|(punct, _)| punct.as_char() == '>') {
            Some((punct, rest)) => {
                self.advance(punct.span(), rest);
                true
            }
            None => false,
        }
    }

    /// Reads `operator`.
    pub(super) fn expect(&mut self, operator: &str) -> Result<Site, Diag> {
        self.take(operator).ok_or_else(|| self.unexpected(&format!("`{operator}`")))
    }

    /// Reads `,`, or finds the end; `expected` names the other tokens that could follow.
    pub(super) fn separator(&mut self, expected: &str) -> Result<(), Diag> {
        match self.at_end() || self.take(",").is_some() {
            true => Ok(()),
            false => Err(self.unexpected(expected)),
        }
    }

    /// Checks that no token is left.
    pub(super) fn expect_end(&mut self, expected: &str) -> Result<(), Diag> {
        if self.at_end() { Ok(()) } else { Err(self.unexpected(expected)) }
    }

    pub(super) fn at_word(&self, word: &str) -> bool {
        self.cursor.ident().is_some_and(|(ident, _)| ident == word)
    }

    /// Reads the keyword or word if it comes next.
    pub(super) fn take_word(&mut self, word: &str) -> Option<Ident> {
        let (ident, rest) = self.cursor.ident().filter(|(ident, _)| ident == word)?;
        self.advance(ident.span(), rest);
        Some(ident)
    }

    /// Reads a name: an identifier that is not a keyword.
    pub(super) fn name(&mut self, expected: &str) -> Result<Ident, Diag> {
        match self.cursor.ident().filter(|(ident, _)| !is_keyword(&ident.to_string())) {
            Some((ident, rest)) => {
                self.advance(ident.span(), rest);
                // As a raw identifier it is valid in all editions.
                Ok(if ident == "gen" { Ident::new_raw("gen", ident.span()) } else { ident })
            }
            None => Err(self.unexpected(expected)),
        }
    }

    /// Skips a token; a bracket is skipped with its contents.
    pub(super) fn skip_token(&mut self) {
        if let Some((tree, rest)) = self.cursor.token_tree() {
            self.advance(tree.span(), rest);
        }
    }

    pub(super) fn take_literal(&mut self) -> Option<Literal> {
        let (literal, rest) = self.cursor.literal()?;
        self.advance(literal.span(), rest);
        Some(literal)
    }

    /// Whether a bracket comes next.
    pub(super) fn at_group(&self, delimiter: Delimiter) -> bool {
        self.cursor.group(delimiter).is_some()
    }

    /// Reads a bracket; `read` reads its contents. The parser is then after the bracket, even if `read` fails.
    pub(super) fn group<T>(
        &mut self,
        delimiter: Delimiter,
        expected: &str,
        read: impl FnOnce(&mut Self) -> Result<T, Diag>,
    ) -> Result<(T, Site), Diag> {
        let Some((inside, span, after)) = self.cursor.group(delimiter) else {
            return Err(self.unexpected(expected));
        };
        let outer = (self.closing, self.bracket.replace(span));
        self.enter_tokens(delimiter, span.open(), inside);
        self.depth += 1;
        let result = match self.depth > MAX_RECURSION {
            true => Err(too_deep(span.open())),
            false => read(self),
        };
        self.depth -= 1;
        (self.closing, self.bracket) = outer;
        self.advance(span.close(), after);
        let site = Site::Tokens { first: span.open(), last: span.close() };
        result.map(|value| (value, site))
    }

    /// Continues with the tokens inside a bracket.
    pub(super) fn enter_tokens(&mut self, delimiter: Delimiter, open: Span, inside: Cursor<'a>) {
        self.closing = match delimiter {
            Delimiter::Parenthesis => ")",
            Delimiter::Bracket => "]",
            Delimiter::Brace => "}",
            Delimiter::None => self.closing,
        };
        self.advance(open, inside);
    }

    /// Reads a bracket with comma-separated elements.
    pub(super) fn list<T>(
        &mut self,
        delimiter: Delimiter,
        expected: &str,
        separator: &str,
        mut element: impl FnMut(&mut Self) -> Result<T, Diag>,
    ) -> Result<(Vec<T>, Site), Diag> {
        self.group(delimiter, expected, |parser| {
            let mut elements = Vec::new();
            while !parser.at_end() {
                elements.push(element(parser)?);
                parser.separator(separator)?;
            }
            Ok(elements)
        })
    }

    /// Adds a node.
    pub(super) fn push(&mut self, kind: NodeKind, site: Site) -> ExprId {
        let id = u32::try_from(self.nodes.len()).expect("a body has fewer nodes than the compiler has bytes");
        self.nodes.push(Node { kind, site });
        ExprId(id)
    }

    /// Reports `diag` and replaces the nodes since `start` by a single one.
    pub(super) fn replace_by_unread(&mut self, start: usize, diag: Diag) -> ExprId {
        let site = diag.site;
        self.diags.push(diag);
        self.nodes.truncate(start);
        self.push(NodeKind::Unread, site)
    }
}

fn too_deep(open: Span) -> Diag {
    let message =
        format!("brackets nest deeper than the limit of {MAX_RECURSION} for types, dimensions and patterns");
    Diag::new(Code::E1008, Site::token(open), message)
}
