//! Elements, boxes of elements and rows selected from a tensor.

use super::{Dims, LATER, Takes, agree, check_dtype, fail, merged, position_of};
use crate::{
    DType,
    extent::{self, SliceFault},
    failure::{Bound, Failure, Problem, TypeResult},
    ty::{MAX_RANK, Type, UNKNOWN},
};

/// One part of an index expression `x[0, 1..3, .., -1]`. Rules take bounds as numbers, with [`LATER`] for an unknown
/// bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Subscript<B = i64> {
    /// `0`, `-1`: an index; the axis is dropped.
    At(B),
    /// `a..b;s`: each part may be omitted, but not all of them.
    Range {
        /// The first position; 0 if omitted.
        start: Option<B>,
        /// One past the last position; the extent if omitted.
        end: Option<B>,
        /// The distance between positions; 1 if omitted.
        step: Option<i64>,
    },
    /// `..`: all axes that are not indexed otherwise, as a whole.
    Rest,
}

/// The selection along one axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    /// The first position; [`UNKNOWN`] if it is unknown or counts from the end of an unknown extent.
    pub start: i64,
    /// The number of positions; may be [`UNKNOWN`].
    pub extent: i64,
    /// The distance between positions.
    pub step: i64,
    /// Whether the selection is by an index, which drops the axis.
    pub dropped: bool,
}

impl Taken {
    const fn whole(extent: i64) -> Self {
        Self { start: 0, extent, step: 1, dropped: false }
    }
}

/// `x[0, 1..3, .., -1]`.
///
/// ```
/// use mind_shape::{DType, Type, rules::{Subscript, subscript}};
/// let x = Type::new(DType::F32, &[4, 5, 6]);
/// let range = Subscript::Range { start: Some(1), end: Some(-1), step: None };
/// let y = subscript(x, &[range, Subscript::Rest, Subscript::At(-1)]).unwrap();
/// assert_eq!(y.text().as_str(), "f32[2, 5]");
/// ```
///
/// # Errors
/// E4006 for more indices than axes; E3011 for an index or bound outside the extent; E3006 for an empty range; E4008
/// for a step below 1.
pub const fn subscript<'a>(x: Type, subscripts: &[Subscript]) -> TypeResult<'a> {
    let taken = attempt!(subscripted(x, subscripts));
    let (mut dims, mut axis) = (Dims::NONE, 0);
    while axis < x.rank() {
        if !taken[axis].dropped {
            dims = dims.and(taken[axis].extent);
        }
        axis += 1;
    }
    dims.typed(x.dtype())
}

/// The selection of an index expression along each axis.
///
/// # Errors
/// The errors of [`subscript`].
pub const fn subscripted<'a>(x: Type, subscripts: &[Subscript]) -> Result<[Taken; MAX_RANK], Failure<'a>> {
    let (mut written, mut i) = (0, 0);
    while i < subscripts.len() {
        written += !matches!(subscripts[i], Subscript::Rest) as usize;
        i += 1;
    }
    if written > x.rank() {
        return fail(Problem::IndexCount { written });
    }
    let mut taken = [Taken::whole(1); MAX_RANK];
    let (mut axis, mut rest, mut i) = (0, x.rank() - written, 0);
    while i < subscripts.len() {
        match subscripts[i] {
            Subscript::Rest => {
                while rest > 0 {
                    taken[axis] = Taken::whole(x.extent(axis));
                    (axis, rest) = (axis + 1, rest - 1);
                }
            }
            Subscript::At(index) => {
                taken[axis] = attempt!(index_at(x, axis, index));
                axis += 1;
            }
            Subscript::Range { start, end, step } => {
                taken[axis] = attempt!(range(x, axis, (start, end, step)));
                axis += 1;
            }
        }
        i += 1;
    }
    while axis < x.rank() {
        taken[axis] = Taken::whole(x.extent(axis));
        axis += 1;
    }
    Ok(taken)
}

const fn index_at<'a>(x: Type, axis: usize, index: i64) -> Result<Taken, Failure<'a>> {
    let extent = x.extent(axis);
    let start = if index == LATER {
        UNKNOWN
    } else if extent == UNKNOWN {
        if index < 0 { UNKNOWN } else { index }
    } else {
        let position = if index < 0 { index + extent } else { index };
        if position < 0 || position >= extent {
            return fail(Problem::IndexOutside { axis, index });
        }
        position
    };
    Ok(Taken { start, extent: 1, step: 1, dropped: true })
}

