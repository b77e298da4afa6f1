//! Numbers written in a program. They take the element type of the value beside them.

use super::fail;
use crate::{
    DType,
    failure::{Problem, TypeResult},
    ty::Type,
};

/// A literal number, or an array of them, with the element types that it can have. The messages about other element
/// types depend on the notation of the literal, so the code that knows the notation provides them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Literal<'a> {
    /// The description for a message: `an integer`, `f64`.
    pub description: &'a str,
    /// The fit for each of [`DType::ALL`], in that order.
    pub fits: [Fit<'a>; DType::ALL.len()],
}

/// Whether a literal can have an element type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit<'a> {
    /// The literal can have the element type.
    Yes,
    /// The numbers are of another kind.
    OtherKind {
        /// The text that says what to write instead, as ``write `2.0` ``; empty if nothing is known.
        help: &'a str,
    },
    /// The numbers are of the kind, but something else is wrong.
    Fault {
        /// The code of the rule, such as `E1005`.
        code: &'a str,
        /// The message without the code.
        message: &'a str,
    },
}

/// The type of a literal of this shape, with the element type of the value beside it. The operands of a message are the
/// literal and that value.
///
/// ```
/// use mind_shape::{Context, DType, Operand, Type, rules::{Fit, Literal, literal}};
/// let help = Fit::OtherKind { help: "write `2.0`" };
/// let fits = DType::ALL.map(|dtype| if dtype.is_integer() { Fit::Yes } else { help });
/// let two = Literal { description: "an integer", fits };
/// let (count, x) = (Type::scalar(DType::I64), Type::new(DType::F32, &[3]));
/// assert_eq!(literal(two, DType::I64, &[]), Ok(count));
/// let operands = &[Operand::new("`2`", "2", count), Operand::name("x", x)];
/// assert_eq!(
///     literal(two, x.dtype(), &[]).unwrap_err().message(&Context { label: "*", operands }).as_str(),
///     "[E2004] `*`: element types differ: `2` is an integer, x is f32[3]\n  help: write `2.0`"
/// );
/// ```
///
/// # Errors
/// E2004 if the literal is of another kind; E3006 for an extent below 1, as in an empty array; the fault in `literal`.
#[inline]
pub const fn literal<'a>(literal: Literal<'a>, dtype: DType, shape: &'a [i64]) -> TypeResult<'a> {
    match literal.fits[dtype as usize] {
        Fit::Yes if shape.is_empty() => Ok(Type::scalar(dtype)),
        Fit::Yes => super::filled(dtype, shape),
        Fit::OtherKind { help } => fail(Problem::LiteralKind { description: literal.description, help }),
        Fit::Fault { code, message } => fail(Problem::Literal { code, message }),
    }
}
