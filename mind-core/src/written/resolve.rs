//! Resolves attributes of the written form when the types of the operands are known.

use mind_shape::{DType, Type as RuleType, rules::subscripted};

use super::extents::{bounds_of, extents_in, known, with_bounds};
use super::{Extents, Permutation, Subscript};
use crate::{
    dim::{Dim, Overflow},
    ir::{Reduction, Slice, Windows},
    ty::{Shape, Type},
};

/// The reason why attributes are invalid for the types of the operands.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Unresolved {
    /// The axis is out of range for the rank.
    Axis(i64, usize),
    /// The axis is repeated. The list holds the axes before it, resolved.
    Twice(i64, Vec<i64>),
    /// The list of axes is empty.
    NoAxes,
    /// This number of extents is left open, which is more than one.
    Open(usize),
    /// The product of the other extents, the first dim, does not divide the number of elements, the second.
    Indivisible(Dim, Dim),
    /// The padding does not have one amount of at least 0 per axis. The message describes the mistake.
    Amounts(String),
    /// An extent of the result exceeds a limit.
    Extent(Overflow),
    /// Indices are not integers.
    NoIndices,
    /// Right-hand sides have another number of rows than this one, or no rows.
    Rows(Dim),
    /// The operand at this position has another type than the first.
    Unlike(usize),
    /// An extent or a number of elements exceeds a limit.
    Overflow(Overflow),
}

/// The axes of a reduction. `None` means every axis.
pub(super) fn reduced(axes: Option<&[i64]>, keepdims: bool, rank: usize) -> Result<Reduction, Unresolved> {
    let axes = match axes {
        Some([]) if rank > 0 => return Err(Unresolved::NoAxes),
        Some(axes) => resolved_axes(axes, rank)?,
        None => (0..rank).map(position).collect(),
    };
    Ok(Reduction { axes, keepdims })
}

/// The axes of a squeeze. `None` means every axis of extent 1.
pub(super) fn squeezed_axes(axes: Option<&[i64]>, operand: &Type) -> Result<Vec<i64>, Unresolved> {
    match axes {
        Some(axes) => resolved_axes(axes, operand.rank()),
        None => Ok((0..operand.rank()).filter(|axis| operand.shape[*axis].is_one()).map(position).collect()),
    }
}

/// A slice with its bounds resolved by the types of the operands.
pub(super) fn sliced(slice: &Slice, operands: &[&Type]) -> Result<Box<Slice>, Unresolved> {
    let bounds = |bounds: &[Dim]| known(bounds, operands).map_err(Unresolved::Overflow);
    Ok(Box::new(Slice {
        starts: bounds(&slice.starts)?,
        ends: bounds(&slice.ends)?,
        steps: slice.steps.clone(),
    }))
}

/// Windows with their sizes resolved by the types of the operands, and with ascending axes of a tensor of this rank.
pub(super) fn slid(windows: &Windows, operands: &[&Type], rank: usize) -> Result<Box<Windows>, Unresolved> {
    let sizes = known(&windows.sizes, operands).map_err(Unresolved::Overflow)?;
    let axes = resolved_axes(&windows.axes, rank)?;
    let own = |axis: &i64| if *axis < 0 { axis + position(rank) } else { *axis };
    // The place in the written lists of each axis. Inference reports lists of another length.
    let places: Vec<usize> = { &axes }
        .iter()
        .filter_map(|axis| windows.axes.iter().position(|written| own(written) == *axis))
        .collect();
    fn sorted<T: Clone>(list: &[T], places: &[usize]) -> Vec<T> {
        match list.len() == places.len() {
            true => places.iter().map(|place| list[*place].clone()).collect(),
            false => list.to_vec(),
        }
    }
    Ok(Box::new(Windows {
        sizes: sorted(&sizes, &places),
        strides: sorted(&windows.strides, &places),
        dilations: sorted(&windows.dilations, &places),
        axes,
    }))
}

/// The slice that an index expression takes of the operand at `position_of`, and the axes that it drops. Of an axis whose
/// extent is a symbol, it takes all or the first position.
pub(super) fn index(operands: &[&Type], position_of: usize, subscripts: &[Subscript]) -> (Slice, Vec<i64>) {
    /// The extent in place of a symbol.
    const ANY: i64 = i64::MAX / 2;

    let dims = &*operands[position_of].shape;
    let extents: Vec<i64> = dims.iter().map(|dim| dim.as_literal().unwrap_or(ANY)).collect();
    let bindings = extents_in(subscripts.iter().flat_map(bounds_of), operands);
    let bound = |bound: &Dim| bound.evaluate(&bindings).expect("the rule of the index expression holds");
    let subscripts: Vec<_> = subscripts.iter().map(|part| with_bounds(part, bound)).collect();
    // The rule only reads the extents of the type.
    let taken = subscripted(RuleType::new(DType::F32, &extents), &subscripts);
    let taken = &taken.expect("the rule of the index expression holds")[..dims.len()];
    let end = |axis: usize| {
        let (of, dim) = (&taken[axis], &dims[axis]);
        if (of.start, of.step, of.extent) == (0, 1, ANY) {
            return dim.clone();
        }
        // One past the last position that is taken, limited by the extent, since the next step may be outside.
        let end = (of.start + of.extent * of.step).min(extents[axis]);
        assert!(dim.as_literal().is_some() || end == 1, "every extent is at least 1, but may be no more");
        Dim::literal(end)
    };
    let slice = Slice {
        starts: taken.iter().map(|taken| Dim::literal(taken.start)).collect(),
        ends: (0..taken.len()).map(end).collect(),
        steps: taken.iter().map(|taken| taken.step).collect(),
    };
    (slice, (0..taken.len()).filter(|axis| taken[*axis].dropped).map(position).collect())
}

