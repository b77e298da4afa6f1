//! The elements along an axis in another order.

use super::{
    Attribute, Attributes, Derivative, Field, FieldKind, Inferred, KERNEL, Make, OpInfo,
    fields::not_these_fields,
    rules::{self, foreign},
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

/// `Flip(x; axis)`: the elements along an axis from the last to the first; an extension.
///
/// - **Shape**: that of the operand.
/// - **Dtype**: that of the operand.
/// - **Semantics**: along `axis` of extent `n` the element at `n - 1 - i` at each place `i`.
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
    attributes: |op| [Some(Attribute::I64(axis(op))), None, None],
    make: Make::Of(|given| {
        let [Some(Attribute::I64(axis)), None, None] = given else { not_these_fields() };
        Op::Reorder(Reorder::Flip { axis })
    }),
    sample: Sampling {
        cases: |row, dtype| each_form(dtype, |axis| row.op([Some(Attribute::I64(axis)), None, None])),
        ..KERNEL.sample
    },
    ..ORDERING
};

/// `Roll(x; axis, shift)`: the elements along an axis moved by `shift` places, those moved off one end to the other; an extension.
///
/// - **Shape**: that of the operand.
/// - **Dtype**: that of the operand.
/// - **Semantics**: along `axis` of extent `n` the element at `i` goes to `(i + shift) mod n`, which is in `0..n` for a negative `shift` too.
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
        let Op::Reorder(Reorder::Roll { shift, axis }) = op else { foreign(op) };
        [Some(Attribute::I64(*axis)), Some(Attribute::I64(*shift)), None]
    },
    make: Make::Of(|given| {
        let [Some(Attribute::I64(axis)), Some(Attribute::I64(shift)), None] = given else {
            not_these_fields()
        };
        Op::Reorder(Reorder::Roll { shift, axis })
    }),
    sample: Sampling {
        cases: |row, dtype| {
            let of = |shift| {
                each_form(dtype, |axis| {
                    row.op([Some(Attribute::I64(axis)), Some(Attribute::I64(shift)), None])
                })
            };
            [of(1), of(-7)].concat()
        },
        ..KERNEL.sample
    },
    ..ORDERING
};

/// `Sort(x; axis, descending)`: the elements along an axis in order; an extension.
///
/// - **Shape**: that of the operand.
/// - **Dtype**: that of the operand.
/// - **Semantics**: along `axis` from the least to the greatest, under `descending` from the greatest to the least. Equal elements stay
///   in their order, and so do -0 and +0, which are equal. NaN comes last in either direction.
/// - **Error**: none: the result is exact.
/// - **Derivative**: the cotangent of each place to the element that comes there, by `ArgSort` and `AddAlong`.
/// - **Constraints**: 1. `axis` is in `0..rank` (E3004). 2. `x` is of numbers (E2005).
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

/// `ArgSort(x; axis, descending)`: where the elements along an axis are that come in order; an extension.
///
/// - **Shape**: that of the operand.
/// - **Dtype**: `i64`.
/// - **Semantics**: at each place along `axis` the position of the element that `Sort` puts there.
/// - **Error**: none.
/// - **Derivative**: zero.
/// - **Constraints**: 1. `axis` is in `0..rank` (E3004). 2. `x` is of numbers (E2005).
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
    // Comparisons, at the least.
    flops: |_, operands, _| operands[0].shape.element_count(),
    fields: &[AXIS, Field::key("descending", "de", FieldKind::Flag)],
    attributes: |op| {
        let Op::Reorder(Reorder::Sort { axis, descending } | Reorder::ArgSort { axis, descending }) = op
        else {
            foreign(op)
        };
        [Some(Attribute::I64(*axis)), Some(Attribute::Flag(*descending)), None]
    },
    sample: Sampling {
        cases: |row, dtype| {
            let of = |descending| {
                each_form(dtype, |axis| {
                    row.op([Some(Attribute::I64(axis)), Some(Attribute::Flag(descending)), None])
                })
            };
            [of(false), of(true)].concat()
        },
        domain: Domain::Apart,
        ..KERNEL.sample
    },
    ..ORDERING
};

fn made(given: Attributes) -> (i64, bool) {
    let [Some(Attribute::I64(axis)), Some(Attribute::Flag(descending)), None] = given else {
        not_these_fields()
    };
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
        _ => foreign(op),
    }
}

/// Along the first, the last and an inner axis.
fn each_form(dtype: DType, op: impl Fn(i64) -> Op) -> Vec<Case> {
    let forms: [(i64, &[i64]); 4] = [(0, &[1]), (0, &[5]), (1, &[2, 3]), (1, &[2, 4, 3])];
    forms.map(|(axis, shape)| Case::new(op(axis), dtype, &[shape])).into()
}

fn infer(op: &Op, operands: &[&Type]) -> Inferred {
    let x = operands[0];
    rules::axis(op, axis(op), x.rank(), &[0])?;
    let Op::Reorder(reorder) = op else { foreign(op) };
    if reorder.compares() {
        rules::taken(op, Takes::Numbers, operands, 0)?;
    }
    let dtype = if matches!(reorder, Reorder::ArgSort { .. }) { DType::I64 } else { x.dtype };
    Ok(Type::new(dtype, x.shape.clone()))
}
