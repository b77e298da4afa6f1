//! Elements as text in the format of ndarray: nested brackets, with long axes shortened.

use core::fmt::{self, Formatter};

/// The number of elements from which long axes are shortened.
const MANY_ELEMENTS: usize = 500;
/// The number of positions shown of a long last or second to last axis.
const AXIS_LIMIT: usize = 11;
/// The number of positions shown of any other long axis.
const AXIS_LIMIT_OUTER: usize = 6;

/// Writes the elements of an array of these extents, in row-major order. `element` writes the element at an index. The
/// alternate form (`{:#}`) shortens nothing.
///
/// ```
/// use std::fmt;
/// struct Matrix([i32; 4]);
/// impl fmt::Display for Matrix {
///     fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
///         mind_shape::write_in_brackets(f, &[2, 2], &|at, f| self.0[at].fmt(f))
///     }
/// }
/// assert_eq!(Matrix([1, 2, 3, 4]).to_string(), "[[1, 2],\n [3, 4]]");
/// ```
///
/// # Errors
/// The errors of the formatter.
pub fn write_in_brackets(
    f: &mut Formatter<'_>,
    extents: &[usize],
    element: &dyn Fn(usize, &mut Formatter<'_>) -> fmt::Result,
) -> fmt::Result {
    let count: usize = extents.iter().product();
    if count == 0 {
        extents.iter().try_for_each(|_| f.write_str("["))?;
        return extents.iter().try_for_each(|_| f.write_str("]"));
    }
    let shorten = count >= MANY_ELEMENTS && !f.alternate();
    Part { extents, first: 0, count, depth: 0 }.write(f, shorten, element)
}

/// A part of an array: its remaining extents, its first element, its number of elements, and the number of open
/// brackets.
struct Part<'a> {
    extents: &'a [usize],
    first: usize,
    count: usize,
    depth: usize,
}

impl Part<'_> {
    fn write(
        &self,
        f: &mut Formatter<'_>,
        shorten: bool,
        element: &dyn Fn(usize, &mut Formatter<'_>) -> fmt::Result,
    ) -> fmt::Result {
        let Some((&extent, inner)) = self.extents.split_first() else {
            return element(self.first, f);
        };
        let limit = match (shorten, inner.len()) {
            (false, _) => usize::MAX,
            (true, 0 | 1) => AXIS_LIMIT,
            (true, _) => AXIS_LIMIT_OUTER,
        };
        let edge = limit / 2;
        let count = self.count / extent;
        f.write_str("[")?;
        let mut position = 0;
        while position < extent {
            if position > 0 {
                self.separate(f, inner.len())?;
            }
            if extent > limit && position == edge {
                f.write_str("...")?;
                position = extent - edge;
                continue;
            }
            let first = self.first + position * count;
            Part { extents: inner, first, count, depth: self.depth + 1 }.write(f, shorten, element)?;
            position += 1;
        }
        f.write_str("]")
    }

    /// Writes the separator of positions. Rows are on separate lines, and empty lines separate blocks of rows.
    fn separate(&self, f: &mut Formatter<'_>, rank: usize) -> fmt::Result {
        if rank == 0 {
            return f.write_str(", ");
        }
        f.write_str(",")?;
        (0..rank).try_for_each(|_| f.write_str("\n"))?;
        (0..=self.depth).try_for_each(|_| f.write_str(" "))
    }
}
