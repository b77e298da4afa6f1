//! The rule of each operation: which function of `mind_shape::rules`, and of what.
//!
//! A statement is made twice, as a call for types that are known here and as the text of one for those that only rustc
//! knows, so that both ask the same.

use mind_shape::{Type, TypeResult, rules};

use super::{Extents, Op, Own, Subscript, literals};
use crate::{
    ir::{Arrange, Padding, Part, Product, Reduction, Rows, Slice, Window},
    map::{Map, Shapes, Takes},
};

/// The operands of an operation.
const X: Operand = Operand(0);
const Y: Operand = Operand(1);
const Z: Operand = Operand(2);

macro_rules! statements {
    ($($pattern:pat $(if $guard:expr)? => $rule:ident($($argument:expr),*),)+) => {
        /// Hands on what the rule of an operation says of operands of these types.
        ///
        /// # Panics
        /// If the operation is an input or a constant: what is known of these does not come from operands.
        pub(crate) fn rule<R>(op: &Op, operands: &[Type], then: impl FnOnce(TypeResult<'_>) -> R) -> R {
            match op {
                $($pattern $(if $guard)? => then(rules::$rule($(Argument::value(&$argument, operands)),*)),)+
                Op::Input { .. } | Op::Const(_) => no_rule(op),
            }
        }

        /// The call of that rule in Rust, as `gather(n0, n1)`, where `path` is that of the rules.
        ///
        /// # Panics
        /// If the operation is an input or a constant, which have none.
        pub fn rule_text(op: &Op, path: &str, operands: &[String]) -> String {
            match op {
                $($pattern $(if $guard)? => {
                    let arguments: &[String] = &[$(Argument::text(&$argument, path, operands)),*];
                    format!("{path}::{}({})", stringify!($rule), arguments.join(", "))
                })+
                Op::Input { .. } | Op::Const(_) => no_rule(op),
            }
        }
    };
}

statements! {
    Op::Map(map) if is_unary(*map) => unary(map.row().takes, X),
    Op::Map(map) if map.row().shapes == Shapes::Broadcast => binary(map.row().takes, X, Y),
    Op::Map(map) => alike(map.row().takes, X, Y),
    Op::Own(Own::At) => at(X, Y),
    Op::Product(Product::MatMul) => matmul(X, Y),
    Op::Product(Product::Dot) => dot(X, Y),
    Op::Reduce(reduce, Reduction { axes, keepdims }) => reduce(reduce.row().takes, X, axes, *keepdims),
    Op::Arrange(Arrange::Reshape { shape: Extents::Written(shape) }) => reshape(X, literals(shape)),
    Op::Arrange(Arrange::Reshape { shape: Extents::Like }) => reshape_like(X, Y),
    Op::Arrange(Arrange::Transpose { permutation }) => transpose(X, permutation),
    Op::Arrange(Arrange::ExpandDims { axes }) => expand_dims(X, axes),
    Op::Arrange(Arrange::Squeeze { axes }) => squeeze(X, axes),
    Op::Part(Part::Index { indices }) => subscript(X, indices),
    Op::Part(Part::Slice(slice)) => slice(X, starts(slice), ends(slice), Some(&slice.steps)),
    Op::Rows(Rows::Gather) => gather(X, Y),
    Op::Window(Window::Conv2d(convolution)) => conv2d(X, Y, &convolution.strides, &convolution.padding),
    Op::Arrange(Arrange::BroadcastTo { shape: Extents::Written(shape) }) => broadcast_to(X, literals(shape)),
    Op::Arrange(Arrange::BroadcastTo { shape: Extents::Like }) => broadcast_like(X, Y),
    Op::Own(Own::FilledLike { .. }) => like(X),
    Op::Own(Own::CountReduced { .. }) => scalar_like(X),
    Op::Own(Own::SumLike) => sum_like(X, Y),
    Op::Own(Own::ProductGradLhs) => product_grad_lhs(X, Y, Z),
    Op::Own(Own::ProductGradRhs) => product_grad_rhs(X, Y, Z),
    Op::Own(Own::IndexGrad(indices)) => scatter_subscript(X, Y, indices),
    Op::Part(Part::SliceGrad { slice, .. }) => scatter_slice(X, Y, starts(slice), ends(slice), Some(&slice.steps)),
    Op::Rows(Rows::ScatterAdd { .. }) => gather_back(Y, X, Z),
    Op::Window(Window::Conv2dGradInput { convolution, .. }) =>
        conv2d_grad_input(X, Z, Y, &convolution.strides, &convolution.padding),
    Op::Window(Window::Conv2dGradFilter { convolution, .. }) =>
        conv2d_grad_filter(Y, X, Z, &convolution.strides, &convolution.padding),
}

fn no_rule(op: &Op) -> ! {
    unreachable!("{op:?} has no operands")
}

fn is_unary(map: Map) -> bool {
    map.row().arity() == 1
}

fn starts(slice: &Slice) -> Vec<i64> {
    literals(&slice.starts)
}

fn ends(slice: &Slice) -> Vec<i64> {
    literals(&slice.ends)
}

/// An argument of a rule: its value, and its text in Rust.
pub trait Argument {
    /// What the rule takes.
    type Value<'v>
    where
        Self: 'v;

    /// Its value, where the operands have these types.
    fn value<'v>(&'v self, operands: &[Type]) -> Self::Value<'v>;

    /// Its text, where `path` is that of the rules and the operands have these texts.
    fn text(&self, path: &str, operands: &[String]) -> String;
}

