//! Numbers that are computed from extents, as far as these are known: `4 * H`.

use super::{Takes, check_dtype, fail, from_end};
use crate::{
    failure::{Problem, TypeResult},
    ty::{Type, UNKNOWN},
};

/// The extent of an axis; `None` if it is unknown. A negative axis counts from the end.
///
/// # Panics
/// If the axis does not exist.
pub const fn extent_of(x: &Type, axis: i64) -> Option<i64> {
    match x.extent(from_end(axis, x.rank()) as usize) {
        UNKNOWN => None,
        extent => Some(extent),
    }
}

/// The type of a value that has this axis. A negative axis counts from the end.
///
/// # Errors
/// E3004 if the axis is out of range.
pub const fn has_axis<'a>(x: Type, axis: i64) -> TypeResult<'a> {
    let position = from_end(axis, x.rank());
    if position < 0 || position >= x.rank() as i64 {
        return fail(Problem::AxisOutOfRange { axis, rank: x.rank() });
    }
    Ok(x)
}

/// A sum. A result beyond 64 bits becomes `i64::MAX` or `-i64::MAX`, which is neither an extent nor a bound. Further
/// sums and products keep these limits.
///
/// ```
/// use mind_shape::rules::sum;
/// assert_eq!(sum(sum(Some(i64::MAX), Some(1)), Some(-3)), Some(i64::MAX));
/// ```
pub const fn sum(a: Option<i64>, b: Option<i64>) -> Option<i64> {
    match (a, b) {
        (Some(a), Some(_)) if is_beyond(a) => Some(limited(a)),
        (Some(_), Some(b)) if is_beyond(b) => Some(limited(b)),
        (Some(a), Some(b)) => Some(limited(a.saturating_add(b))),
        _ => None,
    }
}

/// A product, with the limits of [`sum`].
pub const fn times(a: Option<i64>, b: Option<i64>) -> Option<i64> {
    match (a, b) {
        (Some(a), Some(b)) if is_beyond(a) || is_beyond(b) => {
            Some(if (a < 0) == (b < 0) { i64::MAX } else { -i64::MAX })
        }
        (Some(a), Some(b)) => Some(limited(a.saturating_mul(b))),
        _ => None,
    }
}

/// Replaces `i64::MIN`, which stands for an unknown number; see [`LATER`].
const fn limited(number: i64) -> i64 {
    if number == i64::MIN { -i64::MAX } else { number }
}

/// Whether a number stands for a result beyond 64 bits.
const fn is_beyond(number: i64) -> bool {
    number.unsigned_abs() >= i64::MAX as u64
}

/// A quotient by a number above 0, rounded down.
///
/// ```
/// use mind_shape::rules::floored;
/// assert_eq!([floored(Some(7), 2), floored(Some(-7), 2), floored(None, 2)], [Some(3), Some(-4), None]);
/// ```
pub const fn floored(a: Option<i64>, by: i64) -> Option<i64> {
    match a {
        Some(a) if is_beyond(a) => Some(a),
        Some(a) => Some(a.div_euclid(by)),
        None => None,
    }
}

/// The value of an unknown extent in a written shape, and of an unknown bound among bounds. A shape written out in the
/// program never contains it; there -1 stands for an extent that is inferred.
pub const LATER: i64 = i64::MIN;

/// A number as an extent of a written shape. A number below 1 becomes 0, which rules refuse.
pub const fn as_extent(number: Option<i64>) -> i64 {
    match number {
        Some(number) if number < 1 => 0,
        Some(number) => number,
        None => LATER,
    }
}

/// A number as a bound of a slice or as an index. [`LATER`] becomes its neighbour, since both are outside of every
/// extent.
pub const fn as_bound(number: Option<i64>) -> i64 {
    match number {
        Some(number) => limited(number),
        None => LATER,
    }
}

/// A written shape that is being built from numbers and from leading and trailing extents of values. It has at most
/// `MOST` extents.
///
/// ```
/// use mind_shape::{DType, Type, rules::List};
/// let heads = Type::new(DType::F32, &[5, 2, 7, 3]);
/// assert_eq!(List::<10>::NEW.leading(&heads, 2).and(21).extents(), [5, 2, 21]);
/// assert_eq!(List::<10>::NEW.and(10).trailing(&heads, 2).extents(), [10, 7, 3]);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct List<const MOST: usize> {
    count: usize,
    extents: [i64; MOST],
}

impl<const MOST: usize> List<MOST> {
    /// The empty shape.
    pub const NEW: Self = Self { count: 0, extents: [0; MOST] };

    /// Appends an extent, as returned by [`as_extent`].
    ///
    /// # Panics
    /// If there are more than `MOST` extents.
    #[must_use]
    pub const fn and(mut self, extent: i64) -> Self {
        self.extents[self.count] = extent;
        self.count += 1;
        self
    }

    /// Appends the extents of a value, except its last `last` ones.
    ///
    /// # Panics
    /// If there are more than `MOST` extents, or the value has fewer than `last` axes.
    #[must_use]
    pub const fn leading(mut self, x: &Type, last: usize) -> Self {
        let mut axis = 0;
        while axis < x.rank() - last {
            self = self.and(as_extent(extent_of(x, axis as i64)));
            axis += 1;
        }
        self
    }

    /// Appends the extents of a value, except its first `first` ones.
    ///
    /// # Panics
    /// If there are more than `MOST` extents.
    #[must_use]
    pub const fn trailing(mut self, x: &Type, first: usize) -> Self {
        let mut axis = first;
        while axis < x.rank() {
            self = self.and(as_extent(extent_of(x, axis as i64)));
            axis += 1;
        }
        self
    }

    /// The extents.
    pub const fn extents(&self) -> &[i64] {
        self.extents.split_at(self.count).0
    }
}

/// Whether an extent of a written shape is unknown.
pub(super) const fn has_later(shape: &[i64]) -> bool {
    let mut axis = 0;
    while axis < shape.len() {
        if shape[axis] == LATER {
            return true;
        }
        axis += 1;
    }
    false
}

/// The type of a number computed from extents: a single number of the element type of another value.
///
/// # Errors
/// E2005 if that is the type of truth values.
pub const fn number_like<'a>(like: Type) -> TypeResult<'a> {
    match check_dtype(Takes::Numbers, like, 0) {
        Ok(()) => Ok(Type::scalar(like.dtype())),
        Err(failure) => Err(failure),
    }
}
