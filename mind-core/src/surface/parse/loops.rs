//! Loops: `fold h = h0 for x in xs { … }`, `scan h = h0 for x in xs { … }`, `for x in xs { … }`.

use proc_macro2::{Delimiter, Ident, Spacing};
use syn::buffer::Cursor;

use super::levels::{LevelKind, LoopPart, OpenLoop, Operand, State};
use super::parser::{Parser, is_keyword};
use crate::diag::Diag;
use crate::surface::ast::{ExprId, Loop, LoopKind, NodeKind, Pattern};

const HEAD: &str = "a loop is written `fold h = h0 for x in xs { … }`, `scan h = h0 for x in xs { (h, y) }` or `for x in xs { … }`";

impl Parser<'_> {
    /// Reads a loop up to its first expression.
    pub(super) fn enter_loop(&mut self, kind: LoopKind) -> Result<State, Diag> {
        let start = self.here();
        self.take_word(kind.name());
        let open = match kind {
            LoopKind::Fold | LoopKind::Scan => {
                let carry = self.distinct_pattern()?;
                self.expect("=").map_err(|diag| diag.help(HEAD))?;
                OpenLoop { start, kind, carry: Some(carry), part: LoopPart::First }
            }
            LoopKind::For => {
                let element = self.element_in()?;
                OpenLoop { start, kind, carry: None, part: LoopPart::Over { first: None, element } }
            }
        };
        self.push_level(LevelKind::Loop(open));
        Ok(State::Operand)
    }

    /// Reads `x in`.
    fn element_in(&mut self) -> Result<Pattern, Diag> {
        let element = self.distinct_pattern()?;
        match self.take_word("in") {
            Some(_) => Ok(element),
            None => Err(self.unexpected("`in`").help(HEAD)),
        }
    }

    /// Adds an expression before the body to the head of the loop.
    pub(super) fn loop_part(&mut self, operand: Operand) -> Result<State, Diag> {
        let LevelKind::Loop(open) = &mut self.level().kind else {
            unreachable!("the caller has seen the loop")
        };
        let part = std::mem::replace(&mut open.part, LoopPart::First);
        let (first, element, over, end) = match part {
            LoopPart::First => {
                if self.take_word("for").is_none() {
                    return Err(self.unexpected("an operator or `for`").help(HEAD));
                }
                let element = self.element_in()?;
                self.set_loop_part(LoopPart::Over { first: Some(operand.id), element });
                return Ok(State::Operand);
            }
            LoopPart::Over { first, element } if self.take("..").is_some() => {
                self.set_loop_part(LoopPart::End { first, element, over: operand.id });
                return Ok(State::Operand);
            }
            LoopPart::Over { first, element } => (first, element, operand.id, None),
            LoopPart::End { first, element, over } => (first, element, over, Some(operand.id)),
            LoopPart::Body { .. } => unreachable!("the body ends the loop"),
        };
        self.loop_body(first, element, over, end)
    }

    fn set_loop_part(&mut self, next: LoopPart) {
        if let LevelKind::Loop(open) = &mut self.level().kind {
            open.part = next;
        }
    }

    /// Reads the options after the iterated value, and enters the body.
    fn loop_body(
        &mut self,
        first: Option<ExprId>,
        element: Pattern,
        over: ExprId,
        end: Option<ExprId>,
    ) -> Result<State, Diag> {
        let mut reverse = false;
        while self.take(",").is_some() {
            const OPTION: &str = "`reverse = true`";
            if self.take_word("reverse").is_none() {
                return Err(self.unexpected(OPTION));
            }
            self.expect("=")?;
            reverse = match (self.take_word("true"), self.take_word("false")) {
                (Some(_), _) => true,
                (None, Some(_)) => false,
                (None, None) => return Err(self.unexpected("`true` or `false`")),
            };
        }
        if !self.at_group(Delimiter::Brace) {
            return Err(self.unexpected("an operator, `,` or `{`").help(HEAD));
        }
        let before = self.before();
        let LevelKind::Loop(open) = &mut self.level().kind else {
            unreachable!("the caller has seen the loop")
        };
        let (kind, site) = (open.kind, open.start.to(before));
        let carry = open.carry.take().zip(first);
        let head = self.add(NodeKind::Loop(Loop { kind, carry, element, over, end, reverse }), site).id;
        self.set_loop_part(LoopPart::Body { head });
        Ok(self.enter_block())
    }

    /// Adds the loop whose body was just left. A block that is not the body of a loop is an operand.
    pub(super) fn behind_block(&mut self, block: Operand) -> State {
        match &self.level().kind {
            LevelKind::Loop(OpenLoop { part: LoopPart::Body { head }, start, .. }) => {
                let (head, site) = (*head, start.to(block.site));
                self.leave();
                State::Behind(self.add(NodeKind::Looped { head, tail: block.id }, site))
            }
            _ => State::Behind(block),
        }
    }

    /// Whether braces at this point are the body of a loop.
    pub(super) fn is_before_body(&mut self) -> bool {
        matches!(self.level().kind, LevelKind::Loop(_))
    }
}

/// The loop that begins with a word, if any. `fold` and `scan` begin a loop only if a pattern follows.
pub(super) fn loop_word(word: &Ident, behind: Cursor<'_>) -> Option<LoopKind> {
    if word == LoopKind::For.name() {
        return Some(LoopKind::For);
    }
    let kind = [LoopKind::Fold, LoopKind::Scan].into_iter().find(|kind| word == kind.name())?;
    let binds = match (behind.ident(), behind.group(Delimiter::Parenthesis)) {
        (Some((name, _)), _) => name == "_" || !is_keyword(&name.to_string()),
        (None, Some((_, _, rest))) => begins_with_assignment(rest),
        (None, None) => false,
    };
    binds.then_some(kind)
}

/// Whether the first operator is `=`, not `==`.
fn begins_with_assignment(rest: Cursor<'_>) -> bool {
    let equals = |rest: Cursor<'_>| rest.punct().is_some_and(|(sign, _)| sign.as_char() == '=');
    rest.punct().is_some_and(|(sign, behind)| {
        sign.as_char() == '=' && (sign.spacing() == Spacing::Alone || !equals(behind))
    })
}
