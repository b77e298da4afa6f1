//! The rows of elementwise functions in the table of operations, derived from [`Map::row`].

use super::{
    Derivative, Focus, Inferred, KERNEL, Make, OpError, OpInfo, WorkClass,
    fields::Attributes,
    rules::{broadcast, broadcast_origin, check_dtype, infer_broadcast, same_dtype, same_origin, wrong_row},
    sample::{Case, Sampling},
};
use crate::{
    diag::Code,
    dim::{Dim, Overflow},
    ir::Op,
    map::{Map, Row, ShapeRule, Takes},
    ty::{DType, Type},
};

rows_of!(Map);

const fn of(map: Map) -> OpInfo {
    let row = map.row();
    let derivative = match (row.derivative.is_empty(), row.is_linear()) {
        (true, _) => Derivative::Zero,
        (false, true) => Derivative::Linear,
        (false, false) => Derivative::Rule,
    };
    OpInfo {
        name: row.name,
        mnemonic: row.mnemonic,
        label: row.label,
        profile: row.profile,
        class: WorkClass::Elementwise,
        commutative: row.commutative,
        arity: row.arity(),
        infer,
        origin,
        derivative,
        flops,
        make: Make::Map(map),
        sample: Sampling { cases, domain: row.domain, tolerance: KERNEL.sample.tolerance },
        ..KERNEL
    }
}

fn known(op: &Op) -> &'static Row {
    if let Op::Map(map) = op { map.row() } else { wrong_row(op) }
}

fn infer(op: &Op, operands: &[&Type]) -> Inferred {
    let row = known(op);
    let ty = match (operands, row.shapes) {
        ([x], _) => {
            check_dtype(op, row.takes, operands, 0)?;
            (*x).clone()
        }
        (_, ShapeRule::Broadcast) => {
            let ty = infer_broadcast(op, operands)?;
            check_dtype(op, row.takes, operands, 0)?;
            ty
        }
        (_, ShapeRule::Equal) => {
            let [a, b] = operands else { wrong_row(op) };
            of_one_type(op, row.takes, [a, b])?
        }
        (_, ShapeRule::Choice) => choice(op, operands)?,
    };
    let dtype = row.result(ty.dtype);
    Ok(if dtype == ty.dtype { ty } else { Type::new(dtype, ty.shape) })
}

/// The type of a selection between two operands by truth values.
fn choice(op: &Op, operands: &[&Type]) -> Inferred {
    let [condition, a, b] = operands else { wrong_row(op) };
    check_dtype(op, Takes::Truths, operands, 0)?;
    if a.dtype != b.dtype {
        return Err(OpError::mixed(op, a, b).operands(&[1, 2]).into());
    }
    // Broadcasts each pair, so that the message names the two operands that do not broadcast.
    let mut pairs = [(a, b, [1, 2]), (condition, a, [0, 1]), (condition, b, [0, 2])].into_iter();
    let failed = pairs.find_map(|(lhs, rhs, shown)| {
        let mut error = broadcast(op, &lhs.shape, &rhs.shape).err()?;
        error.operands = shown.to_vec();
        error.dims.iter_mut().for_each(|(operand, _)| *operand = shown[*operand]);
        Some(error)
    });
    if let Some(error) = failed {
        return Err(error);
    }
    let values = broadcast(op, &a.shape, &b.shape)?;
    Ok(a.with_shape(broadcast(op, &condition.shape, &values)?))
}

/// The common type of two operands, or an error if their types differ.
pub(super) fn of_one_type(op: &Op, takes: Takes, [a, b]: [&Type; 2]) -> Inferred {
    same_dtype(op, a, b)?;
    check_dtype(op, takes, &[a, b], 0)?;
    same_shape(op, a, b)?;
    Ok(a.clone())
}

fn same_shape(op: &Op, a: &Type, b: &Type) -> Result<(), Box<OpError>> {
    if a.shape == b.shape {
        return Ok(());
    }
    Err(OpError::new(op, Code::E3003)
        .problem(format!("shapes differ, {} and {}", a.shape, b.shape))
        .focus(Focus::Operation)
        .operands(&[0, 1])
        .into())
}

fn origin(op: &Op, operands: &[&Type], axis: usize) -> Option<(usize, usize)> {
    match (known(op).arity(), known(op).shapes) {
        (1, _) | (_, ShapeRule::Equal) => same_origin(op, operands, axis),
        (_, ShapeRule::Broadcast | ShapeRule::Choice) => broadcast_origin(op, operands, axis),
    }
}

fn flops(op: &Op, operands: &[&Type], result: &Type) -> Result<Dim, Overflow> {
    if known(op).is_identity() {
        super::row::no_flops(op, operands, result)
    } else {
        result.shape.element_count()
    }
}

/// Cases of every broadcast pattern: none, a scalar on either side, a missing axis, a stretched axis, both stretched.
fn cases(row: &OpInfo, dtype: DType) -> Vec<Case> {
    let op = row.op(Attributes::default());
    let row = known(&op);
    let patterns: &[&[&[i64]]] = match (row.arity(), row.shapes) {
        (1, _) => &[&[&[]], &[&[3]], &[&[2, 3]]],
        (_, ShapeRule::Equal) => &[&[&[2, 3], &[2, 3]]],
        (_, ShapeRule::Choice) => &[
            &[&[], &[], &[]],
            &[&[2, 3], &[2, 3], &[2, 3]],
            &[&[2, 3], &[], &[2, 3]],
            &[&[2, 1], &[2, 3], &[3]],
            &[&[], &[2, 1], &[3]],
        ],
        (_, ShapeRule::Broadcast) => &[
            &[&[], &[]],
            &[&[2, 3], &[2, 3]],
            &[&[2, 3], &[]],
            &[&[], &[2, 3]],
            &[&[2, 3], &[3]],
            &[&[3], &[2, 3]],
            &[&[2, 1], &[2, 3]],
            &[&[2, 3], &[2, 1]],
            &[&[2, 1], &[1, 3]],
        ],
    };
    let patterns = patterns.iter().filter(|_| row.takes(dtype));
    patterns.map(|shapes| Case::new(op.clone(), dtype, shapes)).collect()
}
