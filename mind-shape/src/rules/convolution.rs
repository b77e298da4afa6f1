//! Windows that slide along axes, and two-dimensional convolution.

use super::{
    Dims, LATER, Takes, agree, check_axes, elementwise::check_dtype, fail, from_end, merged, same_numbers,
};
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
    if strides.len() != 2 || strides[0] < 1 || strides[1] < 1 {
        return fail(Problem::Strides { strides });
    }
    attempt!(check_pairs(padding, 2));
    let rows = attempt!(positions(1, x.extent(1), f.extent(0), strides[0], padding.at(0)));
    let columns = attempt!(positions(2, x.extent(2), f.extent(1), strides[1], padding.at(1)));
    Dims::NONE.and(x.extent(0)).and(rows).and(columns).and(f.extent(3)).typed(x.dtype())
}

impl<'a> Padding<'a> {
    /// The padding of one axis.
    const fn at(self, axis: usize) -> AxisPadding {
        match self {
            Self::Valid => AxisPadding::Pair([0, 0]),
            Self::Same => AxisPadding::Same,
            Self::Pairs(pairs) => AxisPadding::Pair(pairs[axis]),
        }
    }
}

/// The padding of an axis.
#[derive(Clone, Copy)]
enum AxisPadding {
    Same,
    Pair([i64; 2]),
}

/// Returns E4010 unless there is a pair of at least 0 for each axis.
const fn check_pairs<'a>(padding: Padding<'a>, axes: usize) -> Result<(), Failure<'a>> {
    let Padding::Pairs(pairs) = padding else { return Ok(()) };
    let mut at = 0;
    while at < pairs.len() && pairs[at][0] >= 0 && pairs[at][1] >= 0 {
        at += 1;
    }
    if at < pairs.len() || pairs.len() != axes {
        return fail(Problem::Padding { pairs, needed: axes });
    }
    Ok(())
}

/// The number of positions of a window along an axis.
const fn positions<'a>(
    axis: usize,
    extent: i64,
    window: i64,
    stride: i64,
    padding: AxisPadding,
) -> Result<i64, Failure<'a>> {
    let [before, after] = match padding {
        AxisPadding::Pair(pair) => pair,
        AxisPadding::Same if extent == UNKNOWN => return Ok(UNKNOWN),
        AxisPadding::Same => match extent::same_extent(extent, stride) {
            Some(positions) => return Ok(positions),
            None => return fail(Problem::Overflow),
        },
    };
    if extent == UNKNOWN || window == UNKNOWN {
        return Ok(UNKNOWN);
    }
    match extent::window_extent(extent, window, stride, before, after) {
        Some(positions) if positions >= 1 => Ok(positions),
        Some(positions) => fail(Problem::Window { axis, extent, window, positions }),
        None => fail(Problem::Overflow),
    }
}

/// Windows that slide over the axes before the last one, which holds channels: one axis per size, at most three.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pooling<'a> {
    /// The number of elements of a window.
    pub sizes: &'a [i64],
    /// The distance between positions.
    pub strides: &'a [i64],
    /// The distance between the elements of a window.
    pub dilations: &'a [i64],
    /// The padding that windows may cover.
    pub padding: Padding<'a>,
}

/// `max_pool(x, sizes, strides, padding, dilations)`: one element for each position of the windows.
///
/// ```
/// use mind_shape::{DType, Type, rules::{Padding, Pooling, pool}};
/// let f32s = |extents: &[i64]| Type::new(DType::F32, extents);
/// let by = Pooling { sizes: &[3, 2], strides: &[2, 2], dilations: &[1, 1], padding: Padding::Valid };
/// assert_eq!(pool(f32s(&[2, 9, 8, 3]), by), Ok(f32s(&[2, 4, 4, 3])));
/// ```
///
/// # Errors
/// E3002 for an operand without these axes; E2005 for truth values; E4010 for invalid sizes, strides, dilations or
/// padding; E3006 for a window that does not fit.
pub const fn pool<'a>(x: Type, by: Pooling<'a>) -> TypeResult<'a> {
    let Pooling { sizes, strides, dilations, padding } = by;
    let count = sizes.len();
    attempt!(check_each(
        "sizes",
        sizes,
        if count > 3 {
            3
        } else if count == 0 {
            1
        } else {
            count
        }
    ));
    attempt!(check_each("strides", strides, count));
    attempt!(check_each("dilations", dilations, count));
    attempt!(check_pairs(padding, count));
    if x.rank() < count + 1 {
        return fail(Problem::Rank { operand: 0, needed: count + 1 });
    }
    attempt!(check_dtype(Takes::Numbers, x, 0));
    let (lead, mut dims, mut axis) = (x.rank() - 1 - count, Dims::NONE, 0);
    while axis < x.rank() {
        let extent = x.extent(axis);
        if axis < lead || axis + 1 == x.rank() {
            dims = dims.and(extent);
        } else {
            let at = axis - lead;
            let Some(window) = extent::window_span(sizes[at], dilations[at]) else {
                return fail(Problem::Overflow);
            };
            dims = dims.and(attempt!(positions(axis, extent, window, strides[at], padding.at(at))));
        }
        axis += 1;
    }
    dims.typed(x.dtype())
}

