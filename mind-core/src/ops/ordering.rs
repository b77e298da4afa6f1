//! Operations that reorder the elements along an axis.

use super::{
    Attribute, Attributes, Derivative, Field, FieldKind, Inferred, KERNEL, Make, OpInfo,
    fields::{exactly, listed, not_these_fields},
    rules::{self, wrong_row},
    sample::{Case, Domain, Sampling},
};
use crate::{
    ir::{Op, Reorder},
    map::Takes,
    profile::Profile,
    ty::{DType, Type},
};

rows! {
    Reorder:
    Reorder::Flip { .. } => FLIP,
    Reorder::Roll { .. } => ROLL,
    Reorder::Sort { .. } => SORT,
    Reorder::ArgSort { .. } => ARG_SORT,
}

impl Reorder {
    /// The elements along an axis in reverse order.
    pub(crate) const fn reversed(axis: i64) -> Self {
        Self::Flip { axis }
    }
}

/// `Flip(x; axis)`: the elements along an axis in reverse order; an extension.
///
/// - **Shape**: the operand's.
/// - **Dtype**: the operand's.
/// - **Semantics**: position `i` along `axis` of extent `n` holds the operand's element at `n - 1 - i`.
/// - **Error**: none: the result is exact.
/// - **Derivative**: the cotangent, flipped.
/// - **Constraints**: 1. `axis` is in `0..rank` (E3004).
/// - **Example**: `%1 = Flip (%0) {axis=1} : f32[2, 3]`.
static FLIP: OpInfo = OpInfo {
    name: "Flip",
    mnemonic: "flip",
    label: "flip",
    derivative: Derivative::Linear,
    fields: &[AXIS],
    attributes: |op| listed([Attribute::I64(axis(op))]),
    make: Make::Of(|given| {
        let [Attribute::I64(axis)] = exactly(given) else { not_these_fields() };
        Op::Reorder(Reorder::Flip { axis })
    }),
    sample: Sampling {
        cases: |row, dtype| each_form(dtype, |axis| row.op(listed([Attribute::I64(axis)]))),
        ..KERNEL.sample
    },
    ..ORDERING
};

/// `Roll(x; axis, shift)`: the elements along an axis shifted by `shift` positions, with wraparound; an extension.
///
/// - **Shape**: the operand's.
/// - **Dtype**: the operand's.
/// - **Semantics**: the element at `i` along `axis` of extent `n` moves to `(i + shift) mod n`, which is in `0..n` also
///   for a negative `shift`.
/// - **Error**: none: the result is exact.
/// - **Derivative**: the cotangent, rolled by `-shift`.
/// - **Constraints**: 1. `axis` is in `0..rank` (E3004).
/// - **Example**: `%1 = Roll (%0) {axis=1, shift=-1} : f32[2, 3]`.
static ROLL: OpInfo = OpInfo {
    name: "Roll",
    mnemonic: "roll",
    label: "roll",
    derivative: Derivative::Linear,
    fields: &[AXIS, Field::key("shift", "sh", FieldKind::I64)],
    attributes: |op| {
        let Op::Reorder(Reorder::Roll { shift, axis }) = op else { wrong_row(op) };
        listed([Attribute::I64(*axis), Attribute::I64(*shift)])
    },
    make: Make::Of(|given| {
        let [Attribute::I64(axis), Attribute::I64(shift)] = exactly(given) else { not_these_fields() };
        Op::Reorder(Reorder::Roll { shift, axis })
    }),
    sample: Sampling {
        cases: |row, dtype| {
            let of = |shift| {
                each_form(dtype, |axis| row.op(listed([Attribute::I64(axis), Attribute::I64(shift)])))
            };
            [of(1), of(-7)].concat()
        },
        ..KERNEL.sample
    },
    ..ORDERING
};

