//! The state machine that reads bodies. It keeps open brackets in a list, so that nesting costs no stack.

use proc_macro2::Delimiter;

use super::levels::{Level, LevelKind, Outside, ParsedOperand, State};
use super::parser::Parser;
use crate::diag::{Diag, Site};
use crate::surface::ast::{Body, ExprId, NodeKind};

impl<'a> Parser<'a> {
    /// Reads the statements of a function up to the end of the bracket.
    pub(super) fn block_body(&mut self) -> Option<Body> {
        self.body(LevelKind::Block { statement: None }, State::Statement)
    }

    /// Reads the expression of a closure up to the end of the input.
    pub(super) fn closure_body(&mut self) -> Option<Body> {
        self.body(LevelKind::Closure, State::Operand)
    }

    /// Reads an expression among Rust variables, up to a token that cannot belong to it. If statements come first,
    /// reads to the end or to the type after the last expression.
    pub(super) fn expression_body(&mut self) -> Option<Body> {
        if !self.at_word("let") {
            return self.body(LevelKind::Expression, State::BlockOrOperand);
        }
        // Reads as if braces were written around the whole.
        let open = self.current_site();
        self.push(NodeKind::Open, open);
        self.block_body()
    }

    /// Reads the default of a parameter.
    pub(super) fn default_value(&mut self) -> Option<Body> {
        self.body(LevelKind::Expression, State::Operand)
    }

    fn body(&mut self, kind: LevelKind, mut state: State) -> Option<Body> {
        self.names_lost = false;
        self.mutable.clear();
        self.levels.push(Level { kind, pending: Vec::new(), outside: None });
        let tail = loop {
            let next = match state {
                State::Statement => Ok(self.statement()),
                State::Element => self.element(),
                State::Operand => self.operand(),
                State::BlockOrOperand => self.block_or_operand(),
                State::Behind(operand) => self.behind(operand),
                State::AfterBlock(block) => self.after_block(block),
                State::Whole(operand) => self.whole(operand),
                State::End(tail) => break tail,
            };
            state = next.unwrap_or_else(|diag| self.unwind(diag));
        };
        let nodes = std::mem::take(&mut self.nodes);
        if self.names_lost { None } else { Some(Body { nodes, tail }) }
    }

    /// The innermost open bracket.
    pub(super) fn level(&mut self) -> &mut Level<'a> {
        self.levels.last_mut().expect("the level of the body is there until it has been read")
    }

    /// Enters the next bracket.
    pub(super) fn enter(&mut self, delimiter: Delimiter, kind: LevelKind) -> State {
        let (inside, span, after) = self.cursor.group(delimiter).expect("the caller has seen the bracket");
        let outside = Outside { open: span.open(), close: span.close(), after, closing: self.closing };
        let state = match kind {
            LevelKind::Block { .. } => State::Statement,
            LevelKind::Fragment | LevelKind::Closure | LevelKind::Cotangent(_) => State::Operand,
            LevelKind::Expression | LevelKind::Derivative(_) => State::BlockOrOperand,
            LevelKind::Loop(_) => unreachable!("a loop has no bracket of its own"),
            LevelKind::Parenthesis { .. }
            | LevelKind::Array { .. }
            | LevelKind::Call(_)
            | LevelKind::Subscripts { .. }
            | LevelKind::Struct(_) => State::Element,
        };
        self.levels.push(Level { kind, pending: Vec::new(), outside: Some(outside) });
        self.enter_tokens(delimiter, span.open(), inside);
        state
    }

    /// Begins a level without a bracket.
    pub(super) fn push_level(&mut self, kind: LevelKind) {
        self.levels.push(Level { kind, pending: Vec::new(), outside: None });
    }

    /// Leaves the innermost bracket. Returns its kind and its site; the site is `None` for a level without a bracket.
    pub(super) fn leave(&mut self) -> (LevelKind, Option<Site>) {
        let level = self.levels.pop().expect("the level of the body is there until it has been read");
        let site = level.outside.map(|Outside { open, close, after, closing }| {
            self.closing = closing;
            self.advance(close, after);
            Site::Tokens { first: open, last: close }
        });
        (level.kind, site)
    }

    /// Leaves a block whose value is `tail`.
    pub(super) fn leave_block(&mut self, tail: Option<ExprId>) -> State {
        match self.leave().1 {
            Some(site) => {
                let block = self.add(NodeKind::Close { tail }, site);
                State::AfterBlock(block)
            }
            None if self.among_rust => {
                let site = self.nodes.first().map_or(self.before(), |open| open.site.to(self.before()));
                State::End(Some(self.add(NodeKind::Close { tail }, site).id))
            }
            None => State::End(tail),
        }
    }

    /// Recovers from an error: leaves brackets up to the statement that contains it, and abandons that statement.
    fn unwind(&mut self, diag: Diag) -> State {
        loop {
            let level = self.level();
            level.pending.clear();
            match &mut level.kind {
                LevelKind::Block { statement } => {
                    let statement = statement.take().expect("mistakes outside statements are handled there");
                    return self.abandon(statement, diag);
                }
                LevelKind::Closure | LevelKind::Expression => {
                    let id = self.replace_by_unread(0, diag);
                    self.leave();
                    return State::End(Some(id));
                }
                LevelKind::Fragment
                | LevelKind::Parenthesis { .. }
                | LevelKind::Array { .. }
                | LevelKind::Call(_)
                | LevelKind::Subscripts { .. }
                | LevelKind::Struct(_)
                | LevelKind::Derivative(_)
                | LevelKind::Cotangent(_)
                | LevelKind::Loop(_) => {
                    self.leave();
                }
            }
        }
    }

    /// Adds a node.
    pub(super) fn add(&mut self, kind: NodeKind, site: Site) -> ParsedOperand {
        ParsedOperand { id: self.push(kind, site), site }
    }
}
