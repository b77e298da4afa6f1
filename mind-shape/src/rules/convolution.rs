//! Two-dimensional convolution.

use super::{Dims, agree, fail, same_numbers};
use crate::{
    extent,
    failure::{Failure, Problem, TypeResult},
    ty::{Type, UNKNOWN},
};

/// The padding around the image of a convolution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Padding<'a> {
    /// No padding.
    Valid,
    /// Zeros with which the extent of the result is `ceil(extent / stride)`. An odd zero goes after the image.
    Same,
    /// Zeros `[[top, bottom], [left, right]]`.
    Pairs(&'a [[i64; 2]]),
}

/// `conv2d(x, f, strides, padding)`: `[n, h, w, c] * [kh, kw, c, f] → [n, oh, ow, f]`.
///
/// ```
/// use mind_shape::{DType, Type, rules::{Padding, conv2d}};
/// let f32s = |extents: &[i64]| Type::new(DType::F32, extents);
/// let (x, f) = (f32s(&[2, 28, 27, 3]), f32s(&[5, 4, 3, 8]));
/// assert_eq!(conv2d(x, f, &[2, 3], Padding::Valid), Ok(f32s(&[2, 12, 8, 8])));
/// ```
///
/// # Errors
/// E3002 for an operand that is not of rank 4; E2004 for different element types; E4009 if the channels differ; E4010
/// for invalid strides or padding; E3006 if the window does not fit.
pub const fn conv2d<'a>(x: Type, f: Type, strides: &'a [i64], padding: Padding<'a>) -> TypeResult<'a> {
    if x.rank() != 4 {
        return fail(Problem::Rank { operand: 0, needed: 4 });
    }
    if f.rank() != 4 {
        return fail(Problem::Rank { operand: 1, needed: 4 });
    }
    attempt!(same_numbers(x, f));
    if !agree(x.extent(3), f.extent(2)) {
        return fail(Problem::Channels { image: x.extent(3), filter: f.extent(2) });
    }
    attempt!(check(strides, padding));
    let rows = attempt!(positions(x, f, 0, strides[0], padding));
    let columns = attempt!(positions(x, f, 1, strides[1], padding));
    Dims::NONE.and(x.extent(0)).and(rows).and(columns).and(f.extent(3)).typed(x.dtype())
}

/// Returns E4010 unless there are two strides of at least 1, and two pairs of padding of at least 0.
const fn check<'a>(strides: &'a [i64], padding: Padding<'a>) -> Result<(), Failure<'a>> {
    if strides.len() != 2 || strides[0] < 1 || strides[1] < 1 {
        return fail(Problem::Strides { strides });
    }
    if let Padding::Pairs(pairs) = padding {
        let valid =
            pairs.len() == 2 && pairs[0][0] >= 0 && pairs[0][1] >= 0 && pairs[1][0] >= 0 && pairs[1][1] >= 0;
        if !valid {
            return fail(Problem::Padding { pairs });
        }
    }
    Ok(())
}

/// The number of positions of the window along rows (0) or columns (1).
const fn positions<'a>(
    x: Type,
    f: Type,
    axis: usize,
    stride: i64,
    padding: Padding<'a>,
) -> Result<i64, Failure<'a>> {
    let (extent, window) = (x.extent(axis + 1), f.extent(axis));
    let [before, after] = match padding {
        Padding::Valid => [0, 0],
        Padding::Pairs(pairs) => pairs[axis],
        Padding::Same if extent == UNKNOWN => return Ok(UNKNOWN),
        Padding::Same => match extent::same_extent(extent, stride) {
            Some(positions) => return Ok(positions),
            None => return fail(Problem::Overflow),
        },
    };
    if extent == UNKNOWN || window == UNKNOWN {
        return Ok(UNKNOWN);
    }
    match extent::window_extent(extent, window, stride, before, after) {
        Some(positions) if positions >= 1 => Ok(positions),
        Some(positions) => fail(Problem::Window { axis: axis + 1, extent, window, positions }),
        None => fail(Problem::Overflow),
    }
}
