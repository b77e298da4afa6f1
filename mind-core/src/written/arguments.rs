//! Arguments of rules and kernels: values where types are known here, Rust code where only rustc knows the types.

use mind_shape::{Type, rules};

use super::Permutation;
use crate::{
    dim::Dim,
    ir::{Convolution, Padding, Pooling},
    map::{Gives, Takes},
};

/// The parts of the Rust code of a call.
pub struct Texts<'t> {
    /// The path of the rules in Rust.
    pub rules: &'t str,
    /// The Rust code of the operands.
    pub operands: &'t [String],
    /// The Rust code of the result's type.
    pub own: &'t str,
    /// The Rust code of the destination of the result.
    pub target: &'t str,
    /// The operands as written in the source.
    pub sources: &'t [&'t str],
    /// Writes a dim as an `i64` in Rust, if dims are over the symbols of a program instead of extents of operands.
    pub dim: Option<&'t dyn Fn(&Dim) -> String>,
}

impl<'t> Texts<'t> {
    /// The parts of the call of a rule.
    pub fn of_rule(rules: &'t str, operands: &'t [String]) -> Self {
        Self { rules, operands, own: "", target: "", sources: &[], dim: None }
    }
}

/// A value that can be written as Rust code.
pub trait Text {
    /// The Rust code.
    fn text(&self, at: &Texts<'_>) -> String;
}

/// An argument of a rule, with its value and its Rust code.
pub trait RuleArgument: Text {
    /// The type that the rule takes.
    type Value<'v>
    where
        Self: 'v;

    /// The value for operands of these types.
    fn value<'v>(&'v self, operands: &'v [Type]) -> Self::Value<'v>;
}

/// The operand at a position. A rule takes its type. A kernel takes its elements, or its type if it is a witness.
pub(super) struct OperandAt(pub(super) usize);

impl Text for OperandAt {
    fn text(&self, at: &Texts<'_>) -> String {
        at.operands[self.0].clone()
    }
}

impl RuleArgument for OperandAt {
    type Value<'v> = Type;

    fn value(&self, operands: &[Type]) -> Type {
        operands[self.0]
    }
}

/// The operands from a position on, each as an [`OperandAt`].
pub(super) struct OperandsFrom(pub(super) usize);

impl Text for OperandsFrom {
    fn text(&self, at: &Texts<'_>) -> String {
        format!("&[{}]", at.operands[self.0..].join(", "))
    }
}

impl RuleArgument for OperandsFrom {
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

/// The destination of the result, for kernels.
pub(super) struct KernelDestination;

impl Text for KernelDestination {
    fn text(&self, at: &Texts<'_>) -> String {
        at.target.to_owned()
    }
}

/// The source text of an operand, for the messages of kernels.
pub(super) struct SourceText(pub(super) usize);

impl Text for SourceText {
    fn text(&self, at: &Texts<'_>) -> String {
        format!("{:?}", at.sources.get(self.0).unwrap_or(&""))
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
            // The element types are in `rt`, not in the module of the rules.
            Self::Type(dtype) => format!("{path}::Gives::Type(rt::DType::{dtype:?})"),
        }
    }
}

impl RuleArgument for Gives {
    type Value<'v> = Gives;

    fn value(&self, _: &[Type]) -> Gives {
        *self
    }
}

impl RuleArgument for Takes {
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

impl RuleArgument for bool {
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

impl RuleArgument for i64 {
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

impl RuleArgument for Vec<i64> {
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

impl<A: RuleArgument> RuleArgument for Option<A> {
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

impl<A: RuleArgument> RuleArgument for &A {
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
            Self::Moved { from, to } => format!("{path}::Permutation::Moved {{ from: {from}, to: {to} }}"),
        }
    }
}

impl RuleArgument for Permutation {
    type Value<'v> = rules::Permutation<'v>;

    fn value(&self, _: &[Type]) -> rules::Permutation<'_> {
        match self {
            Self::Written(axes) => rules::Permutation::Written(axes),
            Self::Reversed => rules::Permutation::Reversed,
            Self::Matrices => rules::Permutation::Matrices,
            Self::Moved { from, to } => rules::Permutation::Moved { from: *from, to: *to },
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

impl RuleArgument for Padding {
    type Value<'v> = rules::Padding<'v>;

    fn value<'v>(&'v self, _: &[Type]) -> rules::Padding<'v> {
        match self {
            Padding::Valid => rules::Padding::Valid,
            Padding::Same => rules::Padding::Same,
            Padding::Custom(pairs) => rules::Padding::Pairs(pairs),
        }
    }
}

impl Text for Box<Pooling> {
    fn text(&self, at: &Texts<'_>) -> String {
        let Pooling { sizes, dilations, slide: Convolution { strides, padding } } = &**self;
        format!(
            "{}::Pooling {{ sizes: &{sizes:?}, strides: &{strides:?}, dilations: &{dilations:?}, padding: {} }}",
            at.rules,
            padding.text(at)
        )
    }
}

impl RuleArgument for Box<Pooling> {
    type Value<'v> = rules::Pooling<'v>;

    fn value<'v>(&'v self, operands: &'v [Type]) -> rules::Pooling<'v> {
        let Pooling { sizes, dilations, slide: Convolution { strides, padding } } = &**self;
        rules::Pooling { sizes, strides, dilations, padding: padding.value(operands) }
    }
}
