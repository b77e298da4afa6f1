//! Operations that make a value from attributes alone.

use super::{
    Attribute, Field, FieldKind, Inferred, Make, OpInfo, Profile, WorkClass,
    constant::NULLARY,
    fields::{SHAPE, exactly, listed, not_these_fields},
    rules::{self, wrong_row},
};
use crate::{
    ir::{Made, Op},
    ty::{DType, Shape, Type},
};

rows! {
    Made:
    Made::Iota { .. } => IOTA,
}

/// `Iota(shape, axis)`: each element is its position along an axis; an extension.
///
/// - **Shape**: the shape attribute.
/// - **Dtype**: `i64`.
/// - **Semantics**: `result[i, j] = i` for `axis` 0: elements count up from 0 along `axis` and are equal along the
///   other axes.
/// - **Error**: none.
/// - **Derivative**: zero.
/// - **Constraints**: 1. Extents of `shape` are at least 1 (E3006). 2. `axis` is in `0..rank` (E3004).
/// - **Example**: `%1 = Iota () {shape=[2, 3], axis=1} : i64[2, 3]`.
static IOTA: OpInfo = OpInfo {
    name: "Iota",
    mnemonic: "iota",
    label: "iota",
    profile: Profile::Extended,
    class: WorkClass::Kernel,
    infer: infer_iota,
    fields: &[SHAPE, Field::key("axis", "ax", FieldKind::I64)],
    attributes: |op| {
        let Op::Made(Made::Iota { shape, axis }) = op else { wrong_row(op) };
        listed([Attribute::Dims(shape.clone()), Attribute::I64(*axis)])
    },
    make: Make::Of(|attributes| {
        let [Attribute::Dims(shape), Attribute::I64(axis)] = exactly(attributes) else { not_these_fields() };
        Op::Made(Made::Iota { shape, axis })
    }),
    ..NULLARY
};

fn infer_iota(op: &Op, _: &[&Type]) -> Inferred {
    let Op::Made(Made::Iota { shape, axis }) = op else { wrong_row(op) };
    let shape = Shape::from_slice(shape);
    rules::positive(op, &shape)?;
    rules::axis(op, *axis, shape.rank(), &[])?;
    Ok(Type::new(DType::I64, shape))
}
