//! Functions of the language that are several operations.

use super::{Constant, Op, Own, expanded};
use crate::{dim::Dim, ir::Made, map::Map, ty::DType};

/// An operation of a composite.
#[derive(Clone, Debug)]
pub(crate) struct CompositeOp {
    pub(crate) op: Op,
    /// The values that it is of: first those that the composite is of, then the result of its first step, and so on.
    pub(crate) operands: Vec<usize>,
}

/// `one_hot(indices, count)`: 1 where the position along a new last axis is the index, and 0 elsewhere. Where no element type
/// is given it is that of a second operand.
///
/// A composite rather than an operation, so that what uses the result is one loop with it.
pub(crate) fn one_hot(count: Dim, dtype: Option<DType>) -> Vec<CompositeOp> {
    let given = if dtype.is_some() { 1 } else { 2 };
    let number = |number| {
        let constant = Constant::number(number);
        Op::Const(Box::new(Constant { dtype: dtype.unwrap_or(constant.dtype), ..constant }))
    };
    let like = || (1..given).collect();
    let step = |op, operands| CompositeOp { op, operands };
    let mut steps = vec![
        step(Op::Own(Own::Indices), vec![0]),
        step(expanded(vec![-1]), vec![given]),
        step(Op::Made(Made::Iota { shape: vec![count], axis: 0 }), vec![]),
        step(Op::Map(Map::Eq), vec![given + 1, given + 2]),
    ];
    // The comparison gives truth values, which constants of numbers are not.
    if dtype != Some(DType::Bool) {
        steps.extend([
            step(number(1.0), like()),
            step(number(0.0), like()),
            step(Op::Map(Map::SELECTION), vec![given + 3, given + 4, given + 5]),
        ]);
    }
    steps
}
