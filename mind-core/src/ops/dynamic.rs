//! Operations on consecutive elements along an axis, from a position that the program computes. The operations that
//! index by tensors are in `gathering.rs`.

use super::{
    Attribute, Derivative, Focus, Inferred, KERNEL, Make, OpError, OpInfo, Profile,
    fields::{SHAPE, exactly, listed, not_these_fields},
    gathering::{AXIS, index_dtype},
    indexing::unproved,
    rules::{self, position, wrong_row},
    sample::{Case, Sampling},
};
use crate::{
    diag::Code,
    dim::{Dim, Overflow},
    ir::{Op, Rows},
    ty::{DType, Shape, Type},
};

/// `DynamicSlice(x, start; shape, axis)`: consecutive elements along an axis, from a position that is computed; an
/// extension.
///
/// - **Shape**: `shape`.
/// - **Dtype**: the dtype of `x`.
/// - **Semantics**: `result[i, j] = x[i, start + j]` for `axis` 1; unless `0 <= start` and `start + shape[axis]` is at
///   most the extent of `axis`, the program stops (E6001) before anything is written.
/// - **Error**: none: elements are only moved.
/// - **Derivative**: zeros, updated from `start` on by the cotangent.
/// - **Constraints**: 1. `axis` is in `0..rank` of `x` (E3004). 2. `shape` has the rank of `x` (E3002), 3. its extents
///   along every other axis (E3003), 4. and along `axis` at least 1 (E3006) and at most that of `x` (E3011). 5. `start`
///   is an integer (E4011) 6. of rank 0 (E3002).
/// - **Example**: `%2 = DynamicSlice (%0, %1) {shape=[2, 3], axis=0} : f32[2, 3]`.
pub(super) static DYNAMIC_SLICE: OpInfo = OpInfo {
    name: "DynamicSlice",
    mnemonic: "dynamic_slice",
    label: "index",
    profile: Profile::Extended,
    arity: 2,
    infer: infer_dynamic_slice,
    requirements: |op, operands| {
        let Op::Rows(Rows::DynamicSlice { shape, axis }) = op else { wrong_row(op) };
        let (count, extent) = (&shape[position(*axis)], &operands[0].shape[position(*axis)]);
        unproved(count, extent).into_iter().collect()
    },
    origin: |op, _, axis| {
        let Op::Rows(Rows::DynamicSlice { axis: along, .. }) = op else { wrong_row(op) };
        (axis != position(*along)).then_some((0, axis))
    },
    derivative: Derivative::Linear,
    fields: &[SHAPE, AXIS],
    attributes: |op| {
        let Op::Rows(Rows::DynamicSlice { shape, axis }) = op else { wrong_row(op) };
        listed([Attribute::Dims(shape.to_vec()), Attribute::I64(*axis)])
    },
    make: Make::Of(|attributes| {
        let [Attribute::Dims(shape), Attribute::I64(axis)] = exactly(attributes) else { not_these_fields() };
        Op::Rows(Rows::DynamicSlice { shape: Shape::new(shape), axis })
    }),
    sample: Sampling {
        cases: |_, dtype| {
            let case = |(axis, whole, part): (i64, &[i64], &[i64])| Case {
                op: Op::Rows(Rows::DynamicSlice { shape: Shape::literal(part), axis }),
                operands: vec![Type::new(dtype, Shape::literal(whole)), Type::scalar(DType::I64)],
            };
            WITHIN.map(case).into()
        },
        ..KERNEL.sample
    },
    ..KERNEL
};

/// `DynamicUpdate(x, start, updates; axis)`: a tensor with consecutive elements along an axis replaced; an extension.
///
/// - **Shape**: the shape of `x`.
/// - **Dtype**: the dtype of `x`.
/// - **Semantics**: `x` with `result[i, start + j] = updates[i, j]` for `axis` 1; unless `0 <= start` and `start` plus
///   the extent of `updates` is at most that of `x`, the program stops (E6001) before anything is written.
/// - **Error**: none: elements are only moved.
/// - **Derivative**: `x` receives the cotangent with zeros from `start` on, and `updates` its slice from there.
/// - **Constraints**: 1. `axis` is in `0..rank` of `x` (E3004). 2. `start` is an integer (E4011) 3. of rank 0 (E3002).
///   4. `updates` has the dtype of `x` (E2004), 5. its rank (E3002), 6. its extents along every other axis (E3003),
///   7. and along `axis` at most its extent (E3011).
/// - **Example**: `%3 = DynamicUpdate (%0, %1, %2) {axis=0} : f32[4, 3]`.
pub(super) static DYNAMIC_UPDATE: OpInfo = OpInfo {
    name: "DynamicUpdate",
    mnemonic: "dynamic_update",
    label: "replace",
    profile: Profile::Extended,
    arity: 3,
    infer: infer_dynamic_update,
    requirements: |op, operands| {
        let Op::Rows(Rows::DynamicUpdate { axis }) = op else { wrong_row(op) };
        let along = |operand: usize| &operands[operand].shape[position(*axis)];
        unproved(along(2), along(0)).into_iter().collect()
    },
    origin: rules::same_origin,
    derivative: Derivative::Linear,
    fields: &[AXIS],
    attributes: |op| {
        let Op::Rows(Rows::DynamicUpdate { axis }) = op else { wrong_row(op) };
        listed([Attribute::I64(*axis)])
    },
    make: Make::Of(|attributes| {
        let [Attribute::I64(axis)] = exactly(attributes) else { not_these_fields() };
        Op::Rows(Rows::DynamicUpdate { axis })
    }),
    sample: Sampling {
        cases: |_, dtype| {
            let case = |(axis, whole, part): (i64, &[i64], &[i64])| Case {
                op: Op::Rows(Rows::DynamicUpdate { axis }),
                operands: vec![
                    Type::new(dtype, Shape::literal(whole)),
                    Type::scalar(DType::I64),
                    Type::new(dtype, Shape::literal(part)),
                ],
            };
            WITHIN.map(case).into()
        },
        ..KERNEL.sample
    },
    ..KERNEL
};

