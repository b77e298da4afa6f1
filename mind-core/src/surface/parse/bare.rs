//! Expressions among Rust variables: `late: relu(x @ self.w + {bias()}) : f32[32, 256]`.

use proc_macro2::{Delimiter, Ident, Span};

use super::levels::{LevelKind, ParsedOperand, State};
use super::parser::{Parser, is_keyword};
use super::paths::resolve_expression_paths;
use crate::diag::{Code, Diag, Site};
use crate::surface::ast::{Body, Expression, Import, NodeKind};
use crate::surface::habits;

impl Parser<'_> {
    /// Reads an expression to the end of the input.
    pub(super) fn expression(&mut self, imports: Vec<Import>) -> Expression {
        self.among_rust = true;
        let start = self.current_site();
        let late = self.take_late();
        let body = self.expression_body().unwrap_or_default();
        // After an error, the rest has not been read.
        let read = body.tail.is_some_and(|tail| !matches!(body[tail].kind, NodeKind::Unread));
        let ty = self.annotation().and_then(|ty| {
            let expected = if ty.is_some() { "the end" } else { "an operator, `:` and a type, or the end" };
            let called = self.called_without_parentheses(&body);
            let is_statement = ty.is_none() && self.at(";");
            let comma = self.help_at_comma().filter(|_| ty.is_none());
            // An expression updates nothing.
            let update = ["+=", "-=", "*=", "/=", "="].into_iter().find(|operator| self.at(operator));
            self.expect_end(expected).map(|()| ty).map_err(|diag| match update {
                Some("=") => diag.help("assign the value: `x = mind!(…)`"),
                Some(operator) => {
                    let operator = operator.trim_end_matches('=');
                    diag.help(format!("assign the value: `x = mind!(x {operator} …)`"))
                }
                None if called.is_some() => diag.help(called.unwrap_or_default()),
                None if comma.is_some() => diag.help(comma.unwrap_or_default()),
                None if is_statement => diag.help("remove it: the value of the expression is its result"),
                None => diag,
            })
        });
        let (ty, body) = match ty {
            Ok(ty) => (ty, body),
            Err(diag) if read => {
                self.diags.push(diag);
                (None, Body::default())
            }
            Err(_) => (None, body),
        };
        let mut expression = Expression { imports, late, body, ty, site: start.to(self.before()) };
        resolve_expression_paths(&mut expression);
        expression
    }

    /// The help for `tanh x`; the name of the function has been read.
    fn called_without_parentheses(&self, body: &Body) -> Option<String> {
        let NodeKind::Name(function) = &body[body.tail?].kind else { return None };
        let (argument, _) = self.cursor.ident()?;
        let is_call = habits::is_function(&function.to_string()) && !is_keyword(&argument.to_string());
        is_call.then(|| format!("call a function with parentheses: write `{function}({argument})`"))
    }

    /// Reads `late:`. A variable named `late` with a type after it is written `(late): f32`.
    fn take_late(&mut self) -> bool {
        let before = (self.cursor, self.last_span());
        if self.take_word("late").is_some() && self.take(":").is_some() {
            return true;
        }
        self.advance(before.1, before.0);
        false
    }

    /// Reads an operand. Braces that are followed by nothing, by a type, or by `wrt = …` are a block of the language
    /// instead, which is entered.
    pub(super) fn block_or_operand(&mut self) -> Result<State, Diag> {
        let Some((_, _, after)) = self.cursor.group(Delimiter::Brace) else { return self.operand() };
        let ends =
            after.eof() || after.punct().is_some_and(|(punct, _)| matches!(punct.as_char(), ':' | ','));
        if ends { Ok(self.enter_block()) } else { self.operand() }
    }

    /// Enters a block of the language.
    pub(super) fn enter_block(&mut self) -> State {
        let open = self.current_site();
        self.push(NodeKind::Open, open);
        self.enter(Delimiter::Brace, LevelKind::Block { statement: None })
    }

    /// Reads `{ … }`, which contains Rust.
    pub(super) fn rust(&mut self) -> Result<ParsedOperand, Diag> {
        let (inside, span, after) =
            self.cursor.group(Delimiter::Brace).expect("the caller has seen the brace");
        let site = Site::Tokens { first: span.open(), last: span.close() };
        if inside.eof() {
            return Err(Diag::new(Code::E1007, site, "found `{}`, expected a Rust expression in the braces"));
        }
        let tokens = inside.token_stream();
        let text = match span.join().source_text() {
            Some(text) => text.split_whitespace().collect::<Vec<_>>().join(" "),
            None => format!("{{{tokens}}}"),
        };
        self.advance(span.close(), after);
        Ok(self.add(NodeKind::Rust { tokens, text }, site))
    }

    /// Reads a name, or `self`.
    pub(super) fn place_name(&mut self, expected: &str) -> Result<Ident, Diag> {
        self.take_word("self").map_or_else(|| self.name(expected), Ok)
    }

    /// Adds `.name` to an operand, which must be a place.
    pub(super) fn member(&mut self, base: ParsedOperand, name: Ident) -> Result<ParsedOperand, Diag> {
        let field: Span = name.span();
        if !self.is_place(base) {
            let message = format!("found `.{name}`, expected `T`, `mT`, a method call or an operator");
            let operand = self.text_of(base);
            let help = habits::field_among_rust(&name.to_string(), &operand).unwrap_or_else(|| {
                "only a Rust variable has fields: put other Rust expressions in braces, as in `{model().w}`"
                    .to_owned()
            });
            return Err(Diag::new(Code::E1007, Site::token(field), message).help(help));
        }
        Ok(self.add(NodeKind::Member { base: base.id, name }, base.site.to(Site::token(field))))
    }

    /// Reads the type after an operand in parentheses.
    pub(super) fn typed(&mut self, operand: ParsedOperand) -> Result<ParsedOperand, Diag> {
        let in_parentheses = matches!(self.level().kind, LevelKind::Parenthesis { .. });
        if !(self.among_rust && in_parentheses && self.at(":")) {
            return Ok(operand);
        }
        if !self.is_place(operand) && !matches!(self.nodes[operand.id.index()].kind, NodeKind::Rust { .. }) {
            let message = "found an expression before `:`, expected a variable, a field or braces";
            return Err(Diag::new(Code::E1007, operand.site, message)
                .help("only Rust variables and the whole expression can be given a type"));
        }
        let Some(ty) = self.annotation()? else { return Ok(operand) };
        let site = operand.site.to(ty.site);
        Ok(self.add(NodeKind::Typed { operand: operand.id, ty }, site))
    }

    /// Whether an operand is a place: a name, or a field of one as `self.a.0`.
    fn is_place(&self, operand: ParsedOperand) -> bool {
        matches!(
            self.nodes[operand.id.index()].kind,
            NodeKind::Name(_) | NodeKind::Member { .. } | NodeKind::Field { .. }
        )
    }
}
