//! Expressions. Operators and postfix forms are read in loops; only brackets recurse.

use proc_macro2::{Delimiter, Ident};

use super::literals::number;
use super::parser::{Parser, is_keyword};
use super::rustisms;
use crate::diag::{Code, Diag, Site};
use crate::surface::ast::{
    Argument, BinaryOp, ExprId, NodeKind, Subscript, SubscriptKind, TransformKind,
};

/// An expression that has been read.
#[derive(Clone, Copy)]
pub(super) struct Operand {
    pub(super) id: ExprId,
    /// Brackets around it included.
    pub(super) site: Site,
}

const EXPECTED: &str = "an expression";

impl Parser<'_> {
    /// Reads an expression.
    pub(super) fn expression(&mut self) -> Result<Operand, Diag> {
        let mut lhs = self.term()?;
        while let Some((op, operator)) = self.binary_operator(&[("+", BinaryOp::Add), ("-", BinaryOp::Sub)]) {
            let rhs = self.term()?;
            lhs = self.binary(op, operator, lhs, rhs);
        }
        Ok(lhs)
    }

    fn term(&mut self) -> Result<Operand, Diag> {
        const PRODUCTS: &[(&str, BinaryOp)] =
            &[("*", BinaryOp::Mul), ("/", BinaryOp::Div), ("@", BinaryOp::MatMul)];
        let mut lhs = self.factor()?;
        while let Some((op, operator)) = self.binary_operator(PRODUCTS) {
            let rhs = self.factor()?;
            lhs = self.binary(op, operator, lhs, rhs);
        }
        Ok(lhs)
    }

    fn binary_operator(&mut self, among: &[(&str, BinaryOp)]) -> Option<(BinaryOp, Site)> {
        among.iter().find_map(|(symbol, op)| self.take(symbol).map(|site| (*op, site)))
    }

    fn binary(&mut self, op: BinaryOp, operator: Site, lhs: Operand, rhs: Operand) -> Operand {
        let kind = NodeKind::Binary { op, operator, lhs: lhs.id, rhs: rhs.id };
        self.operand(kind, lhs.site.to(rhs.site))
    }

    pub(super) fn operand(&mut self, kind: NodeKind, site: Site) -> Operand {
        Operand { id: self.push(kind, site), site }
    }

    /// Reads signs, then what they stand before. A sign belongs to a literal it touches.
    fn factor(&mut self) -> Result<Operand, Diag> {
        let mut signs = Vec::new();
        while let Some(sign) = self.take("-") {
            signs.push(sign);
        }
        let mut operand = match self.cursor.literal() {
            Some((literal, _)) => {
                let sign = signs.pop();
                self.take_literal();
                let negative = sign.is_some() && !self.at(".") && !self.at_group(Delimiter::Bracket);
                let site = match (sign, negative) {
                    (Some(sign), true) => sign.to(self.before()),
                    (Some(sign), false) => {
                        signs.push(sign);
                        self.before()
                    }
                    (None, _) => self.before(),
                };
                let number = number(literal, negative)?;
                self.operand(NodeKind::Number(number), site)
            }
            None => self.atom()?,
        };
        operand = self.postfix(operand)?;
        for operator in signs.into_iter().rev() {
            let kind = NodeKind::Neg { operand: operand.id, operator };
            operand = self.operand(kind, operator.to(operand.site));
        }
        Ok(operand)
    }

    fn atom(&mut self) -> Result<Operand, Diag> {
        if self.at_group(Delimiter::None) {
            return self.group(Delimiter::None, EXPECTED, Self::whole_expression).map(|(operand, _)| operand);
        }
        if self.at_group(Delimiter::Parenthesis) {
            return self.parenthesised();
        }
        if self.at_group(Delimiter::Bracket) {
            let (elements, site) = self.list(Delimiter::Bracket, EXPECTED, "an operator, `,` or `]`", |parser| {
                parser.expression().map(|element| element.id)
            })?;
            return Ok(self.operand(NodeKind::Array(elements), site));
        }
        if self.at_group(Delimiter::Brace) {
            return self.block_expression();
        }
        let word = self.cursor.ident().map(|(ident, _)| ident.to_string());
        if let Some(value @ ("true" | "false")) = word.as_deref() {
            let value = value == "true";
            self.take_word(if value { "true" } else { "false" });
            return Ok(self.operand(NodeKind::Bool(value), self.before()));
        }
        let name = self.name(EXPECTED)?;
        if !self.at_group(Delimiter::Parenthesis) {
            let site = Site::token(name.span());
            return Ok(self.operand(NodeKind::Name(name), site));
        }
        if TransformKind::ALL.iter().any(|kind| name == kind.name()) {
            return self.transformed(name);
        }
        self.call(name)
    }

    fn whole_expression(&mut self) -> Result<Operand, Diag> {
        let operand = self.expression()?;
        self.expect_end("an operator")?;
        Ok(operand)
    }

    /// Reads `(a)`, which is `a`, or a tuple.
    fn parenthesised(&mut self) -> Result<Operand, Diag> {
        let ((mut elements, is_tuple), site) = self.group(Delimiter::Parenthesis, EXPECTED, |parser| {
            let (mut elements, mut comma) = (Vec::new(), false);
            while !parser.at_end() {
                elements.push(parser.expression()?.id);
                comma = parser.at(",");
                parser.separator("an operator, `,` or `)`")?;
            }
            Ok((elements, comma))
        })?;
        match (elements.len(), is_tuple) {
            (1, false) => Ok(Operand { id: elements.remove(0), site }),
            _ => Ok(self.operand(NodeKind::Tuple(elements), site)),
        }
    }

    fn call(&mut self, callee: Ident) -> Result<Operand, Diag> {
        let (arguments, site) = self.arguments(Vec::new())?;
        let site = Site::token(callee.span()).to(site);
        Ok(self.operand(NodeKind::Call { callee, arguments, method: false }, site))
    }

    /// Reads `(a, b, axes = [0])` and puts it behind `arguments`.
    pub(super) fn arguments(&mut self, mut arguments: Vec<Argument>) -> Result<(Vec<Argument>, Site), Diag> {
        let (read, site) = self.list(Delimiter::Parenthesis, "`(`", "an operator, `,` or `)`", Self::argument)?;
        arguments.extend(read);
        let first_named = arguments.iter().position(|argument| argument.name.is_some());
        let misplaced = first_named.and_then(|named| arguments[named..].iter().find(|a| a.name.is_none()));
        match misplaced {
            Some(argument) => {
                let message = "found a positional argument, expected named ones only after the first named one";
                Err(Diag::new(Code::E1007, argument.site, message).help("put it before the named arguments"))
            }
            None => Ok((arguments, site)),
        }
    }

    fn argument(&mut self) -> Result<Argument, Diag> {
        let name = self.argument_name();
        let value = self.expression()?;
        let site = name.as_ref().map_or(value.site, |name| Site::token(name.span()).to(value.site));
        Ok(Argument { name, value: value.id, site })
    }

    /// Reads `name =`.
    pub(super) fn argument_name(&mut self) -> Option<Ident> {
        let before = (self.cursor, self.last_span());
        let name = self.name(EXPECTED).ok()?;
        if self.take("=").is_none() {
            self.advance(before.1, before.0);
            return None;
        }
        Some(name)
    }

    /// Reads what follows an operand: `.T`, `.0`, `.f(x)`, `[0, 1..3]`.
    fn postfix(&mut self, mut operand: Operand) -> Result<Operand, Diag> {
        loop {
            if self.take(".").is_some() {
                operand = self.after_dot(operand)?;
            } else if self.at_group(Delimiter::Bracket) {
                let (subscripts, site) = self.subscripts()?;
                let kind = NodeKind::Subscript { base: operand.id, subscripts };
                operand = self.operand(kind, operand.site.to(site));
            } else if self.at_group(Delimiter::Parenthesis) {
                return Err(self.unexpected("an operator").help("only functions are called, by their names"));
            } else {
                return Ok(operand);
            }
        }
    }

    fn after_dot(&mut self, base: Operand) -> Result<Operand, Diag> {
        const EXPECTED: &str = "`T`, a method call or the number of a tuple element";
        if let Some((literal, _)) = self.cursor.literal() {
            let text = literal.to_string();
            // `x.0.1` comes as `x`, `.`, `0.1`.
            let indices: Option<Vec<usize>> = text
                .split('.')
                .map(|part| part.parse().ok().filter(|_| part.bytes().all(|byte| byte.is_ascii_digit())))
                .collect();
            let Some(indices) = indices else { return Err(self.unexpected(EXPECTED)) };
            self.take_literal();
            let field = self.before();
            return Ok(indices.into_iter().fold(base, |base, index| {
                let kind = NodeKind::Field { base: base.id, index, field };
                self.operand(kind, base.site.to(field))
            }));
        }
        let here = self.here();
        let name = self.name(EXPECTED)?;
        if self.at_group(Delimiter::Parenthesis) {
            let receiver = Argument { name: None, value: base.id, site: base.site };
            let (arguments, site) = self.arguments(vec![receiver])?;
            let kind = NodeKind::Call { callee: name, arguments, method: true };
            return Ok(self.operand(kind, base.site.to(site)));
        }
        if name == "T" {
            return Ok(self.operand(NodeKind::Transpose(base.id), base.site.to(here)));
        }
        let diag = Diag::new(Code::E1007, here, format!("found `.{name}`, expected {EXPECTED}"));
        Err(match name.to_string().as_str() {
            "t" => diag.help("write `.T`"),
            "await" => diag.help(rustisms::literal("\"").unwrap_or_default()),
            name => diag.help(format!("a method is called with parentheses, as `.{name}()`; fields of Rust values are passed as parameters")),
        })
    }

    fn subscripts(&mut self) -> Result<(Vec<Subscript>, Site), Diag> {
        let (subscripts, site) =
            self.list(Delimiter::Bracket, "`[`", "an operator, `..`, `,` or `]`", Self::subscript)?;
        if subscripts.is_empty() {
            return Err(Diag::new(Code::E1007, site, "found `[]`, expected an index or a range"));
        }
        let mut rests = subscripts.iter().filter(|subscript| matches!(subscript.kind, SubscriptKind::Rest));
        match (rests.next(), rests.next()) {
            (Some(first), Some(second)) => {
                Err(Diag::new(Code::E1007, second.site, "found a second `..`, expected one at most")
                    .note_at(first.site, "the first is")
                    .help("write `0..` for a whole axis"))
            }
            _ => Ok((subscripts, site)),
        }
    }

    fn subscript(&mut self) -> Result<Subscript, Diag> {
        let first = self.here();
        let start = if self.at("..") { None } else { Some(self.expression()?.id) };
        if self.take("..").is_none() {
            if self.at("..=") || self.at(":") {
                let help = match self.at(":") {
                    true => "a range is written `a..b`, with a step `a..b;s`",
                    false => "a range excludes its end: write `a..b` with the end one higher",
                };
                return Err(self.unexpected("an operator, `..`, `,` or `]`").help(help));
            }
            let id = start.expect("a subscript that does not start with `..` starts with an expression");
            return Ok(Subscript { kind: SubscriptKind::At(id), site: first.to(self.before()) });
        }
        let ends_here = self.at_end() || self.at(",") || self.at(";");
        let end = if ends_here { None } else { Some(self.expression()?.id) };
        let step = if self.take(";").is_some() { Some(self.expression()?.id) } else { None };
        let kind = match (start, end, step) {
            (None, None, None) => SubscriptKind::Rest,
            (start, end, step) => SubscriptKind::Range { start, end, step },
        };
        Ok(Subscript { kind, site: first.to(self.before()) })
    }
}

/// Whether `name` cannot be a function's, being a form of the language.
pub(super) fn is_reserved(name: &Ident) -> bool {
    TransformKind::ALL.iter().any(|kind| name == kind.name()) || is_keyword(&name.to_string())
}