/// The operand at a position.
struct Operand(usize);

impl Argument for Operand {
    type Value<'v> = Type;

    fn value(&self, operands: &[Type]) -> Type {
        operands[self.0]
    }

    fn text(&self, _: &str, operands: &[String]) -> String {
        operands[self.0].clone()
    }
}

impl Argument for Takes {
    type Value<'v> = Takes;

    fn value(&self, _: &[Type]) -> Takes {
        *self
    }

    fn text(&self, path: &str, _: &[String]) -> String {
        format!("{path}::Takes::{self:?}")
    }
}

impl Argument for bool {
    type Value<'v> = bool;

    fn value(&self, _: &[Type]) -> bool {
        *self
    }

    fn text(&self, _: &str, _: &[String]) -> String {
        self.to_string()
    }
}

impl Argument for Vec<i64> {
    type Value<'v> = &'v [i64];

    fn value<'v>(&'v self, _: &[Type]) -> &'v [i64] {
        self
    }

    fn text(&self, _: &str, _: &[String]) -> String {
        format!("&{self:?}")
    }
}

impl<A: Argument> Argument for Option<A> {
    type Value<'v>
        = Option<A::Value<'v>>
    where
        A: 'v;

    fn value<'v>(&'v self, operands: &[Type]) -> Option<A::Value<'v>> {
        self.as_ref().map(|argument| argument.value(operands))
    }

    fn text(&self, path: &str, operands: &[String]) -> String {
        match self {
            Some(argument) => format!("::core::option::Option::Some({})", argument.text(path, operands)),
            None => "::core::option::Option::None".to_owned(),
        }
    }
}

impl<A: Argument> Argument for &A {
    type Value<'v>
        = A::Value<'v>
    where
        Self: 'v;

    fn value<'v>(&'v self, operands: &[Type]) -> A::Value<'v> {
        (**self).value(operands)
    }

    fn text(&self, path: &str, operands: &[String]) -> String {
        (**self).text(path, operands)
    }
}

impl Argument for Vec<Subscript> {
    type Value<'v> = &'v [Subscript];

    fn value<'v>(&'v self, _: &[Type]) -> &'v [Subscript] {
        self
    }

    fn text(&self, path: &str, _: &[String]) -> String {
        let number = |number: &Option<i64>| match number {
            Some(number) => format!("::core::option::Option::Some({number})"),
            None => "::core::option::Option::None".to_owned(),
        };
        let part = |part: &Subscript| match part {
            Subscript::At(at) => format!("{path}::Subscript::At({at})"),
            Subscript::Range { start, end, step } => format!(
                "{path}::Subscript::Range {{ start: {}, end: {}, step: {} }}",
                number(start),
                number(end),
                number(step)
            ),
            Subscript::Rest => format!("{path}::Subscript::Rest"),
        };
        format!("&[{}]", self.iter().map(part).collect::<Vec<_>>().join(", "))
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

    fn text(&self, path: &str, _: &[String]) -> String {
        match self {
            Padding::Valid => format!("{path}::Padding::Valid"),
            Padding::Same => format!("{path}::Padding::Same"),
            Padding::Custom(pairs) => format!("{path}::Padding::Pairs(&{pairs:?})"),
        }
    }
}