const fn range<'a>(
    x: Type,
    axis: usize,
    (start, end, step): (Option<i64>, Option<i64>, Option<i64>),
) -> Result<Taken, Failure<'a>> {
    let first = match start {
        Some(start) => attempt!(bound(x, axis, start)),
        None => Some(Bound::At(0)),
    };
    let last = match end {
        Some(end) => attempt!(bound(x, axis, end)),
        None if x.extent(axis) == UNKNOWN => Some(Bound::FromEnd(0)),
        None => Some(Bound::At(x.extent(axis))),
    };
    let length = match (first, last) {
        (Some(Bound::At(first)), Some(Bound::At(last)))
        | (Some(Bound::FromEnd(first)), Some(Bound::FromEnd(last))) => {
            // Both are at least 0, or both are at most 0, so the difference does not overflow.
            Some(last - first)
        }
        (Some(Bound::At(_)), Some(Bound::FromEnd(_))) | (Some(Bound::FromEnd(_)), Some(Bound::At(_))) => None,
        (None, _) | (_, None) => None,
    };
    if let (Some(start), Some(end), Some(..1)) = (first, last, length) {
        return fail(Problem::Empty { axis, start, end });
    }
    let step = match step {
        Some(step) if step < 1 => return fail(Problem::Step { axis, step }),
        Some(step) => step,
        None => 1,
    };
    Ok(Taken {
        start: if let Some(Bound::At(start)) = first { start } else { UNKNOWN },
        extent: if let Some(length) = length { (length - 1) / step + 1 } else { UNKNOWN },
        step,
        dropped: false,
    })
}

/// The position of a written bound, which must be within the extent; `None` if the bound is unknown.
const fn bound<'a>(x: Type, axis: usize, written: i64) -> Result<Option<Bound>, Failure<'a>> {
    let extent = x.extent(axis);
    if written == LATER {
        return Ok(None);
    }
    if extent == UNKNOWN {
        return Ok(Some(if written < 0 { Bound::FromEnd(written) } else { Bound::At(written) }));
    }
    let position = if written < 0 { written + extent } else { written };
    if position < 0 || position > extent {
        return fail(Problem::BoundOutside { axis, bound: written });
    }
    Ok(Some(Bound::At(position)))
}

/// `slice(x, starts, ends, steps)`: `ceil((end - start) / step)` positions per axis. Steps are 1 if none are given. An
/// unknown bound is [`LATER`].
///
/// # Errors
/// E4007 if the lists do not have one entry per axis; E4008 for a step below 1; E3011 for a bound outside the extent;
/// E3006 for an empty range.
pub const fn slice<'a>(x: Type, starts: &[i64], ends: &[i64], steps: Option<&[i64]>) -> TypeResult<'a> {
    let taken = attempt!(sliced(x, starts, ends, steps));
    let (mut dims, mut axis) = (Dims::NONE, 0);
    while axis < x.rank() {
        dims = dims.and(taken[axis].extent);
        axis += 1;
    }
    dims.typed(x.dtype())
}

/// The selection of a slice along each axis.
///
/// # Errors
/// The errors of [`slice()`].
pub const fn sliced<'a>(
    x: Type,
    starts: &[i64],
    ends: &[i64],
    steps: Option<&[i64]>,
) -> Result<[Taken; MAX_RANK], Failure<'a>> {
    let rank = x.rank();
    let step_count = if let Some(steps) = steps { steps.len() } else { starts.len() };
    if starts.len() != rank || ends.len() != rank || step_count != rank {
        return fail(Problem::SliceLengths { starts: starts.len(), ends: ends.len(), steps: step_count });
    }
    let (mut taken, mut axis) = ([Taken::whole(1); MAX_RANK], 0);
    while axis < rank {
        let (start, end) = (starts[axis], ends[axis]);
        let step = if let Some(steps) = steps { steps[axis] } else { 1 };
        // An unknown extent is taken to be large enough for every bound.
        let extent = if x.extent(axis) == UNKNOWN { i64::MAX } else { x.extent(axis) };
        // An unknown bound is replaced by one that passes the checks.
        let first = if start == LATER { 0 } else { start };
        let last = if end == LATER { extent } else { end };
        let fault = match extent::slice_extent(extent, first, last, step) {
            Ok(_) | Err(SliceFault::Empty) if start == LATER || end == LATER => {
                let start = if start == LATER { UNKNOWN } else { start };
                taken[axis] = Taken { start, extent: UNKNOWN, step, dropped: false };
                axis += 1;
                continue;
            }
            Ok(extent) => {
                taken[axis] = Taken { start, extent, step, dropped: false };
                axis += 1;
                continue;
            }
            Err(fault) => fault,
        };
        return fail(match fault {
            SliceFault::Step => Problem::Step { axis, step },
            SliceFault::Start => Problem::Start { axis, start },
            SliceFault::End => Problem::End { axis, end },
            SliceFault::Empty => Problem::Empty { axis, start: Bound::At(start), end: Bound::At(end) },
        });
    }
    Ok(taken)
}

/// The type of integers that are converted to `i64`.
///
/// # Errors
/// E4011 for other element types.
pub const fn indices<'a>(x: Type) -> TypeResult<'a> {
    attempt!(index_type(x, 0));
    Ok(x.with_dtype(DType::I64))
}

/// Returns E4011 unless the operand at this position holds integers.
const fn index_type<'a>(indices: Type, operand: usize) -> Result<(), Failure<'a>> {
    if Takes::Integers.admits(indices.dtype()) { Ok(()) } else { fail(Problem::IndexType { operand }) }
}

