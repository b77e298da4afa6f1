//! Sums over axes.

use super::{
    Attribute, Attributes, Class, Concrete, Derivative, Field, FieldKind, Inferred, KERNEL, Make, OpInfo,
    fields::not_these_fields,
    rules::{self, floats, foreign, position},
    sample::{Case, Domain, Sampling},
};
use crate::{
    dim::Dim,
    grad::{AutodiffError, Pullback},
    interp::{Float, Number, Value, offset, positions, with_float, with_number},
    ir::{Op, Reduction, ValueId},
    ty::{DType, Shape, Type},
};

/// `Sum(x; axes, keepdims)`: the sum over axes.
///
/// - **Shape**: the reduced axes are gone, or stay with extent 1 under `keepdims`; `[]` where `axes` is empty, which
///   means all.
/// - **Dtype**: the operand's.
/// - **Semantics**: the sum; integers wrap, the reference adds with twice the digits of `f64` and rounds once.
/// - **Error**: at most `4 ε log2(n)` times the sum of the magnitudes of the `n` elements, over whatever axes, where
///   `ε` is from 1
///   to the next number (`f32::EPSILON`); none for one element or for integers.
/// - **Derivative**: the cotangent broadcast to the operand's shape.
/// - **Constraints**: 1. axes in `0..rank` (E3004). 2. Each once (E3005).
/// - **Example**: `%1 = Sum (%0) {axes=[1], keepdims=false} : f32[2]`.
pub(super) static SUM: OpInfo = SUM_ROW;

/// `Mean(x; axes, keepdims)`: the arithmetic mean over axes.
///
/// - **Shape**: as `Sum`.
/// - **Dtype**: the operand's, `f32` or `f64`.
/// - **Semantics**: the sum divided by the number of elements that each result element is made of.
/// - **Error**: at most `4 ε log2(n)` times the mean of the magnitudes of the `n` elements, over whatever axes; `ε`
///   as in `Sum`.
/// - **Derivative**: the cotangent divided by that number, broadcast to the operand's shape.
/// - **Constraints**: 1. axes in `0..rank` (E3004). 2. Each once (E3005). 3. Floats (E2005).
/// - **Example**: `%1 = Mean (%0) {axes=[1], keepdims=false} : f32[2]`.
pub(super) static MEAN: OpInfo = OpInfo {
    name: "Mean",
    mnemonic: "mean",
    label: "mean",
    make: Make::Of(|attributes| Op::Mean(made(attributes))),
    infer: |op, operands| {
        floats(op, operands, 0)?;
        infer(op, operands)
    },
    evaluate: |op, operands, to| Ok(with_float!(to.dtype, T => reduce::<T>(op, operands[0], to, T::average))),
    derivative: Derivative::Linear(average_back),
    flops: |_, operands, _| operands[0].shape.element_count(),
    sample: Sampling {
        cases: |_, dtype| if dtype.is_float() { cases(Op::Mean, dtype) } else { Vec::new() },
        ..SUM_ROW.sample
    },
    ..SUM_ROW
};

/// The row of `Sum`, from which that of `Mean` differs little.
const SUM_ROW: OpInfo = OpInfo {
    name: "Sum",
    mnemonic: "sum",
    label: "sum",
    make: Make::Of(|attributes| Op::Sum(made(attributes))),
    class: Class::Reduction,
    infer,
    origin,
    evaluate: |op, operands, to| {
        Ok(with_number!(to.dtype, T => reduce::<T>(op, operands[0], to, |total, _| T::narrow(total))))
    },
    derivative: Derivative::Linear(|p| {
        let dy = p.cotangent();
        spread(p, dy)
    }),
    flops: |_, operands, result| operands[0].shape.element_count()?.sub(&result.shape.element_count()?),
    fields: &[Field::place("axes", FieldKind::Integers), Field::key("keepdims", "kd", FieldKind::Flag)],
    attributes,
    sample: Sampling {
        cases: |_, dtype| cases(Op::Sum, dtype),
        domain: Domain::Any,
        tolerance: (1e-2, 1e-6),
    },
    ..KERNEL
};

fn reduction(op: &Op) -> &Reduction {
    if let Op::Sum(reduction) | Op::Mean(reduction) = op { reduction } else { foreign(op) }
}

impl Reduction {
    /// The positions that a reduction of an operand of this rank takes away, ascending.
    pub fn positions(&self, rank: usize) -> Vec<usize> {
        if self.axes.is_empty() {
            return (0..rank).collect();
        }
        let mut positions: Vec<_> = self.axes.iter().copied().map(position).collect();
        positions.sort_unstable();
        positions
    }

    /// Whether reduced axes stay: empty axes mean a single number, whatever `keepdims` says.
    pub fn keeps(&self) -> bool {
        self.keepdims && !self.axes.is_empty()
    }
}

