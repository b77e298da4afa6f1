//! The writer of modules in columns.

use std::collections::BTreeMap;

use super::{Batch, Read, grid::Grid, reads, small, taken};
use crate::{
    build::Builder,
    dim::Dim,
    ir::{Arrange, Inst, Join, Made, Module, Op, Part, Product, Reduction, Slice, ValueId},
    map::{Map, ShapeRule},
    ops::position,
    opt::segments::within_limits,
    reduce,
    ty::{Shape, Type},
};

/// The columns of a tensor: vectors along the batch, or scalars where all elements of the batch are equal.
type Columns = Grid<ValueId>;

/// Builds the module in columns.
pub(super) struct Writer<'m> {
    module: &'m Module,
    /// For each value of the module, whether it is computed in columns.
    is_split: &'m [bool],
    builder: Builder,
    origins: Vec<ValueId>,
    /// For each value of the module, its value in the new module. Those in columns have one once something reads them
    /// whole.
    wholes: Vec<Option<ValueId>>,
    columns: BTreeMap<(ValueId, Read), Columns>,
}

impl<'m> Writer<'m> {
    pub(super) fn new(module: &'m Module, is_split: &'m [bool]) -> Self {
        Self {
            module,
            is_split,
            builder: Builder::new(),
            origins: Vec::new(),
            wholes: vec![None; module.insts().len()],
            columns: BTreeMap::new(),
        }
    }

    /// The new module, and the origins of its values.
    pub(super) fn finish(mut self) -> Option<(Module, Vec<ValueId>)> {
        let mut outputs = Vec::new();
        for output in self.module.outputs() {
            outputs.push(self.whole(*output)?);
            self.origins.resize(self.builder.insts().len(), *output);
        }
        Some((self.builder.finish(outputs), self.origins))
    }

    /// Writes an instruction.
    pub(super) fn write(&mut self, value: ValueId, inst: &Inst) -> Option<()> {
        if self.is_split[value.index()] {
            let columns = self.split(inst)?;
            self.columns.insert((value, self.result(value)), columns);
        } else {
            let made = match inst.op.input_name() {
                Some(name) => within_limits(self.builder.input(name.clone(), inst.ty.clone()))?,
                None => {
                    let operands = inst.operands.iter().map(|operand| self.whole(*operand));
                    let operands: Vec<ValueId> = operands.collect::<Option<_>>()?;
                    within_limits(self.builder.push(inst.op.clone(), &operands))?
                }
            };
            self.wholes[value.index()] = Some(made);
        }
        self.origins.resize(self.builder.insts().len(), value);
        Some(())
    }

    /// Whether a value in columns has the axis of the batch. A reduction over the batch has not.
    fn result(&self, value: ValueId) -> Read {
        match &self.module.insts()[value.index()].op {
            Op::Reduce(_, reduction) if reduction.axes.contains(&0) => Read::Shared,
            _ => Read::Batched,
        }
    }

    fn push(&mut self, op: Op, operands: &[ValueId]) -> Option<ValueId> {
        within_limits(self.builder.push(op, operands))
    }

