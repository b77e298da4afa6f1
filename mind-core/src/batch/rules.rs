//! The rules: one for each kind of operations, except loops.

use super::{Batch, Emitted, Value, loops};
use crate::{
    dim::Dim,
    ir::{
        Arrange, Cumulation, Inst, Join, Op, Own, Part, Pool, Product, Reduction, Reorder, Rows, Slice,
        ValueId, Window, Windows,
    },
    map::{Map, ShapeRule},
    ops::OpError,
    ty::Shape,
};

impl Batch<'_> {
    /// Applies an operation with a batched operand to all slices.
    pub(super) fn rule(&mut self, inst: &Inst) -> Emitted {
        let first = self.values[inst.operands[0].index()].id;
        match &inst.op {
            Op::Input { .. } | Op::Const(_) | Op::Made(_) => unreachable!("it has no operands"),
            Op::Effect(_) => self.builder.push(inst.op.clone(), &[first]),
            Op::Map(map) => {
                let rank = inst.ty.rank();
                let mut operands = Vec::new();
                for operand in inst.operands.iter() {
                    let Value { mut id, mut is_batched } = self.values[operand.index()];
                    if map.row().shapes == ShapeRule::Equal && !is_batched {
                        (id, is_batched) = (self.batched(*operand)?, true);
                    }
                    operands.push(if is_batched { self.aligned(id, rank)? } else { id });
                }
                self.builder.push(inst.op.clone(), &operands)
            }
            Op::Reduce(..) | Op::ArgReduce(..) if self.old.ty(inst.operands[0]).rank() == 0 => {
                self.each(inst)
            }
            Op::Reduce(reduce, reduction) => {
                let op = Op::Reduce(*reduce, after_axis(reduction));
                self.builder.push(op, &[first])
            }
            Op::ArgReduce(arg, reduction) => {
                let op = Op::ArgReduce(*arg, after_axis(reduction));
                self.builder.push(op, &[first])
            }
            Op::Cumulate(cumulate, cumulation) => {
                let along = Cumulation { axis: cumulation.axis + 1, ..*cumulation };
                self.all(inst, Op::Cumulate(*cumulate, along))
            }
            Op::Reorder(reorder) => self.builder.push(Op::Reorder(one_further(*reorder)), &[first]),
            Op::Arrange(arrange) => self.arrange(arrange, first, inst.ty.rank()),
            Op::Part(part) => self.part(part, first, &self.old.ty(inst.operands[0]).shape.clone()),
            Op::Rows(rows) => self.rows(rows, inst),
            Op::Join(Join::Concat { axis }) => self.all(inst, Op::Join(Join::Concat { axis: axis + 1 })),
            Op::Product(_) => self.product(inst),
            Op::Matrix(_) => self.all(inst, inst.op.clone()),
            Op::Fourier(fourier) => {
                self.all(inst, Op::Fourier(fourier.with_shape(|shape| self.with_axis(shape))))
            }
            Op::Window(window) => self.window(window, inst),
            Op::Pool(Pool::DepthwiseGradFilter(_)) => self.each(inst),
            Op::Pool(pool) => {
                let op = Op::Pool(pool.with_shape(|shape| self.with_axis(shape)));
                if !pool.is_product() {
                    return self.all(inst, op);
                }
                let Value { id: filter, is_batched } = self.values[inst.operands[1].index()];
                if is_batched { self.each(inst) } else { self.builder.push(op, &[first, filter]) }
            }
            Op::Own(Own::External(_)) => self.each(inst),
            Op::Own(Own::Nesting(_)) => {
                let module = inst
                    .op
                    .as_pullback()
                    .expect("the other instructions with modules have a rule of their own");
                let mut batch = Batch::new(module, self.extent, &vec![true; module.inputs().len()])?;
                batch.run()?;
                let outputs = batch.outputs(|_| true)?;
                let module = loops::nested(batch.builder.finish(outputs), &inst.op)?;
                self.all(inst, inst.op.clone().with_nested(module))
            }
        }
    }

    /// Applies an operation to all operands with the axis.
    fn all(&mut self, inst: &Inst, op: Op) -> Emitted {
        let operands = inst.operands.iter().map(|operand| self.batched(*operand));
        let operands = operands.collect::<Result<Vec<_>, _>>()?;
        self.builder.push(op, &operands)
    }

    fn arrange(&mut self, arrange: &Arrange, value: ValueId, rank: usize) -> Emitted {
        let further = |axes: &[i64]| axes.iter().map(|axis| axis + 1).collect::<Vec<_>>();
        match arrange {
            Arrange::Reshape { shape } => self.reshaped(value, self.with_axis(shape)),
            Arrange::Transpose { permutation } => {
                let permutation = std::iter::once(0).chain(further(permutation)).collect();
                self.arranged(value, Arrange::Transpose { permutation })
            }
            Arrange::ExpandDims { axes } => {
                let axes = further(axes);
                self.arranged(value, Arrange::ExpandDims { axes })
            }
            Arrange::Squeeze { axes } => {
                let axes = further(axes);
                self.arranged(value, Arrange::Squeeze { axes })
            }
            Arrange::BroadcastTo { shape } => {
                let value = self.aligned(value, rank)?;
                self.broadcast(value, self.with_axis(shape))
            }
        }
    }

    fn part(&mut self, part: &Part, value: ValueId, operand: &Shape) -> Emitted {
        match part {
            Part::Index { indices } if indices.is_empty() => Ok(value),
            Part::Index { indices } => {
                let overflow = |overflow| OpError::overflow(&Op::Part(part.clone()), overflow);
                let ends = indices.iter().map(|index| index.add_literal(1)).collect::<Result<Vec<_>, _>>();
                let ends = ends.map_err(overflow)?;
                let slice = Slice { starts: indices.clone(), ends, steps: vec![1; operand.rank()] };
                let slice = Op::Part(Part::Slice(self.slice(&slice)));
                let element = self.builder.push(slice, &[value])?;
                let axes = (1..=operand.rank()).map(|axis| axis as i64).collect();
                self.arranged(element, Arrange::Squeeze { axes })
            }
            Part::Slice(slice) => self.builder.push(Op::Part(Part::Slice(self.slice(slice))), &[value]),
            Part::SliceGrad { shape, slice } => {
                let (shape, slice) = (self.with_axis(shape), self.slice(slice));
                self.builder.push(Op::Part(Part::SliceGrad { shape, slice }), &[value])
            }
            Part::Unfold(windows) => {
                self.builder.push(Op::Part(Part::Unfold(after_batch(windows))), &[value])
            }
            Part::UnfoldGrad { shape, windows } => {
                let (shape, windows) = (self.with_axis(shape), after_batch(windows));
                self.builder.push(Op::Part(Part::UnfoldGrad { shape, windows }), &[value])
            }
        }
    }

    /// The slice with the whole new axis, and with the other axes sliced as before.
    fn slice(&self, slice: &Slice) -> Box<Slice> {
        let after = |first: &Dim, rest: &[Dim]| std::iter::once(first).chain(rest).cloned().collect();
        Box::new(Slice {
            starts: after(&Dim::ZERO, &slice.starts),
            ends: after(self.extent, &slice.ends),
            steps: std::iter::once(1).chain(slice.steps.iter().copied()).collect(),
        })
    }

    fn rows(&mut self, rows: &Rows, inst: &Inst) -> Emitted {
        let [a, b] = [inst.operands[0], inst.operands[1]];
        match rows {
            Rows::DynamicSlice { .. } | Rows::DynamicUpdate { .. } | Rows::Scatter if self.is_batched(b) => {
                self.each(inst)
            }
            Rows::AddRows if self.is_batched(b) => {
                let x = self.batched(a)?;
                let sums = self.added_along(b, inst.operands[2], &inst.ty.shape)?;
                self.builder.push(Op::Map(Map::PLUS), &[x, sums])
            }
            Rows::Scatter | Rows::AddRows => {
                let (x, updates) = (self.batched(a)?, self.batched(inst.operands[2])?);
                let rank = self.old.ty(b).rank();
                let (x, updates) = (self.moved(x, 0, 1)?, self.moved(updates, 0, rank)?);
                let operands = [x, self.values[b.index()].id, updates];
                let changed = self.builder.push(Op::Rows(rows.clone()), &operands)?;
                self.moved(changed, 1, 0)
            }
            Rows::DynamicSlice { shape, axis } => {
                let op = Op::Rows(Rows::DynamicSlice { shape: self.with_axis(shape), axis: axis + 1 });
                self.builder.push(op, &[self.values[a.index()].id, self.values[b.index()].id])
            }
            Rows::DynamicUpdate { axis } => {
                let operands = [self.batched(a)?, self.values[b.index()].id, self.batched(inst.operands[2])?];
                self.builder.push(Op::Rows(Rows::DynamicUpdate { axis: axis + 1 }), &operands)
            }
            Rows::TakeAlong { axis } => self.all(inst, Op::Rows(Rows::TakeAlong { axis: axis + 1 })),
            Rows::AddAlong { shape, axis } => {
                let shape = self.with_axis(shape);
                self.all(inst, Op::Rows(Rows::AddAlong { shape, axis: axis + 1 }))
            }
            Rows::Gather => {
                let (table, indices) = (self.values[a.index()], self.values[b.index()]);
                if !table.is_batched {
                    return self.builder.push(Op::Rows(Rows::Gather), &[table.id, indices.id]);
                }
                if !indices.is_batched {
                    let table = self.moved(table.id, 0, 1)?;
                    let picked = self.builder.push(Op::Rows(Rows::Gather), &[table, indices.id])?;
                    return self.moved(picked, self.old.ty(b).rank(), 0);
                }
                let row = self.old.ty(a).shape[1..].to_vec();
                let (indices, _) = self.along_rows(b, &row)?;
                let picked =
                    self.builder.push(Op::Rows(Rows::TakeAlong { axis: 1 }), &[table.id, indices])?;
                self.reshaped(picked, self.with_axis(&inst.ty.shape))
            }
            Rows::ScatterAdd { shape } => {
                let rank = self.old.ty(a).rank();
                if !self.is_batched(a) {
                    let updates = self.moved(self.values[b.index()].id, 0, rank)?;
                    let shape = [&shape[0], self.extent].into_iter().chain(&shape[1..]).cloned().collect();
                    let indices = self.values[a.index()].id;
                    let sums =
                        self.builder.push(Op::Rows(Rows::ScatterAdd { shape }), &[indices, updates])?;
                    return self.moved(sums, 1, 0);
                }
                self.added_along(a, b, shape)
            }
        }
    }

    /// Zeros of a shape to which rows are added at batched indices.
    fn added_along(&mut self, indices: ValueId, updates: ValueId, shape: &Shape) -> Emitted {
        let (indices, of_indices) = self.along_rows(indices, &shape[1..])?;
        let updates = self.batched(updates)?;
        let updates = self.reshaped(updates, of_indices)?;
        let shape = self.with_axis(shape);
        self.builder.push(Op::Rows(Rows::AddAlong { shape, axis: 1 }), &[indices, updates])
    }

    /// Repeats each batched row index for every element of its row, as an index along axis 1. Also returns the shape of
    /// the indices.
    fn along_rows(&mut self, indices: ValueId, row: &[Dim]) -> Result<(ValueId, Shape), Box<OpError>> {
        let overflow = |overflow| OpError::overflow(&Op::Rows(Rows::Gather), overflow);
        let count = self.old.ty(indices).shape.element_count().map_err(overflow)?;
        let column: Shape =
            [self.extent, &count].into_iter().cloned().chain(row.iter().map(|_| Dim::ONE)).collect();
        let shape: Shape = [self.extent, &count].into_iter().chain(row).cloned().collect();
        let value = self.batched(indices)?;
        let column = self.reshaped(value, column)?;
        Ok((self.broadcast(column, shape.clone())?, shape))
    }

    /// A product of two factors, each a vector, a matrix or a stack of matrices.
    fn product(&mut self, inst: &Inst) -> Emitted {
        let [a, b] = [inst.operands[0], inst.operands[1]];
        let (lhs, rhs) = (self.values[a.index()], self.values[b.index()]);
        let ranks = (self.old.ty(a).rank(), self.old.ty(b).rank());
        let times = |on: &mut Self, lhs, rhs| {
            let product = Product::of(on.builder.ty(lhs), on.builder.ty(rhs));
            on.builder.push(Op::Product(product), &[lhs, rhs])
        };
        let transposed = |on: &mut Self, value| {
            let rank = on.builder.ty(value).rank();
            on.moved(value, rank - 2, rank - 1)
        };
        match (ranks, lhs.is_batched, rhs.is_batched) {
            // The slices are the rows of a matrix.
            ((1, 1 | 2), true, false) => times(self, lhs.id, rhs.id),
            ((1, 1), false, true) => times(self, rhs.id, lhs.id),
            ((2, 1), false, true) => {
                let columns = transposed(self, lhs.id)?;
                times(self, rhs.id, columns)
            }
            ((1, _) | (_, 1), _, _) => self.stacked(inst),
            ((of_lhs, of_rhs), _, _) => {
                let rank = of_lhs.max(of_rhs);
                let mut factor = |value: Value| match value.is_batched {
                    true => self.aligned(value.id, rank),
                    false => Ok(value.id),
                };
                let (lhs, rhs) = (factor(lhs)?, factor(rhs)?);
                times(self, lhs, rhs)
            }
        }
    }

    /// A product with a vector, as a product of stacks of matrices of one row or one column.
    fn stacked(&mut self, inst: &Inst) -> Emitted {
        let [a, b] = [inst.operands[0], inst.operands[1]];
        let matrix = |on: &mut Self, old: ValueId, axis: usize| {
            let Value { id, is_batched } = on.values[old.index()];
            if on.old.ty(old).rank() > 1 {
                return Ok(id);
            }
            let axes = vec![(axis + usize::from(is_batched)) as i64];
            on.arranged(id, Arrange::ExpandDims { axes })
        };
        let (lhs, rhs) = (matrix(self, a, 0)?, matrix(self, b, 1)?);
        let product = self.builder.push(Op::Product(Product::MatMul), &[lhs, rhs])?;
        self.reshaped(product, self.with_axis(&inst.ty.shape))
    }

    /// Applies a convolution. If only the images are batched, the slices become further images.
    fn window(&mut self, window: &Window, inst: &Inst) -> Emitted {
        let [a, b] = [inst.operands[0], inst.operands[1]];
        let merged = |on: &mut Self, shape: &Shape| {
            let op = inst.op.clone();
            let images = shape[0].mul(on.extent).map_err(|overflow| OpError::overflow(&op, overflow))?;
            let shape: Shape = std::iter::once(&images).chain(&shape[1..]).cloned().collect();
            Ok::<_, Box<OpError>>(shape)
        };
        match window {
            Window::Conv2d(_) | Window::Conv2dGradInput { .. } if !self.is_batched(b) => {
                let images = merged(self, &self.old.ty(a).shape.clone())?;
                let images = self.reshaped(self.values[a.index()].id, images)?;
                let op = match window {
                    Window::Conv2dGradInput { shape, convolution } => Window::Conv2dGradInput {
                        shape: merged(self, shape)?,
                        convolution: convolution.clone(),
                    },
                    other => other.clone(),
                };
                let result = self.builder.push(Op::Window(op), &[images, self.values[b.index()].id])?;
                self.reshaped(result, self.with_axis(&inst.ty.shape))
            }
            Window::Conv2d(_) | Window::Conv2dGradInput { .. } | Window::Conv2dGradFilter { .. } => {
                self.each(inst)
            }
        }
    }
}

/// The windows with their axes moved behind the new leading axis.
fn after_batch(windows: &Windows) -> Box<Windows> {
    let axes = windows.axes.iter().map(|axis| axis + 1).collect();
    Box::new(Windows { axes, ..windows.clone() })
}

/// The reduction with its axes moved behind the new leading axis.
fn after_axis(reduction: &Reduction) -> Reduction {
    Reduction { axes: reduction.axes.iter().map(|axis| axis + 1).collect(), keepdims: reduction.keepdims }
}

/// The reordering with its axis moved behind the new leading axis.
fn one_further(reorder: Reorder) -> Reorder {
    match reorder {
        Reorder::Flip { axis } => Reorder::Flip { axis: axis + 1 },
        Reorder::Roll { shift, axis } => Reorder::Roll { shift, axis: axis + 1 },
        Reorder::Sort { axis, descending } => Reorder::Sort { axis: axis + 1, descending },
        Reorder::ArgSort { axis, descending } => Reorder::ArgSort { axis: axis + 1, descending },
    }
}
