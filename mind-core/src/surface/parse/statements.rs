//! Statements and blocks, with recovery at `;`.

use proc_macro2::{Delimiter, Ident};

use super::expressions::Operand;
use super::parser::Parser;
use crate::diag::{Code, Diag, Site};
use crate::surface::ast::{BinaryOp, ExprId, NodeKind, Pattern};

const PATTERN: &str = "a name, `_` or a tuple of them";
const AFTER_VALUE: &str = "an operator or `;`";
const ASSIGNMENTS: &[(&str, Option<BinaryOp>)] = &[
    ("=", None),
    ("+=", Some(BinaryOp::Add)),
    ("-=", Some(BinaryOp::Sub)),
    ("*=", Some(BinaryOp::Mul)),
    ("/=", Some(BinaryOp::Div)),
];

impl Parser<'_> {
    /// Reads `{ … }` as an expression.
    pub(super) fn block_expression(&mut self) -> Result<Operand, Diag> {
        let open = self.here();
        self.push(NodeKind::Open, open);
        let (tail, site) = self.group(Delimiter::Brace, "`{`", |parser| Ok(parser.statements()))?;
        Ok(self.operand(NodeKind::Close { tail }, site))
    }

    /// Reads statements to the end of the bracket; gives the value after the last `;`. Every mistake is reported
    /// here, and leaves a value that is not spoken of again.
    pub(super) fn statements(&mut self) -> Option<ExprId> {
        while !self.at_end() {
            if self.take(";").is_some() {
                continue;
            }
            if self.at_word("let") {
                self.let_statement();
            } else if let Some((target, operator, op)) = self.assignment_start() {
                self.assignment(target, operator, op);
            } else if let Some(tail) = self.expression_statement() {
                return Some(tail);
            }
        }
        None
    }

    fn let_statement(&mut self) {
        let (start, first) = (self.nodes.len(), self.here());
        self.take_word("let");
        if self.at_word("mut") {
            let diag = self.unexpected(PATTERN);
            self.diags.push(diag);
            self.take_word("mut");
        }
        let pattern = match self.pattern().and_then(checked) {
            Ok(pattern) => pattern,
            Err(diag) => {
                self.names_lost = true;
                self.recover(start, diag);
                return;
            }
        };
        let mut ty = None;
        let value = self.annotation().and_then(|annotation| {
            ty = annotation;
            self.expect("=")?;
            self.expression()
        });
        let value = self.end_statement(start, value);
        self.push(NodeKind::Let { pattern, ty, value: value.id }, first.to(value.site));
    }

    fn assignment(&mut self, target: Ident, operator: Site, op: Option<BinaryOp>) {
        let (start, first) = (self.nodes.len(), Site::token(target.span()));
        let value = self.expression();
        // As in Rust, an assignment may end a block without `;`.
        let value = match value {
            Ok(value) if self.at_end() => value,
            value => self.end_statement(start, value),
        };
        self.push(NodeKind::Assign { target, op, operator, value: value.id }, first.to(value.site));
    }

    /// Reads an expression; gives it if it ends the block.
    fn expression_statement(&mut self) -> Option<ExprId> {
        let start = self.nodes.len();
        let value = self.expression().and_then(|value| self.refuse_assignment(value));
        if let Ok(value) = value
            && self.at_end()
        {
            return Some(value.id);
        }
        let value = self.end_statement(start, value);
        if matches!(self.nodes[value.id.index()].kind, NodeKind::Unread) {
            return self.at_end().then_some(value.id);
        }
        self.push(NodeKind::Discard(value.id), value.site);
        None
    }

    fn refuse_assignment(&self, target: Operand) -> Result<Operand, Diag> {
        match self.peek_operator() {
            Some((operator, _, _)) if ASSIGNMENTS.iter().any(|(symbol, _)| *symbol == operator) => {
                let message = format!(
                    "found an expression before `{operator}`, expected the name of a `&mut` parameter"
                );
                Err(Diag::new(Code::E1007, target.site, message)
                    .help("assign to a whole parameter; name a new value with `let`"))
            }
            Some(_) | None => Ok(target),
        }
    }

    /// Reads the `;` of a statement whose expression has been read from node `start` on. After a mistake it skips
    /// the rest of the statement and gives a node in the expression's place.
    fn end_statement(&mut self, start: usize, value: Result<Operand, Diag>) -> Operand {
        let value = match value {
            Ok(value) if self.take(";").is_some() => return value,
            // Only the `;` is missing: the value is as good as any.
            Ok(value) if self.at_end() || self.at_word("let") => {
                let diag = self.unexpected(AFTER_VALUE);
                self.diags.push(diag);
                return value;
            }
            Ok(_) => Err(self.unexpected(AFTER_VALUE)),
            Err(diag) => Err(diag),
        };
        match value {
            Ok(value) => value,
            Err(diag) => {
                let site = diag.site;
                Operand { id: self.recover(start, diag), site }
            }
        }
    }

    /// Reports `diag`, puts one node in place of those since `start` and skips the statement: to behind its `;`, to
    /// the next `let`, or behind a `{ … }` that ends a statement as Rust's `if` and `for` do.
    fn recover(&mut self, start: usize, diag: Diag) -> ExprId {
        let id = self.replace_by_unread(start, diag);
        while !self.at_end() && !self.at_word("let") {
            if self.take(";").is_some() {
                break;
            }
            let brace = self.at_group(Delimiter::Brace);
            self.skip_token();
            if brace && !self.at_word("else") && self.peek_operator().is_none() {
                break;
            }
        }
        id
    }

    /// Reads `w =` or `w -=`.
    fn assignment_start(&mut self) -> Option<(Ident, Site, Option<BinaryOp>)> {
        let before = (self.cursor, self.last_span());
        let target = self.name(PATTERN).ok()?;
        let found = ASSIGNMENTS.iter().find_map(|(symbol, op)| self.take(symbol).map(|site| (site, *op)));
        match found {
            Some((operator, op)) => Some((target, operator, op)),
            None => {
                self.advance(before.1, before.0);
                None
            }
        }
    }

    fn pattern(&mut self) -> Result<Pattern, Diag> {
        if self.at_group(Delimiter::Parenthesis) {
            let (elements, site) = self.list(Delimiter::Parenthesis, PATTERN, "`,` or `)`", Self::pattern)?;
            return Ok(Pattern::Tuple { elements, site });
        }
        if let Some(wildcard) = self.take_word("_") {
            return Ok(Pattern::Wildcard(Site::token(wildcard.span())));
        }
        self.name(PATTERN).map(Pattern::Name)
    }
}

/// Refuses a pattern that binds a name twice.
fn checked(pattern: Pattern) -> Result<Pattern, Diag> {
    let names = pattern.names();
    for (i, name) in names.iter().enumerate() {
        if let Some(first) = names[..i].iter().find(|first| *first == name) {
            let message = format!("`{name}` is bound twice in one pattern");
            return Err(Diag::new(Code::E2008, Site::token(name.span()), message)
                .note_at(Site::token(first.span()), "it is bound first"));
        }
    }
    Ok(pattern)
}

impl Pattern {
    /// The names it binds, in order.
    pub fn names(&self) -> Vec<&Ident> {
        let (mut names, mut rest) = (Vec::new(), vec![self]);
        while let Some(pattern) = rest.pop() {
            match pattern {
                Self::Wildcard(_) => {}
                Self::Name(name) => names.push(name),
                Self::Tuple { elements, .. } => rest.extend(elements.iter().rev()),
            }
        }
        names
    }
}