/// `gather(table, indices)`: rows of the table, with the shape `shape(indices) ++ shape(table)[1..]`.
///
/// # Errors
/// E4011 for indices that are not integers; E3002 for a table of rank 0.
pub const fn gather<'a>(table: Type, indices: Type) -> TypeResult<'a> {
    attempt!(index_type(indices, 1));
    if table.rank() == 0 {
        return fail(Problem::NoRow);
    }
    let (mut dims, mut axis) = (Dims::of(indices.dims()), 1);
    while axis < table.rank() {
        dims = dims.and(table.extent(axis));
        axis += 1;
    }
    dims.typed(table.dtype())
}

/// `x` with the rows at the indices replaced by those of `updates`.
///
/// # Errors
/// E4011 for indices that are not integers; E3002 if they are not of rank 1, and for an `x` of rank 0; E3003 if `updates`
/// does not have the shape of the rows.
pub const fn scatter<'a>(x: Type, indices: Type, updates: Type) -> TypeResult<'a> {
    attempt!(index_type(indices, 1));
    if indices.rank() != 1 {
        return fail(Problem::Rank { operand: 1, needed: 1 });
    }
    let rows = attempt!(gather(x, indices));
    if merged(updates, rows).is_none() {
        return fail(Problem::Shape { operand: 2, needed: rows });
    }
    Ok(x)
}

/// `x` with the rows of `updates` added at the indices.
///
/// # Errors
/// E4011 for indices that are not integers; E2005 for truth values, and E3002 for an `x` of rank 0; E2004 if `updates`
/// has another element type, and E3003 if it does not have the shape of the rows.
pub const fn add_rows<'a>(x: Type, indices: Type, updates: Type) -> TypeResult<'a> {
    attempt!(index_type(indices, 1));
    attempt!(check_dtype(Takes::Numbers, x, 0));
    let rows = attempt!(gather(x, indices));
    if !x.dtype().is(updates.dtype()) {
        return fail(Problem::MixedAmong { operands: [0, 2] });
    }
    if merged(updates, rows).is_none() {
        return fail(Problem::Shape { operand: 2, needed: rows });
    }
    Ok(x)
}

/// `take_along(x, indices, axis)`: elements of `x` selected along an axis, with the shape of the indices.
///
/// # Errors
/// E3004 for an axis out of range; E4011 for indices that are not integers; E3002 if their rank is not that of `x`;
/// E3003 if an extent along another axis differs.
pub const fn take_along<'a>(x: Type, indices: Type, axis: i64) -> TypeResult<'a> {
    let at = attempt!(position_of(axis, x.rank()));
    attempt!(index_type(indices, 1));
    if indices.rank() != x.rank() {
        return fail(Problem::Rank { operand: 1, needed: x.rank() });
    }
    let (mut dims, mut along) = (Dims::NONE, 0);
    while along < x.rank() {
        let extents = [x.extent(along), indices.extent(along)];
        if along != at && !agree(extents[0], extents[1]) {
            return fail(Problem::Unlike { axis: along, extents, operands: [0, 1] });
        }
        dims = dims.and(if along != at && extents[1] == UNKNOWN { extents[0] } else { extents[1] });
        along += 1;
    }
    dims.typed(x.dtype())
}

/// The elements of `x` along an axis, from a position that is computed. The result has the shape of `like`.
///
/// # Errors
/// E3004 for an axis out of range; E4011 for a position that is not an integer; E3002 for one that is not of rank 0, and
/// if the rank of `like` is not that of `x`; E3003 if an extent along another axis differs.
pub const fn dynamic_slice<'a>(x: Type, start: Type, like: Type, axis: i64) -> TypeResult<'a> {
    attempt!(placed_part(x, start, like, axis));
    Ok(like.with_dtype(x.dtype()))
}

/// `x` with the elements along an axis, from a position that is computed, replaced by `updates`.
///
/// # Errors
/// E3004 for an axis out of range; E4011 for a position that is not an integer; E3002 for one that is not of rank 0, and
/// if the rank of `updates` is not that of `x`; E3003 if an extent along another axis differs.
pub const fn dynamic_update<'a>(x: Type, start: Type, updates: Type, axis: i64) -> TypeResult<'a> {
    attempt!(placed_part(x, start, updates, axis));
    Ok(x)
}

/// Checks a position along an axis, operand 1, and the part of operand 0 that begins there, operand 2.
const fn placed_part<'a>(x: Type, start: Type, part: Type, axis: i64) -> Result<(), Failure<'a>> {
    let at = attempt!(position_of(axis, x.rank()));
    attempt!(index_type(start, 1));
    if start.rank() != 0 {
        return fail(Problem::Rank { operand: 1, needed: 0 });
    }
    if part.rank() != x.rank() {
        return fail(Problem::Rank { operand: 2, needed: x.rank() });
    }
    let mut along = 0;
    while along < x.rank() {
        let extents = [x.extent(along), part.extent(along)];
        if along != at && !agree(extents[0], extents[1]) {
            return fail(Problem::Unlike { axis: along, extents, operands: [0, 2] });
        }
        along += 1;
    }
    Ok(())
}
