//! Converts an AST to text: whole programs (`items`), bodies, and expressions shortened for messages.

mod items;

use std::fmt::{self, Write};

use super::ast::{
    Argument, BinaryOp, Body, Callee, Derivative, ExprId, LoopOptions, NodeKind, Subscript, SubscriptKind,
};
use crate::map::Tightness;

/// The beginning of the line that ends a body and begins its pullback.
const PULLBACK: &str = "} pullback";

/// The maximum length in characters of the text of an expression in a message.
const SHORT: usize = 40;

impl Body {
    /// The expression in the syntax of the language, on one line.
    pub fn text(&self, id: ExprId) -> String {
        let first = self.first_part(id);
        let mut printer = Printer { first, ..Printer::default() };
        for index in first..=id.index() {
            printer.node(self, index);
        }
        printer.take(id)
    }

    /// The first node of an expression. Its nodes are contiguous from there to `id`.
    fn first_part(&self, id: ExprId) -> usize {
        let (mut first, mut open_blocks) = (id.index(), 0usize);
        for index in (0..=id.index()).rev() {
            let kind = &self.nodes[index].kind;
            first = first.min(index).min(first_operand(kind).map_or(index, ExprId::index));
            match kind {
                NodeKind::Close { .. } | NodeKind::Leave { .. } => open_blocks += 1,
                NodeKind::Open | NodeKind::Enter { .. } => open_blocks = open_blocks.saturating_sub(1),
                _ => {}
            }
            if open_blocks == 0 && first == index {
                break;
            }
        }
        first
    }

    /// The expression as messages show it: shortened if it is long.
    pub fn short_text(&self, id: ExprId) -> String {
        shortened(self.text(id))
    }

    /// [`Self::short_text`] of every expression, in one pass. Types of typed operands are left out.
    pub(crate) fn short_texts(&self) -> Vec<String> {
        let mut printer = Printer { short: true, ..Printer::default() };
        for index in 0..self.nodes.len() {
            printer.node(self, index);
        }
        printer.texts.into_iter().map(|(text, _)| shortened(text)).collect()
    }
}

/// A text, shortened as in messages.
fn shortened(text: String) -> String {
    if text.chars().count() <= SHORT {
        return text;
    }
    format!("{}…", cut(text, SHORT - 1).trim_end())
}

/// The first `length` characters of a text.
fn cut(mut text: String, length: usize) -> String {
    if let Some((end, _)) = text.char_indices().nth(length) {
        text.truncate(end);
    }
    text
}

/// The operand of a node that is written first.
fn first_operand(kind: &NodeKind) -> Option<ExprId> {
    match kind {
        NodeKind::Prefix { operand: first, .. }
        | NodeKind::Binary { lhs: first, .. }
        | NodeKind::Transpose { base: first, .. }
        | NodeKind::Field { base: first, .. }
        | NodeKind::Member { base: first, .. }
        | NodeKind::Typed { operand: first, .. }
        | NodeKind::Subscript { base: first, .. }
        | NodeKind::Let { value: first, .. }
        | NodeKind::Assign { part: Some(first), .. }
        | NodeKind::Assign { value: first, .. }
        | NodeKind::Discard(first) => Some(*first),
        NodeKind::Call { arguments, .. }
        | NodeKind::Transformed { arguments, .. }
        | NodeKind::Leave { arguments, .. } => arguments.first().map(|argument| argument.value),
        NodeKind::Struct { fields, base, .. } => fields.first().map(|field| field.value).or(*base),
        NodeKind::Array(elements) | NodeKind::Tuple(elements) => elements.first().copied(),
        NodeKind::Derivative(derivative) => Some(derivative.value),
        NodeKind::Close { tail } | NodeKind::PulledBack { tail } => *tail,
        NodeKind::Pullback { of, .. } => *of,
        NodeKind::Loop(of) => of.carry.as_ref().map(|(_, first)| *first).or(Some(of.over)),
        NodeKind::Looped { head, .. }
        | NodeKind::Tested { head, .. }
        | NodeKind::Else { head, .. }
        | NodeKind::Branched { head, .. } => Some(*head),
        NodeKind::While { first, .. } | NodeKind::If { test: first } => Some(*first),
        NodeKind::Unread
        | NodeKind::Number(_)
        | NodeKind::Bool(_)
        | NodeKind::Text(_)
        | NodeKind::Name(_)
        | NodeKind::Path(_)
        | NodeKind::Pack(_)
        | NodeKind::Rust { .. }
        | NodeKind::Enter { .. }
        | NodeKind::Open => None,
    }
}

