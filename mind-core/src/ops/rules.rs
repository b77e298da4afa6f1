//! The shape and dtype rules that several families share.

use mind_shape::AxisFault;

use super::{Focus, Inferred, OpError};
use crate::{
    diag::Code,
    dim::Dim,
    ir::Op,
    map::Takes,
    ty::{Shape, Type},
};

/// Panics because a function of a row was called with another row's operation.
#[track_caller]
pub(super) fn wrong_row(op: &Op) -> ! {
    unreachable!("the table asks each row about its own operation only, not about `{}`", op.info().name)
}

/// Reports E2005 unless `takes` admits the element type of the operand.
pub(super) fn check_dtype(
    op: &Op,
    takes: Takes,
    operands: &[&Type],
    position: usize,
) -> Result<(), Box<OpError>> {
    let dtype = operands[position].dtype;
    if takes.admits(dtype) { Ok(()) } else { Err(OpError::dtype(op, position, dtype, takes).into()) }
}

/// Reports E2004 unless both operands have the same element type, and E2005 unless it is numeric.
pub(super) fn same_numbers(op: &Op, operands: &[&Type]) -> Result<(), Box<OpError>> {
    same_dtype(op, operands[0], operands[1])?;
    check_dtype(op, Takes::Numbers, operands, 0)
}

/// Reports E2004 unless both operands have the same element type.
pub(super) fn same_dtype(op: &Op, lhs: &Type, rhs: &Type) -> Result<(), Box<OpError>> {
    if lhs.dtype == rhs.dtype { Ok(()) } else { Err(OpError::mixed(op, lhs, rhs).into()) }
}

/// Reports E3002 unless the operand has this rank.
pub(super) fn rank(op: &Op, operands: &[&Type], position: usize, needed: usize) -> Result<(), Box<OpError>> {
    let found = operands[position].rank();
    if found == needed {
        return Ok(());
    }
    let problem = format!("operand of rank {found}, needed rank {needed}");
    Err(OpError::new(op, Code::E3002)
        .problem(problem)
        .focus(Focus::Operand(position))
        .operands(&[position])
        .into())
}

/// The type of the result for two operands of the same element type that broadcast.
pub(super) fn infer_broadcast(op: &Op, operands: &[&Type]) -> Inferred {
    let [lhs, rhs] = operands else { wrong_row(op) };
    same_dtype(op, lhs, rhs)?;
    // In most cases one operand already has the shape of the result. Its shape is shared instead of built again.
    for (whole, part) in [(lhs, rhs), (rhs, lhs)] {
        let offset = whole.rank().checked_sub(part.rank());
        let fits = |offset: usize| {
            let aligned = whole.shape[offset..].iter().zip(part.shape.iter());
            { aligned }.all(|(whole, part)| whole == part || part.is_one())
        };
        if offset.is_some_and(fits) {
            return Ok((*whole).clone());
        }
    }
    Ok(lhs.with_shape(broadcast(op, &lhs.shape, &rhs.shape)?))
}

/// The shape that two shapes broadcast to, aligned at their last dimensions.
pub(super) fn broadcast(op: &Op, lhs: &[Dim], rhs: &[Dim]) -> Result<Shape, Box<OpError>> {
    let rank = lhs.len().max(rhs.len());
    let one = Dim::ONE;
    (0..rank)
        .map(|axis| {
            let on = |shape: &[Dim]| (axis + shape.len()).checked_sub(rank);
            let (on_lhs, on_rhs) = (on(lhs), on(rhs));
            let a = on_lhs.map_or(&one, |axis| &lhs[axis]);
            let b = on_rhs.map_or(&one, |axis| &rhs[axis]);
            broadcast_dim(a, b).ok_or_else(|| {
                let mut dims = Vec::new();
                dims.extend(on_lhs.map(|axis| (0, axis)));
                dims.extend(on_rhs.map(|axis| (1, axis)));
                let mut error = OpError::new(op, Code::E3001)
                    .problem(format!("extents {a} and {b} do not broadcast in dimension {axis}"))
                    .operands(&[0, 1])
                    .dims(&dims);
                error.help = equate(a, b);
                error.into()
            })
        })
        .collect()
}

/// The extent that two dims broadcast to: equal dims stay, and 1 broadcasts to the other dim.
pub(super) fn broadcast_dim(a: &Dim, b: &Dim) -> Option<Dim> {
    match (a.as_literal(), b.as_literal()) {
        (Some(a), Some(b)) => mind_shape::broadcast_extent(a, b).map(Dim::literal),
        (Some(1), None) => Some(b.clone()),
        (None, Some(1)) => Some(a.clone()),
        (None, None) if a == b => Some(a.clone()),
        (Some(_) | None, None) | (None, Some(_)) => None,
    }
}

/// The likely fix if two dims differ: for two symbols, or for a symbol and a number.
pub(super) fn equate(a: &Dim, b: &Dim) -> Option<String> {
    match (a.as_symbol(), b.as_symbol()) {
        (Some(a), Some(b)) => {
            Some(format!("use one symbol for both if they are equal: `{a}` in place of `{b}`"))
        }
        (Some(symbol), None) if b.as_literal().is_some() => Some(declare(symbol, b)),
        (None, Some(symbol)) if a.as_literal().is_some() => Some(declare(symbol, a)),
        (Some(_) | None, None) | (None, Some(_)) => None,
    }
}

