//! Matrix products and the cotangents of their operands, for shapes that are values, not types.

use mind_shape::Type;

use super::{Argument, count, extent, number::Number, reduce::sum_like};
use crate::{
    kernels::matmul::{BatchDim, MatRef, matmul},
    shape::MAX_RANK,
    workspace::{carve, slot_bytes, with_workspace},
};

/// The operands of a product as stacks of matrices: a vector on the left is a row, a vector on the right a column.
struct MatrixStacks {
    m: usize,
    k: usize,
    n: usize,
    /// The batch axes of the result.
    batch: [BatchDim; MAX_RANK],
    batch_rank: usize,
    /// Whether the right operand is a single matrix, so that the left matrices form one taller matrix.
    is_flat: bool,
}

impl MatrixStacks {
    fn new(lhs: &Type, rhs: &Type) -> Self {
        let last = |ty: &Type, back: usize| extent(ty, ty.rank() - back);
        let (m, k) = if lhs.rank() == 1 { (1, last(lhs, 1)) } else { (last(lhs, 2), last(lhs, 1)) };
        let n = if rhs.rank() == 1 { 1 } else { last(rhs, 1) };
        let [lhs_batch, rhs_batch] = [lhs, rhs].map(|ty| ty.rank().saturating_sub(2));
        let batch_rank = lhs_batch.max(rhs_batch);
        let mut batch = [BatchDim { extent: 1, lhs_stride: 0, rhs_stride: 0 }; MAX_RANK];
        let mut strides = [m * k, k * n];
        for back in 1..=batch_rank {
            let of = |ty: &Type, rank: usize| if back <= rank { extent(ty, rank - back) } else { 1 };
            let extents = [of(lhs, lhs_batch), of(rhs, rhs_batch)];
            let dim = &mut batch[batch_rank - back];
            dim.extent = extents[0].max(extents[1]);
            dim.lhs_stride = if extents[0] == 1 { 0 } else { strides[0] };
            dim.rhs_stride = if extents[1] == 1 { 0 } else { strides[1] };
            strides = [strides[0] * extents[0], strides[1] * extents[1]];
        }
        let is_flat = strides[1] == k * n && (lhs_batch == batch_rank);
        if is_flat {
            let m = batch[..batch_rank].iter().map(|dim| dim.extent).product::<usize>() * m;
            return Self { m, k, n, batch, batch_rank: 0, is_flat };
        }
        Self { m, k, n, batch, batch_rank, is_flat }
    }

    /// The batch axes with other strides: those of the result in place of those of the operand whose cotangent is
    /// computed.
    fn batch(
        &self,
        lhs: impl Fn(&BatchDim, usize) -> usize,
        rhs: impl Fn(&BatchDim, usize) -> usize,
    ) -> Batch {
        let (mut dims, mut stride) = (self.batch, self.m * self.n);
        for dim in dims[..self.batch_rank].iter_mut().rev() {
            let known = *dim;
            *dim = BatchDim {
                extent: known.extent,
                lhs_stride: lhs(&known, stride),
                rhs_stride: rhs(&known, stride),
            };
            stride *= known.extent;
        }
        Batch { dims, rank: self.batch_rank }
    }
}

struct Batch {
    dims: [BatchDim; MAX_RANK],
    rank: usize,
}

impl Batch {
    fn dims(&self) -> &[BatchDim] {
        &self.dims[..self.rank]
    }

    fn matrices(&self) -> usize {
        self.dims().iter().map(|dim| dim.extent).product()
    }
}

fn rows<T>(data: &[T], columns: usize) -> MatRef<'_, T> {
    MatRef { data, offset: 0, row_stride: columns, col_stride: 1 }
}

fn columns<T>(data: &[T], columns: usize) -> MatRef<'_, T> {
    MatRef { data, offset: 0, row_stride: 1, col_stride: columns }
}

/// Computes `lhs @ rhs`, for a `matmul` and for a `dot`.
pub fn product<T: Number>(lhs: Argument<'_, T>, rhs: Argument<'_, T>, out: &mut [T]) {
    let layout = MatrixStacks::new(lhs.ty, rhs.ty);
    let MatrixStacks { m, k, n, .. } = layout;
    let batch = layout.batch(|dim, _| dim.lhs_stride, |dim, _| dim.rhs_stride);
    let out = &mut out[..batch.matrices() * m * n];
    matmul(batch.dims(), [m, k, n], rows(lhs.elements, k), rows(rhs.elements, n), out);
}

/// The cotangent of the left operand of a product: `dy @ rhs.T`, summed over the batch axes along which the operand was
/// broadcast.
pub fn product_grad_lhs<T: Number>(dy: Argument<'_, T>, lhs: &Type, rhs: Argument<'_, T>, out: &mut [T]) {
    let layout = MatrixStacks::new(lhs, rhs.ty);
    let MatrixStacks { m, k, n, .. } = layout;
    let batch = layout.batch(|_, stride| stride, |dim, _| dim.rhs_stride);
    summed(&layout, &batch, [m, k], lhs, out, |out| {
        matmul(batch.dims(), [m, n, k], rows(dy.elements, n), columns(rhs.elements, n), out);
    });
}

/// The cotangent of the right operand of a product: `lhs.T @ dy`, summed over the batch axes along which the operand
/// was broadcast.
pub fn product_grad_rhs<T: Number>(dy: Argument<'_, T>, lhs: Argument<'_, T>, rhs: &Type, out: &mut [T]) {
    let layout = MatrixStacks::new(lhs.ty, rhs);
    let MatrixStacks { m, k, n, .. } = layout;
    let batch = layout.batch(|dim, _| dim.lhs_stride, |_, stride| stride);
    summed(&layout, &batch, [k, n], rhs, out, |out| {
        matmul(batch.dims(), [k, m, n], columns(lhs.elements, k), rows(dy.elements, n), out);
    });
}

/// Computes a matrix per batch index, and sums the matrices to the type of the operand.
fn summed<T: Number>(
    layout: &MatrixStacks,
    batch: &Batch,
    [rows, columns]: [usize; 2],
    operand: &Type,
    out: &mut [T],
    compute: impl FnOnce(&mut [T]),
) {
    let (all, own) = (batch.matrices() * rows * columns, count(operand));
    if layout.is_flat || all == own {
        return compute(&mut out[..own]);
    }
    let mut extents = [1_i64; MAX_RANK];
    let rank = batch.rank + operand.rank().min(2);
    for (extent, dim) in extents.iter_mut().zip(batch.dims()) {
        *extent = dim.extent.cast_signed() as i64;
    }
    for back in 1..=operand.rank().min(2) {
        extents[rank - back] = operand.extent(operand.rank() - back);
    }
    let ty = Type::new(operand.dtype(), &extents[..rank]);
    with_workspace(slot_bytes::<T>(all), |workspace| {
        let (matrices, _) = carve(workspace.memory(), all);
        compute(matrices);
        sum_like(Argument::new(matrices, &ty), operand, out);
    });
}
