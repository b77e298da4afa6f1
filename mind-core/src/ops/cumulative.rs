//! The rows of cumulations in the table of operations, derived from [`Cumulate::row`].

use super::{
    Attribute, Attributes, Derivative, Field, FieldKind, Inferred, KERNEL, Make, OpInfo, elementwise,
    fields::{exactly, listed, not_these_fields},
    rules::{self, wrong_row},
    sample::{Case, Domain, Sampling},
};
use crate::{
    cumulate::{Combine, Cumulate},
    ir::{Cumulation, Op},
    map::Takes,
    profile::Profile,
    ty::{DType, Type},
};

const FIELDS: &[Field] = &[
    Field::key("axis", "ax", FieldKind::I64),
    Field::key("reverse", "rv", FieldKind::Flag),
    Field::key("exclusive", "ex", FieldKind::Flag),
];

rows_of!(Cumulate);

const fn of(cumulate: Cumulate) -> OpInfo {
    let row = cumulate.row();
    let domain = match row.monoid() {
        Some(monoid) => monoid.domain(),
        None => Domain::Any,
    };
    OpInfo {
        name: row.name,
        mnemonic: row.function,
        label: row.function,
        profile: Profile::Extended,
        make: Make::Cumulate(cumulate),
        arity: row.operands.len(),
        infer,
        origin: rules::same_origin,
        derivative: if row.is_linear() { Derivative::Linear } else { Derivative::Rule },
        flops: |_, operands, _| operands[0].shape.element_count(),
        fields: FIELDS,
        attributes: |op| {
            let Op::Cumulate(_, Cumulation { axis, reverse, exclusive }) = *op else { wrong_row(op) };
            listed([Attribute::I64(axis), Attribute::Flag(reverse), Attribute::Flag(exclusive)])
        },
        sample: Sampling { cases, domain, tolerance: (1e-2, 1e-6) },
        ..KERNEL
    }
}

fn cases(row: &OpInfo, dtype: DType) -> Vec<Case> {
    let forms: [(i64, &[i64]); 4] = [(0, &[1]), (0, &[5]), (1, &[2, 3]), (1, &[2, 3, 2])];
    let flags = [(false, false), (true, false), (false, true), (true, true)];
    let all = forms.into_iter().flat_map(|form| flags.map(|flags| (form, flags)));
    let case = |((axis, shape), (reverse, exclusive)): ((i64, &[i64]), _)| {
        let op = row.op(listed([Attribute::I64(axis), Attribute::Flag(reverse), Attribute::Flag(exclusive)]));
        Case::new(op, dtype, &vec![shape; row.arity])
    };
    let takes = if row.arity == 1 { Takes::Numbers } else { Takes::Floats };
    if takes.admits(dtype) { all.map(case).collect() } else { Vec::new() }
}

pub(super) fn made(given: Attributes) -> Cumulation {
    let [Attribute::I64(axis), Attribute::Flag(reverse), Attribute::Flag(exclusive)] = exactly(given) else {
        not_these_fields()
    };
    Cumulation { axis, reverse, exclusive }
}

fn infer(op: &Op, operands: &[&Type]) -> Inferred {
    let Op::Cumulate(cumulate, Cumulation { axis, .. }) = op else { wrong_row(op) };
    rules::axis(op, *axis, operands[0].rank(), &[0])?;
    match cumulate.row().combine {
        Combine::Monoid(_) => {
            rules::check_dtype(op, Takes::Numbers, operands, 0)?;
            Ok(operands[0].clone())
        }
        Combine::Recurrence => elementwise::of_one_type(op, Takes::Floats, [operands[0], operands[1]]),
    }
}