impl Body {
    /// The expression as the operand of a postfix form: in parentheses if it needs them.
    pub fn operand_text(&self, id: ExprId) -> String {
        self.in_parentheses(id, self.short_text(id))
    }

    /// Puts the text of an expression in parentheses if the operand of a postfix form needs them.
    pub(crate) fn in_parentheses(&self, id: ExprId, text: String) -> String {
        match &self[id].kind {
            NodeKind::Prefix { .. } | NodeKind::Binary { .. } => format!("({text})"),
            NodeKind::Number(number) if number.text.starts_with('-') => format!("({text})"),
            NodeKind::Unread
            | NodeKind::Number(_)
            | NodeKind::Bool(_)
            | NodeKind::Text(_)
            | NodeKind::Name(_)
            | NodeKind::Path(_)
            | NodeKind::Pack(_)
            | NodeKind::Call { .. }
            | NodeKind::Transformed { .. }
            | NodeKind::Transpose { .. }
            | NodeKind::Member { .. }
            | NodeKind::Rust { .. }
            | NodeKind::Typed { .. }
            | NodeKind::Derivative(_)
            | NodeKind::Field { .. }
            | NodeKind::Struct { .. }
            | NodeKind::Subscript { .. }
            | NodeKind::Array(_)
            | NodeKind::Tuple(_)
            | NodeKind::Open
            | NodeKind::Close { .. }
            | NodeKind::Let { .. }
            | NodeKind::Assign { .. }
            | NodeKind::Pullback { .. }
            | NodeKind::PulledBack { .. }
            | NodeKind::Enter { .. }
            | NodeKind::Leave { .. }
            | NodeKind::Loop(_)
            | NodeKind::While { .. }
            | NodeKind::Tested { .. }
            | NodeKind::If { .. }
            | NodeKind::Else { .. }
            | NodeKind::Branched { .. }
            | NodeKind::Looped { .. }
            | NodeKind::Discard(_) => text,
        }
    }

    /// Whether an expression is a variable, or a field of one.
    pub(super) fn is_place(&self, id: ExprId) -> bool {
        matches!(self[id].kind, NodeKind::Name(_) | NodeKind::Member { .. })
    }

    /// The elements of an expression that is a tuple literal of `count` elements.
    pub(super) fn tuple_parts(&self, id: ExprId, count: usize) -> Option<Vec<ExprId>> {
        let NodeKind::Tuple(elements) = &self[id].kind else { return None };
        (elements.len() == count).then(|| elements.clone())
    }
}

/// How tightly a text binds. An operand that binds less tightly is put in parentheses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Binding {
    Infix(Tightness),
    Sign,
    #[default]
    Atom,
}

/// Prints nodes in order. The text of a node is kept until the single node that uses it takes it, so the total work is
/// linear.
#[derive(Default)]
struct Printer {
    /// The node whose text is the first of `texts`. No operand has a smaller index.
    first: usize,
    texts: Vec<(String, Binding)>,
    /// The statements of each open block.
    blocks: Vec<Vec<String>>,
    /// Whether texts are copied instead of taken, and truncated to the length that messages show.
    short: bool,
}

impl Printer {
    fn take(&mut self, id: ExprId) -> String {
        self.take_bound(id).0
    }

