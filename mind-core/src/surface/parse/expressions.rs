//! Operands and operators.

use proc_macro2::{Delimiter, Ident, TokenTree};
use syn::buffer::Cursor;

use super::levels::{CallTarget, ForeignSubscripts, LevelKind, OpenCall, ParsedOperand, Pending, State};
use super::literals::number;
use super::loops::keyword;
use super::parser::{Parser, is_transform};
use super::rustisms;
use super::transforms::kind_of;
use crate::diag::{Code, Diag, Site};
use crate::map::{Map, Tightness};
use crate::surface::ast::{Argument, BinaryOp, Body, NodeKind, Transposed, WrittenText};
use crate::surface::habits::{self, Replacement};

const AFTER_DOT: &str = "`T`, `mT`, a method call, a field or the number of a tuple element";

impl<'a> Parser<'a> {
    /// Reads signs and an operand, or enters the bracket that begins the operand.
    pub(super) fn operand(&mut self) -> Result<State, Diag> {
        while let Some((map, sign)) = Map::prefixes().find_map(|map| Some((map, self.take(map.row().label)?)))
        {
            self.level().pending.push(Pending::Sign(map, sign));
        }
        if self.at_group(Delimiter::None) {
            return Ok(self.enter(Delimiter::None, LevelKind::Fragment));
        }
        if self.at_group(Delimiter::Parenthesis) {
            let kind = LevelKind::Parenthesis { elements: Vec::new(), comma: false };
            return Ok(self.enter(Delimiter::Parenthesis, kind));
        }
        if self.at_group(Delimiter::Bracket) {
            return Ok(self.enter(Delimiter::Bracket, LevelKind::Array { elements: Vec::new() }));
        }
        if self.among_rust && self.at_group(Delimiter::Brace) {
            return self.rust().map(State::Behind);
        }
        if self.at_group(Delimiter::Brace) {
            return Ok(self.enter_block());
        }
        if self.cursor.literal().is_some() {
            return self.literal().map(State::Behind);
        }
        if let Some((word, behind)) = self.cursor.ident() {
            for (text, value) in [("true", true), ("false", false)] {
                if word == text {
                    self.take_word(text);
                    let site = self.before();
                    return Ok(State::Behind(self.add(NodeKind::Bool(value), site)));
                }
            }
            if let Some(keyword) = keyword(&word, behind) {
                return self.enter_loop(keyword);
            }
        }
        if let Some(callee) = self.called_path() {
            let start = callee.site();
            return Ok(self.enter_call(CallTarget::Function(callee), start, Vec::new()));
        }
        // Among Rust variables, constants are named without a path.
        let path = match self.among_rust {
            true => self.path_before(|behind| behind.group(Delimiter::Brace).is_some()),
            false => self.constant_path(),
        };
        if let Some(path) = path {
            let site = path.site();
            return Ok(match self.at_group(Delimiter::Brace) && !self.is_before_body() {
                true => self.enter_struct(path),
                false => State::Behind(self.add(NodeKind::Path(path), site)),
            });
        }
        if let Some(diag) = self.no_operand() {
            return Err(diag);
        }
        let name = match (self.foreign_callee(), self.among_rust) {
            (Some(callee), _) => callee,
            (None, true) => self.place_name("an expression")?,
            (None, false) => self.name("an expression")?,
        };
        let start = Site::token(name.span());
        if self.at_group(Delimiter::Brace) && !self.is_before_body() {
            return Ok(self.enter_struct(name.into()));
        }
        if !self.at_group(Delimiter::Parenthesis) {
            return Ok(State::Behind(self.add(NodeKind::Name(name), start)));
        }
        if self.among_rust && is_transform(&name) {
            return self.enter_derivative(&name);
        }
        let target = match is_transform(&name) {
            true => self.transformed(&name)?,
            false => CallTarget::Function(name.into()),
        };
        Ok(self.enter_call(target, start, Vec::new()))
    }