/// Axes as positions, in ascending order. Negative axes count from the end.
pub(super) fn resolved_axes(written: &[i64], rank: usize) -> Result<Vec<i64>, Unresolved> {
    let count = position(rank);
    let mut axes = Vec::new();
    for axis in written.iter().copied() {
        let position = if axis < 0 { axis.saturating_add(count) } else { axis };
        if !(0..count).contains(&position) {
            return Err(Unresolved::Axis(axis, rank));
        }
        if axes.contains(&position) {
            return Err(Unresolved::Twice(axis, axes));
        }
        axes.push(position);
    }
    axes.sort_unstable();
    Ok(axes)
}

/// A permutation with the axes counted from the front. Inference reports an invalid one.
pub(super) fn permuted(permutation: &Permutation, rank: usize) -> Result<Vec<i64>, Unresolved> {
    let count = position(rank);
    Ok(match permutation {
        Permutation::Written(axes) => {
            let from_end = |axis: &i64| if (-count..0).contains(axis) { axis + count } else { *axis };
            axes.iter().map(from_end).collect()
        }
        Permutation::Reversed => (0..count).rev().collect(),
        Permutation::Matrices => {
            assert!(rank >= 2, "the rule of the operation holds, so there are two axes to swap");
            (0..count - 2).chain([count - 1, count - 2]).collect()
        }
        Permutation::Moved { from, to } => {
            let [from, to] = [resolved_axes(&[*from], rank)?[0], resolved_axes(&[*to], rank)?[0]];
            let mut axes: Vec<i64> = (0..count).filter(|axis| *axis != from).collect();
            axes.insert(crate::ops::position(to), from);
            axes
        }
    })
}

/// The shape of a padded value, and the box in it that holds the operand.
pub(super) fn padded(operand: &Type, low: &[i64], high: &[i64]) -> Result<(Shape, Slice), Unresolved> {
    let rank = operand.rank();
    if low.len() != rank || high.len() != rank {
        let problem = format!("{} and {} amounts given, {rank} of each needed", low.len(), high.len());
        return Err(Unresolved::Amounts(problem));
    }
    for (axis, amounts) in low.iter().zip(high).enumerate() {
        if let Some(amount) = [amounts.0, amounts.1].into_iter().find(|amount| **amount < 0) {
            let problem = format!("amount {amount} in dimension {axis}, needed at least 0");
            return Err(Unresolved::Amounts(problem));
        }
    }
    let longer = |dims: &[Dim], amounts: &[i64]| {
        let dims = dims.iter().zip(amounts).map(|(dim, amount)| dim.add_literal(*amount));
        dims.collect::<Result<Vec<Dim>, _>>().map_err(Unresolved::Extent)
    };
    let ends = longer(&operand.shape, low)?;
    let shape = Shape::new(longer(&ends, high)?);
    let starts = low.iter().copied().map(Dim::literal).collect();
    Ok((shape, Slice { starts, ends, steps: vec![1; rank] }))
}

/// The written shape, or the shape of the last operand.
pub(super) fn shape_of(shape: &Extents, operands: &[&Type]) -> Shape {
    match shape {
        Extents::Written(dims) => dims.iter().cloned().collect(),
        Extents::Like => operands[operands.len() - 1].shape.clone(),
    }
}

/// The written shape, with the extent -1 replaced by the one that fits.
pub(super) fn reshaped(dims: &[Dim], operand: &Type) -> Result<Shape, Unresolved> {
    let open = |dim: &Dim| dim.as_literal() == Some(-1);
    match dims.iter().filter(|dim| open(dim)).count() {
        0 => return Ok(dims.iter().cloned().collect()),
        1 => {}
        several => return Err(Unresolved::Open(several)),
    }
    let others = dims.iter().filter(|dim| !open(dim)).cloned().collect::<Shape>();
    let counts = operand.shape.element_count().and_then(|all| Ok((others.element_count()?, all)));
    let (others, all) = counts.map_err(Unresolved::Overflow)?;
    match all.exact_div(&others).map_err(Unresolved::Overflow)? {
        Some(extent) => {
            Ok(dims.iter().map(|dim| if open(dim) { extent.clone() } else { dim.clone() }).collect())
        }
        None => Err(Unresolved::Indivisible(others, all)),
    }
}

pub(super) fn position(axis: usize) -> i64 {
    i64::try_from(axis).expect("a rank and a written list are small")
}