/// The elements of `t` at the places of the maxima of the windows of `x`.
///
/// # Errors
/// The errors of [`pool`]; E2004 and E3003 if `t` does not have the type of `x`.
pub const fn pool_take<'a>(x: Type, t: Type, by: Pooling<'a>) -> TypeResult<'a> {
    attempt!(same_numbers(x, t));
    match merged(x, t) {
        Some(both) => pool(both, by),
        None => fail(Problem::ShapesDiffer { operands: [0, 1] }),
    }
}

/// A convolution with a filter for each channel: the filter has the shape of a window, followed by the channels.
///
/// # Errors
/// The errors of [`pool`]; E2004 for different element types; E3003 if the filter has another shape.
pub const fn depthwise<'a>(x: Type, f: Type, by: Pooling<'a>) -> TypeResult<'a> {
    attempt!(same_numbers(x, f));
    let result = attempt!(pool(x, by));
    let filter = attempt!(filter(x, by));
    match merged(f, filter) {
        Some(_) => Ok(result),
        None => fail(Problem::Shape { operand: 1, needed: filter }),
    }
}

/// The cotangent of the filter of [`depthwise`].
///
/// # Errors
/// The errors of [`pool`]; E2004 for different element types; E3003 if `dy` does not have the shape of the result.
pub const fn depthwise_grad_filter<'a>(x: Type, dy: Type, by: Pooling<'a>) -> TypeResult<'a> {
    attempt!(same_numbers(x, dy));
    let result = attempt!(pool(x, by));
    match merged(dy, result) {
        Some(_) => filter(x, by),
        None => fail(Problem::Shape { operand: 1, needed: result }),
    }
}

/// The type of a filter with a factor for each element of a window and each channel.
const fn filter<'a>(x: Type, by: Pooling<'a>) -> TypeResult<'a> {
    let (mut dims, mut at) = (Dims::NONE, 0);
    while at < by.sizes.len() {
        dims = dims.and(by.sizes[at]);
        at += 1;
    }
    dims.and(x.extent(x.rank() - 1)).typed(x.dtype())
}

/// `unfold(x, sizes, axes, strides, dilations)`: windows that slide along axes. Each axis becomes two: the positions of
/// the window, then the elements in it. An unknown size is [`LATER`].
///
/// ```
/// use mind_shape::{DType, Type, rules::unfold};
/// let f32s = |extents: &[i64]| Type::new(DType::F32, extents);
/// let y = unfold(f32s(&[2, 9, 8, 3]), &[3, 2], &[1, 2], &[2, 2], &[1, 1]);
/// assert_eq!(y, Ok(f32s(&[2, 4, 3, 4, 2, 3])));
/// ```
///
/// # Errors
/// E3004 for an axis out of range; E3005 for an axis that occurs twice; E4010 unless each axis has a size, a stride and
/// a dilation of at least 1; E3006 for a window that does not fit.
pub const fn unfold<'a>(
    x: Type,
    sizes: &'a [i64],
    axes: &'a [i64],
    strides: &'a [i64],
    dilations: &'a [i64],
) -> TypeResult<'a> {
    attempt!(check_axes(axes, x.rank()));
    attempt!(check_each("sizes", sizes, axes.len()));
    attempt!(check_each("strides", strides, axes.len()));
    attempt!(check_each("dilations", dilations, axes.len()));
    let (mut dims, mut axis) = (Dims::NONE, 0);
    while axis < x.rank() {
        let (mut at, extent) = (0, x.extent(axis));
        while at < axes.len() && from_end(axes[at], x.rank()) != axis as i64 {
            at += 1;
        }
        if at == axes.len() {
            dims = dims.and(extent);
        } else if sizes[at] == LATER {
            dims = dims.and(UNKNOWN).and(UNKNOWN);
        } else {
            let Some(window) = extent::window_span(sizes[at], dilations[at]) else {
                return fail(Problem::Overflow);
            };
            let unpadded = AxisPadding::Pair([0, 0]);
            let positions = attempt!(positions(axis, extent, window, strides[at], unpadded));
            dims = dims.and(positions).and(sizes[at]);
        }
        axis += 1;
    }
    dims.typed(x.dtype())
}

/// Returns E4010 unless there is a number of at least 1, or an unknown one, for each axis.
const fn check_each<'a>(name: &'static str, list: &'a [i64], needed: usize) -> Result<(), Failure<'a>> {
    let mut at = 0;
    while at < list.len() && (list[at] >= 1 || list[at] == LATER) {
        at += 1;
    }
    if at < list.len() || list.len() != needed {
        return fail(Problem::EachAxis { name, list, needed });
    }
    Ok(())
}