    /// The instruction on columns.
    fn split(&mut self, inst: &Inst) -> Option<Columns> {
        let reads = reads(self.module, inst)?;
        let operands = inst.operands.iter().zip(reads);
        let operands: Vec<Columns> =
            operands.map(|(operand, read)| self.read(*operand, read, inst)).collect::<Option<_>>()?;
        if let Op::Reduce(reduce, reduction) = &inst.op {
            return self.reduced(reduce.row(), reduction, &operands[0], inst);
        }
        let shape = Batch::of(&inst.ty)?.shape;
        let [first, ..] = &operands[..] else { return None };
        match &inst.op {
            Op::Map(map) => self.mapped(*map, &operands, &shape),
            Op::Arrange(Arrange::BroadcastTo { .. }) => chosen(&shape, |index| first.at_broadcast(index)),
            Op::Arrange(Arrange::Transpose { permutation }) => {
                // The axes without that of the batch.
                let from = |index: &[usize], axis: usize| {
                    let to = permutation.iter().position(|from| position(*from) == axis + 1);
                    index[to.expect("each axis is permuted") - 1]
                };
                chosen(&shape, |index| first.at((0..index.len()).map(|axis| from(index, axis))))
            }
            Op::Arrange(Arrange::Reshape { .. } | Arrange::ExpandDims { .. } | Arrange::Squeeze { .. }) => {
                Some(first.clone().reshaped(shape))
            }
            Op::Part(Part::Slice(slice)) => {
                let axes = axes(slice)?;
                chosen(&shape, |index| first.at(index.iter().zip(&axes).map(|(at, taken)| taken[*at])))
            }
            Op::Part(Part::SliceGrad { slice, .. }) => {
                let axes = axes(slice)?;
                let zero = self.builder.constant(inst.ty.dtype, 0.0);
                chosen(&shape, |index| {
                    let own = index.iter().zip(&axes).map(|(at, taken)| taken.iter().position(|to| to == at));
                    own.collect::<Option<Vec<usize>>>().map_or(zero, |own| first.at(own))
                })
            }
            Op::Join(Join::Concat { axis }) => {
                let axis = position(*axis) - 1;
                chosen(&shape, |index| {
                    let mut own = index.to_vec();
                    let mut parts = operands.iter();
                    loop {
                        let part = parts.next().expect("the parts have the extent of the whole");
                        match own[axis].checked_sub(part.shape[axis]) {
                            Some(further) => own[axis] = further,
                            None => return part.at(own),
                        }
                    }
                })
            }
            Op::Product(Product::MatMul) => self.product(&operands[0], &operands[1], &shape),
            _ => None,
        }
    }

    /// The product of matrices, or of a row and a matrix.
    fn product(&mut self, lhs: &Columns, rhs: &Columns, shape: &[usize]) -> Option<Columns> {
        let inner = *lhs.shape.last()?;
        Grid::tabulate(shape, |index| {
            let (column, row) = index.split_last().ok_or(())?;
            let mut terms = Vec::with_capacity(inner);
            for at in 0..inner {
                let [a, b] = [lhs.at(row.iter().copied().chain([at])), rhs.at([at, *column])];
                terms.push(self.push(Op::Map(Map::Mul), &[a, b]).ok_or(())?);
            }
            self.combined(Map::Add, &terms).ok_or(())
        })
        .ok()
    }

    fn reduced(
        &mut self,
        row: &reduce::Row,
        reduction: &Reduction,
        operand: &Columns,
        inst: &Inst,
    ) -> Option<Columns> {
        if reduction.axes == [0] {
            let [len, ..] = &self.module.ty(inst.operands[0]).shape[..] else { return None };
            let vector = Shape::from_slice(std::slice::from_ref(len));
            return Grid::tabulate(&operand.shape, |index| {
                let column = self.broadcast(operand.at(index.iter().copied()), &vector).ok_or(())?;
                self.push(inst.op.clone(), &[column]).ok_or(())
            })
            .ok();
        }
        let is_reduced = |axis: usize| reduction.axes.iter().any(|reduced| position(*reduced) == axis + 1);
        let rank = operand.shape.len();
        let kept: Vec<usize> = (0..rank).filter(|axis| !is_reduced(*axis)).collect();
        let over: Vec<usize> = (0..rank).filter(|axis| is_reduced(*axis)).collect();
        let extents = |axes: &[usize]| axes.iter().map(|axis| operand.shape[*axis]).collect::<Vec<_>>();
        let columns = Grid::tabulate(&extents(&kept), |outer| {
            let cells = Grid::tabulate(&extents(&over), |inner| {
                let mut index = vec![0; rank];
                kept.iter().zip(outer).for_each(|(axis, at)| index[*axis] = *at);
                over.iter().zip(inner).for_each(|(axis, at)| index[*axis] = *at);
                Ok::<_, ()>(operand.at(index))
            })?;
            let combined = self.combined(row.monoid.combine, &cells.cells).ok_or(())?;
            if !row.divides {
                return Ok(combined);
            }
            let count = self.builder.constant(inst.ty.dtype, cells.cells.len() as f64);
            self.push(Op::Map(Map::Div), &[combined, count]).ok_or(())
        });
        Some(columns.ok()?.reshaped(Batch::of(&inst.ty)?.shape))
    }

