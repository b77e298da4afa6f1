//! Functions of the language that are several operations.

use super::{Constant, Op, Own, expanded};
use crate::{dim::Dim, ir::Made, map::Map, ty::DType};

/// An operation of a composite.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) op: Op,
    /// The values that it is of: 0 is what the composite is of, 1 the result of its first step, and so on.
    pub(crate) operands: &'static [usize],
}

/// `one_hot(indices, count)`: 1 where the position along a new last axis is the index, and 0 elsewhere.
///
/// A composite rather than an operation, so that what uses the result is one loop with it.
pub(crate) fn one_hot(count: Dim, dtype: DType) -> Vec<Step> {
    let number = |number| Op::Const(Box::new(Constant { dtype, ..Constant::number(number) }));
    let step = |op, operands| Step { op, operands };
    let mut steps = vec![
        step(Op::Own(Own::Indices), &[0]),
        step(expanded(vec![-1]), &[1]),
        step(Op::Made(Made::Iota { shape: vec![count], axis: 0 }), &[]),
        step(Op::Map(Map::Eq), &[2, 3]),
    ];
    // The comparison gives truth values, which constants of numbers are not.
    if dtype != DType::Bool {
        steps.extend([
            step(number(1.0), &[]),
            step(number(0.0), &[]),
            step(Op::Map(Map::SELECTION), &[4, 5, 6]),
        ]);
    }
    steps
}