    fn take_bound(&mut self, id: ExprId) -> (String, Binding) {
        let text = &mut self.texts[id.index() - self.first];
        if self.short { text.clone() } else { std::mem::take(text) }
    }

    fn take_within(&mut self, id: ExprId, binding: Binding) -> String {
        let (text, own) = self.take_bound(id);
        if own < binding { format!("({text})") } else { text }
    }

    fn statement(&mut self, text: String) -> (String, Binding) {
        match self.blocks.last_mut() {
            Some(block) => {
                block.push(text);
                Default::default()
            }
            None => (text, Binding::Atom),
        }
    }

    fn node(&mut self, body: &Body, index: usize) {
        let text = match &body.nodes[index].kind {
            NodeKind::Unread => ("<unread>".to_owned(), Binding::Atom),
            NodeKind::Number(number) if number.text.starts_with('-') => (number.text.clone(), Binding::Sign),
            NodeKind::Number(number) => (number.text.clone(), Binding::Atom),
            NodeKind::Text(text) => (format!("{:?}", text.value), Binding::Atom),
            NodeKind::Bool(value) => (value.to_string(), Binding::Atom),
            NodeKind::Name(name) => (name.to_string(), Binding::Atom),
            NodeKind::Path(name) => (name.to_string(), Binding::Atom),
            NodeKind::Pack(name) => (format!("..{name}"), Binding::Atom),
            NodeKind::Prefix { map, operand, .. } => {
                let sign = map.row().label;
                // Without parentheses, the sign would become part of the literal.
                let text = if matches!(body[*operand].kind, NodeKind::Number(_)) {
                    format!("{sign}({})", self.take(*operand))
                } else {
                    format!("{sign}{}", self.take_within(*operand, Binding::Sign))
                };
                (text, Binding::Sign)
            }
            NodeKind::Binary { op, lhs, rhs, .. } => {
                let tightness = op.tightness();
                let own = Binding::Infix(tightness);
                let tighter = tightness.next().map_or(Binding::Sign, Binding::Infix);
                let rhs = self.take_within(*rhs, tighter);
                let lhs_binds = if tightness.chains() { own } else { tighter };
                let mut text = self.take_within(*lhs, lhs_binds);
                text.extend([" ", op.symbol(), " ", &rhs]);
                (text, own)
            }
            NodeKind::Call { callee, arguments, method } => {
                (self.call(callee, arguments, *method), Binding::Atom)
            }
            NodeKind::Pullback { value, cotangent, of } => {
                if let Some(of) = of {
                    let text = self.take(*of);
                    self.statement(text);
                }
                self.statement(format!("{PULLBACK}({value}, {cotangent}) {{"))
            }
            NodeKind::PulledBack { tail } => {
                (tail.map_or_else(String::new, |tail| self.take(tail)), Binding::Atom)
            }
            NodeKind::Loop(of) => {
                let mut text = match &of.carry {
                    Some((pattern, first)) => {
                        format!("{} {pattern} = {} for ", of.kind.name(), self.take(*first))
                    }
                    None => format!("{} ", of.kind.name()),
                };
                text.extend([&of.element.to_string(), " in ", &self.take(of.over)]);
                if let Some(end) = of.end {
                    text.extend(["..", &self.take(end)]);
                }
                let LoopOptions { reverse, checkpoint, axis, out } = &of.options;
                if let Some(reverse) = reverse {
                    text.push_str(&format!(", reverse = {reverse}"));
                }
                if let Some(checkpoint) = checkpoint {
                    text.extend([", checkpoint = ", &self.take(*checkpoint)]);
                }
                for (name, axis) in [("axis", axis), ("out", out)] {
                    if let Some(axis) = axis {
                        text.push_str(&format!(", {name} = {axis}"));
                    }
                }
                (text, Binding::Atom)
            }
            NodeKind::Looped { head, tail } | NodeKind::Branched { head, tail } => {
                (format!("{} {}", self.take(*head), self.take(*tail)), Binding::Atom)
            }
            NodeKind::While { carry, first } => {
                (format!("while {carry} = {} if", self.take(*first)), Binding::Atom)
            }
            NodeKind::Tested { head, test, most, checkpoint } => {
                let mut text = format!("{} {}", self.take(*head), self.take(*test));
                if let Some(most) = most {
                    text.extend([", at most = ", &self.take(*most)]);
                }
                if let Some(checkpoint) = checkpoint {
                    text.extend([", checkpoint = ", &self.take(*checkpoint)]);
                }
                (text, Binding::Atom)
            }
            NodeKind::If { test } => (format!("if {}", self.take(*test)), Binding::Atom),
            NodeKind::Else { head, tail } => {
                (format!("{} {} else", self.take(*head), self.take(*tail)), Binding::Atom)
            }
            NodeKind::Enter { .. } => {
                self.blocks.push(Vec::new());
                Default::default()
            }
            // Printed as written at the call, without the inlined body.
            NodeKind::Leave { callee, arguments, method, .. } => {
                self.blocks.pop();
                (self.call(callee, arguments, *method), Binding::Atom)
            }
            NodeKind::Transformed { transforms, function, arguments } => {
                let mut text = function.to_string();
                for transform in transforms {
                    let list = transform.kind.list().map(|list| format!(", {list} = {}", transform.wrt));
                    let (name, list) = (transform.kind.name(), list.unwrap_or_default());
                    text = format!("{name}({text}{list}{})", transform.kind);
                }
                (format!("{text}({})", self.arguments(arguments)), Binding::Atom)
            }
            NodeKind::Transpose { base, axes } => {
                (self.take_within(*base, Binding::Atom) + axes.symbol(), Binding::Atom)
            }
            NodeKind::Field { base, index, .. } => {
                (format!("{}.{index}", self.take_within(*base, Binding::Atom)), Binding::Atom)
            }
            NodeKind::Member { base, name } => {
                (format!("{}.{name}", self.take_within(*base, Binding::Atom)), Binding::Atom)
            }
            NodeKind::Rust { text, .. } => (text.clone(), Binding::Atom),
            NodeKind::Typed { operand, .. } if self.short => (self.take(*operand), Binding::Atom),
            NodeKind::Typed { operand, ty } => (format!("({}: {ty})", self.take(*operand)), Binding::Atom),
            NodeKind::Derivative(derivative) => (self.derivative(derivative), Binding::Atom),
            NodeKind::Struct { name, fields, base } => {
                let mut texts = Vec::new();
                for field in fields {
                    let value = self.take(field.value);
                    let shorthand = field.name == value;
                    texts.push(if shorthand { value } else { format!("{}: {value}", field.name) });
                }
                texts.extend(base.map(|base| format!("..{}", self.take(base))));
                (format!("{name} {{ {} }}", texts.join(", ")), Binding::Atom)
            }
            NodeKind::Subscript { base, subscripts } => {
                let subscripts: Vec<_> =
                    subscripts.iter().map(|subscript| self.subscript(subscript)).collect();
                let base = self.take_within(*base, Binding::Atom);
                (format!("{base}[{}]", subscripts.join(", ")), Binding::Atom)
            }
            NodeKind::Array(elements) => {
                let elements: Vec<_> = elements.iter().map(|element| self.take(*element)).collect();
                (format!("[{}]", elements.join(", ")), Binding::Atom)
            }
            NodeKind::Tuple(elements) => {
                let comma = if elements.len() == 1 { "," } else { "" };
                let elements: Vec<_> = elements.iter().map(|element| self.take(*element)).collect();
                (format!("({}{comma})", elements.join(", ")), Binding::Atom)
            }
            NodeKind::Open => {
                self.blocks.push(Vec::new());
                Default::default()
            }
            NodeKind::Close { tail } => {
                let mut statements = self.blocks.pop().unwrap_or_default();
                statements.extend(tail.map(|tail| self.take(tail)));
                (format!("{{ {} }}", statements.join(" ")), Binding::Atom)
            }
            NodeKind::Let { pattern, ty, value } => {
                let ty = ty.as_ref().map_or_else(String::new, |ty| format!(": {ty}"));
                let value = self.take(*value);
                self.statement(format!("let {pattern}{ty} = {value};"))
            }
            NodeKind::Assign { target, part, op, value, .. } => {
                let target = part.map_or_else(|| target.to_string(), |part| self.take(part));
                let value = self.take(*value);
                self.statement(format!("{target} {}= {value};", op.map_or("", BinaryOp::symbol)))
            }
            NodeKind::Discard(value) => {
                let value = self.take(*value);
                self.statement(format!("{value};"))
            }
        };
        self.texts.push(if self.short { (cut(text.0, SHORT + 1), text.1) } else { text });
    }