    /// The values combined in pairs.
    fn combined(&mut self, combine: Map, values: &[ValueId]) -> Option<ValueId> {
        if let [value] = values {
            return Some(*value);
        }
        let (front, back) = values.split_at(values.len().div_ceil(2));
        let operands = [self.combined(combine, front)?, self.combined(combine, back)?];
        self.push(Op::Map(combine), &operands)
    }

    /// The columns of an operand of an instruction.
    fn read(&mut self, operand: ValueId, read: Read, inst: &Inst) -> Option<Columns> {
        let ty = self.module.ty(operand).clone();
        let columns = match self.columns.get(&(operand, read)) {
            Some(columns) => columns.clone(),
            None => {
                let known = match read {
                    Read::Batched => None,
                    Read::Shared => self.known(operand),
                };
                let columns = match (known, self.whole(operand)?, read) {
                    (Some(elements), ..) => elements,
                    (None, whole, Read::Batched) => self.columns_of(whole, &ty)?,
                    (None, whole, Read::Shared) => self.elements_of(whole, &ty)?,
                };
                self.columns.insert((operand, read), columns.clone());
                columns
            }
        };
        // An operand that is broadcast along the batch may have its axis, with extent 1.
        let is_broadcast = matches!(inst.op, Op::Map(_) | Op::Arrange(Arrange::BroadcastTo { .. }));
        if read == Read::Shared && is_broadcast && ty.rank() == inst.ty.rank() {
            let shape = columns.shape[1..].to_vec();
            return Some(columns.reshaped(shape));
        }
        Some(columns)
    }

    /// The columns of a value of the new module.
    fn columns_of(&mut self, whole: ValueId, ty: &Type) -> Option<Columns> {
        let batch = Batch::of(ty)?;
        if batch.shape.is_empty() {
            return Some(Grid { shape: Vec::new(), cells: vec![whole] });
        }
        let len = batch.len.clone();
        Grid::tabulate(&batch.shape, |index| {
            let starts = [0].iter().chain(index).map(|at| Dim::literal(*at as i64)).collect();
            let ends = index.iter().map(|at| Dim::literal(*at as i64 + 1));
            let ends = [len.clone()].into_iter().chain(ends).collect();
            let slice = Slice { starts, ends, steps: vec![1; ty.rank()] };
            let column = self.push(Op::Part(Part::Slice(Box::new(slice))), &[whole]).ok_or(())?;
            let shape = Shape::from_slice(std::slice::from_ref(&len));
            self.push(Op::Arrange(Arrange::reshape(shape)), &[column]).ok_or(())
        })
        .ok()
    }

    /// The elements of a small value of the module that is made of positions and numbers alone, such as a one-hot vector.
    /// They are operations on numbers, which the optimiser then computes.
    fn known(&mut self, value: ValueId) -> Option<Columns> {
        let inst = &self.module.insts()[value.index()];
        let shape = small(&inst.ty.shape)?;
        let operands = inst.operands.iter().map(|operand| self.known(*operand));
        let operands: Vec<Columns> = operands.collect::<Option<_>>()?;
        match &inst.op {
            Op::Const(_) if shape.is_empty() => Some(Grid { shape, cells: vec![self.whole(value)?] }),
            Op::Made(Made::Iota { axis, .. }) => Grid::tabulate(&shape, |index| {
                Ok::<_, ()>(self.builder.constant(inst.ty.dtype, index[position(*axis)] as f64))
            })
            .ok(),
            Op::Map(map) => self.mapped(*map, &operands, &shape),
            Op::Arrange(Arrange::BroadcastTo { .. }) => {
                chosen(&shape, |index| operands[0].at_broadcast(index))
            }
            Op::Arrange(Arrange::Reshape { .. } | Arrange::ExpandDims { .. } | Arrange::Squeeze { .. }) => {
                Some(operands[0].clone().reshaped(shape))
            }
            _ => None,
        }
    }

