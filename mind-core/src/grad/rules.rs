//! What each operation passes back: one rule an operation.
//!
//! A rule reads the cotangent of a result and contributes to those of the operands. Those of functions of elements are the
//! formulas of their rows.

use std::sync::Arc;

use crate::{
    dim::Dim,
    grad::{AutodiffError, Pullback},
    ir::{Convolution, Op, Operands, Reduction, Slice, ValueId},
    map::{self, Given, formula, play},
    ops::inverse,
    reduce,
    ty::Shape,
};

type Done = Result<(), AutodiffError>;

impl Pullback<'_> {
    /// What the instruction passes back.
    pub(super) fn step(&mut self) -> Done {
        let dy = self.cotangent();
        match self.op() {
            Op::Input { .. }
            | Op::ConstI64(_)
            | Op::ConstF32(_)
            | Op::ConstF64(_)
            | Op::ConstTensor { .. } => Ok(()),
            Op::Map(map) => self.function(map.row()),
            Op::Reduce(reduce, reduction) => self.reduction(reduce.row(), reduction),
            Op::Reshape { .. } => {
                let shape = self.ty(self.operand(0)).shape;
                self.pass(0, Op::Reshape { shape }, &[dy])
            }
            Op::Transpose { permutation } => {
                self.pass(0, Op::Transpose { permutation: inverse(permutation) }, &[dy])
            }
            Op::ExpandDims { axes } => self.pass(0, Op::Squeeze { axes: axes.clone() }, &[dy]),
            Op::Squeeze { axes } if axes.is_empty() => self.contribute(0, dy),
            Op::Squeeze { axes } => self.pass(0, Op::ExpandDims { axes: axes.clone() }, &[dy]),
            Op::BroadcastTo { .. } => self.contribute(0, dy),
            Op::Index { indices } => self.index(indices),
            Op::Slice(slice) => {
                let shape = self.ty(self.operand(0)).shape;
                let dx = self.slice_grad(dy, &shape, slice)?;
                self.contribute(0, dx)
            }
            Op::SliceGrad { slice, .. } => self.pass(0, Op::Slice(slice.clone()), &[dy]),
            Op::Gather => {
                if self.wants(0) {
                    let shape = self.ty(self.operand(0)).shape;
                    let dx = self.scatter_add(self.operand(1), dy, &shape)?;
                    self.contribute(0, dx)?;
                }
                Ok(())
            }
            Op::ScatterAdd { .. } => {
                self.needs_extended()?;
                self.pass(1, Op::Gather, &[dy, self.operand(0)])
            }
            Op::Dot => self.dot(),
            Op::MatMul => self.matmul(),
            Op::Conv2d(convolution) => {
                let (image, filter) = (self.operand(0), self.operand(1));
                self.pass_to_image(0, image, convolution, [dy, filter])?;
                self.pass_to_filter(1, filter, convolution, [image, dy])
            }
            Op::Conv2dGradInput { convolution, .. } => {
                let (dz, filter) = (self.operand(0), self.operand(1));
                self.needs_extended()?;
                self.pass(0, Op::Conv2d((**convolution).clone()), &[dy, filter])?;
                self.pass_to_filter(1, filter, convolution, [dy, dz])
            }
            Op::Conv2dGradFilter { convolution, .. } => {
                let (image, dz) = (self.operand(0), self.operand(1));
                self.pass_to_image(0, image, convolution, [dz, dy])?;
                self.pass(1, Op::Conv2d((**convolution).clone()), &[image, dy])
            }
            Op::Extern { function, .. } => self.external(function, 1),
            Op::ExternGrad { function, order } => self.external(function, order + 1),
        }
    }

    /// Contributes an operation to an operand that wants it.
    fn pass(&mut self, position: usize, op: Op, operands: &[ValueId]) -> Done {
        if self.wants(position) {
            let value = self.push(op, operands)?;
            self.contribute(position, value)?;
        }
        Ok(())
    }

    /// The formulas of a row, played where they are wanted.
    fn function(&mut self, row: &map::Row) -> Done {
        let operands: Vec<_> = (0..self.operand_count()).map(|position| self.operand(position)).collect();
        let given = Given { row, operands: &operands, y: self.result(), dy: self.cotangent() };
        for position in 0..operands.len() {
            if self.wants(position) && row.flows_to(position) {
                let value = play(self, given, position)?;
                self.contribute(position, value)?;
            }
        }
        Ok(())
    }

    /// The cotangent, divided as the sum was, at every element that was summed.
    fn reduction(&mut self, row: &reduce::Row, reduction: &Reduction) -> Done {
        let (dy, x) = (self.cotangent(), self.operand(0));
        let shape = self.ty(x).shape;
        let positions = reduction.positions(shape.rank());
        let axes: Vec<_> = positions.iter().map(|axis| *axis as i64).collect();
        let mut value = dy;
        if row.divides {
            let averaged: Shape = positions.iter().map(|axis| shape[*axis].clone()).collect();
            let count = averaged.element_count().map_err(|overflow| {
                let problem = format!("`{}`: the element count of {averaged}: {overflow}", row.function);
                AutodiffError::UnsupportedShape(problem)
            })?;
            value = self.divide_by_count(dy, &count, x, &axes)?;
        }
        if !reduction.keeps() && !reduction.axes.is_empty() {
            value = self.push(Op::ExpandDims { axes }, &[value])?;
        }
        let value = self.broadcast_to(value, &shape)?;
        self.contribute(0, value)
    }

    /// The element, alone in a box of its rank, among zeros.
    fn index(&mut self, indices: &[Dim]) -> Done {
        let dy = self.cotangent();
        let axes: Vec<i64> = (0..indices.len() as i64).collect();
        if axes.is_empty() {
            return self.contribute(0, dy);
        }
        let shape = self.ty(self.operand(0)).shape;
        let ends = indices.iter().map(|index| index.add_literal(1)).collect::<Result<_, _>>();
        let ends =
            ends.map_err(|overflow| AutodiffError::UnsupportedShape(format!("`index`: {overflow}")))?;
        let slice = Slice { starts: indices.to_vec(), ends, steps: vec![1; axes.len()] };
        let element = self.push(Op::ExpandDims { axes }, &[dy])?;
        let dx = self.slice_grad(element, &shape, &slice)?;
        self.contribute(0, dx)
    }

    /// `dy @ rhs.T` and `lhs.T @ dy`, summed over what of the batch was broadcast.
    fn matmul(&mut self) -> Done {
        let (lhs, rhs, dy) = (self.operand(0), self.operand(1), self.cotangent());
        if self.wants(0) {
            let rhs = self.transposed(rhs)?;
            self.pass(0, Op::MatMul, &[dy, rhs])?;
        }
        if self.wants(1) {
            let lhs = self.transposed(lhs)?;
            self.pass(1, Op::MatMul, &[lhs, dy])?;
        }
        Ok(())
    }

    fn dot(&mut self) -> Done {
        let (lhs, rhs, dy) = (self.operand(0), self.operand(1), self.cotangent());
        let [lhs_is_matrix, rhs_is_matrix] = [lhs, rhs].map(|value| self.ty(value).rank() == 2);
        if lhs_is_matrix && rhs_is_matrix {
            return self.matmul();
        }
        if self.wants(0) {
            let value = if lhs_is_matrix {
                self.outer(dy, rhs)?
            } else if rhs_is_matrix {
                self.push(Op::Dot, &[rhs, dy])?
            } else {
                formula(self, "dy * rhs", &[("dy", dy), ("rhs", rhs)])?
            };
            self.contribute(0, value)?;
        }
        if self.wants(1) {
            let value = if lhs_is_matrix {
                self.push(Op::Dot, &[dy, lhs])?
            } else if rhs_is_matrix {
                self.outer(lhs, dy)?
            } else {
                formula(self, "dy * lhs", &[("dy", dy), ("lhs", lhs)])?
            };
            self.contribute(1, value)?;
        }
        Ok(())
    }

    /// The last two axes swapped.
    fn transposed(&mut self, value: ValueId) -> Result<ValueId, AutodiffError> {
        let rank = self.ty(value).rank();
        let mut permutation: Vec<i64> = (0..rank as i64).collect();
        permutation.swap(rank - 2, rank - 1);
        self.push(Op::Transpose { permutation }, &[value])
    }

    /// The matrix of all products of two vectors.
    fn outer(&mut self, rows: ValueId, columns: ValueId) -> Result<ValueId, AutodiffError> {
        let rows = self.push(Op::ExpandDims { axes: vec![1] }, &[rows])?;
        let columns = self.push(Op::ExpandDims { axes: vec![0] }, &[columns])?;
        formula(self, "rows * columns", &[("rows", rows), ("columns", columns)])
    }

    /// What a convolution passes back to its image.
    fn pass_to_image(
        &mut self,
        position: usize,
        image: ValueId,
        convolution: &Convolution,
        operands: [ValueId; 2],
    ) -> Done {
        self.needs_extended()?;
        let shape = self.ty(image).shape;
        self.pass(position, Op::Conv2dGradInput { shape, convolution: convolution.clone().into() }, &operands)
    }

    /// What a convolution passes back to its filter.
    fn pass_to_filter(
        &mut self,
        position: usize,
        filter: ValueId,
        convolution: &Convolution,
        operands: [ValueId; 2],
    ) -> Done {
        self.needs_extended()?;
        let shape = self.ty(filter).shape;
        self.pass(
            position,
            Op::Conv2dGradFilter { shape, convolution: convolution.clone().into() },
            &operands,
        )
    }

    /// The parts of what the derivative of a function of Rust gives, each in the shape of its operand.
    fn external(&mut self, function: &Arc<str>, order: i64) -> Done {
        self.needs_extended()?;
        let count = self.operand_count();
        if count == Operands::MAX {
            let parameters = count + 1 - usize::try_from(order).expect("one for each cotangent");
            return Err(self.unsupported_shape(format!(
                "`{function}` has {parameters} parameters, so that its derivative of order {order} would take {}, more than the limit of {}",
                count + 1,
                Operands::MAX
            )));
        }
        let operands: Vec<_> =
            (0..count).map(|position| self.operand(position)).chain([self.cotangent()]).collect();
        let all = self.push(Op::ExternGrad { function: function.clone(), order }, &operands)?;
        let mut start = Dim::ZERO;
        for position in 0..count {
            let ty = self.ty(self.operand(position));
            if !ty.dtype.is_float() {
                continue;
            }
            // Their sum is an extent of what was just made.
            let fits = "a part of a countable extent";
            let end = start.add(&ty.shape.element_count().expect(fits)).expect(fits);
            if self.wants(position) {
                let slice = Slice { starts: vec![start], ends: vec![end.clone()], steps: vec![1] };
                let part = self.push(Op::Slice(slice.into()), &[all])?;
                self.pass(position, Op::Reshape { shape: ty.shape }, &[part])?;
            }
            start = end;
        }
        Ok(())
    }
}
