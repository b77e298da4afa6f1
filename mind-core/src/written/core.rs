//! Conversion of Core IR operations to the written form, so that both forms can use the same table.

use super::{Extents, Op};
use crate::ir::{self, Part, Reduction};

/// The written form of an operation for which a plan calls a kernel. A shape attribute becomes that of the result.
///
/// # Panics
/// If plans compute the operation without such a call: by loops, products or views.
pub fn of_call(op: &ir::Op) -> Op {
    match op {
        ir::Op::ArgReduce(arg, Reduction { axes, keepdims }) => {
            let axes = (!axes.is_empty()).then(|| axes.clone());
            Op::ArgReduce(*arg, Reduction { axes, keepdims: *keepdims })
        }
        ir::Op::Part(Part::SliceGrad { slice, .. }) => {
            Op::Part(Part::SliceGrad { shape: Extents::Like, slice: slice.clone() })
        }
        ir::Op::Part(Part::UnfoldGrad { windows, .. }) => {
            Op::Part(Part::UnfoldGrad { shape: Extents::Like, windows: windows.clone() })
        }
        ir::Op::Fourier(fourier) => Op::Fourier(fourier.with_shape(|_| Extents::Like)),
        ir::Op::Pool(pool) => Op::Pool(pool.with_shape(|_| Extents::Like)),
        ir::Op::Rows(rows) => Op::Rows(rows.with_shape(|_| Extents::Like)),
        _ => op.in_form().unwrap_or_else(|| unreachable!("{op:?} is no call of a kernel")),
    }
}
