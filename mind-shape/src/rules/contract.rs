//! What the parameters of templates take: types of which a part is left open.

use super::{Takes, fail};
use crate::{
    DType,
    failure::{Problem, TypeResult},
    ty::{Type, UNKNOWN},
};

/// A type of which a part is left open, as a template writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pattern<'a> {
    /// As it is written: `float[.., N]`.
    pub text: &'a str,
    /// The element types.
    pub elements: Elements,
    /// How many axes are written.
    pub rank: usize,
    /// Whether more may stand before them.
    pub open: bool,
}

/// The element types of a [`Pattern`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Elements {
    /// Those of a class.
    Of(Takes),
    /// This one.
    Is(DType),
}

impl Elements {
    /// Whether an element type is one of these.
    pub const fn admits(self, dtype: DType) -> bool {
        match self {
            Self::Of(takes) => takes.admits(dtype),
            Self::Is(own) => dtype.is(own),
        }
    }
}

/// What two arguments of a template have to have in common, and its name there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tie<'a> {
    /// The pattern of the first as it is written.
    pub text: &'a str,
    /// What both have in common: `N`.
    pub name: &'a str,
}

/// The type of an argument that a pattern takes.
///
/// # Errors
/// E2001 if the element type or the rank is another.
///
/// ```
/// use mind_shape::{DType, Type, rules::{Elements, Pattern, Takes, matches}};
/// const MATRIX: Pattern = Pattern { text: "float[.., I, O]", elements: Elements::Of(Takes::Floats), rank: 2, open: true };
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

/// The type of an argument of which an axis, counted from the last, which is 1, has this extent as far as it is known.
///
/// # Errors
/// E2001 if it has another.
pub const fn has_extent<'a>(x: Type, axis: usize, needed: Option<i64>, tie: Tie<'a>) -> TypeResult<'a> {
    let found = x.extent(x.rank() - axis);
    match needed {
        Some(needed) if found != UNKNOWN && found != needed => {
            fail(Problem::Tied { tie, needed: Some(needed) })
        }
        Some(_) | None => Ok(x),
    }
}

/// The type of an argument whose leading extents, before so many of the last, are those of another before so many.
///
/// # Errors
/// E2001 if they are others.
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

/// The type of an argument that has the element type of another.
///
/// # Errors
/// E2001 if it has another.
pub const fn same_elements<'a>(x: Type, other: Type, tie: Tie<'a>) -> TypeResult<'a> {
    if x.dtype().is(other.dtype()) { Ok(x) } else { fail(Problem::Tied { tie, needed: None }) }
}
