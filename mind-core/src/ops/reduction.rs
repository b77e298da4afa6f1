//! The rows of reductions in the table of operations, derived from [`Reduce::row`].

use super::{
    Attribute, Attributes, Derivative, Field, FieldKind, Inferred, KERNEL, Make, OpInfo, WorkClass,
    fields::{exactly, listed, not_these_fields},
    rules::{self, check_dtype, position, wrong_row},
    sample::{Case, Domain, Sampling},
};
use crate::{
    dim::{Dim, Overflow},
    ir::{Op, Reduction},
    map::Takes,
    profile::Profile,
    reduce::{ArgReduce, Reduce},
    ty::{DType, Type},
};

const FIELDS: &[Field] =
    &[Field::place("axes", FieldKind::Integers), Field::key("keepdims", "kd", FieldKind::Flag)];

rows_of!(Reduce);

const fn of(reduce: Reduce) -> OpInfo {
    let row = reduce.row();
    OpInfo {
        name: row.name,
        mnemonic: row.function,
        profile: row.profile,
        label: row.function,
        make: Make::Reduce(reduce),
        class: WorkClass::Reduction,
        infer,
        origin,
        derivative: if row.adjoint.is_empty() { Derivative::Linear } else { Derivative::Rule },
        flops,
        fields: FIELDS,
        attributes,
        sample: Sampling { cases, domain: row.monoid.domain(), tolerance: (1e-2, 1e-6) },
        ..KERNEL
    }
}

/// The row of an [`ArgReduce`] in the table of operations.
pub(super) const fn arg_row(arg: ArgReduce) -> &'static OpInfo {
    match arg {
        ArgReduce::Max => &ARG_MAX,
        ArgReduce::Min => &ARG_MIN,
    }
}

/// The rows of [`ArgReduce`].
pub(super) const ARGS: &[&OpInfo] = &[&ARG_MAX, &ARG_MIN];

/// `ArgMax(x; axes, keepdims)`: the positions of the largest elements; an extension.
///
/// - **Shape**: as `Sum`.
/// - **Dtype**: `i64`.
/// - **Semantics**: the position of the largest element over `axes`, or over all axes if `axes` is empty. Positions
///   count in row-major order along the reduced axes. The first of several equal elements counts. If there is NaN, the
///   first NaN counts.
/// - **Error**: none.
/// - **Derivative**: zero.
/// - **Constraints**: 1. `x` is numeric (E2005). 2. `axes` are in range (E3004) and distinct (E3005).
/// - **Example**: `%1 = ArgMax (%0) {axes=[1], keepdims=false} : i64[2]`.
static ARG_MAX: OpInfo = OpInfo {
    name: "ArgMax",
    mnemonic: "argmax",
    label: "argmax",
    make: Make::Of(|given| Op::ArgReduce(ArgReduce::Max, made(given))),
    ..ARG
};

/// `ArgMin(x; axes, keepdims)`: the positions of the smallest elements; an extension.
///
/// - **Shape**: as `Sum`.
/// - **Dtype**: `i64`.
/// - **Semantics**: the position of the smallest element over `axes`, or over all axes if `axes` is empty. Positions
///   count in row-major order along the reduced axes. The first of several equal elements counts. If there is NaN, the
///   first NaN counts.
/// - **Error**: none.
/// - **Derivative**: zero.
/// - **Constraints**: 1. `x` is numeric (E2005). 2. `axes` are in range (E3004) and distinct (E3005).
/// - **Example**: `%1 = ArgMin (%0) {axes=[1], keepdims=false} : i64[2]`.
static ARG_MIN: OpInfo = OpInfo {
    name: "ArgMin",
    mnemonic: "argmin",
    label: "argmin",
    make: Make::Of(|given| Op::ArgReduce(ArgReduce::Min, made(given))),
    ..ARG
};

const ARG: OpInfo = OpInfo {
    profile: Profile::Extended,
    infer,
    origin,
    flops: |_, operands, _| operands[0].shape.element_count(),
    fields: FIELDS,
    attributes,
    sample: Sampling { cases, domain: Domain::Any, tolerance: (0.0, 0.0) },
    ..KERNEL
};

/// The element types that a reduction takes, and its axes.
fn known(op: &Op) -> (Takes, &Reduction) {
    match op {
        Op::Reduce(reduce, reduction) => (reduce.row().takes, reduction),
        Op::ArgReduce(_, reduction) => (Takes::Numbers, reduction),
        _ => wrong_row(op),
    }
}

fn flops(op: &Op, operands: &[&Type], result: &Type) -> Result<Dim, Overflow> {
    let Op::Reduce(reduce, _) = op else { wrong_row(op) };
    let count = operands[0].shape.element_count()?;
    if reduce.row().divides { Ok(count) } else { count.sub(&result.shape.element_count()?) }
}

impl Reduction {
    /// The reduced axes of an operand of this rank, in ascending order.
    pub fn positions(&self, rank: usize) -> Vec<usize> {
        if self.axes.is_empty() {
            return (0..rank).collect();
        }
        let mut positions: Vec<_> = self.axes.iter().copied().map(position).collect();
        positions.sort_unstable();
        positions
    }

    /// Whether reduced axes stay, with extent 1. A reduction with empty `axes` gives a single number, whatever
    /// `keepdims` is.
    pub fn keeps(&self) -> bool {
        self.keepdims && !self.axes.is_empty()
    }
}

fn infer(op: &Op, operands: &[&Type]) -> Inferred {
    let ((takes, reduction), operand) = (known(op), operands[0]);
    check_dtype(op, takes, operands, 0)?;
    rules::axes(op, &reduction.axes, operand.rank(), &[0])?;
    let reduced = reduction.positions(operand.rank());
    let dims = operand.shape.iter().enumerate();
    let shape = if reduction.keeps() {
        dims.map(|(axis, dim)| if reduced.contains(&axis) { Dim::ONE } else { dim.clone() }).collect()
    } else {
        dims.filter(|(axis, _)| !reduced.contains(axis)).map(|(_, dim)| dim.clone()).collect()
    };
    let dtype = if matches!(op, Op::ArgReduce(..)) { DType::I64 } else { operand.dtype };
    Ok(Type::new(dtype, shape))
}

fn origin(op: &Op, operands: &[&Type], axis: usize) -> Option<(usize, usize)> {
    let (reduction, rank) = (known(op).1, operands[0].rank());
    let reduced = reduction.positions(rank);
    if reduction.keeps() {
        return (!reduced.contains(&axis)).then_some((0, axis));
    }
    (0..rank).filter(|axis| !reduced.contains(axis)).nth(axis).map(|axis| (0, axis))
}

/// The values of the fields.
fn attributes(op: &Op) -> Attributes {
    let Reduction { axes, keepdims } = known(op).1;
    listed([Attribute::Integers(axes.clone()), Attribute::Flag(*keepdims)])
}

pub(super) fn made(attributes: Attributes) -> Reduction {
    let [Attribute::Integers(axes), Attribute::Flag(keepdims)] = exactly(attributes) else {
        not_these_fields()
    };
    Reduction { axes, keepdims }
}

fn cases(row: &OpInfo, dtype: DType) -> Vec<Case> {
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
    let op = |axes: &[i64], keepdims: bool| {
        row.op(listed([Attribute::Integers(axes.to_vec()), Attribute::Flag(keepdims)]))
    };
    let forms = forms.iter().filter(|(_, axes, keepdims)| known(&op(axes, *keepdims)).0.admits(dtype));
    forms.map(|(shape, axes, keepdims)| Case::new(op(axes, *keepdims), dtype, &[shape])).collect()
}
