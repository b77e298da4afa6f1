//! Expresses in Core v1 the operations that derivatives need and Core v1 lacks.
//!
//! The data of a constant grows no faster than the sum of the extents. A constant of many elements repeats one number,
//! or holds one element per position of a single axis. Masks are exactly 0 or 1.

use mind_shape::match_dtype;

use crate::{
    build::Builder,
    data::TensorData,
    grad::{AutodiffError, push, rules::picked, typed},
    ir::{Arrange, Const, Op, Reduction, ValueId},
    map::formula,
    reduce::Reduce,
    ty::{DType, Shape, Type},
};

type Emitted = Result<ValueId, AutodiffError>;

/// 1 where `x > 0`, else 0, also for NaN: `1 - relu(1 - relu((x * B) * B))`.
///
/// `B` is the largest power of two of the type. The smallest subnormal multiplied by it twice exceeds 1: 2^-149 becomes
/// 2^105, 2^-1074 becomes 2^972. The multiplications must not be reassociated: `B * B` is infinite, and `0 * (B * B)`
/// is NaN.
pub(super) fn positive_mask(builder: &mut Builder, x: ValueId) -> Emitted {
    let dtype = builder.ty(x).dtype;
    let largest = if dtype == DType::F32 { 2f64.powi(127) } else { 2f64.powi(1023) };
    let largest = builder.constant(dtype, largest);
    let one = builder.constant(dtype, 1.0);
    let names = [("x", x), ("largest", largest), ("one", one)];
    formula(builder, "one - relu(one - relu(x * largest * largest))", &names)
}

/// A constant that repeats one number. All extents must be literals.
pub(super) fn filled(builder: &mut Builder, ty: &Type, value: f64) -> Emitted {
    if ty.rank() == 0 {
        return Ok(builder.constant(ty.dtype, value));
    }
    constant(builder, TensorData::splat(ty.dtype, value), ty.shape.clone())
}

/// Zeros of the type of `x`, whatever its elements are: `relu(-relu(x))`.
pub(super) fn zeros_like(builder: &mut Builder, x: ValueId) -> Emitted {
    formula(builder, "relu(-relu(x))", &[("x", x)])
}

/// A vector of ones with the extent of an axis of `of`, whatever the elements of `of` are.
pub(super) fn ones_along(builder: &mut Builder, of: ValueId, axis: usize) -> Emitted {
    let others: Vec<i64> = (0..builder.ty(of).rank() as i64).filter(|other| *other != axis as i64).collect();
    let mut zeros = zeros_like(builder, of)?;
    if !others.is_empty() {
        let reduction = Reduction { axes: others, keepdims: false };
        zeros = push(builder, Op::Reduce(Reduce::Sum, reduction), &[zeros])?;
    }
    formula(builder, "zeros + 1.0", &[("zeros", zeros)])
}

/// Reshapes a value to a shape, which may be the one it has.
pub(super) fn reshaped(builder: &mut Builder, value: ValueId, shape: Shape) -> Emitted {
    if builder.ty(value).shape == shape {
        Ok(value)
    } else {
        push(builder, Op::Arrange(Arrange::reshape(shape)), &[value])
    }
}

/// Zeros of shape `extents` with `dy` in the strided box `(starts, ends, steps)`, spread one axis after the other.
///
/// An axis of more than one position is spread by gathering rows of `dy`. Positions outside the box get row 0, which a
/// product with a 0/1 constant then clears. An axis of one position is spread by that product alone.
pub(super) fn place(
    builder: &mut Builder,
    dy: ValueId,
    extents: &[i64],
    (starts, ends, steps): (&[i64], &[i64], &[i64]),
) -> Emitted {
    let mut placed = dy;
    for axis in (0..extents.len()).rev() {
        let (extent, start, end, step) = (extents[axis], starts[axis], ends[axis], steps[axis]);
        if (start, end, step) == (0, extent, 1) {
            continue;
        }
        let source =
            |at: i64| ((start..end).contains(&at) && (at - start) % step == 0).then(|| (at - start) / step);
        if !builder.ty(placed).shape[axis].is_one() {
            let rows: Vec<i64> = (0..extent).map(|at| source(at).unwrap_or(0)).collect();
            placed = gather_axis(builder, placed, axis, rows)?;
        }
        let belongs = (0..extent).map(|at| f64::from(u8::from(source(at).is_some())));
        let mut along = vec![1; extents.len() - axis];
        along[0] = extent;
        let data = floats(builder.ty(dy).dtype, belongs);
        let mask = constant(builder, data, Shape::literal(&along))?;
        placed = formula(builder, "placed * mask", &[("placed", placed), ("mask", mask)])?;
    }
    Ok(placed)
}

/// Gathers the positions `rows` of an axis.
fn gather_axis(builder: &mut Builder, value: ValueId, axis: usize, rows: Vec<i64>) -> Emitted {
    let shape = Shape::literal(&[rows.len() as i64]);
    let rows = constant(builder, rows.into(), shape)?;
    if axis == 0 {
        return picked(builder, value, rows);
    }
    let first = typed::swapped(builder, value, 0, axis)?;
    let gathered = picked(builder, first, rows)?;
    typed::swapped(builder, gathered, 0, axis)
}

/// Zeros of shape `extents` with the rows of `updates` added at `indices`: a matrix product with a one-hot matrix.
///
/// The indices are converted to floats by gathering from `0, 1, 2, …`. Then `relu(1 - |i - j|)` is 1 where `i = j`,
/// else 0.
pub(super) fn scatter_add(
    builder: &mut Builder,
    indices: ValueId,
    updates: ValueId,
    extents: &[i64],
) -> Emitted {
    let dtype = builder.ty(updates).dtype;
    let too_many = |_| {
        AutodiffError::UnsupportedShape(format!("{} has more than 2^63 elements", Shape::literal(extents)))
    };
    let count = |shape: &[i64]| Shape::literal(shape).element_count().map_err(too_many);
    let rows = extents[0];
    let width = count(&extents[1..])?;
    let many = builder.ty(indices).shape.element_count().map_err(too_many)?;

    let positions =
        constant(builder, floats(dtype, (0..rows).map(|row| row as f64)), Shape::literal(&[rows]))?;
    let targets = picked(builder, positions, indices)?;
    let targets = reshaped(builder, targets, [1.into(), many.clone()].into_iter().collect())?;
    let positions = reshaped(builder, positions, Shape::literal(&[rows, 1]))?;
    let names = [("targets", targets), ("positions", positions)];
    let distance = formula(builder, "targets - positions", &names)?;
    let distance = formula(builder, "relu(d) + relu(-d)", &[("d", distance)])?;
    let one = builder.constant(dtype, 1.0);
    let one_hot = formula(builder, "relu(one - distance)", &[("one", one), ("distance", distance)])?;

    let updates = reshaped(builder, updates, [many, width].into_iter().collect())?;
    let sums = typed::product(builder, one_hot, updates)?;
    reshaped(builder, sums, Shape::literal(extents))
}

/// The largest extent of an axis whose positions a constant may list. `f32` represents each position exactly, and the
/// constant takes at most 128 MiB.
pub(super) const MOST_POSITIONS: i64 = 1 << 24;

fn constant(builder: &mut Builder, data: TensorData, shape: Shape) -> Emitted {
    push(builder, Op::Const(Const::Tensor { data, shape }), &[])
}

fn floats(dtype: DType, values: impl Iterator<Item = f64>) -> TensorData {
    match_dtype!(dtype, T {
        floats => values.map(|value| value as T).collect::<Vec<_>>().into(),
        others => values.collect::<Vec<_>>().into(),
    })
}