    fn call(&mut self, callee: &Callee, arguments: &[Argument], method: bool) -> String {
        if !method {
            return format!("{callee}({})", self.arguments(arguments));
        }
        let rest = self.arguments(&arguments[1..]);
        let mut text = self.take_within(arguments[0].value, Binding::Atom);
        text.extend([".", &callee.to_string(), "(", &rest, ")"]);
        text
    }

    fn arguments(&mut self, arguments: &[Argument]) -> String {
        let mut texts = Vec::new();
        for Argument { name, value, .. } in arguments {
            let value = self.take(*value);
            texts.push(name.as_ref().map_or_else(|| value.clone(), |name| format!("{name} = {value}")));
        }
        texts.join(", ")
    }

    fn derivative(&mut self, derivative: &Derivative) -> String {
        let value = self.take(derivative.value);
        let mut wrt = Vec::new();
        for target in &derivative.wrt {
            let zero_ok = if target.zero_ok { "zero_ok " } else { "" };
            wrt.push(format!("{zero_ok}{}", self.take(target.place)));
        }
        let wrt = if derivative.tuple { format!("({})", join_tuple(&wrt)) } else { join(&wrt) };
        let cotangent = derivative.cotangent.map_or_else(String::new, |id| format!("({})", self.take(id)));
        format!("{}({value}, wrt = {wrt}){cotangent}", derivative.kind.name())
    }

