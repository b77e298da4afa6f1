//! Operations that join several tensors.

use super::{
    Attribute, Derivative, Field, FieldKind, Focus, Inferred, KERNEL, Make, OpError, OpInfo, Profile,
    VARIADIC,
    fields::{exactly, listed, not_these_fields},
    rules::{self, position},
    sample::{Case, Sampling},
};
use crate::{
    diag::Code,
    dim::{Dim, Overflow},
    ir::{Join, Op, Slice},
    ty::{Shape, Type},
};

rows! {
    Join:
    Join::Concat { .. } => CONCAT,
}

/// `Concat(x…; axis)`: tensors concatenated along an axis; an extension.
///
/// - **Shape**: the shape of the operands, with the sum of their extents along `axis`.
/// - **Dtype**: the dtype of all operands.
/// - **Semantics**: along `axis` the elements of the first operand come first, then those of the second, and so on.
///   `stack` concatenates operands along a new axis. Both functions take a list such as `[a, b]`, or a tuple of tensors.
/// - **Error**: none: elements are only moved.
/// - **Derivative**: each operand receives the slice of the cotangent at its position.
/// - **Constraints**: 1. at least one operand (E2007). 2. `axis` is in `0..rank` (E3004). 3. All operands have the same
///   dtype (E2004), 4. the same rank (E3002) and 5. the same extents along every other axis (E3003).
/// - **Example**: `%2 = Concat (%0, %1) {axis=0} : f32[5, 3]`.
static CONCAT: OpInfo = OpInfo {
    name: "Concat",
    mnemonic: "concat",
    label: "concat",
    profile: Profile::Extended,
    arity: VARIADIC,
    infer: infer_concat,
    origin: |op, _, axis| (axis != position(axis_of(op))).then_some((0, axis)),
    derivative: Derivative::Linear,
    fields: &[Field::key("axis", "ax", FieldKind::I64)],
    attributes: |op| listed([Attribute::I64(axis_of(op))]),
    make: Make::Of(|attributes| {
        let [Attribute::I64(axis)] = exactly(attributes) else { not_these_fields() };
        Op::Join(Join::Concat { axis })
    }),
    sample: Sampling {
        cases: |_, dtype| {
            let forms: [(i64, &[&[i64]]); 5] = [
                (0, &[&[3]]),
                (0, &[&[2], &[3]]),
                (1, &[&[2, 1], &[2, 3]]),
                (0, &[&[1, 3], &[2, 3], &[1, 3]]),
                (1, &[&[2, 2, 2], &[2, 1, 2]]),
            ];
            forms.map(|(axis, shapes)| Case::new(Op::Join(Join::Concat { axis }), dtype, shapes)).into()
        },
        ..KERNEL.sample
    },
    ..KERNEL
};

fn axis_of(op: &Op) -> i64 {
    if let Op::Join(Join::Concat { axis }) = op { *axis } else { rules::wrong_row(op) }
}

fn infer_concat(op: &Op, operands: &[&Type]) -> Inferred {
    let Some((first, others)) = operands.split_first() else {
        return Err(OpError::new(op, Code::E2007).problem("0 operands given, at least 1 needed").into());
    };
    let (axis, rank) = (axis_of(op), first.rank());
    rules::axis(op, axis, rank, &[0])?;
    let axis = position(axis);
    let mut dims = first.shape.to_vec();
    for (other, at) in others.iter().zip(1..) {
        if other.dtype != first.dtype {
            return Err(OpError { operands: vec![0, at], ..OpError::mixed(op, first, other) }
                .focus(Focus::Operand(at))
                .into());
        }
        rules::rank(op, operands, at, rank)?;
        rules::same_extents(op, [&first.shape, &other.shape], [Some(0), Some(at)], axis)?;
        dims[axis] =
            dims[axis].add(&other.shape[axis]).map_err(|overflow| OpError::overflow(op, overflow))?;
    }
    Ok(first.with_shape(Shape::new(dims)))
}

/// The box of a concatenation along `axis` that holds the operand `part`, which follows the operands `before`.
///
/// # Errors
/// If the sum of the extents does not fit into 64 bits. Inference refuses this for the operands of one operation.
pub(crate) fn place_of_part<'t>(
    before: impl IntoIterator<Item = &'t Type>,
    part: &Type,
    axis: usize,
) -> Result<Slice, Overflow> {
    let mut starts = vec![Dim::ZERO; part.rank()];
    for other in before {
        starts[axis] = starts[axis].add(&other.shape[axis])?;
    }
    let ends = starts.iter().zip(part.shape.iter()).map(|(start, extent)| start.add(extent));
    Ok(Slice { ends: ends.collect::<Result<_, _>>()?, steps: vec![1; part.rank()], starts })
}