/// Cases: an axis, the shape of the whole tensor, and the shape of a part of it along that axis.
const WITHIN: [(i64, &[i64], &[i64]); 4] =
    [(0, &[4], &[3]), (0, &[3, 2], &[1, 2]), (1, &[3, 4], &[3, 2]), (1, &[2, 3, 2], &[2, 3, 2])];

impl Rows {
    /// The part of the first operand along an axis that has this shape.
    pub(crate) fn part(shape: Shape, axis: usize) -> Self {
        Self::DynamicSlice { shape, axis: axis as i64 }
    }

    /// The first operand with a part along an axis replaced.
    pub(crate) fn update(axis: usize) -> Self {
        Self::DynamicUpdate { axis: axis as i64 }
    }
}

/// The number of positions along an axis at which a part can begin.
pub(super) fn starts(whole: &Type, part: &Type, axis: i64) -> Result<Dim, Overflow> {
    let along = |ty: &Type| ty.shape[position(axis)].clone();
    along(whole).sub(&along(part))?.add_literal(1)
}

fn infer_dynamic_slice(op: &Op, operands: &[&Type]) -> Inferred {
    let (Op::Rows(Rows::DynamicSlice { shape, axis }), [x, _]) = (op, operands) else { wrong_row(op) };
    rules::axis(op, *axis, x.rank(), &[0])?;
    if shape.rank() != x.rank() {
        return Err(OpError::new(op, Code::E3002)
            .problem(format!("shape of rank {}, needed rank {}", shape.rank(), x.rank()))
            .focus(Focus::Attribute("shape"))
            .operands(&[0])
            .into());
    }
    rules::same_extents(op, [&x.shape, shape], [Some(0), None], position(*axis))?;
    rules::positive(op, shape)?;
    let result = x.with_shape(shape.clone());
    within(op, operands, &result, *axis, Focus::Attribute("shape"))?;
    start(op, operands)?;
    Ok(result)
}

fn infer_dynamic_update(op: &Op, operands: &[&Type]) -> Inferred {
    let (Op::Rows(Rows::DynamicUpdate { axis }), [x, _, updates]) = (op, operands) else { wrong_row(op) };
    rules::axis(op, *axis, x.rank(), &[0])?;
    start(op, operands)?;
    if x.dtype != updates.dtype {
        return Err(OpError::mixed(op, x, updates).operands(&[0, 2]).into());
    }
    rules::rank(op, operands, 2, x.rank())?;
    rules::same_extents(op, [&x.shape, &updates.shape], [Some(0), Some(2)], position(*axis))?;
    within(op, operands, updates, *axis, Focus::Operand(2))?;
    Ok((*x).clone())
}

/// Reports the errors of operand 1, a computed position.
fn start(op: &Op, operands: &[&Type]) -> Result<(), Box<OpError>> {
    index_dtype(op, operands, 1)?;
    rules::rank(op, operands, 1, 0)
}

/// Reports E3011 if a part is longer than operand 0 along an axis.
fn within(op: &Op, operands: &[&Type], part: &Type, axis: i64, focus: Focus) -> Result<(), Box<OpError>> {
    let (count, extent) = (&part.shape[position(axis)], &operands[0].shape[position(axis)]);
    let starts = starts(operands[0], part, axis).map_err(|overflow| OpError::overflow(op, overflow))?;
    if !starts.at_most(&Dim::ZERO) {
        return Ok(());
    }
    Err(OpError::new(op, Code::E3011)
        .problem(format!("a part of {count} elements does not fit dimension {axis} of extent {extent}"))
        .focus(focus)
        .dims(&[(0, position(axis))])
        .operands(&[0])
        .into())
}
