//! Tensors joined into one, and the parts of joined tensors.

use super::{Dims, Takes, agree, elementwise::check_dtype, fail, from_end, merged, position_of};
use crate::{
    failure::{Problem, TypeResult},
    ty::{Type, UNKNOWN},
};

/// `concat([a, b], axis)`: joins tensors along an axis.
///
/// ```
/// use mind_shape::{DType, Type, rules::concat};
/// let f32s = |extents: &[i64]| Type::new(DType::F32, extents);
/// assert_eq!(concat(&[f32s(&[2, 3]), f32s(&[2, 4])], -1), Ok(f32s(&[2, 7])));
/// ```
///
/// # Errors
/// E3004 for an axis out of range; E2004 if an element type is not that of the first; E3002 if a rank differs; E3003 if
/// an extent along another axis differs; E1008 if the sum of the extents exceeds 64 bits.
pub const fn concat<'a>(parts: &[Type], axis: i64) -> TypeResult<'a> {
    let at = attempt!(position_of(axis, parts[0].rank()));
    let (mut whole, mut part) = (parts[0], 1);
    while part < parts.len() {
        whole = attempt!(longer(whole, parts, part, at));
        part += 1;
    }
    Ok(whole)
}

/// The type of the parts before `part`, joined and followed by that part.
const fn longer<'a>(before: Type, parts: &[Type], part: usize, axis: usize) -> TypeResult<'a> {
    let own = parts[part];
    if !own.dtype().is(before.dtype()) {
        return fail(Problem::MixedAmong { operands: [0, part] });
    }
    if own.rank() != before.rank() {
        return fail(Problem::Rank { operand: part, needed: before.rank() });
    }
    let (mut dims, mut along) = (Dims::NONE, 0);
    while along < before.rank() {
        let extents = [before.extent(along), own.extent(along)];
        dims = dims.and(match extents {
            [UNKNOWN, _] | [_, UNKNOWN] if along == axis => UNKNOWN,
            [a, b] if along == axis => match a.checked_add(b) {
                Some(sum) => sum,
                None => return fail(Problem::Overflow),
            },
            [a, b] if !agree(a, b) => {
                let operands = [first_known(parts, along), part];
                return fail(Problem::Unlike { axis: along, extents, operands });
            }
            [UNKNOWN, known] | [known, _] => known,
        });
        along += 1;
    }
    dims.typed(before.dtype())
}

/// The first part whose extent along an axis is known.
const fn first_known(parts: &[Type], axis: usize) -> usize {
    let mut part = 0;
    while part + 1 < parts.len() && parts[part].extent(axis) == UNKNOWN {
        part += 1;
    }
    part
}

/// `stack([a, b], axis)`: joins values along a new axis, which is at this position of the result.
///
/// # Errors
/// E3004 for a position outside the result; E2004 if an element type is not that of the first; E3003 if a shape
/// differs.
pub const fn stack<'a>(parts: &[Type], axis: i64) -> TypeResult<'a> {
    let rank = parts[0].rank() + 1;
    let at = attempt!(position_of(axis, rank));
    let (mut part, mut other) = (parts[0], 1);
    while other < parts.len() {
        if !parts[other].dtype().is(part.dtype()) {
            return fail(Problem::MixedAmong { operands: [0, other] });
        }
        part = match merged(part, parts[other]) {
            Some(both) => both,
            None => return fail(Problem::ShapesDiffer { operands: [0, other] }),
        };
        other += 1;
    }
    let (mut dims, mut along) = (Dims::NONE, 0);
    while along < rank {
        dims = dims.and(if along == at {
            parts.len() as i64
        } else {
            part.extent(if along < at { along } else { along - 1 })
        });
        along += 1;
    }
    dims.typed(part.dtype())
}

/// `pad(x, low, high)`: a value surrounded by zeros: `low` of them before it along each axis, and `high` after it.
///
/// # Errors
/// E4010 unless there is an amount of at least 0 for each axis; E2005 for truth values; E1008 if an extent exceeds 64
/// bits.
pub const fn pad<'a>(x: Type, low: &[i64], high: &[i64]) -> TypeResult<'a> {
    let (mut dims, mut axis) = (Dims::NONE, 0);
    if low.len() != x.rank() || high.len() != x.rank() {
        return fail(Problem::AmountCount { low: low.len(), high: high.len() });
    }
    while axis < x.rank() {
        let amount = if low[axis] < 0 { low[axis] } else { high[axis] };
        if amount < 0 {
            return fail(Problem::Amount { axis, amount });
        }
        axis += 1;
    }
    axis = 0;
    while axis < x.rank() {
        let Some(both) = low[axis].checked_add(high[axis]) else { return fail(Problem::Overflow) };
        dims = dims.and(match x.extent(axis) {
            UNKNOWN => UNKNOWN,
            extent => match extent.checked_add(both) {
                Some(extent) => extent,
                None => return fail(Problem::Overflow),
            },
        });
        axis += 1;
    }
    attempt!(check_dtype(Takes::Numbers, x, 0));
    dims.typed(x.dtype())
}

/// The part of the result of [`concat()`] at the position of the last of `parts`.
///
/// # Errors
/// None.
pub const fn joined_part<'a>(_whole: Type, parts: &[Type], _axis: i64) -> TypeResult<'a> {
    Ok(parts[parts.len() - 1])
}

/// The cotangent of the operand of [`joined_part`]: zeros of the last of `types`, with a part placed after the others.
///
/// # Errors
/// None.
pub const fn joined_part_grad<'a>(_part: Type, types: &[Type], _axis: i64) -> TypeResult<'a> {
    Ok(types[types.len() - 1])
}

/// The position of a written axis, which must be in range.
pub const fn axis_of(axis: i64, rank: usize) -> usize {
    from_end(axis, rank) as usize
}
