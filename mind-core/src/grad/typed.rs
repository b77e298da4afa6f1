//! Parts of gradients that depend on types, in operations of Core IR.

use std::collections::BTreeMap;

use crate::{
    build::Builder,
    dim::Dim,
    grad::{AutodiffError, core_v1, push, rules::Factor},
    ir::{Arrange, Const, Inst, Join, Op, Operands, Product, Reduction, ValueId},
    map::formula,
    ops::Motion,
    reduce::{Reduce, SUMS},
    ty::Shape,
};

type Emitted = Result<ValueId, AutodiffError>;

/// Sums `value` over the axes that broadcasting `shape` to the shape of `value` adds or stretches; `None` if `shape`
/// does not broadcast to it.
pub(crate) fn sum_to(
    builder: &mut Builder,
    value: ValueId,
    shape: &Shape,
) -> Result<Option<ValueId>, AutodiffError> {
    let from = &builder.ty(value).shape;
    let Some(axes) = reduced_axes(from, shape) else { return Ok(None) };
    if axes.is_empty() {
        return Ok(Some(value));
    }
    let added = from.rank() - shape.rank();
    let stretched = axes.len() > added;
    let reduction = Reduction { axes, keepdims: stretched };
    let sum = push(builder, Op::Reduce(Reduce::Sum, reduction), &[value])?;
    if stretched && added > 0 {
        let leading = Arrange::Squeeze { axes: (0..added as i64).collect() };
        return push(builder, Op::Arrange(leading), &[sum]).map(Some);
    }
    Ok(Some(sum))
}

/// The axes of `from` that are added or stretched when `to` is broadcast to it, ascending; `None` if `to` does not
/// broadcast to `from`.
fn reduced_axes(from: &Shape, to: &Shape) -> Option<Vec<i64>> {
    let added = from.rank().checked_sub(to.rank())?;
    let mut axes: Vec<i64> = (0..added as i64).collect();
    for (axis, (from, to)) in from[added..].iter().zip(to.iter()).enumerate() {
        if from == to {
            continue;
        }
        if !to.is_one() {
            return None;
        }
        axes.push((added + axis) as i64);
    }
    Some(axes)
}

/// The product of the extents of `axes` as a scalar of the element type of `like`; `None` if it is 1.
pub(crate) fn count(
    builder: &mut Builder,
    like: ValueId,
    shape: &Shape,
    axes: &[i64],
) -> Result<Option<ValueId>, AutodiffError> {
    let dtype = builder.ty(like).dtype;
    let shape: Shape =
        axes.iter().map(|axis| shape[*axis as usize].clone()).filter(|dim| !dim.is_one()).collect();
    if shape.rank() == 0 {
        return Ok(None);
    }
    push(builder, Op::Const(Const::Count { shape, dtype }.canonical()), &[]).map(Some)
}

/// The contribution to one factor of the product `a @ b`, given the cotangent `dy` of the product. It is a product with
/// the other factor transposed, summed over the broadcast axes of the batch.
pub(crate) fn product_grad(
    builder: &mut Builder,
    factor: Factor,
    dy: ValueId,
    [a, b]: [ValueId; 2],
) -> Emitted {
    let own = if factor == Factor::Lhs { a } else { b };
    match (factor, builder.ty(a).rank(), builder.ty(b).rank()) {
        (Factor::Lhs, 1, 1) => formula(builder, "dy * b", &[("dy", dy), ("b", b)]),
        (Factor::Rhs, 1, 1) => formula(builder, "dy * a", &[("dy", dy), ("a", a)]),
        (Factor::Lhs, 1, _) => product(builder, b, dy),
        (Factor::Rhs, 1, _) => outer(builder, a, dy),
        (Factor::Lhs, _, 1) => outer(builder, dy, b),
        (Factor::Rhs, _, 1) => product(builder, dy, a),
        // One product over the rows of all matrices, rather than a sum of products.
        (Factor::Rhs, 3.., 2) => {
            let rows = rows(builder, a)?;
            let (rows, dy) = (transposed(builder, rows)?, self::rows(builder, dy)?);
            product(builder, rows, dy)
        }
        (factor, _, _) => {
            let value = match factor {
                Factor::Lhs => {
                    let b = transposed(builder, b)?;
                    product(builder, dy, b)?
                }
                Factor::Rhs => {
                    let a = transposed(builder, a)?;
                    product(builder, a, dy)?
                }
            };
            let shape = builder.ty(own).shape.clone();
            let summed = sum_to(builder, value, &shape)?;
            Ok(summed.expect("the batch of a factor broadcasts to that of the product"))
        }
    }
}