    /// A function of columns that are broadcast to this shape.
    fn mapped(&mut self, map: Map, operands: &[Columns], shape: &[usize]) -> Option<Columns> {
        Grid::tabulate(shape, |index| {
            let cells: Vec<ValueId> = operands.iter().map(|operand| operand.at_broadcast(index)).collect();
            self.applied(map, cells).ok_or(())
        })
        .ok()
    }

    /// A function of columns, of which some may be scalars.
    fn applied(&mut self, map: Map, mut cells: Vec<ValueId>) -> Option<ValueId> {
        if let ShapeRule::Equal = map.row().shapes {
            let longest =
                cells.iter().map(|cell| &self.builder.ty(*cell).shape).max_by_key(|shape| shape.rank());
            let shape = longest?.clone();
            for cell in &mut cells {
                *cell = self.broadcast(*cell, &shape)?;
            }
        }
        self.push(Op::Map(map), &cells)
    }

    fn broadcast(&mut self, cell: ValueId, shape: &Shape) -> Option<ValueId> {
        match self.builder.ty(cell).shape == *shape {
            true => Some(cell),
            false => self.push(Op::Arrange(Arrange::broadcast(shape.clone())), &[cell]),
        }
    }

    /// The elements of a small value of the new module.
    fn elements_of(&mut self, whole: ValueId, ty: &Type) -> Option<Columns> {
        if ty.rank() == 0 {
            return Some(Grid { shape: Vec::new(), cells: vec![whole] });
        }
        Grid::tabulate(&small(&ty.shape)?, |index| {
            let indices = index.iter().map(|at| Dim::literal(*at as i64)).collect();
            self.push(Op::Part(Part::Index { indices }), &[whole]).ok_or(())
        })
        .ok()
    }

    /// The value in the new module.
    fn whole(&mut self, value: ValueId) -> Option<ValueId> {
        if let Some(whole) = self.wholes[value.index()] {
            return Some(whole);
        }
        let read = self.result(value);
        let columns = self.columns.get(&(value, read))?.clone();
        let ty = self.module.ty(value).clone();
        let whole = self.joined(&columns.cells, &ty, read == Read::Batched)?;
        self.wholes[value.index()] = Some(whole);
        Some(whole)
    }

    /// Columns joined to a tensor of this type.
    fn joined(&mut self, columns: &[ValueId], ty: &Type, is_batch: bool) -> Option<ValueId> {
        let column: Shape = match is_batch {
            true => [ty.shape[0].clone(), Dim::ONE].into_iter().collect(),
            false => Shape::literal(&[1]),
        };
        let mut parts = Vec::with_capacity(columns.len());
        for cell in columns {
            let is_shared = is_batch && self.builder.ty(*cell).rank() == 0;
            let op = match is_shared {
                true => Arrange::broadcast(column.clone()),
                false => Arrange::reshape(column.clone()),
            };
            parts.push(self.push(Op::Arrange(op), &[*cell])?);
        }
        let joined = match &parts[..] {
            [part] => *part,
            _ => self.push(Op::Join(Join::Concat { axis: i64::from(is_batch) }), &parts)?,
        };
        match self.builder.ty(joined).shape == ty.shape {
            true => Some(joined),
            false => self.push(Op::Arrange(Arrange::reshape(ty.shape.clone())), &[joined]),
        }
    }
}

/// The columns of this shape that are chosen by index.
fn chosen(shape: &[usize], mut column: impl FnMut(&[usize]) -> ValueId) -> Option<Columns> {
    Grid::tabulate(shape, |index| Ok::<_, ()>(column(index))).ok()
}

/// The positions that a slice takes along each axis, without that of the batch.
fn axes(slice: &Slice) -> Option<Vec<Vec<usize>>> {
    let bounds = slice.starts.iter().zip(&slice.ends).zip(&slice.steps).skip(1);
    bounds.map(|((start, end), step)| Some(taken(start, end, *step)?.collect())).collect()
}
