//! Messages for failures, with the user's names for the operands. The compiler reports the same messages for programs
//! whose types it knows.

use crate::{
    failure::{Failure, TypeResult},
    text::Text,
    ty::Type,
    writer::{Part, Writer},
};

/// Returns the type of a result, or panics with [`Failure::message`]. In a `const` the panic is a compile error at the
/// caller.
///
/// ```should_panic
/// use mind_shape::{Context, DType, Operand, Type, or_fail, rules};
/// let x = Type::new(DType::I64, &[3]);
/// let context = Context { label: "log", operands: &[Operand::name("x", x)] };
/// or_fail(rules::unary(rules::Takes::Floats, rules::Gives::Operand, x), &context);
/// ```
#[track_caller]
pub const fn or_fail(result: TypeResult<'_>, context: &Context<'_>) -> Type {
    match result {
        Ok(ty) => ty,
        Err(failure) => panic!("{}", failure.message(context).as_str()),
    }
}

/// The names of an operation and its operands in a message.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The operation as it is written, `@` or `matmul`; `index` for index expressions. For [`crate::rules::expect`] it
    /// is the whole subject of the message, with backquotes where it has them.
    pub label: &'a str,
    /// The operands in the order in which the rule takes them.
    pub operands: &'a [Operand<'a>],
}

/// An operand in a message.
#[derive(Clone, Copy, Debug)]
pub struct Operand<'a> {
    /// The name in a sentence: a variable or place without backquotes, any other expression in backquotes, shortened if
    /// it is long.
    pub text: &'a str,
    /// The text before an operator or suffix, without backquotes: an operator and its operands are in parentheses.
    pub base: &'a str,
    /// The type.
    pub ty: Type,
}

impl<'a> Operand<'a> {
    /// An operand that is a variable or place: `x`, `self.w`.
    pub const fn name(name: &'a str, ty: Type) -> Self {
        Self { text: name, base: name, ty }
    }

    /// Whether the operand is a single number with a name.
    pub(crate) const fn is_number(&self) -> bool {
        self.ty.rank() == 0
            && !self.text.is_empty()
            && self.text.as_bytes()[0] != b'`'
            && self.text.as_bytes()[0] != b'{'
    }

    /// An operand that is any other expression: `` `a + b` `` and `(a + b)`.
    pub const fn new(text: &'a str, base: &'a str, ty: Type) -> Self {
        Self { text, base, ty }
    }
}

impl Failure<'_> {
    /// The whole message: the code, the problem with the operands' names and types, and a likely fix on a separate
    /// line.
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
    /// If the context lacks an operand that the rule was given.
    pub const fn message(&self, context: &Context<'_>) -> Text {
        let mut writer = Writer::new(context);
        writer.parts(&[Part::Text("["), Part::Text(self.code()), Part::Text("] ")]);
        writer.say(&self.problem);
        writer.text
    }
}