/// `Sort(x; axis, descending)`: the elements along an axis, sorted; an extension.
///
/// - **Shape**: the operand's.
/// - **Dtype**: the operand's.
/// - **Semantics**: sorts along `axis` from the least element to the greatest, or from the greatest to the least if
///   `descending`. The sort is stable: equal elements keep their order, and -0 equals +0. NaN of either sign is greater
///   than every number: it comes last, or first if `descending`.
/// - **Error**: none: the result is exact.
/// - **Derivative**: each element receives the cotangent of its position in the result, by `ArgSort` and `AddAlong`.
/// - **Constraints**: 1. `axis` is in `0..rank` (E3004). 2. `x` is numeric (E2005).
/// - **Example**: `%1 = Sort (%0) {axis=1, descending=false} : f32[2, 3]`.
static SORT: OpInfo = OpInfo {
    name: "Sort",
    mnemonic: "sort",
    label: "sort",
    derivative: Derivative::Rule,
    make: Make::Of(|given| {
        let (axis, descending) = made(given);
        Op::Reorder(Reorder::Sort { axis, descending })
    }),
    ..SORTED
};

/// `ArgSort(x; axis, descending)`: the positions of the elements along an axis in sorted order; an extension.
///
/// - **Shape**: the operand's.
/// - **Dtype**: `i64`.
/// - **Semantics**: each position along `axis` holds the operand's position of the element that `Sort` moves there.
/// - **Error**: none.
/// - **Derivative**: zero.
/// - **Constraints**: 1. `axis` is in `0..rank` (E3004). 2. `x` is numeric (E2005).
/// - **Example**: `%1 = ArgSort (%0) {axis=1, descending=false} : i64[2, 3]`.
static ARG_SORT: OpInfo = OpInfo {
    name: "ArgSort",
    mnemonic: "argsort",
    label: "argsort",
    make: Make::Of(|given| {
        let (axis, descending) = made(given);
        Op::Reorder(Reorder::ArgSort { axis, descending })
    }),
    ..SORTED
};

const SORTED: OpInfo = OpInfo {
    // One comparison per element, a lower bound.
    flops: |_, operands, _| operands[0].shape.element_count(),
    fields: &[AXIS, Field::key("descending", "de", FieldKind::Flag)],
    attributes: |op| {
        let Op::Reorder(Reorder::Sort { axis, descending } | Reorder::ArgSort { axis, descending }) = op
        else {
            wrong_row(op)
        };
        listed([Attribute::I64(*axis), Attribute::Flag(*descending)])
    },
    sample: Sampling {
        cases: |row, dtype| {
            let of = |descending| {
                each_form(dtype, |axis| row.op(listed([Attribute::I64(axis), Attribute::Flag(descending)])))
            };
            [of(false), of(true)].concat()
        },
        domain: Domain::Apart,
        ..KERNEL.sample
    },
    ..ORDERING
};

fn made(given: Attributes) -> (i64, bool) {
    let [Attribute::I64(axis), Attribute::Flag(descending)] = exactly(given) else { not_these_fields() };
    (axis, descending)
}

const AXIS: Field = Field::key("axis", "ax", FieldKind::I64);

const ORDERING: OpInfo = OpInfo { profile: Profile::Extended, infer, origin: rules::same_origin, ..KERNEL };

fn axis(op: &Op) -> i64 {
    match op {
        Op::Reorder(
            Reorder::Flip { axis }
            | Reorder::Roll { axis, .. }
            | Reorder::Sort { axis, .. }
            | Reorder::ArgSort { axis, .. },
        ) => *axis,
        _ => wrong_row(op),
    }
}

/// Cases along the first, the last and an inner axis.
fn each_form(dtype: DType, op: impl Fn(i64) -> Op) -> Vec<Case> {
    let forms: [(i64, &[i64]); 4] = [(0, &[1]), (0, &[5]), (1, &[2, 3]), (1, &[2, 4, 3])];
    forms.map(|(axis, shape)| Case::new(op(axis), dtype, &[shape])).into()
}

fn infer(op: &Op, operands: &[&Type]) -> Inferred {
    let x = operands[0];
    rules::axis(op, axis(op), x.rank(), &[0])?;
    let Op::Reorder(reorder) = op else { wrong_row(op) };
    if reorder.compared_axis().is_some() {
        rules::check_dtype(op, Takes::Numbers, operands, 0)?;
    }
    let dtype = if matches!(reorder, Reorder::ArgSort { .. }) { DType::I64 } else { x.dtype };
    Ok(Type::new(dtype, x.shape.clone()))
}
