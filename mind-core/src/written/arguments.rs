//! What rules and kernels are given: values where types are known here, texts in Rust where only rustc knows them.

use mind_shape::{Type, rules};

use super::Permutation;
use crate::{
    dim::Dim,
    ir::Padding,
    map::{Gives, Takes},
};

/// What the text of a call is made of.
pub struct Texts<'t> {
    /// The path of the rules.
    pub rules: &'t str,
    /// The operands.
    pub operands: &'t [String],
    /// The type of the result.
    pub own: &'t str,
    /// Where the result goes.
    pub target: &'t str,
    /// The operands as their author wrote them.
    pub said: &'t [&'t str],
    /// The text of a dim, as an `i64`, where dims are over the symbols of a program, not over extents of operands.
    pub dim: Option<&'t dyn Fn(&Dim) -> String>,
}

impl<'t> Texts<'t> {
    /// Those of a rule.
    pub fn of_rule(rules: &'t str, operands: &'t [String]) -> Self {
        Self { rules, operands, own: "", target: "", said: &[], dim: None }
    }
}

/// What has a text in Rust.
pub trait Text {
    /// The text.
    fn text(&self, at: &Texts<'_>) -> String;
}

/// An argument of a rule: its value, and its text in Rust.
pub trait Argument: Text {
    /// What the rule takes.
    type Value<'v>
    where
        Self: 'v;

    /// Its value, where the operands have these types.
    fn value<'v>(&'v self, operands: &'v [Type]) -> Self::Value<'v>;
}

/// The operand at a position: a rule takes its type, a kernel its elements, or the type of a witness.
pub(super) struct Operand(pub(super) usize);

impl Text for Operand {
    fn text(&self, at: &Texts<'_>) -> String {
        at.operands[self.0].clone()
    }
}

impl Argument for Operand {
    type Value<'v> = Type;

    fn value(&self, operands: &[Type]) -> Type {
        operands[self.0]
    }
}

/// The operands from a position on, as [`Operand`] has each.
pub(super) struct Operands(pub(super) usize);

impl Text for Operands {
    fn text(&self, at: &Texts<'_>) -> String {
        format!("&[{}]", at.operands[self.0..].join(", "))
    }
}

impl Argument for Operands {
    type Value<'v> = &'v [Type];

    fn value<'v>(&'v self, operands: &'v [Type]) -> &'v [Type] {
        &operands[self.0..]
    }
}

/// The type of the result, for kernels.
pub(super) struct OwnType;

impl Text for OwnType {
    fn text(&self, at: &Texts<'_>) -> String {
        at.own.to_owned()
    }
}

/// Where the result goes, for kernels.
pub(super) struct Target;

impl Text for Target {
    fn text(&self, at: &Texts<'_>) -> String {
        at.target.to_owned()
    }
}

/// What the author wrote for an operand, for the messages of kernels.
pub(super) struct SourceText(pub(super) usize);

impl Text for SourceText {
    fn text(&self, at: &Texts<'_>) -> String {
        format!("{:?}", at.said.get(self.0).unwrap_or(&""))
    }
}

impl Text for Takes {
    fn text(&self, at: &Texts<'_>) -> String {
        let path = at.rules;
        format!("{path}::Takes::{self:?}")
    }
}

impl Text for Gives {
    fn text(&self, at: &Texts<'_>) -> String {
        let path = at.rules;
        match self {
            Self::Operand => format!("{path}::Gives::Operand"),
            // Beside the rules are the types that they are of.
            Self::Type(dtype) => format!("{path}::Gives::Type(rt::DType::{dtype:?})"),
        }
    }
}

impl Argument for Gives {
    type Value<'v> = Gives;

    fn value(&self, _: &[Type]) -> Gives {
        *self
    }
}

impl Argument for Takes {
    type Value<'v> = Takes;

    fn value(&self, _: &[Type]) -> Takes {
        *self
    }
}

impl Text for bool {
    fn text(&self, _: &Texts<'_>) -> String {
        self.to_string()
    }
}

impl Argument for bool {
    type Value<'v> = bool;

    fn value(&self, _: &[Type]) -> bool {
        *self
    }
}

impl Text for i64 {
    fn text(&self, _: &Texts<'_>) -> String {
        self.to_string()
    }
}

impl Argument for i64 {
    type Value<'v> = i64;

    fn value(&self, _: &[Type]) -> i64 {
        *self
    }
}

impl Text for Vec<i64> {
    fn text(&self, _: &Texts<'_>) -> String {
        format!("&{self:?}")
    }
}

impl Argument for Vec<i64> {
    type Value<'v> = &'v [i64];

    fn value<'v>(&'v self, _: &[Type]) -> &'v [i64] {
        self
    }
}

impl<A: Text> Text for Option<A> {
    fn text(&self, at: &Texts<'_>) -> String {
        match self {
            Some(argument) => format!("::core::option::Option::Some({})", argument.text(at)),
            None => "::core::option::Option::None".to_owned(),
        }
    }
}

impl<A: Argument> Argument for Option<A> {
    type Value<'v>
        = Option<A::Value<'v>>
    where
        A: 'v;

    fn value<'v>(&'v self, operands: &'v [Type]) -> Option<A::Value<'v>> {
        self.as_ref().map(|argument| argument.value(operands))
    }
}

impl<A: Text> Text for &A {
    fn text(&self, at: &Texts<'_>) -> String {
        (**self).text(at)
    }
}

impl<A: Argument> Argument for &A {
    type Value<'v>
        = A::Value<'v>
    where
        Self: 'v;

    fn value<'v>(&'v self, operands: &'v [Type]) -> A::Value<'v> {
        (**self).value(operands)
    }
}

impl Text for Permutation {
    fn text(&self, at: &Texts<'_>) -> String {
        let path = at.rules;
        match self {
            Self::Written(axes) => format!("{path}::Permutation::Written(&{axes:?})"),
            Self::Reversed => format!("{path}::Permutation::Reversed"),
            Self::Matrices => format!("{path}::Permutation::Matrices"),
        }
    }
}

impl Argument for Permutation {
    type Value<'v> = rules::Permutation<'v>;

    fn value(&self, _: &[Type]) -> rules::Permutation<'_> {
        match self {
            Self::Written(axes) => rules::Permutation::Written(axes),
            Self::Reversed => rules::Permutation::Reversed,
            Self::Matrices => rules::Permutation::Matrices,
        }
    }
}

impl Text for Padding {
    fn text(&self, at: &Texts<'_>) -> String {
        let path = at.rules;
        match self {
            Padding::Valid => format!("{path}::Padding::Valid"),
            Padding::Same => format!("{path}::Padding::Same"),
            Padding::Custom(pairs) => format!("{path}::Padding::Pairs(&{pairs:?})"),
        }
    }
}

impl Argument for Padding {
    type Value<'v> = rules::Padding<'v>;

    fn value<'v>(&'v self, _: &[Type]) -> rules::Padding<'v> {
        match self {
            Padding::Valid => rules::Padding::Valid,
            Padding::Same => rules::Padding::Same,
            Padding::Custom(pairs) => rules::Padding::Pairs(pairs),
        }
    }
}
