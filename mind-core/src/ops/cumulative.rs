//! What the elements up to each along an axis are together.

use super::{
    Attribute, Attributes, Derivative, Field, FieldKind, Inferred, KERNEL, Make, OpInfo,
    fields::not_these_fields,
    rules::{self, foreign},
    sample::{Case, Sampling},
};
use crate::{
    ir::{Cumulation, Op},
    map::Takes,
    profile::Profile,
    reduce::Cumulate,
    ty::Type,
};

/// The row of one in the table of operations.
pub(super) const fn row(cumulate: Cumulate) -> &'static OpInfo {
    match cumulate {
        Cumulate::Sum => &CUM_SUM,
    }
}

/// All rows.
pub(super) const ROWS: &[&OpInfo] = &[&CUM_SUM];

/// `CumSum(x; axis, reverse, exclusive)`: the sum of the elements up to each along an axis; an extension.
///
/// - **Shape**: that of the operand.
/// - **Dtype**: that of the operand.
/// - **Semantics**: at each place the sum of the elements at the places up to it along `axis`, under `exclusive` without its
///   own, the sum of none being 0; under `reverse` of those from it on. Integers wrap. Elements are added in the order of the
///   places, under `reverse` in that from the last one, in chains of 32; what is lost to rounding where a chain ends goes into
///   the next one. So the result is the same at every number of threads.
/// - **Error**: at most `4 ε log2(n)` times the sum of the magnitudes of the `n` elements that are added, where `ε` is from 1 to
///   the next number (`f32::EPSILON`); none for one element or for integers.
/// - **Derivative**: the cotangent summed from the other end, exclusive if this is.
/// - **Constraints**: 1. `axis` is in `0..rank` (E3004). 2. `x` is of numbers (E2005).
/// - **Example**: `%1 = CumSum (%0) {axis=1, reverse=false, exclusive=false} : f32[2, 3]`.
static CUM_SUM: OpInfo = OpInfo {
    name: "CumSum",
    mnemonic: "cumsum",
    label: "cumsum",
    make: Make::Of(|given| Op::Cumulate(Cumulate::Sum, made(given))),
    derivative: Derivative::Linear,
    ..CUMULATIVE
};

const CUMULATIVE: OpInfo = OpInfo {
    profile: Profile::Extended,
    infer,
    origin: rules::same_origin,
    flops: |_, operands, _| operands[0].shape.element_count(),
    fields: &[
        Field::key("axis", "ax", FieldKind::I64),
        Field::key("reverse", "rv", FieldKind::Flag),
        Field::key("exclusive", "ex", FieldKind::Flag),
    ],
    attributes: |op| {
        let Op::Cumulate(_, Cumulation { axis, reverse, exclusive }) = *op else { foreign(op) };
        [Some(Attribute::I64(axis)), Some(Attribute::Flag(reverse)), Some(Attribute::Flag(exclusive))]
    },
    sample: Sampling {
        cases: |row, dtype| {
            let forms: [(i64, &[i64]); 4] = [(0, &[1]), (0, &[5]), (1, &[2, 3]), (1, &[2, 3, 2])];
            let flags = [(false, false), (true, false), (false, true), (true, true)];
            let all = forms.into_iter().flat_map(|form| flags.map(|flags| (form, flags)));
            let case = |((axis, shape), (reverse, exclusive)): ((i64, &[i64]), _)| {
                let op = row.op([
                    Some(Attribute::I64(axis)),
                    Some(Attribute::Flag(reverse)),
                    Some(Attribute::Flag(exclusive)),
                ]);
                Case::new(op, dtype, &[shape])
            };
            all.map(case).collect()
        },
        ..KERNEL.sample
    },
    ..KERNEL
};

fn made(given: Attributes) -> Cumulation {
    let [Some(Attribute::I64(axis)), Some(Attribute::Flag(reverse)), Some(Attribute::Flag(exclusive))] =
        given
    else {
        not_these_fields()
    };
    Cumulation { axis, reverse, exclusive }
}

fn infer(op: &Op, operands: &[&Type]) -> Inferred {
    let (Op::Cumulate(_, Cumulation { axis, .. }), [x]) = (op, operands) else { foreign(op) };
    rules::axis(op, *axis, x.rank(), &[0])?;
    rules::taken(op, Takes::Numbers, operands, 0)?;
    Ok((*x).clone())
}
