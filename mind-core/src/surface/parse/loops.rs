//! Loops and branches: `fold h = h0 for x in xs { … }`, `scan h = h0 for x in xs { … }`, `for x in xs { … }`,
//! `while n = n0 if n < 8 { … }`, `if c { … } else { … }`.

use proc_macro2::{Delimiter, Ident, Spacing};
use syn::buffer::Cursor;

use super::levels::{LevelKind, LoopHead, LoopPart, OpenKind, OpenLoop, ParsedOperand, State};
use super::parser::{Parser, is_keyword};
use crate::diag::Diag;
use crate::surface::ast::{ExprId, Loop, LoopKind, LoopOptions, NodeKind, Pattern};

const HEAD: &str = "write a loop as `fold h = h0 for x in xs { … }`, `scan h = h0 for x in xs { (h, y) }` or `for x \
    in xs { … }`";
const WHILE: &str =
    "write `while n = n0 if n < 8 { … }`, with a limit `while n = n0 if n < 8, at most = 100 { … }`";

/// A word that begins a loop or an `if`.
#[derive(Clone, Copy)]
pub(super) enum Keyword {
    Loop(LoopKind),
    While,
    If,
}

impl Parser<'_> {
    /// Reads a loop or an `if` up to its first expression.
    pub(super) fn enter_loop(&mut self, keyword: Keyword) -> Result<State, Diag> {
        let start = self.current_site();
        let (kind, part) = match keyword {
            Keyword::Loop(kind) => {
                self.take_word(kind.name());
                let (carry, part) = match kind {
                    LoopKind::Fold | LoopKind::Scan => (Some(self.carry(HEAD)?), LoopPart::First),
                    LoopKind::For => (None, LoopPart::Over { first: None, element: self.element_in()? }),
                };
                (OpenKind::Loop { kind, carry }, part)
            }
            Keyword::While => {
                self.take_word("while");
                (OpenKind::While { carry: Some(self.carry(WHILE)?) }, LoopPart::First)
            }
            Keyword::If => {
                self.take_word("if");
                (OpenKind::If, LoopPart::Test { head: None })
            }
        };
        self.push_level(LevelKind::Loop(OpenLoop { start, kind, part }));
        Ok(State::Operand)
    }

    /// Reads `h =`.
    fn carry(&mut self, help: &str) -> Result<Pattern, Diag> {
        let carry = self.distinct_pattern()?;
        self.expect("=").map_err(|diag| diag.help(help))?;
        Ok(carry)
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
    pub(super) fn loop_part(&mut self, operand: ParsedOperand) -> Result<State, Diag> {
        let LevelKind::Loop(open) = &mut self.level().kind else {
            unreachable!("the caller has seen the loop")
        };
        let part = std::mem::replace(&mut open.part, LoopPart::First);
        let head = match part {
            LoopPart::First => return self.after_first_carry(operand),
            LoopPart::Over { first, element } if self.take("..").is_some() => {
                self.set_loop_part(LoopPart::End { first, element, over: operand.id });
                return Ok(State::Operand);
            }
            LoopPart::Over { first, element } => LoopHead::new(first, element, operand.id, None),
            LoopPart::End { first, element, over } => LoopHead::new(first, element, over, Some(operand.id)),
            LoopPart::Checkpoint { mut head } => {
                head.options.checkpoint = Some(operand.id);
                *head
            }
            LoopPart::Test { head: None } => {
                let head = self.add_head(NodeKind::If { test: operand.id }, "an operator or `{`")?;
                return Ok(self.enter_body(LoopPart::FirstBranch { head }));
            }
            LoopPart::Test { head: Some(head) } => return self.after_condition(head, operand.id),
            LoopPart::Most { head, test } => return self.after_limit(head, test, operand.id),
            LoopPart::CheckpointOfWhile { head, test, most } => {
                return self.tested(head, test, Some(most), Some(operand.id));
            }
            LoopPart::Body { .. } | LoopPart::FirstBranch { .. } | LoopPart::Else { .. } => {
                unreachable!("a block follows, or an `if`")
            }
        };
        self.loop_body(head)
    }

    /// Reads the tokens after the first value of a carry.
    fn after_first_carry(&mut self, first: ParsedOperand) -> Result<State, Diag> {
        let LevelKind::Loop(OpenLoop { kind, start, .. }) = &mut self.level().kind else {
            unreachable!("the caller has seen the loop")
        };
        if let OpenKind::While { carry } = kind {
            let (carry, site) = (carry.take().expect("its first value is read once"), *start);
            if self.take_word("if").is_none() {
                return Err(self.unexpected("an operator or `if`").help(WHILE));
            }
            let head = self.add(NodeKind::While { carry, first: first.id }, site.to(self.before())).id;
            self.set_loop_part(LoopPart::Test { head: Some(head) });
            return Ok(State::Operand);
        }
        if self.take_word("for").is_none() {
            return Err(self.unexpected("an operator or `for`").help(HEAD));
        }
        let element = self.element_in()?;
        self.set_loop_part(LoopPart::Over { first: Some(first.id), element });
        Ok(State::Operand)
    }

    /// Reads the tokens after the condition of a `while`.
    fn after_condition(&mut self, head: ExprId, test: ExprId) -> Result<State, Diag> {
        if self.take(",").is_none() {
            return self.tested(head, test, None, None);
        }
        if self.take_word("at").is_none() || self.take_word("most").is_none() {
            return Err(self.unexpected("`at most = 100`").help(WHILE));
        }
        self.expect("=").map_err(|diag| diag.help(WHILE))?;
        self.set_loop_part(LoopPart::Most { head, test });
        Ok(State::Operand)
    }

    /// Reads the tokens after the limit on the steps of a `while`.
    fn after_limit(&mut self, head: ExprId, test: ExprId, most: ExprId) -> Result<State, Diag> {
        if self.take(",").is_none() {
            return self.tested(head, test, Some(most), None);
        }
        if self.take_word("checkpoint").is_none() {
            return Err(self.unexpected("`checkpoint = 16`").help(WHILE));
        }
        self.expect("=").map_err(|diag| diag.help(WHILE))?;
        self.set_loop_part(LoopPart::CheckpointOfWhile { head, test, most });
        Ok(State::Operand)
    }

    /// Enters the body of a `while`.
    fn tested(
        &mut self,
        head: ExprId,
        test: ExprId,
        most: Option<ExprId>,
        checkpoint: Option<ExprId>,
    ) -> Result<State, Diag> {
        let head = NodeKind::Tested { head, test, most, checkpoint };
        let head = self.add_head(head, "an operator, `,` or `{`")?;
        Ok(self.enter_body(LoopPart::Body { head }))
    }

    /// Adds a node for the tokens before the next body.
    fn add_head(&mut self, kind: NodeKind, expected: &str) -> Result<ExprId, Diag> {
        if !self.at_group(Delimiter::Brace) {
            return Err(self.unexpected(expected));
        }
        let before = self.before();
        let LevelKind::Loop(OpenLoop { start, .. }) = &self.level().kind else {
            unreachable!("the caller has seen the loop")
        };
        let site = start.to(before);
        Ok(self.add(kind, site).id)
    }

    fn enter_body(&mut self, part: LoopPart) -> State {
        self.set_loop_part(part);
        self.enter_block()
    }

    fn set_loop_part(&mut self, next: LoopPart) {
        if let LevelKind::Loop(open) = &mut self.level().kind {
            open.part = next;
        }
    }

    /// Reads the options after the iterated value, and enters the body.
    fn loop_body(&mut self, mut head: LoopHead) -> Result<State, Diag> {
        let LevelKind::Loop(OpenLoop { kind: OpenKind::Loop { kind, .. }, .. }) = self.level().kind else {
            unreachable!("the caller has seen the loop")
        };
        while self.take(",").is_some() {
            let left = head.options.missing_options(kind);
            let Some(option) = left.iter().find(|option| self.take_word(option.0).is_some()) else {
                let left: Vec<_> = left.iter().map(|(name, value)| format!("`{name} = {value}`")).collect();
                return Err(self.unexpected(&match left.split_last() {
                    Some((last, [])) => last.clone(),
                    Some((last, others)) => format!("{} or {last}", others.join(", ")),
                    None => "`{`".to_owned(),
                }));
            };
            self.expect("=")?;
            let options = &mut head.options;
            match option.0 {
                "axis" => options.axis = Some(self.axis()?),
                "out" => options.out = Some(self.axis()?),
                "reverse" => {
                    options.reverse = match (self.take_word("true"), self.take_word("false")) {
                        (Some(_), _) => Some(true),
                        (None, Some(_)) => Some(false),
                        (None, None) => return Err(self.unexpected("`true` or `false`")),
                    };
                }
                _ => {
                    self.set_loop_part(LoopPart::Checkpoint { head: Box::new(head) });
                    return Ok(State::Operand);
                }
            }
        }
        let LoopHead { first, element, over, end, options } = head;
        let LevelKind::Loop(OpenLoop { kind: OpenKind::Loop { carry, .. }, .. }) = &mut self.level().kind
        else {
            unreachable!("the caller has seen the loop")
        };
        let carry = carry.take().zip(first);
        let head = NodeKind::Loop(Loop { kind, carry, element, over, end, options });
        let head = self.add_head(head, "an operator, `,` or `{`").map_err(|diag| diag.help(HEAD))?;
        Ok(self.enter_body(LoopPart::Body { head }))
    }

    /// Adds the loop or the branch whose block was just read. Any other block is an operand.
    pub(super) fn after_block(&mut self, block: ParsedOperand) -> Result<State, Diag> {
        let LevelKind::Loop(OpenLoop { part, start, .. }) = &self.level().kind else {
            return Ok(State::Behind(block));
        };
        let (tail, site) = (block.id, start.to(block.site));
        match *part {
            LoopPart::Body { head } => {
                self.leave();
                Ok(State::Behind(self.add(NodeKind::Looped { head, tail }, site)))
            }
            LoopPart::FirstBranch { head } => {
                if self.take_word("else").is_none() {
                    let help = "every `if` has a value: write `if c { … } else { … }`";
                    return Err(self.unexpected("`else`").help(help));
                }
                let head = self.add(NodeKind::Else { head, tail }, site.to(self.before())).id;
                self.set_loop_part(LoopPart::Else { head });
                if self.at_word("if") {
                    return self.enter_loop(Keyword::If);
                }
                if !self.at_group(Delimiter::Brace) {
                    return Err(self.unexpected("`{` or `if`"));
                }
                Ok(self.enter_block())
            }
            LoopPart::Else { head } => {
                self.leave();
                // An `else if` ends with its own branches.
                Ok(State::AfterBlock(self.add(NodeKind::Branched { head, tail }, site)))
            }
            _ => Ok(State::Behind(block)),
        }
    }

    /// Whether braces at this point are the body of a loop or branch, not the fields of a struct. No body follows the
    /// first value of a carry, so there a struct may stand without parentheses.
    pub(super) fn is_before_body(&mut self) -> bool {
        let LevelKind::Loop(open) = &self.level().kind else { return false };
        !matches!(open.part, LoopPart::First) || !self.at_fields()
    }

    /// Whether the next braces contain fields such as `a: 0.0` or `a, b`.
    fn at_fields(&self) -> bool {
        let Some((inside, ..)) = self.cursor.group(Delimiter::Brace) else { return false };
        let Some((_, rest)) = inside.ident() else { return false };
        match rest.punct() {
            Some((punct, _)) => matches!(punct.as_char(), ':' | ',') && punct.spacing() == Spacing::Alone,
            None => rest.eof(),
        }
    }
}

