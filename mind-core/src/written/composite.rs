//! Functions of the language that consist of several operations.

use super::{
    Constant, GivenAttributes, Op, Own, expanded,
    table::{first_channel, pooling, spread_like},
};
use crate::{
    data::TensorData,
    dim::Dim,
    ir::{Made, Pool},
    map::Map,
    ty::DType,
};

/// An operation of a composite.
#[derive(Clone, Debug)]
pub(crate) struct CompositeOp {
    pub(crate) op: Op,
    /// The operands. Numbers count the operands of the composite first, then the results of its steps in order.
    pub(crate) operands: Vec<usize>,
}

/// `one_hot(indices, count)`: 1 where the position along a new last axis is the index, and 0 elsewhere. Without `dtype`
/// the result has the element type of a second operand.
///
/// It is a composite and not an operation, so that operations on the result fuse with it into one loop.
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
    // The comparison already gives `bool`; other element types need a choice between constants.
    if dtype != Some(DType::Bool) {
        steps.extend([
            step(number(1.0), like()),
            step(number(0.0), like()),
            step(Op::Map(Map::SELECTION), vec![given + 3, given + 4, given + 5]),
        ]);
    }
    steps
}

/// `avg_pool(x, …)`: the sum of each window over the number of its elements. If padding is counted as zeros, the number
/// is that of a whole window. Otherwise it is the sum of the window over ones.
pub(crate) fn avg_pool(given: GivenAttributes, counted: bool) -> Vec<CompositeOp> {
    let pooling = pooling(given);
    let step = |op, operands| CompositeOp { op, operands };
    let sums = |of| step(Op::Pool(Pool::Total(pooling.clone())), vec![of]);
    let count: f64 = pooling.sizes.iter().map(|size| *size as f64).product();
    let mut steps = vec![sums(0)];
    if counted {
        steps.push(step(Op::Const(Box::new(Constant::number(count))), vec![0]));
    } else {
        // One channel is enough.
        let one = Op::Const(Box::new(Constant::number(1.0)));
        steps.extend([
            step(first_channel(), vec![0]),
            step(one, vec![0]),
            step(spread_like(), vec![3, 2]),
            sums(4),
        ]);
    }
    let count = steps.len();
    steps.push(step(Op::Map(Map::RATIO), vec![1, count]));
    steps
}

/// The first operand if the third is `f32`, and the second if it is `f64`.
///
/// Both are computed, in `f64`: the type of the third operand is known only to rustc.
pub(crate) fn of_float_type() -> Vec<CompositeOp> {
    let number = |of: fn(DType) -> f64| {
        let values = DType::ALL.map(|dtype| Ok(TensorData::splat(dtype, of(dtype))));
        Op::Const(Box::new(Constant { values, ..Constant::number(0.0) }))
    };
    let step = |op, operands| CompositeOp { op, operands };
    vec![
        step(number(|dtype| if dtype == DType::F64 { 1.0 } else { 0.0 }), vec![2]),
        step(number(|_| 0.0), vec![2]),
        step(Op::Map(Map::Ne), vec![3, 4]),
        step(Op::Map(Map::ToF64), vec![0]),
        step(Op::Map(Map::SELECTION), vec![5, 1, 6]),
        step(Op::Own(Own::ConvertedLike), vec![7, 2]),
    ]
}
