//! The rows of reductions in the table of operations: what all of them share, asked of [`Reduce::row`].

use super::{
    Attribute, Attributes, Class, Derivative, Field, FieldKind, Inferred, KERNEL, Make, OpInfo,
    fields::not_these_fields,
    rules::{self, foreign, position, taken},
    sample::{Case, Domain, Sampling},
};
use crate::{
    dim::{Dim, Overflow},
    ir::{Op, Reduction},
    map::Exactness,
    reduce::{Reduce, Row},
    ty::{DType, Type},
};

const FIELDS: &[Field] =
    &[Field::place("axes", FieldKind::Integers), Field::key("keepdims", "kd", FieldKind::Flag)];

/// The row of a reduction in the table of operations.
pub(super) const fn row(reduce: Reduce) -> &'static OpInfo {
    &ROWS[reduce as usize]
}

static ROWS: [OpInfo; Reduce::ALL.len()] = {
    let mut rows = [KERNEL; Reduce::ALL.len()];
    let mut next = 0;
    while next < rows.len() {
        rows[next] = of(Reduce::ALL[next]);
        next += 1;
    }
    rows
};

const fn of(reduce: Reduce) -> OpInfo {
    let row = reduce.row();
    // What chooses one element has a derivative that jumps where two are equal.
    let domain = match row.monoid.combine.row().exactness {
        Exactness::Exact => Domain::Apart,
        Exactness::Rounded | Exactness::Within(_) => Domain::Any,
    };
    OpInfo {
        name: row.name,
        mnemonic: row.function,
        profile: row.profile,
        label: row.function,
        make: Make::Reduce(reduce),
        class: Class::Reduction,
        infer,
        origin,
        derivative: if row.adjoint.is_empty() { Derivative::Linear } else { Derivative::Rule },
        flops,
        fields: FIELDS,
        attributes,
        sample: Sampling { cases, domain, tolerance: (1e-2, 1e-6) },
        ..KERNEL
    }
}

fn known(op: &Op) -> (&'static Row, &Reduction) {
    if let Op::Reduce(reduce, reduction) = op { (reduce.row(), reduction) } else { foreign(op) }
}

fn flops(op: &Op, operands: &[&Type], result: &Type) -> Result<Dim, Overflow> {
    let count = operands[0].shape.element_count()?;
    if known(op).0.divides { Ok(count) } else { count.sub(&result.shape.element_count()?) }
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
    let ((row, reduction), operand) = (known(op), operands[0]);
    taken(op, row.takes, operands, 0)?;
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
    [Some(Attribute::Integers(axes.clone())), Some(Attribute::Flag(*keepdims)), None]
}

pub(super) fn made(attributes: Attributes) -> Reduction {
    let [Some(Attribute::Integers(axes)), Some(Attribute::Flag(keepdims)), None] = attributes else {
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
        row.op([Some(Attribute::Integers(axes.to_vec())), Some(Attribute::Flag(keepdims)), None])
    };
    let forms = forms
        .iter()
        .filter(|(_, axes, keepdims)| known(&op(axes, *keepdims)).0.takes.admits(dtype.of_rules()));
    forms.map(|(shape, axes, keepdims)| Case::new(op(axes, *keepdims), dtype, &[shape])).collect()
}