/// The parts joined along an axis, if `sum` adds parts that cover the axis without overlap, each placed among zeros;
/// else `sum`. Only the sign of a zero may differ.
pub(super) fn joined(builder: &mut Builder, sum: ValueId) -> Emitted {
    let mut parts = BTreeMap::new();
    let mut joined_axis = None;
    let mut next = Some(sum);
    while let Some(term) = next {
        let inst = builder.inst(term);
        let (placed, rest) = match (&inst.op, &inst.operands[..]) {
            (Op::Map(map), [rest, placed]) if *map == SUMS.combine => (*placed, Some(*rest)),
            _ => (term, None),
        };
        let Some(PaddedPart { axis, start, end, part }) = PaddedPart::of(builder, placed) else {
            return Ok(sum);
        };
        if *joined_axis.get_or_insert(axis) != axis || parts.insert(start, (end, part)).is_some() {
            return Ok(sum);
        }
        next = rest;
    }
    let is_operation = (2..=Operands::MAX).contains(&parts.len());
    let Some(axis) = joined_axis.filter(|_| is_operation) else { return Ok(sum) };
    let mut operands = Vec::with_capacity(parts.len());
    let mut covered = Dim::ZERO;
    while let Some((end, part)) = parts.remove(&covered) {
        operands.push(part);
        covered = end;
    }
    if !parts.is_empty() || covered != builder.ty(sum).shape[axis] {
        return Ok(sum);
    }
    push(builder, Op::Join(Join::Concat { axis: axis as i64 }), &operands)
}

/// A part that the derivative of a slice of step 1 places among zeros along one axis.
struct PaddedPart {
    axis: usize,
    start: Dim,
    end: Dim,
    part: ValueId,
}

impl PaddedPart {
    fn of(builder: &Builder, value: ValueId) -> Option<Self> {
        let Inst { op, operands, ty } = builder.inst(value);
        let Some(Motion::Put(slice)) = op.motion() else { return None };
        let part = operands[0];
        let extents = &builder.ty(part).shape;
        let mut cut = (0..ty.rank()).filter(|axis| extents[*axis] != ty.shape[*axis]);
        let axis = cut.next().filter(|axis| slice.steps[*axis] == 1)?;
        let (start, end) = (slice.starts[axis].clone(), slice.ends[axis].clone());
        cut.next().is_none().then_some(Self { axis, start, end, part })
    }
}

/// The rows of all matrices as one matrix.
pub(super) fn rows(builder: &mut Builder, matrices: ValueId) -> Emitted {
    let shape = &builder.ty(matrices).shape;
    let (columns, outer) = shape.split_last().expect("matrices have columns");
    let fits = "a part of a countable extent";
    let count = outer.iter().try_fold(Dim::ONE, |count, extent| count.mul(extent)).expect(fits);
    let shape = [count, columns.clone()].into_iter().collect();
    core_v1::reshaped(builder, matrices, shape)
}

/// Swaps the last two axes.
pub(super) fn transposed(builder: &mut Builder, value: ValueId) -> Emitted {
    let rank = builder.ty(value).rank();
    swapped(builder, value, rank - 2, rank - 1)
}

/// Swaps two axes.
pub(super) fn swapped(builder: &mut Builder, value: ValueId, a: usize, b: usize) -> Emitted {
    let mut permutation: Vec<i64> = (0..builder.ty(value).rank() as i64).collect();
    permutation.swap(a, b);
    push(builder, Op::Arrange(Arrange::Transpose { permutation }), &[value])
}

/// `a @ b`.
pub(super) fn product(builder: &mut Builder, a: ValueId, b: ValueId) -> Emitted {
    let product = Product::of(builder.ty(a), builder.ty(b));
    push(builder, Op::Product(product), &[a, b])
}

/// Broadcasts a value to a shape.
pub(super) fn broadcast(builder: &mut Builder, value: ValueId, shape: &Shape) -> Emitted {
    push(builder, Op::Arrange(Arrange::BroadcastTo { shape: shape.clone() }), &[value])
}

/// Inserts axes of extent 1 at these positions of the result. Without any, returns the value.
pub(super) fn expanded(builder: &mut Builder, value: ValueId, axes: Vec<i64>) -> Emitted {
    if axes.is_empty() {
        return Ok(value);
    }
    push(builder, Op::Arrange(Arrange::ExpandDims { axes }), &[value])
}

/// The outer product of two vectors.
fn outer(builder: &mut Builder, rows: ValueId, columns: ValueId) -> Emitted {
    let rows = expanded(builder, rows, vec![1])?;
    let columns = expanded(builder, columns, vec![0])?;
    formula(builder, "rows * columns", &[("rows", rows), ("columns", columns)])
}