impl LoopHead {
    fn new(first: Option<ExprId>, element: Pattern, over: ExprId, end: Option<ExprId>) -> Self {
        Self { first, element, over, end, options: LoopOptions::default() }
    }
}

/// The keyword at a word, if it is one. `fold` and `scan` are keywords only if a pattern follows.
pub(super) fn keyword(word: &Ident, behind: Cursor<'_>) -> Option<Keyword> {
    let always = [("for", Keyword::Loop(LoopKind::For)), ("while", Keyword::While), ("if", Keyword::If)];
    if let Some((_, keyword)) = always.into_iter().find(|(name, _)| word == name) {
        return Some(keyword);
    }
    let kind = [LoopKind::Fold, LoopKind::Scan].into_iter().find(|kind| word == kind.name())?;
    let binds = match (behind.ident(), behind.group(Delimiter::Parenthesis)) {
        (Some((name, _)), _) => name == "_" || !is_keyword(&name.to_string()),
        (None, Some((_, _, rest))) => begins_with_assignment(rest),
        (None, None) => false,
    };
    binds.then_some(Keyword::Loop(kind))
}

/// Whether the first operator is `=`, not `==`.
fn begins_with_assignment(rest: Cursor<'_>) -> bool {
    let equals = |rest: Cursor<'_>| rest.punct().is_some_and(|(sign, _)| sign.as_char() == '=');
    rest.punct().is_some_and(|(sign, behind)| {
        sign.as_char() == '=' && (sign.spacing() == Spacing::Alone || !equals(behind))
    })
}