    /// Reads a keyword that is the name of a function in other libraries, `where`, before its arguments.
    fn foreign_callee(&mut self) -> Option<Ident> {
        let (word, behind) = self.cursor.ident()?;
        let called = behind.group(Delimiter::Parenthesis).is_some();
        if called && word == "where" { self.take_word("where") } else { None }
    }

    /// The error for `.5`, `x++`, `x--` and similar tokens where an operand is expected.
    fn no_operand(&mut self) -> Option<Diag> {
        if self.at(".")
            && let Some((literal, _)) = self.cursor.punct().and_then(|(_, behind)| behind.literal())
        {
            return Some(self.unexpected("an expression").help(format!("write `0.{literal}`")));
        }
        if self.at_word("fn") {
            let help = "functions cannot be nested: define each directly in the block";
            return Some(self.unexpected("an expression").help(help));
        }
        if (self.at("|") || self.at("||"))
            && let Some(words) = self.words_on_callee()
        {
            return Some(self.unexpected("an expression").help(words));
        }
        let found = self.peek_operator().map(|(found, ..)| found);
        let comparison = match (&self.level().pending[..], found) {
            ([.., Pending::Binary { op, .. }], Some(found)) => match (op.symbol(), found) {
                ("<", ">") => Some("!="),
                ("==", "=") => Some("=="),
                ("!=", "=") => Some("!="),
                _ => None,
            },
            _ => None,
        };
        if let Some(comparison) = comparison {
            return Some(self.unexpected("an expression").help(format!("write `{comparison}`")));
        }
        let ends = |behind: Cursor<'_>| {
            behind.eof() || behind.punct().is_some_and(|(punct, _)| punct.as_char() == ';')
        };
        let twice = match &self.level().pending[..] {
            [.., Pending::Binary { op, .. }] if op.symbol() == "+" => {
                self.peek_operator().is_some_and(|(operator, _, behind)| operator == "+" && ends(behind))
            }
            [.., Pending::Binary { op, .. }, Pending::Sign(Map::SIGN, _)] => {
                op.symbol() == "-" && ends(self.cursor)
            }
            _ => false,
        };
        twice.then(|| self.unexpected("an expression").help(rustisms::INCREMENT))
    }

    fn enter_call(&mut self, target: CallTarget, start: Site, arguments: Vec<Argument>) -> State {
        let call = OpenCall { target, start, arguments, name: None };
        self.enter(Delimiter::Parenthesis, LevelKind::Call(call))
    }

    /// Adds help to the error for a string, which may be an argument in other libraries.
    fn text_literal(&mut self, text: &str, diag: Diag) -> Diag {
        let word = text.trim_matches(['"', '\'']).to_lowercase();
        if let "same" | "valid" = word.as_str() {
            return diag.help(format!("write `{word}`"));
        }
        if let LevelKind::Subscripts { base, .. } = &self.level().kind {
            let base = ParsedOperand { id: base.id, site: base.site };
            let base = self.operand_text(base);
            let field = text.trim_matches(['"', '\'']);
            return diag.help(format!("a field of a struct follows a dot: write `{base}.{field}`"));
        }
        match self.words_on_callee() {
            Some(words) => diag.help(words),
            None => diag,
        }
    }

    /// The help for the call of another library's function whose arguments are being read.
    fn words_on_callee(&mut self) -> Option<&'static str> {
        let callee = match &self.level().kind {
            LevelKind::Call(OpenCall { target: CallTarget::Function(callee), .. }) => {
                habits::function(&callee.to_string())
            }
            LevelKind::Call(OpenCall { target: CallTarget::Method(callee), .. }) => {
                habits::function(&callee.to_string())
            }
            LevelKind::Call(OpenCall { target: CallTarget::Transformed { .. }, .. })
            | LevelKind::Fragment
            | LevelKind::Parenthesis { .. }
            | LevelKind::Array { .. }
            | LevelKind::Subscripts { .. }
            | LevelKind::Block { .. }
            | LevelKind::Closure
            | LevelKind::Expression
            | LevelKind::Derivative(_)
            | LevelKind::Cotangent(_)
            | LevelKind::Struct(_)
            | LevelKind::Loop(_) => None,
        };
        match callee {
            Some(Replacement::Words(words)) => Some(words),
            Some(Replacement::Named(_) | Replacement::Library { .. } | Replacement::Formula { .. })
            | None => None,
        }
    }

    /// Whether the arguments of a function of this name are being read.
    fn is_in_call_of(&mut self, name: &str) -> bool {
        match &self.level().kind {
            LevelKind::Call(OpenCall { target: CallTarget::Function(callee), .. }) => {
                callee.to_string() == name
            }
            LevelKind::Call(OpenCall { target: CallTarget::Method(callee), .. }) => callee == name,
            _ => false,
        }
    }

    /// Reads a number, or the string that `inspect`, `einsum` or `pad` takes. A sign just before a number belongs to it,
    /// unless a postfix form follows the number.
    fn literal(&mut self) -> Result<ParsedOperand, Diag> {
        let literal = self.take_literal().expect("the caller has seen the literal");
        let mut site = self.before();
        let mut negative = false;
        if !self.at(".")
            && !self.at_group(Delimiter::Bracket)
            && let Some(sign) =
                self.level().pending.pop_if(|pending| matches!(pending, Pending::Sign(Map::SIGN, _)))
            && let Pending::Sign(_, sign) = sign
        {
            negative = true;
            site = sign.to(site);
        }
        let text = literal.to_string();
        if !negative
            && ["inspect", "einsum", "meshgrid", "pad"].iter().any(|name| self.is_in_call_of(name))
            && let syn::Lit::Str(text) = syn::Lit::new(literal.clone())
            && text.suffix().is_empty()
        {
            let value = text.value().into();
            return Ok(self.add(NodeKind::Text(WrittenText { value, literal }), site));
        }
        let number = match number(literal, negative) {
            Err(diag) if text.starts_with(['"', '\'']) => return Err(self.text_literal(&text, diag)),
            number => number?,
        };
        Ok(self.add(NodeKind::Number(number), site))
    }

    /// Reads a postfix form or an operator after an operand, or finds the end of the expression.
    pub(super) fn behind(&mut self, operand: ParsedOperand) -> Result<State, Diag> {
        if self.take(".").is_some() {
            return self.after_dot(operand);
        }
        if self.at_group(Delimiter::Bracket) {
            let kind = LevelKind::Subscripts {
                base: operand,
                subscripts: Vec::new(),
                current: None,
                foreign: ForeignSubscripts::default(),
            };
            return Ok(self.enter(Delimiter::Bracket, kind));
        }
        if self.at_group(Delimiter::Parenthesis) {
            let inside = self.cursor.group(Delimiter::Parenthesis).map(|(inside, ..)| inside.token_stream());
            let arguments = inside.map_or_else(String::new, |inside| inside.to_string().replace(" ,", ","));
            let called = match &self.nodes[operand.id.index()].kind {
                NodeKind::Call { callee, .. } => habits::layer(&callee.name.to_string(), &arguments),
                _ => None,
            };
            if let Some(help) = called {
                return Err(self.unexpected("an operator").help(help));
            }
            let help = match self.among_rust {
                true => {
                    "only functions of the language can be called, by their names; put a Rust call in braces, as in \
                        `{f(x)}`"
                }
                false => "only functions can be called, by their names",
            };
            return Err(self.unexpected("an operator").help(help));
        }
        match BinaryOp::all().find_map(|op| self.take(op.symbol()).map(|site| (op, site))) {
            Some((op, operator)) => {
                let lhs = self.reduce(operand, Some(op.tightness()));
                if let Some(&Pending::Binary { op: before, .. }) = self.level().pending.last()
                    && before.tightness() == op.tightness()
                {
                    let between = match &self.nodes[lhs.id.index()].kind {
                        NodeKind::Binary { op, .. } if ["&", "|"].contains(&op.symbol()) => Some(op.symbol()),
                        _ => None,
                    };
                    return Err(chained(before, op, operator, between));
                }
                self.level().pending.push(Pending::Binary { op, operator, lhs });
                Ok(State::Operand)
            }
            None if self.at("**") => Err(self.power(operand)),
            None => Ok(State::Whole(self.reduce(operand, None))),
        }
    }

    /// The error for `x ** 2`.
    fn power(&mut self, base: ParsedOperand) -> Diag {
        let diag = self.unexpected("an operator");
        let text = self.operand_text(base);
        let exponent = self.behind_operator();
        let times = exponent.as_deref().and_then(|exponent| match exponent {
            "2" | "2.0" => Some(2),
            "3" | "3.0" => Some(3),
            _ => None,
        });
        let binds = |pending: &Pending| matches!(pending, Pending::Binary { op, .. } if matches!(op.symbol(), "/" | "@"));
        let written = match times {
            Some(times) if self.level().pending.last().is_some_and(binds) => {
                format!("({})", vec![text; times].join(" * "))
            }
            Some(times) => vec![text; times].join(" * "),
            None => {
                let exponent = exponent.unwrap_or_else(|| "…".to_owned());
                let point = if exponent.bytes().all(|byte| byte.is_ascii_digit()) { ".0" } else { "" };
                format!("pow({text}, {exponent}{point})")
            }
        };
        diag.help(format!("a power is a function call: write `{written}`"))
    }

    /// The text of an operand that has been read, without parentheses around it.
    pub(super) fn text_of(&mut self, operand: ParsedOperand) -> String {
        let body = Body { nodes: std::mem::take(&mut self.nodes), tail: None };
        let text = body.text(operand.id);
        self.nodes = body.nodes;
        text
    }

    /// The text of an operand that has been read, as the operand of a postfix form.
    fn operand_text(&mut self, operand: ParsedOperand) -> String {
        let body = Body { nodes: std::mem::take(&mut self.nodes), tail: None };
        let text = body.operand_text(operand.id);
        self.nodes = body.nodes;
        text
    }

    /// The token after the next operator, if the expression ends with this token.
    fn behind_operator(&self) -> Option<String> {
        let (_, _, behind) = self.peek_operator()?;
        let (tree, rest) = behind.token_tree()?;
        let is_operand = matches!(tree, TokenTree::Ident(_) | TokenTree::Literal(_));
        let ends = rest.eof() || rest.punct().is_some_and(|(punct, _)| punct.as_char() != '.');
        (is_operand && ends).then(|| tree.to_string())
    }

    /// Applies the pending operators that bind at least as tightly as `floor`, or all of them if `floor` is `None`.
    fn reduce(&mut self, mut operand: ParsedOperand, floor: Option<Tightness>) -> ParsedOperand {
        let binds = |pending: &mut Pending| match pending {
            Pending::Sign(..) => true,
            // A comparison is not an operand of another one.
            Pending::Binary { op, .. } => {
                floor.is_none_or(|floor| op.tightness() > floor || op.tightness() == floor && floor.chains())
            }
        };
        while let Some(pending) = self.level().pending.pop_if(binds) {
            operand = match pending {
                Pending::Sign(map, operator) => {
                    let kind = NodeKind::Prefix { map, operand: operand.id, operator };
                    self.add(kind, operator.to(operand.site))
                }
                Pending::Binary { op, operator, lhs } => {
                    let kind = NodeKind::Binary { op, operator, lhs: lhs.id, rhs: operand.id };
                    self.add(kind, lhs.site.to(operand.site))
                }
            };
        }
        operand
    }

    fn after_dot(&mut self, base: ParsedOperand) -> Result<State, Diag> {
        if let Some(fields) = self.tuple_fields(base)? {
            return Ok(State::Behind(fields));
        }
        let here = self.current_site();
        if let Some(operator) = ["*", "/", "**", "^", "+", "-"].into_iter().find(|operator| self.at(operator))
        {
            let base = self.operand_text(base);
            let help = format!("operators are elementwise: write `{base} {operator} …`");
            return Err(self.unexpected(AFTER_DOT).help(help));
        }
        let name = match self.foreign_callee() {
            Some(callee) => callee,
            None => self.name(AFTER_DOT)?,
        };
        if is_transform(&name) && self.at_group(Delimiter::Parenthesis) {
            let message = format!("found `{name}` after a dot, expected it without the dot");
            let arguments = kind_of(&name).arguments();
            let help = match self.among_rust {
                true => format!("write `{name}(…{arguments})`"),
                false => {
                    let receiver = self.operand_text(base);
                    let is_function =
                        receiver.chars().all(|letter| letter == '_' || letter.is_alphanumeric())
                            && !habits::is_library(&receiver);
                    let inside =
                        self.cursor.group(Delimiter::Parenthesis).and_then(|(inside, ..)| inside.ident());
                    let function =
                        inside.map_or_else(|| "f".to_owned(), |(function, _)| function.to_string());
                    let function = if is_function { receiver } else { function };
                    format!("write `{name}({function}{arguments})(…)`, with a function of the block")
                }
            };
            return Err(Diag::new(Code::E1007, here, message).help(help));
        }
        if self.at_group(Delimiter::Parenthesis) {
            let receiver = Argument { name: None, value: base.id, site: base.site };
            return Ok(self.enter_call(CallTarget::Method(name), base.site, vec![receiver]));
        }
        if let Some(axes) = Transposed::of(&name.to_string()) {
            return Ok(State::Behind(
                self.add(NodeKind::Transpose { base: base.id, axes }, base.site.to(here)),
            ));
        }
        if self.among_rust {
            return self.member(base, name).map(State::Behind);
        }
        Ok(State::Behind(self.add(NodeKind::Member { base: base.id, name }, base.site.to(here))))
    }

    /// Reads the `0.1` of `a.0.1` if that is what comes next.
    pub(super) fn tuple_fields(&mut self, base: ParsedOperand) -> Result<Option<ParsedOperand>, Diag> {
        let Some((literal, _)) = self.cursor.literal() else { return Ok(None) };
        let indices = tuple_indices(&literal.to_string()).ok_or_else(|| self.unexpected(AFTER_DOT))?;
        self.take_literal();
        let field = self.before();
        let fields = indices.into_iter().fold(base, |base, index| {
            let kind = NodeKind::Field { base: base.id, index, field };
            self.add(kind, base.site.to(field))
        });
        Ok(Some(fields))
    }
}

/// The error for `a < b < c`, and for `a < b & c < d` with the `&` in `between`.
fn chained(before: BinaryOp, op: BinaryOp, operator: Site, between: Option<&str>) -> Diag {
    let (before, op) = (before.symbol(), op.symbol());
    if let Some(bits) = between {
        return Diag::new(
            Code::E1007,
            operator,
            format!("found `{op}` after a comparison, expected the end of the comparison"),
        )
        .help(format!(
            "`{bits}` binds tighter than a comparison: write `{bits}{bits}` between the comparisons"
        ));
    }
    Diag::new(
        Code::E1007,
        operator,
        format!("found `{op}` after a comparison, expected the end of the comparison"),
    )
    .help(format!("write `a {before} b && b {op} c`"))
}

/// `x.0.1` has the tokens `x`, `.` and `0.1`.
fn tuple_indices(literal: &str) -> Option<Vec<usize>> {
    let digits = |part: &&str| part.bytes().all(|byte| byte.is_ascii_digit());
    literal.split('.').map(|part| Some(part).filter(digits)?.parse().ok()).collect()
}
