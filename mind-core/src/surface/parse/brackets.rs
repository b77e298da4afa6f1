//! Elements of brackets: arguments, subscripts, arrays, tuples.

use proc_macro2::{Delimiter, Ident};

use super::levels::{
    CallTarget, ForeignSubscripts, LevelKind, OpenCall, OpenSubscript, ParsedOperand, State, SubscriptPart,
};
use super::parser::Parser;
use crate::diag::{Code, Diag, Site};
use crate::surface::ast::{Argument, Body, ExprId, Node, NodeKind, Subscript, SubscriptKind};
use crate::surface::habits;

const SUBSCRIPT: &str = "an operator, `..`, `,` or `]`";

impl Parser<'_> {
    /// Reads up to the expression of the next element, or leaves the bracket at its end.
    pub(super) fn element(&mut self) -> Result<State, Diag> {
        if self.at_end() {
            return self.close();
        }
        let at_pack = self.at("..");
        let name = match &self.level().kind {
            LevelKind::Call(_) => self.argument_name(),
            LevelKind::Subscripts { .. } => return self.subscript_start(),
            LevelKind::Struct(_) => return self.field_start(),
            LevelKind::Array { .. } if at_pack => return self.pack_in_list(),
            LevelKind::Fragment
            | LevelKind::Parenthesis { .. }
            | LevelKind::Array { .. }
            | LevelKind::Block { .. }
            | LevelKind::Closure
            | LevelKind::Expression
            | LevelKind::Derivative(_)
            | LevelKind::Cotangent(_)
            | LevelKind::Loop(_) => None,
        };
        if let LevelKind::Call(call) = &mut self.level().kind {
            call.name = name;
        }
        Ok(State::Operand)
    }

    /// Adds a complete expression to the innermost bracket.
    pub(super) fn whole(&mut self, operand: ParsedOperand) -> Result<State, Diag> {
        let operand = self.typed(operand)?;
        match &mut self.level().kind {
            LevelKind::Fragment => {
                self.expect_end("an operator")?;
                self.leave();
                return Ok(State::Behind(operand));
            }
            LevelKind::Closure => {
                self.expect_end("an operator or the end of the closure")?;
                self.leave();
                return Ok(State::End(Some(operand.id)));
            }
            LevelKind::Expression => {
                self.leave();
                return Ok(State::End(Some(operand.id)));
            }
            LevelKind::Derivative(_) => return self.behind_differentiated(operand),
            LevelKind::Cotangent(_) => return self.behind_cotangent(operand),
            LevelKind::Block { .. } => return self.finish_statement(operand),
            LevelKind::Subscripts { .. } => return self.subscript_part(operand),
            LevelKind::Struct(_) => return self.field_value(operand),
            LevelKind::Loop(_) => return self.loop_part(operand),
            LevelKind::Parenthesis { elements, .. } | LevelKind::Array { elements } => {
                elements.push(operand.id);
            }
            LevelKind::Call(call) => {
                let name = call.name.take();
                let site =
                    name.as_ref().map_or(operand.site, |name| Site::token(name.span()).to(operand.site));
                call.arguments.push(Argument { name, value: operand.id, site });
            }
        }
        let ends_with_comma = self.at(",");
        if let LevelKind::Parenthesis { comma, .. } = &mut self.level().kind {
            *comma = ends_with_comma;
        }
        let expected = match self.level().kind {
            LevelKind::Array { .. } => "an operator, `,` or `]`",
            LevelKind::Fragment
            | LevelKind::Parenthesis { .. }
            | LevelKind::Call(_)
            | LevelKind::Subscripts { .. }
            | LevelKind::Struct(_)
            | LevelKind::Block { .. }
            | LevelKind::Closure
            | LevelKind::Expression
            | LevelKind::Derivative(_)
            | LevelKind::Cotangent(_)
            | LevelKind::Loop(_) => "an operator, `,` or `)`",
        };
        self.separator(expected)?;
        Ok(State::Element)
    }

    /// Returns E1007 for `Block[12] { … }`. `base` is before the brackets.
    fn check_stack(&mut self, base: ParsedOperand) -> Result<(), Diag> {
        let NodeKind::Name(name) = &self.nodes[base.id.index()].kind else { return Ok(()) };
        let name = name.to_string();
        if !name.starts_with(char::is_uppercase) || !self.at_group(Delimiter::Brace) || self.is_before_body()
        {
            return Ok(());
        }
        let help = format!(
            "a loop makes structs with a leading axis, as `for (w, b) in (ws, bs) {{ {name} {{ w, b }} }}`"
        );
        Err(self.unexpected("an operator or the end of the expression").help(help))
    }

    /// Reads `..B` in a list.
    fn pack_in_list(&mut self) -> Result<State, Diag> {
        let first = self.take("..").expect("the caller has seen it");
        let name = self.name("the name of leading dimensions such as `..B`")?;
        let site = first.to(self.before());
        let is_same = |element: &&ExprId, nodes: &[Node]| matches!(&nodes[element.index()].kind, NodeKind::Pack(other) if *other == name);
        let LevelKind::Array { elements } = &self.level().kind else {
            unreachable!("the caller has seen the list")
        };
        let elements = elements.clone();
        if let Some(twice) = elements.iter().find(|element| is_same(element, &self.nodes)) {
            let message = format!("found `..{name}` a second time, expected it only once in a list");
            let first = self.nodes[twice.index()].site;
            return Err(Diag::new(Code::E1007, site, message).note_at(first, "the first is"));
        }
        let operand = self.add(NodeKind::Pack(name), site);
        if let LevelKind::Array { elements } = &mut self.level().kind {
            elements.push(operand.id);
        }
        self.separator("`,` or `]`")?;
        Ok(State::Element)
    }

    /// Leaves a bracket whose elements have been read, and adds its node.
    fn close(&mut self) -> Result<State, Diag> {
        let (kind, site) = self.leave();
        let site = site.expect("a body is closed by its last statement");
        let operand = match kind {
            LevelKind::Parenthesis { elements, comma: false } if elements.len() == 1 => {
                ParsedOperand { id: elements[0], site }
            }
            LevelKind::Parenthesis { elements, .. } => self.add(NodeKind::Tuple(elements), site),
            LevelKind::Array { elements } => self.add(NodeKind::Array(elements), site),
            LevelKind::Subscripts { base, subscripts, foreign, .. } => {
                if let Some((at, found)) = foreign.found {
                    let help = self.written_subscripts(base, &subscripts, &foreign);
                    let message = format!("found `{found}`, expected an index or a range such as `a..b`");
                    return Err(Diag::new(Code::E1007, at, message).help(help));
                }
                check_subscripts(&subscripts, site)?;
                self.check_stack(base)?;
                self.add(NodeKind::Subscript { base: base.id, subscripts }, base.site.to(site))
            }
            LevelKind::Call(OpenCall { target, start, arguments, .. }) => {
                check_arguments(&arguments)?;
                let kind = match target {
                    CallTarget::Function(callee) => NodeKind::Call { callee, arguments, method: false },
                    CallTarget::Method(callee) => {
                        NodeKind::Call { callee: callee.into(), arguments, method: true }
                    }
                    CallTarget::Transformed { transforms, function } => {
                        NodeKind::Transformed { transforms, function, arguments }
                    }
                };
                self.add(kind, start.to(site))
            }
            LevelKind::Struct(open) => {
                let (kind, site) = open.close(site);
                self.add(kind, site)
            }
            LevelKind::Fragment
            | LevelKind::Block { .. }
            | LevelKind::Closure
            | LevelKind::Expression
            | LevelKind::Derivative(_)
            | LevelKind::Cotangent(_)
            | LevelKind::Loop(_) => {
                unreachable!("these have no elements")
            }
        };
        Ok(State::Behind(operand))
    }

    /// Reads `name =`.
    fn argument_name(&mut self) -> Option<Ident> {
        let before = (self.cursor, self.last_span());
        let name = self.name("").ok()?;
        if self.take("=").is_none() {
            self.advance(before.1, before.0);
            return None;
        }
        Some(name)
    }

    fn subscript_start(&mut self) -> Result<State, Diag> {
        let first = self.current_site();
        self.set_part(first, SubscriptPart::Start);
        if let LevelKind::Subscripts { foreign, .. } = &mut self.level().kind {
            foreign.colon = false;
        }
        if self.take("..").is_some() || self.take_colon() {
            return self.behind_dots(first, None);
        }
        if self.take_word("_").is_some() {
            return self.subscript(first, SubscriptKind::New);
        }
        if self.take_colons() { self.behind_colons(first, None) } else { Ok(State::Operand) }
    }

    /// Reads the `:` of a range as other libraries write it.
    fn take_colon(&mut self) -> bool {
        let colon = self.take(":");
        if let Some(site) = colon {
            self.note_foreign(site, ":");
            if let LevelKind::Subscripts { foreign, .. } = &mut self.level().kind {
                foreign.colon = true;
            }
        }
        colon.is_some()
    }

    /// Reads the `::` before a step, as other libraries write it.
    fn take_colons(&mut self) -> bool {
        let colons = self.take("::");
        if let Some(site) = colons {
            self.note_foreign(site, "::");
        }
        colons.is_some()
    }

    fn note_foreign(&mut self, site: Site, found: &'static str) {
        if let LevelKind::Subscripts { foreign, .. } = &mut self.level().kind {
            foreign.found.get_or_insert((site, found));
        }
    }

    fn behind_colons(&mut self, first: Site, start: Option<ExprId>) -> Result<State, Diag> {
        if self.at_end() || self.at(",") {
            return self.subscript(first, SubscriptKind::Range { start, end: None, step: None });
        }
        self.set_part(first, SubscriptPart::Step { start, end: None });
        Ok(State::Operand)
    }

    fn set_part(&mut self, first: Site, part: SubscriptPart) {
        if let LevelKind::Subscripts { current, .. } = &mut self.level().kind {
            *current = Some(OpenSubscript { first, part });
        }
    }

    fn behind_dots(&mut self, first: Site, start: Option<ExprId>) -> Result<State, Diag> {
        if self.take(".").is_some() {
            self.note_foreign(first.to(self.before()), "...");
        }
        if self.at_end() || [",", ";", ":"].iter().any(|end| self.at(end)) {
            return self.behind_end(first, start, None);
        }
        self.set_part(first, SubscriptPart::End { start });
        Ok(State::Operand)
    }

    fn behind_end(&mut self, first: Site, start: Option<ExprId>, end: Option<ExprId>) -> Result<State, Diag> {
        if self.take(";").is_some() {
            self.set_part(first, SubscriptPart::Step { start, end });
            return Ok(State::Operand);
        }
        let again = self.take("..").inspect(|site| self.note_foreign(*site, ".."));
        if again.is_some() || self.take_colon() {
            if !self.at_end() && !self.at(",") {
                self.set_part(first, SubscriptPart::Step { start, end });
                return Ok(State::Operand);
            }
            return self.subscript(first, SubscriptKind::Range { start, end, step: None });
        }
        let is_colon = matches!(
            &self.level().kind,
            LevelKind::Subscripts { foreign: ForeignSubscripts { colon: true, .. }, .. }
        );
        let kind = match (start, end) {
            (None, None) if !is_colon => SubscriptKind::Rest,
            (start, end) => SubscriptKind::Range { start, end, step: None },
        };
        self.subscript(first, kind)
    }

    /// Adds an expression to the subscript that is being read.
    fn subscript_part(&mut self, operand: ParsedOperand) -> Result<State, Diag> {
        let LevelKind::Subscripts { current, .. } = &mut self.level().kind else {
            unreachable!("the caller has seen the subscripts")
        };
        let OpenSubscript { first, part } = current.take().expect("a subscript has been started");
        match part {
            SubscriptPart::Start if self.take("..+").is_some() => {
                self.set_part(first, SubscriptPart::Count { start: operand.id });
                Ok(State::Operand)
            }
            SubscriptPart::Start if self.take("..").is_some() || self.take_colon() => {
                self.behind_dots(first, Some(operand.id))
            }
            SubscriptPart::Start if self.take_colons() => self.behind_colons(first, Some(operand.id)),
            SubscriptPart::Start => match self.take("..=") {
                Some(site) => {
                    self.note_foreign(site, "..=");
                    if let LevelKind::Subscripts { subscripts, foreign, .. } = &mut self.level().kind {
                        foreign.inclusive.push(subscripts.len());
                    }
                    self.set_part(first, SubscriptPart::End { start: Some(operand.id) });
                    Ok(State::Operand)
                }
                None => {
                    let Some(found) = self.new_axis(operand.id) else {
                        return self.subscript(first, SubscriptKind::At(operand.id));
                    };
                    self.note_foreign(operand.site, found);
                    self.subscript(first, SubscriptKind::New)
                }
            },
            SubscriptPart::End { start } => self.behind_end(first, start, Some(operand.id)),
            SubscriptPart::Count { start } => {
                self.subscript(first, SubscriptKind::Counted { start, count: operand.id })
            }
            SubscriptPart::Step { start, end } => {
                self.subscript(first, SubscriptKind::Range { start, end, step: Some(operand.id) })
            }
        }
    }

    /// The word by which other libraries write a new axis, if an operand is one.
    fn new_axis(&self, operand: ExprId) -> Option<&'static str> {
        let (NodeKind::Name(name) | NodeKind::Member { name, .. }) = &self.nodes[operand.index()].kind else {
            return None;
        };
        ["None", "newaxis"].into_iter().find(|new| name == new)
    }

    /// The help for subscripts as other libraries write them.
    fn written_subscripts(
        &mut self,
        base: ParsedOperand,
        subscripts: &[Subscript],
        foreign: &ForeignSubscripts,
    ) -> String {
        let body = Body { nodes: std::mem::take(&mut self.nodes), tail: None };
        let text = |part: Option<ExprId>| part.map(|part| body.text(part)).unwrap_or_default();
        let (mut parts, mut reversed) = (Vec::new(), false);
        for (position, subscript) in subscripts.iter().enumerate() {
            parts.push(match subscript.kind {
                SubscriptKind::At(at) => body.text(at),
                SubscriptKind::Rest => "..".to_owned(),
                SubscriptKind::New => "_".to_owned(),
                SubscriptKind::Counted { start, count } => {
                    format!("{} ..+ {}", body.text(start), body.text(count))
                }
                SubscriptKind::Range { start, end, step } => {
                    let step = text(step);
                    reversed |= step.starts_with('-');
                    let (start, mut end) = (text(start), text(end));
                    if foreign.inclusive.contains(&position) {
                        end = end
                            .parse::<i64>()
                            .map_or_else(|_| format!("{end} + 1"), |end| (end + 1).to_string());
                    }
                    let start = if start.is_empty() && end.is_empty() { "0" } else { &start };
                    let separator = if step.is_empty() { "" } else { ";" };
                    format!("{start}..{end}{separator}{step}")
                }
            });
        }
        let base = body.in_parentheses(base.id, body.text(base.id));
        self.nodes = body.nodes;
        if let Some(help) = habits::field("at").filter(|_| base.ends_with(".at")) {
            return help.to_owned();
        }
        if reversed {
            return format!(
                "a step is at least 1: list the indices in the wanted order, as in `gather({base}, […])`"
            );
        }
        match parts.iter().all(|part| part == "0.." || part == "..") {
            true => format!("write `{base}`"),
            false => format!("write `{base}[{}]`", parts.join(", ")),
        }
    }

    fn subscript(&mut self, first: Site, kind: SubscriptKind) -> Result<State, Diag> {
        let site = first.to(self.before());
        if let LevelKind::Subscripts { subscripts, .. } = &mut self.level().kind {
            subscripts.push(Subscript { kind, site });
        }
        self.separator(SUBSCRIPT)?;
        Ok(State::Element)
    }
}