fn infer(op: &Op, operands: &[&Type]) -> Inferred {
    let (reduction, operand) = (reduction(op), operands[0]);
    rules::axes(op, &reduction.axes, operand.rank(), &[0])?;
    let reduced = reduction.positions(operand.rank());
    let dims = operand.shape.iter().enumerate();
    let shape = if reduction.keeps() {
        dims.map(|(axis, dim)| if reduced.contains(&axis) { Dim::ONE } else { dim.clone() }).collect()
    } else {
        dims.filter(|(axis, _)| !reduced.contains(axis)).map(|(_, dim)| dim.clone()).collect()
    };
    Ok(operand.with_shape(shape))
}

/// The total of each group of elements, finished with the number of elements of a group.
fn reduce<T: Number>(
    op: &Op,
    operand: &Value,
    to: &Concrete<'_>,
    finish: impl Fn(T::Total, usize) -> T,
) -> Value {
    let (reduction, rank) = (reduction(op), operand.shape.len());
    let reduced = reduction.positions(rank);
    let count = reduced.iter().map(|axis| operand.shape[*axis]).product();
    let mut totals = vec![T::NOTHING; to.shape.iter().product()];
    for (position, element) in positions(&operand.shape).zip(T::elements(operand)) {
        let kept = (0..rank).filter(|axis| reduction.keeps() || !reduced.contains(axis));
        let at: Vec<_> = kept.map(|axis| if reduced.contains(&axis) { 0 } else { position[axis] }).collect();
        let total = &mut totals[offset(to.shape, &at)];
        *total = element.accumulate(*total);
    }
    Value::new(to.shape, T::wrap(totals.into_iter().map(|total| finish(total, count)).collect()))
}

fn origin(op: &Op, operands: &[&Type], axis: usize) -> Option<(usize, usize)> {
    let (reduction, rank) = (reduction(op), operands[0].rank());
    let reduced = reduction.positions(rank);
    if reduction.keeps() {
        return (!reduced.contains(&axis)).then_some((0, axis));
    }
    (0..rank).filter(|axis| !reduced.contains(axis)).nth(axis).map(|axis| (0, axis))
}

/// Contributes a value of the result's shape broadcast to the operand's.
fn spread(p: &mut Pullback<'_>, value: ValueId) -> Result<(), AutodiffError> {
    let shape = p.ty(p.operand(0)).shape;
    let reduction = reduction(p.op());
    let value = if reduction.keeps() || reduction.axes.is_empty() {
        value
    } else {
        let axes = reduction.positions(shape.rank()).into_iter().map(|axis| axis as i64).collect();
        p.push(Op::ExpandDims { axes }, &[value])?
    };
    let value = p.broadcast_to(value, &shape)?;
    p.contribute(0, value)
}

fn average_back(p: &mut Pullback<'_>) -> Result<(), AutodiffError> {
    let (dy, x) = (p.cotangent(), p.operand(0));
    let shape = p.ty(x).shape;
    let positions = reduction(p.op()).positions(shape.rank());
    let averaged: Shape = positions.iter().map(|axis| shape[*axis].clone()).collect();
    let count = averaged.element_count().map_err(|overflow| {
        AutodiffError::UnsupportedShape(format!("`mean`: the element count of {averaged}: {overflow}"))
    })?;
    let axes: Vec<_> = positions.into_iter().map(|axis| axis as i64).collect();
    let value = p.divide_by_count(dy, &count, x, &axes)?;
    spread(p, value)
}

/// The values of [`FIELDS`].
fn attributes(op: &Op) -> Attributes {
    let Reduction { axes, keepdims } = reduction(op);
    [Some(Attribute::Integers(axes.clone())), Some(Attribute::Flag(*keepdims)), None]
}

fn made(attributes: Attributes) -> Reduction {
    let [Some(Attribute::Integers(axes)), Some(Attribute::Flag(keepdims)), None] = attributes else {
        not_these_fields()
    };
    Reduction { axes, keepdims }
}

fn cases(op: fn(Reduction) -> Op, dtype: DType) -> Vec<Case> {
    let forms: [(&[i64], &[i64], bool); 8] = [
        (&[], &[], false),
        (&[3], &[0], false),
        (&[2, 3], &[], false),
        (&[2, 3], &[], true),
        (&[2, 3], &[0, 1], true),
        (&[2, 3, 2], &[1], false),
        (&[2, 3, 2], &[1], true),
        (&[2, 3, 2], &[0, 2], false),
    ];
    let case = |(shape, axes, keepdims): (&[i64], &[i64], bool)| {
        Case::new(op(Reduction { axes: axes.to_vec(), keepdims }), dtype, &[shape])
    };
    forms.map(case).into()
}
