//! Numbers written in a program: they take the element type of what they meet.

use super::fail;
use crate::{
    failure::{Problem, TypeResult},
    ty::{DType, Type},
};

/// A literal number or an array of them, as far as its element type is concerned.
///
/// What a message says to write instead depends on how the number is written, so it comes from where the text is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Literal<'a> {
    /// What it consists of.
    pub kind: LiteralKind,
    /// The element type that a suffix gives.
    pub suffix: Option<DType>,
    /// Whether every number is within the range of the 32-bit type of its kind.
    pub narrow: bool,
    /// The help where a float is needed, as ``write `2.0` ``; empty for none.
    pub as_float: &'a str,
    /// The help where an integer is needed; empty for none.
    pub as_integer: &'a str,
}

/// What a literal consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LiteralKind {
    /// Integers.
    Integer,
    /// Floats.
    Float,
    /// Zeros or ones of any element type.
    Any,
}

impl<'a> Literal<'a> {
    pub(crate) const fn describe(&self) -> &'static str {
        match (self.suffix, self.kind) {
            (Some(dtype), _) => dtype.name(),
            (None, LiteralKind::Integer) => "an integer",
            (None, LiteralKind::Float) => "a float",
            (None, LiteralKind::Any) => "any number",
        }
    }

    pub(crate) const fn rewritten(&self, dtype: DType) -> &'a str {
        if dtype.is_float() { self.as_float } else { self.as_integer }
    }

    const fn fits(&self, dtype: DType) -> bool {
        match (self.suffix, self.kind) {
            (Some(own), _) => own.is(dtype),
            (None, LiteralKind::Integer) => !dtype.is_float(),
            (None, LiteralKind::Float) => dtype.is_float(),
            (None, LiteralKind::Any) => true,
        }
    }
}

/// A single literal number of the element type of what it meets. The operands of a message are the literal, then that.
///
/// ```
/// use mind_shape::{Context, DType, Operand, Type, rules::{Literal, LiteralKind, literal}};
/// let two = Literal {
///     kind: LiteralKind::Integer, suffix: None, narrow: true, as_float: "write `2.0`", as_integer: "write `2`",
/// };
/// let x = Type::new(DType::F32, &[3]);
/// let operands = &[Operand::postfix("2", Type::scalar(DType::I64)), Operand::name("x", x)];
/// assert_eq!(
///     literal(two, x.dtype()).unwrap_err().message(&Context { label: "*", operands }).as_str(),
///     "[E2004] `*`: element types differ: `2` is an integer, x is f32[3]\n  help: write `2.0`"
/// );
/// ```
///
/// # Errors
/// E2004 where it is not of that element type, E1005 where it is out of its range.
pub const fn literal(literal: Literal<'_>, dtype: DType) -> TypeResult<'_> {
    if !literal.fits(dtype) {
        return fail(Problem::LiteralKind { literal, dtype });
    }
    let is_narrow = matches!(dtype, DType::F32 | DType::I32);
    if is_narrow && !literal.narrow {
        return fail(Problem::LiteralRange { dtype });
    }
    Ok(Type::scalar(dtype))
}