    fn subscript(&mut self, subscript: &Subscript) -> String {
        match subscript.kind {
            SubscriptKind::At(place) => self.take(place),
            SubscriptKind::Rest => "..".to_owned(),
            SubscriptKind::New => "_".to_owned(),
            SubscriptKind::Counted { start, count } => {
                let start = self.take(start);
                format!("{start} ..+ {}", self.take(count))
            }
            SubscriptKind::Range { start, end, step } => {
                let mut part = |id: Option<ExprId>| id.map_or_else(String::new, |id| self.take(id));
                let (start, end) = (part(start), part(end));
                let step = step.map_or_else(String::new, |step| format!(";{}", part(Some(step))));
                format!("{start}..{end}{step}")
            }
        }
    }

    /// The statements and the value of a body, one per line.
    fn lines(body: &Body) -> Vec<String> {
        let mut printer = Self { blocks: vec![Vec::new()], ..Self::default() };
        for index in 0..body.nodes.len() {
            printer.node(body, index);
        }
        let mut lines = printer.blocks.pop().unwrap_or_default();
        lines.extend(body.tail.map(|tail| printer.take(tail)));
        lines
    }
}

fn within((text, own): (String, Binding), binding: Binding) -> String {
    if own < binding { format!("({text})") } else { text }
}

fn join<T: fmt::Display>(items: &[T]) -> String {
    let mut text = String::new();
    for (i, item) in items.iter().enumerate() {
        let separator = if i == 0 { "" } else { ", " };
        write!(text, "{separator}{item}").expect("writing to a string does not fail");
    }
    text
}

/// As [`join`], with the comma that makes one element a tuple.
fn join_tuple<T: fmt::Display>(items: &[T]) -> String {
    join(items) + if items.len() == 1 { "," } else { "" }
}
