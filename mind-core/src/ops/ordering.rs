//! The elements along an axis in another order.

use super::{
    Attribute, Derivative, Field, FieldKind, Inferred, KERNEL, Make, OpInfo,
    fields::not_these_fields,
    rules::{self, foreign},
    sample::{Case, Sampling},
};
use crate::{
    ir::{Op, Reorder},
    profile::Profile,
    ty::{DType, Type},
};

rows! {
    Reorder:
    Reorder::Flip { .. } => FLIP,
}

/// `Flip(x; axis)`: the elements along an axis from the last to the first; an extension.
///
/// - **Shape**: that of the operand.
/// - **Dtype**: that of the operand.
/// - **Semantics**: along `axis` of extent `n` the element at `n - 1 - i` at each place `i`.
/// - **Error**: none: the result is exact.
/// - **Derivative**: (linear) the cotangent, flipped.
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

const AXIS: Field = Field::key("axis", "ax", FieldKind::I64);

const ORDERING: OpInfo = OpInfo { profile: Profile::Extended, infer, origin: rules::same_origin, ..KERNEL };

fn axis(op: &Op) -> i64 {
    match op {
        Op::Reorder(Reorder::Flip { axis }) => *axis,
        _ => foreign(op),
    }
}

/// Along the first, the last and an inner axis.
fn each_form(dtype: DType, op: impl Fn(i64) -> Op) -> Vec<Case> {
    let forms: [(i64, &[i64]); 4] = [(0, &[1]), (0, &[5]), (1, &[2, 3]), (1, &[2, 4, 3])];
    forms.map(|(axis, shape)| Case::new(op(axis), dtype, &[shape])).into()
}

fn infer(op: &Op, operands: &[&Type]) -> Inferred {
    rules::axis(op, axis(op), operands[0].rank(), &[0])?;
    Ok(operands[0].clone())
}
