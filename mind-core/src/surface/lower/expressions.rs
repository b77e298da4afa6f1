//! What the lowerings of bodies have in common: to what its nodes come, and how messages name them.

use super::literals::Literals;
use super::values::{Lowered, Value, Word};
use crate::diag::{Code, Diag, Site};
use crate::surface::ast::{Body, ExprId, NodeKind};

/// A body on its way to instructions, whether its tensors have types by now or not.
pub(crate) trait Expressions {
    /// What a tensor is known by.
    type Tensor: Copy;

    /// The body.
    fn body(&self) -> &Body;

    /// What a node that has been lowered stands for.
    fn value(&self, expr: ExprId) -> &Value<Self::Tensor>;

    /// The literals of the body.
    fn literals(&self) -> &Literals;

    /// The same, to add to them.
    fn literals_mut(&mut self) -> &mut Literals;

    /// The type of a tensor, where it is known.
    fn tensor_type(&self, tensor: Self::Tensor) -> Option<String>;

    /// An expression in one line, cut where it is long.
    fn short_text(&self, expr: ExprId) -> String {
        self.body().short_text(expr)
    }

    /// Where an expression stands.
    fn site(&self, expr: ExprId) -> Site {
        self.body()[expr].site
    }

    /// An expression as a message names it: a variable bare, anything else in backquotes.
    fn text(&self, expr: ExprId) -> String {
        let body = self.body();
        if let NodeKind::Assign { target, .. } = &body[expr].kind {
            // The old version of what is assigned to.
            return target.to_string();
        }
        let text = self.short_text(expr);
        if body.is_place(expr) { text } else { format!("`{text}`") }
    }

    /// An expression with what it is, as a message says it: `x of type f32[3]`.
    fn describe(&self, expr: ExprId) -> String {
        let text = self.text(expr);
        match self.value(expr) {
            Value::Poison => text,
            Value::Bool(_) | Value::Word(_) => text,
            Value::Tensor(tensor) => match self.tensor_type(*tensor) {
                Some(ty) => format!("{text} of type {ty}"),
                None => format!("{text}, a tensor"),
            },
            Value::Literal(id) => format!("{text}, {}", self.literals().describe(*id)),
            Value::Tuple(tuple) if tuple.elements.is_empty() => format!("{text}, which is ()"),
            Value::Tuple(tuple) => format!("{text}, a tuple of {}", tuple.elements.len()),
        }
    }

    /// The type of a value as far as it is known, for messages.
    fn type_text(&self, value: &Value<Self::Tensor>) -> String {
        match value {
            Value::Poison => "unknown".to_owned(),
            Value::Bool(value) => value.to_string(),
            Value::Word(word) => word.name().to_owned(),
            Value::Tensor(tensor) => self.tensor_type(*tensor).unwrap_or_else(|| "a tensor".to_owned()),
            Value::Literal(id) => self.literals().describe(*id).to_owned(),
            Value::Tuple(tuple) => {
                let elements: Vec<_> =
                    tuple.elements.iter().take(8).map(|element| self.type_text(element)).collect();
                let more = if tuple.elements.len() > 8 { ", …" } else { "" };
                let comma = if tuple.elements.len() == 1 { "," } else { "" };
                format!("({}{more}{comma})", elements.join(", "))
            }
        }
    }

    /// E2001 at an expression that is not what was expected there; poison where that has been reported.
    fn expected<T>(&self, what: &str, expr: ExprId) -> Lowered<T> {
        if matches!(self.value(expr), Value::Poison) {
            return Err(super::values::Stop::Poisoned);
        }
        let message = format!("expected {what}, found {}", self.describe(expr));
        Err(Diag::new(Code::E2001, self.site(expr), message).into())
    }

    /// The word that a name is where no variable has it.
    fn word(&self, name: &str) -> Option<Value<Self::Tensor>> {
        [Word::Same, Word::Valid].into_iter().find(|word| word.name() == name).map(Value::Word)
    }
}