/// Arguments that take a list of numbers.
const LISTS: &[&str] = &["axes", "axis", "dim", "dims", "shape", "permutation", "strides"];

fn check_arguments(arguments: &[Argument]) -> Result<(), Diag> {
    let first_named = arguments.iter().position(|argument| argument.name.is_some());
    let is_behind = |(position, argument): &(usize, &Argument)| {
        argument.name.is_none() && first_named.is_some_and(|named| *position > named)
    };
    match arguments.iter().enumerate().find(is_behind) {
        Some((at, argument)) => {
            let message = "found a positional argument after a named one, expected named arguments";
            let before = arguments[..at].last().and_then(|before| before.name.as_ref());
            let help = match before.map(ToString::to_string) {
                Some(name) if LISTS.contains(&name.as_str()) => {
                    format!("write a list in brackets, as in `{name} = [0, 1]`")
                }
                Some(_) | None => "put it before the named arguments".to_owned(),
            };
            Err(Diag::new(Code::E1007, argument.site, message).help(help))
        }
        None => Ok(()),
    }
}

fn check_subscripts(subscripts: &[Subscript], site: Site) -> Result<(), Diag> {
    if subscripts.is_empty() {
        return Err(Diag::new(Code::E1007, site, "found `[]`, expected an index or a range"));
    }
    let mut rests = subscripts.iter().filter(|subscript| matches!(subscript.kind, SubscriptKind::Rest));
    match (rests.next(), rests.next()) {
        (Some(first), Some(second)) => {
            Err(Diag::new(Code::E1007, second.site, "found a second `..`, expected at most one")
                .note_at(first.site, "the first is")
                .help("write `0..` for a whole axis"))
        }
        _ => Ok(()),
    }
}
