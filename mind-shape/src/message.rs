//! Failures in words, in the user's names for the operands: the same words as in programs whose types the compiler knows.

use crate::{
    failure::{Failure, TypeResult},
    text::Text,
    ty::Type,
    writer::{Part, Writer},
};

/// The type of a result; stops with [`Failure::message`] where there is none. In a `const`, that is an error of the
/// compilation at the caller.
///
/// ```should_panic
/// use mind_shape::{Context, DType, Operand, Type, or_fail, rules};
/// let x = Type::new(DType::I64, &[3]);
/// or_fail(rules::unary(rules::Takes::Floats, rules::Gives::Operand, x), &Context { label: "log", operands: &[Operand::name("x", x)] });
/// ```
#[track_caller]
pub const fn or_fail(result: TypeResult<'_>, context: &Context<'_>) -> Type {
    match result {
        Ok(ty) => ty,
        Err(failure) => panic!("{}", failure.message(context).as_str()),
    }
}

/// What a message calls an operation and its operands.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The operation as it is written, `@` or `matmul`; `index` for index expressions. For [`crate::rules::expect`] all
    /// of what the type is of, with backquotes where it has them.
    pub label: &'a str,
    /// The operands in the order in which the rule takes them.
    pub operands: &'a [Operand<'a>],
}

/// An operand in a message.
#[derive(Clone, Copy, Debug)]
pub struct Operand<'a> {
    /// As a sentence names it: a variable or place bare, anything else in backquotes, shortened if it is long.
    pub text: &'a str,
    /// As it stands before what follows it, without backquotes: an operator and its operands in parentheses.
    pub base: &'a str,
    /// Its type.
    pub ty: Type,
}

impl<'a> Operand<'a> {
    /// A variable or place: `x`, `self.w`.
    pub const fn name(name: &'a str, ty: Type) -> Self {
        Self { text: name, base: name, ty }
    }

    /// Whether it is a single number with a name.
    pub(crate) const fn is_number(&self) -> bool {
        self.ty.rank() == 0
            && !self.text.is_empty()
            && self.text.as_bytes()[0] != b'`'
            && self.text.as_bytes()[0] != b'{'
    }

    /// Any other expression: `` `a + b` `` and `(a + b)`.
    pub const fn new(text: &'a str, base: &'a str, ty: Type) -> Self {
        Self { text, base, ty }
    }
}

impl Failure<'_> {
    /// The whole message: the code, what is wrong with the operands' names and types, and a likely fix on a line of its
    /// own.
    ///
    /// ```
    /// use mind_shape::{Context, DType, Operand, Type, rules};
    /// let (x, w) = (Type::new(DType::F32, &[32, 784]), Type::new(DType::F32, &[256, 784]));
    /// let context = Context { label: "@", operands: &[Operand::name("x", x), Operand::name("w", w)] };
    /// assert_eq!(
    ///     rules::at(x, w).unwrap_err().message(&context).as_str(),
    ///     "[E3003] `@`: inner dimensions differ, 784 and 256: x is f32[32, 784], w is f32[256, 784]\n  help: write `w.T`"
    /// );
    /// ```
    ///
    /// # Panics
    /// If the context has not the operands that the rule was given.
    pub const fn message(&self, context: &Context<'_>) -> Text {
        let mut writer = Writer::new(context);
        writer.parts(&[Part::Text("["), Part::Text(self.code()), Part::Text("] ")]);
        writer.say(&self.problem);
        writer.text
    }
}
