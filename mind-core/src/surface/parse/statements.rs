//! Statements, with recovery at `;`.

use proc_macro2::{Delimiter, Ident, Spacing, TokenTree};

use super::levels::{LevelKind, ParsedOperand, State, Statement, StatementKind};
use super::parser::{Parser, Unexpected, is_keyword};
use crate::diag::{Code, Diag, Site};
use crate::map::{Map, Tightness};
use crate::surface::ast::{BinaryOp, Body, ExprId, NodeKind, Path, Pattern};
use crate::surface::habits;

const PATTERN: &str = "a name, `_` or a tuple of them";
const TARGET: &str = "the name of a `&mut` parameter";
const TARGETS: &str = "assign to a parameter, a field, or a part `x[i]`; name a new value with `let`";
const AFTER_VALUE: &str = "an operator or `;`";
const ASSIGN: &str = "=";

/// The symbols of assignment operators such as `+=`. `<=` is a comparison and not among them.
fn updates() -> impl Iterator<Item = (String, BinaryOp)> {
    let updates = Map::operators().filter(|map| map.row().infix() != Some(Tightness::Comparison));
    updates.map(|map| (format!("{}=", map.row().label), BinaryOp::Map(map)))
}

impl Parser<'_> {
    /// Reads a statement up to its expression, or leaves the block at its end.
    pub(super) fn statement(&mut self) -> State {
        while self.take(";").is_some() {}
        if self.at_end() {
            return self.leave_block(None);
        }
        let (start, first) = (self.nodes.len(), self.current_site());
        if self.at_word("const") {
            let diag = self.unexpected("a statement");
            self.names_lost = true;
            self.recover(
                start,
                diag.help(
                    "name a value with `let`; constants are only allowed directly in the block, next to its \
                    functions",
                ),
            );
            return State::Statement;
        }
        let kind = if self.at_word("let") {
            match self.let_start() {
                Ok(pattern) => StatementKind::Let { pattern, ty: None },
                Err(diag) => {
                    self.names_lost = true;
                    self.recover(start, diag);
                    return State::Statement;
                }
            }
        } else if let Some((target, operator, op)) = self.assignment_start() {
            StatementKind::Assign { target, part: None, op, operator }
        } else {
            StatementKind::Expression
        };
        let mut statement = Statement { start, first, kind };
        if let StatementKind::Let { ty, .. } = &mut statement.kind
            && let Err(diag) = self.annotation().and_then(|annotation| {
                *ty = annotation;
                self.expect("=")
            })
        {
            return self.abandon(statement, diag);
        }
        self.level().kind = LevelKind::Block { statement: Some(statement) };
        State::Operand
    }

    /// Completes the statement that is being read with its expression, and reads the token that ends it.
    pub(super) fn finish_statement(&mut self, value: ParsedOperand) -> Result<State, Diag> {
        let LevelKind::Block { statement: Some(statement) } = &self.level().kind else {
            unreachable!("an expression in a block belongs to a statement")
        };
        let expression = matches!(statement.kind, StatementKind::Expression);
        let assignment = matches!(statement.kind, StatementKind::Assign { .. });
        if expression {
            if let Some(kind) = self.assigned_part(value) {
                if let LevelKind::Block { statement: Some(statement) } = &mut self.level().kind {
                    statement.kind = kind;
                }
                return Ok(State::Operand);
            }
            self.refuse_assignment(value)?;
            // The type of an expression among Rust variables may follow its last one.
            let typed = self.among_rust && self.levels.len() == 1 && self.at(":");
            if self.at_end() || typed {
                return Ok(self.leave_block(Some(value.id)));
            }
        }
        // As in Rust, an assignment may end a block without `;`, and a block or a loop is a statement without one.
        let block = expression && self.nodes[value.id.index()].kind.ends_with_block();
        if self.take(";").is_none() && !block && !(assignment && self.at_end()) {
            let mut diag = self.unexpected(AFTER_VALUE);
            if let LevelKind::Block { statement: Some(statement) } = &self.level().kind
                && let StatementKind::Let { pattern: Pattern::Tuple { .. }, .. } = &statement.kind
                && self.at(",")
            {
                return Err(diag.help("write a tuple in parentheses, as in `let (a, b) = (…, …);`"));
            }
            if expression
                && self.is_last_statement()
                && let Some(help) = self.help_at_comma()
            {
                return Err(diag.help(help));
            }
            if !expression && let Some(name) = self.name_behind_comma() {
                // The names after the comma should be bound.
                self.names_lost = true;
                return Err(diag.help(format!("each name needs its own `let`: write `; let {name} = …`")));
            }
            if let NodeKind::Name(name) = &self.nodes[value.id.index()].kind
                && self.at(":")
            {
                let diag = diag.help(format!("to name a value, write `let {name} = …;`"));
                self.names_lost = true;
                return Err(diag);
            }
            if let NodeKind::Name(name) = &self.nodes[value.id.index()].kind
                && let Unexpected::Word(word) = self.found()
                && habits::is_function(&name.to_string())
                && !is_keyword(&word)
            {
                return Err(diag.help(format!("call a function with parentheses: write `{name}({word})`")));
            }
            let dividend = match &self.nodes[value.id.index()].kind {
                NodeKind::Name(name) => name.to_string(),
                _ => "…".to_owned(),
            };
            let divided = self.floor_division(&dividend);
            let comma = self.take(",").is_some();
            let is_word = matches!(self.found(), Unexpected::Word(word) if !is_keyword(&word));
            let is_next = comma || self.at_word("let") || diag.help.is_none() && is_word || divided.is_some();
            if !self.at_end() && !is_next {
                return Err(diag);
            }
            // Only the `;` is missing: the value is valid.
            if let Some(help) = divided {
                diag = diag.help(help);
                self.names_lost |= self.at_end();
            } else if comma {
                diag = diag.help("write `;`: statements end with it");
            } else if self.at_end() {
                diag = diag.help("end the body with the value: write `;` and its name");
                // The missing value of the body is not reported as a second error.
                self.names_lost = true;
            } else {
                diag = diag.help("end the statement before it with `;`");
            }
            self.diags.push(diag);
        }
        let LevelKind::Block { statement } = &mut self.level().kind else {
            unreachable!("the statement's block is open")
        };
        let statement = statement.take().expect("the statement is being read");
        Ok(self.complete(statement, value))
    }

    /// Whether the rest of the block contains neither `;` nor `let`.
    fn is_last_statement(&self) -> bool {
        let mut rest = self.cursor;
        while let Some((tree, behind)) = rest.token_tree() {
            match tree {
                TokenTree::Punct(punct) if punct.as_char() == ';' => return false,
                TokenTree::Ident(word) if word == "let" => return false,
                _ => rest = behind,
            }
        }
        true
    }

    /// The help for a `,` after the value of a body or an expression.
    pub(super) fn help_at_comma(&self) -> Option<&'static str> {
        let (_, _, behind) = self.peek_operator().filter(|(operator, ..)| *operator == ",")?;
        Some(match behind.eof() {
            true => "remove it: nothing may follow the value of a body",
            false => "write several values as a tuple in parentheses: `(…, …)`",
        })
    }

    /// The `z` of `, z = …` and of `, z: f32[3] = …`.
    fn name_behind_comma(&self) -> Option<Ident> {
        let (_, _, behind) = self.peek_operator().filter(|(operator, ..)| *operator == ",")?;
        let (name, behind) = behind.ident().filter(|(name, _)| !is_keyword(&name.to_string()))?;
        let (sign, _) = behind.punct()?;
        (matches!(sign.as_char(), '=' | ':') && sign.spacing() == Spacing::Alone).then_some(name)
    }

    /// Adds the node of a statement.
    fn complete(&mut self, statement: Statement, value: ParsedOperand) -> State {
        let site = statement.first.to(value.site);
        let value = value.id;
        match statement.kind {
            StatementKind::Let { pattern, ty } => self.add(NodeKind::Let { pattern, ty, value }, site),
            StatementKind::Assign { target, op, operator, .. } if self.is_mutable(&target) => {
                // Treated as the `let` that is meant.
                let value = op.map_or(value, |op| {
                    let lhs = self.add(NodeKind::Name(target.name.clone()), target.site()).id;
                    self.add(NodeKind::Binary { op, operator, lhs, rhs: value }, site).id
                });
                self.add(NodeKind::Let { pattern: Pattern::Name(target.name), ty: None, value }, site)
            }
            StatementKind::Assign { target, part, op, operator } => {
                self.add(NodeKind::Assign { target, part, op, operator, value }, site)
            }
            StatementKind::Expression => self.add(NodeKind::Discard(value), site),
        };
        State::Statement
    }

    /// Whether an assignment is to a name that `let mut` binds.
    fn is_mutable(&self, target: &Path) -> bool {
        target.fields.is_empty() && self.mutable.iter().any(|name| target.name == name)
    }

    /// Recovers from an error: reports it and skips the statement. The names that the statement binds stay bound.
    pub(super) fn abandon(&mut self, statement: Statement, diag: Diag) -> State {
        let site = diag.site;
        let Statement { start, first, kind } = statement;
        let id = self.recover(start, diag);
        match kind {
            StatementKind::Let { .. } => {
                self.complete(Statement { start, first, kind }, ParsedOperand { id, site })
            }
            // The node of a part is among those that were replaced.
            StatementKind::Assign { target, op, operator, .. } => {
                let kind = StatementKind::Assign { target, part: None, op, operator };
                self.complete(Statement { start, first, kind }, ParsedOperand { id, site })
            }
            // An expression at the end of the block was meant as its value.
            StatementKind::Expression if self.at_end() => self.leave_block(Some(id)),
            StatementKind::Expression => State::Statement,
        }
    }

    /// Reports `diag`, replaces the nodes since `start` by a single one, and skips the statement. Skips to after `;`,
    /// to the next `let`, or to after `{ … }` that ends a statement, as Rust's `if` and `for` do.
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

    fn refuse_assignment(&self, target: ParsedOperand) -> Result<(), Diag> {
        match self.peek_operator() {
            Some((operator, _, _))
                if operator == ASSIGN || updates().any(|(symbol, _)| symbol == operator) =>
            {
                let message = format!("found an expression before `{operator}`, expected {TARGET}");
                Err(Diag::new(Code::E1007, target.site, message).help(TARGETS))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Reads `let` and its pattern.
    fn let_start(&mut self) -> Result<Pattern, Diag> {
        self.take_word("let");
        if self.at_word("mut") {
            let diag = self.unexpected(PATTERN);
            self.diags.push(diag);
            self.take_word("mut");
            let pattern = self.distinct_pattern()?;
            self.mutable.extend(pattern.names().iter().map(ToString::to_string));
            return Ok(pattern);
        }
        self.distinct_pattern()
    }

    pub(super) fn distinct_pattern(&mut self) -> Result<Pattern, Diag> {
        let pattern = self.pattern()?;
        if self.at(",") {
            let help = "write several names and their values in parentheses: `let (a, b) = (…, …);`";
            return Err(self.unexpected("`=`").help(help));
        }
        check_distinct(&pattern)?;
        Ok(pattern)
    }

    pub(super) fn pattern(&mut self) -> Result<Pattern, Diag> {
        if self.at_group(Delimiter::Parenthesis) {
            let (elements, site) = self.list(Delimiter::Parenthesis, PATTERN, "`,` or `)`", Self::pattern)?;
            return Ok(Pattern::Tuple { elements, site });
        }
        if let Some(wildcard) = self.take_word("_") {
            return Ok(Pattern::Wildcard(Site::token(wildcard.span())));
        }
        if let Some(path) = self.path_before(|behind| behind.group(Delimiter::Brace).is_some()) {
            return self.struct_pattern(path);
        }
        let name = self.name(PATTERN)?;
        if self.at_group(Delimiter::Brace) {
            self.struct_pattern(name.into())
        } else {
            Ok(Pattern::Name(name))
        }
    }

    /// Reads the operator after `w[i]`, if the expression that was read is one and an assignment follows.
    fn assigned_part(&mut self, part: ParsedOperand) -> Option<StatementKind> {
        let NodeKind::Subscript { base, .. } = self.nodes[part.id.index()].kind else { return None };
        let body = Body { nodes: std::mem::take(&mut self.nodes), tail: None };
        let target = body.path(base);
        self.nodes = body.nodes;
        let target = target?;
        let (operator, op) = self.assignment_operator()?;
        Some(StatementKind::Assign { target, part: Some(part.id), op, operator })
    }

    /// Reads `=` or an operator such as `-=`.
    fn assignment_operator(&mut self) -> Option<(Site, Option<BinaryOp>)> {
        if let Some(site) = self.take(ASSIGN) {
            return Some((site, None));
        }
        updates().find_map(|(symbol, op)| Some((self.take(&symbol)?, Some(op))))
    }

    /// Reads `w =`, `w -=` or `p.w =`.
    fn assignment_start(&mut self) -> Option<(Path, Site, Option<BinaryOp>)> {
        let before = (self.cursor, self.last_span());
        match self.path(TARGET).ok().and_then(|target| Some((target, self.assignment_operator()?))) {
            Some((target, (operator, op))) => Some((target, operator, op)),
            None => {
                self.advance(before.1, before.0);
                None
            }
        }
    }
}

fn check_distinct(pattern: &Pattern) -> Result<(), Diag> {
    let names = pattern.names();
    for (i, name) in names.iter().enumerate() {
        if let Some(first) = names[..i].iter().find(|first| *first == name) {
            let message = format!("`{name}` is bound twice in one pattern");
            return Err(Diag::new(Code::E2008, Site::token(name.span()), message)
                .note_at(Site::token(first.span()), "it is bound first"));
        }
    }
    Ok(())
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
                Self::Struct { fields, .. } => rest.extend(fields.iter().rev().map(|field| &field.pattern)),
            }
        }
        names
    }
}