fn declare(symbol: &str, extent: &Dim) -> String {
    format!("declare the dimension as {extent} in place of `{symbol}` if it is always {extent}")
}

/// The operand and axis from which an axis of a broadcast result takes its extent.
pub(super) fn broadcast_origin(_: &Op, operands: &[&Type], axis: usize) -> Option<(usize, usize)> {
    let rank = operands.iter().map(|operand| operand.rank()).max()?;
    let on = |position: usize| {
        let operand = operands[position];
        let axis = (axis + operand.rank()).checked_sub(rank)?;
        Some((position, axis))
    };
    let stretched = |&(position, axis): &(usize, usize)| operands[position].shape[axis].is_one();
    let candidates: Vec<_> = (0..operands.len()).filter_map(on).collect();
    candidates.iter().find(|place| !stretched(place)).or(candidates.first()).copied()
}

/// Each result axis takes its extent from the same axis of the first operand.
pub(super) fn same_origin(_: &Op, _: &[&Type], axis: usize) -> Option<(usize, usize)> {
    Some((0, axis))
}

/// Reports E3004 for an axis outside `0..rank`, and E3005 for a repeated axis. The message shows the operands `shown`.
pub(super) fn axes(op: &Op, axes: &[i64], rank: usize, shown: &[usize]) -> Result<(), Box<OpError>> {
    let Err(fault) = mind_shape::check_axes(axes, rank) else { return Ok(()) };
    let (code, problem) = match fault {
        AxisFault::OutOfRange(axis) => (Code::E3004, format!("axis {axis} is out of range for rank {rank}")),
        AxisFault::Duplicate(axis) => (Code::E3005, format!("axis {axis} occurs twice in axes {axes:?}")),
        AxisFault::Length => unreachable!("only permutations have a needed length"),
    };
    Err(OpError::new(op, code).problem(problem).focus(Focus::Attribute("axes")).operands(shown).into())
}

/// Reports E3004 unless `axis` is in `0..rank`. The message shows the operands `shown`.
pub(super) fn axis(op: &Op, axis: i64, rank: usize, shown: &[usize]) -> Result<(), Box<OpError>> {
    if mind_shape::check_axes(&[axis], rank).is_ok() {
        return Ok(());
    }
    let error = OpError::new(op, Code::E3004).focus(Focus::Attribute("axis")).operands(shown);
    Err(error.problem(format!("axis {axis} is out of range for rank {rank}")).into())
}

/// Reports E3006 if an extent of a shape attribute is below 1 for all values of the symbols.
pub(super) fn positive(op: &Op, shape: &Shape) -> Result<(), Box<OpError>> {
    let bad = shape.iter().enumerate().find(|(_, dim)| dim.is_below_one());
    let Some((axis, dim)) = bad else { return Ok(()) };
    let problem = format!("dimension {axis} of {shape} is {dim}, needed at least 1");
    Err(OpError::new(op, Code::E3006).problem(problem).focus(Focus::Attribute("shape")).into())
}

/// Converts an axis, step or amount that was checked not to be negative.
pub(crate) fn position(axis: i64) -> usize {
    usize::try_from(axis).expect("inference refuses negative axes, steps and padding")
}

/// Reports E3003 unless two shapes of the same rank have equal extents along every axis except `but`. `operands` are
/// the operands with these shapes, or `None` for the shape of an attribute. The error underlines the second operand, if
/// any.
pub(super) fn same_extents(
    op: &Op,
    [a, b]: [&Shape; 2],
    operands: [Option<usize>; 2],
    but: usize,
) -> Result<(), Box<OpError>> {
    let mut extents = a.iter().zip(b.iter()).enumerate();
    let Some((axis, (a, b))) = extents.find(|(axis, (a, b))| *axis != but && a != b) else { return Ok(()) };
    let shown: Vec<usize> = operands.iter().flatten().copied().collect();
    let dims: Vec<(usize, usize)> = shown.iter().map(|operand| (*operand, axis)).collect();
    let mut error = OpError::new(op, Code::E3003)
        .problem(format!("extents {a} and {b} differ in dimension {axis}"))
        .operands(&shown)
        .dims(&dims);
    if let Some(second) = operands[1] {
        error = error.focus(Focus::Operand(second));
    }
    error.help = equate(a, b);
    Err(error.into())
}

/// Reports E3003 unless the operand has exactly this shape.
pub(super) fn expect_shape(
    op: &Op,
    operands: &[&Type],
    position: usize,
    needed: &Shape,
) -> Result<(), Box<OpError>> {
    let found = &operands[position].shape;
    if found == needed {
        return Ok(());
    }
    Err(OpError::new(op, Code::E3003)
        .problem(format!("operand of shape {found}, needed {needed}"))
        .focus(Focus::Operand(position))
        .operands(&[position])
        .into())
}
