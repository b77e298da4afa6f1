//! The types that parameters of templates accept. A part of such a type is left open.

use super::{Takes, fail};
use crate::{
    DType,
    failure::{Problem, TypeResult},
    ty::{Type, UNKNOWN},
};

/// A type with open parts, as a template writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pattern<'a> {
    /// The source text, as in `float[.., N]`.
    pub text: &'a str,
    /// The element types.
    pub elements: Elements,
    /// The number of axes that are written.
    pub rank: usize,
    /// Whether other axes may precede them.
    pub open: bool,
}

/// The element types of a [`Pattern`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Elements {
    /// The element types of a class.
    Of(Takes),
    /// A single element type.
    Is(DType),
}

impl Elements {
    /// Whether an element type is accepted.
    pub const fn admits(self, dtype: DType) -> bool {
        match self {
            Self::Of(takes) => takes.admits(dtype),
            Self::Is(own) => dtype.is(own),
        }
    }
}

/// A value that two arguments of a template must share, and its name in the template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tie<'a> {
    /// The source text of the first argument's pattern.
    pub text: &'a str,
    /// The name of the shared value, as in `N`.
    pub name: &'a str,
}

/// The type of an argument that matches a pattern.
///
/// # Errors
/// E2001 if the element type or the rank does not match.
///
/// ```
/// use mind_shape::{DType, Type, rules::{Elements, Pattern, Takes, matches}};
/// const MATRIX: Pattern =
///     Pattern { text: "float[.., I, O]", elements: Elements::Of(Takes::Floats), rank: 2, open: true };
/// assert!(matches(Type::new(DType::F32, &[5, 2, 3]), MATRIX).is_ok());
/// assert_eq!(matches(Type::new(DType::F32, &[5]), MATRIX).unwrap_err().code(), "E2001");
/// assert_eq!(matches(Type::new(DType::I32, &[2, 3]), MATRIX).unwrap_err().code(), "E2001");
/// ```
pub const fn matches(x: Type, pattern: Pattern<'_>) -> TypeResult<'_> {
    if !pattern.elements.admits(x.dtype())
        || x.rank() < pattern.rank
        || x.rank() > pattern.rank && !pattern.open
    {
        return fail(Problem::Pattern { pattern: pattern.text });
    }
    Ok(x)
}

/// The type of an argument whose extent along `axis` is `needed`, as far as both are known. The last axis is 1.
///
/// # Errors
/// E2001 if the extent differs.
pub const fn has_extent<'a>(x: Type, axis: usize, needed: Option<i64>, tie: Tie<'a>) -> TypeResult<'a> {
    let found = x.extent(x.rank() - axis);
    match needed {
        Some(needed) if found != UNKNOWN && found != needed => {
            fail(Problem::Tied { tie, needed: Some(needed) })
        }
        Some(_) | None => Ok(x),
    }
}

/// The type of an argument whose leading extents are those of another. Leading extents are all except the `last` ones,
/// and all except the `of_other` last ones of the other.
///
/// # Errors
/// E2001 if the leading extents differ.
pub const fn same_leading<'a>(
    x: Type,
    other: Type,
    [last, of_other]: [usize; 2],
    tie: Tie<'a>,
) -> TypeResult<'a> {
    let count = x.rank() - last;
    let mut same = count + of_other == other.rank();
    let mut axis = 0;
    while same && axis < count {
        let (a, b) = (x.extent(axis), other.extent(axis));
        same = a == b || a == UNKNOWN || b == UNKNOWN;
        axis += 1;
    }
    if same { Ok(x) } else { fail(Problem::Tied { tie, needed: None }) }
}

/// The type of an argument with the element type of another.
///
/// # Errors
/// E2001 if the element types differ.
pub const fn same_elements<'a>(x: Type, other: Type, tie: Tie<'a>) -> TypeResult<'a> {
    if x.dtype().is(other.dtype()) { Ok(x) } else { fail(Problem::Tied { tie, needed: None }) }
}
