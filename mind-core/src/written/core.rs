//! Operations of Core IR in the written form, for what both forms ask the same table.

use super::{Extents, Op};
use crate::ir::{self, Part, Reduction};

/// The written form of an operation that a plan calls a kernel for. A shape that it has is that of the result.
///
/// # Panics
/// If plans compute the operation by something else: loops, products, views.
pub fn of_call(op: &ir::Op) -> Op {
    match op {
        ir::Op::ArgReduce(arg, Reduction { axes, keepdims }) => {
            let axes = (!axes.is_empty()).then(|| axes.clone());
            Op::ArgReduce(*arg, Reduction { axes, keepdims: *keepdims })
        }
        ir::Op::Part(Part::SliceGrad { slice, .. }) => {
            Op::Part(Part::SliceGrad { shape: Extents::Like, slice: slice.clone() })
        }
        ir::Op::Rows(rows) => Op::Rows(rows.with_shape(|_| Extents::Like)),
        _ => op.in_form().unwrap_or_else(|| unreachable!("{op:?} is no call of a kernel")),
    }
}
