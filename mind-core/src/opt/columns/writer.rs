//! The writer of modules in columns.

use std::collections::BTreeMap;

use super::{Batch, grid::Grid, reads, small, taken};
use crate::{
    dim::Dim,
    ir::{Arrange, Inst, Join, Made, Module, Op, Part, Reduction, Slice, ValueId},
    map::{Map, ShapeRule},
    ops::{Motion, position},
    opt::rewritten::{ModuleWriter, Rewritten},
    reduce,
    ty::{Shape, Type},
};

/// The columns of a tensor: tensors whose shapes broadcast to that of the batch.
type Columns = Grid<ValueId>;

/// Builds the module in columns.
pub(super) struct Writer<'m> {
    rewritten: Rewritten<'m>,
    /// For each value of the module, whether it is computed in columns.
    is_split: &'m [bool],
    /// For each value of the module, whether it is made of positions and numbers alone.
    is_known: Vec<bool>,
    /// The columns of values, as the number of their last axes that are those of small tensors.
    columns: BTreeMap<(ValueId, usize), Columns>,
}

impl<'m> Writer<'m> {
    pub(super) fn new(module: &'m Module, is_split: &'m [bool]) -> Self {
        let is_known = vec![false; module.insts().len()];
        Self { rewritten: Rewritten::new(module), is_split, is_known, columns: BTreeMap::new() }
    }

    /// The number of axes of the batch of a value in columns. A reduction over the batch has none.
    fn batch_axes(&self, value: ValueId) -> usize {
        let inst = &self.rewritten.module.insts()[value.index()];
        match &inst.op {
            Op::Reduce(_, reduction) if reduction.positions(1).contains(&0) => 0,
            _ => Batch::of(&inst.ty).map_or(0, |batch| batch.axes.len()),
        }
    }

    /// The instruction on columns.
    fn split(&mut self, inst: &Inst) -> Option<Columns> {
        let reads = reads(self.rewritten.module, inst)?;
        let operands = inst.operands.iter().zip(reads);
        let operands: Vec<Columns> =
            operands.map(|(operand, own)| self.read(*operand, own)).collect::<Option<_>>()?;
        if let Op::Reduce(reduce, reduction) = &inst.op {
            return self.reduced(reduce.row(), reduction, &operands[0], inst);
        }
        let Batch { axes: batch, shape } = Batch::of(&inst.ty)?;
        let [first, ..] = &operands[..] else { return None };
        match (inst.op.motion(), &inst.op) {
            (None, Op::Map(map)) => self.mapped(*map, &operands, &shape, batch),
            (Some(Motion::Repeat), _) => chosen(&shape, |index| first.at_broadcast(index)),
            (Some(Motion::Axes(permutation)), _) => {
                // The axes without that of the batch.
                let from = |index: &[usize], axis: usize| {
                    let to = permutation.iter().position(|from| position(*from) == axis + batch.len());
                    index[to.expect("each axis is permuted") - batch.len()]
                };
                chosen(&shape, |index| first.at((0..index.len()).map(|axis| from(index, axis))))
            }
            (Some(Motion::Order), _) => {
                let before = Batch::of(self.rewritten.module.ty(inst.operands[0]))?.axes;
                let (before, after) = (Shape::from_slice(before), Shape::from_slice(batch));
                let columns = first.clone().reshaped(shape);
                if before == after {
                    return Some(columns);
                }
                let cells = columns.cells.into_iter().map(|cell| {
                    let cell = self.rewritten.broadcast(cell, &before)?;
                    self.rewritten.push(Op::Arrange(Arrange::reshape(after.clone())), &[cell])
                });
                Some(Grid { cells: cells.collect::<Option<_>>()?, ..columns })
            }
            (Some(Motion::Taken(slice)), _) => {
                let axes = axes(slice, batch.len())?;
                chosen(&shape, |index| first.at(index.iter().zip(&axes).map(|(at, taken)| taken[*at])))
            }
            (Some(Motion::Put(slice)), _) => {
                let axes = axes(slice, batch.len())?;
                let zero = self.rewritten.builder.constant(inst.ty.dtype, 0.0);
                chosen(&shape, |index| {
                    let own = index.iter().zip(&axes).map(|(at, taken)| taken.iter().position(|to| to == at));
                    own.collect::<Option<Vec<usize>>>().map_or(zero, |own| first.at(own))
                })
            }
            (None, Op::Join(Join::Concat { axis })) => {
                let axis = position(*axis) - batch.len();
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
            (None, Op::Product(_)) => self.product(&operands[0], &operands[1], &shape),
            _ => None,
        }
    }

    /// The product of matrices, or of rows of a batch and matrices.
    fn product(&mut self, lhs: &Columns, rhs: &Columns, shape: &[usize]) -> Option<Columns> {
        let inner = *lhs.shape.last()?;
        let mut rhs = rhs.clone();
        if lhs.shape.len() == 1 {
            // The batch ends with the axis of the rows, along which matrices are equal.
            for cell in &mut rhs.cells {
                let axes = &self.rewritten.builder.ty(*cell).shape;
                let axes = axes.iter().cloned().chain([Dim::ONE]).collect();
                *cell = self.rewritten.push(Op::Arrange(Arrange::reshape(axes)), &[*cell])?;
            }
        }
        Grid::tabulate(shape, |index| {
            let (column, row) = index.split_last().ok_or(())?;
            let mut terms = Vec::with_capacity(inner);
            for at in 0..inner {
                let [a, b] = [lhs.at(row.iter().copied().chain([at])), rhs.at([at, *column])];
                terms.push(self.rewritten.push(Op::Map(Map::TIMES), &[a, b]).ok_or(())?);
            }
            self.combined(Map::PLUS, &terms).ok_or(())
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
        let batch = Batch::of(self.rewritten.module.ty(inst.operands[0]))?.axes;
        if reduction.positions(1).contains(&0) {
            let batch = Shape::from_slice(batch);
            return Grid::tabulate(&operand.shape, |index| {
                let column = self.rewritten.broadcast(operand.at(index.iter().copied()), &batch).ok_or(())?;
                self.rewritten.push(inst.op.clone(), &[column]).ok_or(())
            })
            .ok();
        }
        let is_reduced =
            |axis: usize| reduction.axes.iter().any(|reduced| position(*reduced) == axis + batch.len());
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
            let count = self.rewritten.builder.constant(inst.ty.dtype, cells.cells.len() as f64);
            self.rewritten.push(Op::Map(Map::RATIO), &[combined, count]).ok_or(())
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
        self.rewritten.push(Op::Map(combine), &operands)
    }

    /// The columns of a value whose last `own` axes are those of small tensors.
    fn read(&mut self, value: ValueId, own: usize) -> Option<Columns> {
        if let Some(columns) = self.columns.get(&(value, own)) {
            return Some(columns.clone());
        }
        let ty = self.rewritten.module.ty(value).clone();
        let whole = self.whole(value)?;
        let columns = self.columns_of(whole, &ty, own)?;
        self.columns.insert((value, own), columns.clone());
        Some(columns)
    }

    /// The columns of a value of the new module.
    fn columns_of(&mut self, whole: ValueId, ty: &Type, own: usize) -> Option<Columns> {
        let (batch, shape) = ty.shape.split_at(ty.rank() - own);
        if shape.is_empty() {
            return Some(Grid { shape: Vec::new(), cells: vec![whole] });
        }
        Grid::tabulate(&small(shape)?, |index| {
            let at = index.iter().map(|at| Dim::literal(*at as i64));
            if batch.is_empty() {
                return self.rewritten.push(Op::Part(Part::element(at.collect())), &[whole]).ok_or(());
            }
            let starts = batch.iter().map(|_| Dim::ZERO).chain(at).collect();
            let ends = index.iter().map(|at| Dim::literal(*at as i64 + 1));
            let ends = batch.iter().cloned().chain(ends).collect();
            let slice = Slice { starts, ends, steps: vec![1; ty.rank()] };
            let column = self.rewritten.push(slice.into(), &[whole]).ok_or(())?;
            self.rewritten.push(Op::Arrange(Arrange::reshape(Shape::from_slice(batch))), &[column]).ok_or(())
        })
        .ok()
    }

    /// The elements of a small value of the module that is made of positions and numbers alone, such as a one-hot vector.
    /// They are operations on numbers, which the optimiser then computes.
    fn known(&mut self, value: ValueId, inst: &Inst) -> Option<Columns> {
        let shape = small(&inst.ty.shape)?;
        let operands = inst.operands.iter().map(|operand| {
            let is_known = self.is_known[operand.index()];
            self.columns
                .get(&(*operand, self.rewritten.module.ty(*operand).rank()))
                .filter(|_| is_known)
                .cloned()
        });
        let operands: Vec<Columns> = operands.collect::<Option<_>>()?;
        match &inst.op {
            Op::Const(_) if shape.is_empty() => Some(Grid { shape, cells: vec![self.whole(value)?] }),
            Op::Made(Made::Iota { axis, .. }) => Grid::tabulate(&shape, |index| {
                Ok::<_, ()>(self.rewritten.builder.constant(inst.ty.dtype, index[position(*axis)] as f64))
            })
            .ok(),
            Op::Map(map) => self.mapped(*map, &operands, &shape, &[]),
            op => match op.motion()? {
                Motion::Repeat => chosen(&shape, |index| operands[0].at_broadcast(index)),
                Motion::Order => Some(operands[0].clone().reshaped(shape)),
                _ => None,
            },
        }
    }

    /// A function of columns that are broadcast to this shape, over a batch with these axes.
    fn mapped(&mut self, map: Map, operands: &[Columns], shape: &[usize], batch: &[Dim]) -> Option<Columns> {
        let batch = Shape::from_slice(batch);
        let is_equal = matches!(map.row().shapes, ShapeRule::Equal);
        Grid::tabulate(shape, |index| {
            let mut cells: Vec<ValueId> =
                operands.iter().map(|operand| operand.at_broadcast(index)).collect();
            for cell in cells.iter_mut().filter(|_| is_equal) {
                *cell = self.rewritten.broadcast(*cell, &batch).ok_or(())?;
            }
            self.rewritten.push(Op::Map(map), &cells).ok_or(())
        })
        .ok()
    }

    /// Columns joined to a tensor of this type, whose first `batch` axes are those of the batch.
    fn concatenated(&mut self, columns: &[ValueId], ty: &Type, batch: usize) -> Option<ValueId> {
        let axes = &ty.shape[..batch];
        let column: Shape = axes.iter().cloned().chain([Dim::ONE]).collect();
        let axes = Shape::from_slice(axes);
        let mut parts = Vec::with_capacity(columns.len());
        for cell in columns {
            let cell = self.rewritten.broadcast(*cell, &axes)?;
            parts.push(self.rewritten.push(Op::Arrange(Arrange::reshape(column.clone())), &[cell])?);
        }
        let joined = match &parts[..] {
            [part] => *part,
            _ => self.rewritten.push(Op::Join(Join::Concat { axis: batch as i64 }), &parts)?,
        };
        match self.rewritten.builder.ty(joined).shape == ty.shape {
            true => Some(joined),
            false => self.rewritten.push(Op::Arrange(Arrange::reshape(ty.shape.clone())), &[joined]),
        }
    }
}

impl<'m> ModuleWriter<'m> for Writer<'m> {
    fn rewritten(&mut self) -> &mut Rewritten<'m> {
        &mut self.rewritten
    }

    fn write(&mut self, value: ValueId, inst: &Inst) -> Option<()> {
        if self.is_split[value.index()] {
            let columns = self.split(inst)?;
            self.columns.insert((value, columns.shape.len()), columns);
            return Some(());
        }
        let made = self.copied(inst)?;
        self.rewritten.wholes[value.index()] = Some(made);
        if let Some(columns) = self.known(value, inst) {
            self.is_known[value.index()] = true;
            self.columns.insert((value, columns.shape.len()), columns);
        }
        Some(())
    }

    fn assembled(&mut self, value: ValueId) -> Option<ValueId> {
        let ty = self.rewritten.module.ty(value).clone();
        let batch = self.batch_axes(value);
        let columns = self.columns.get(&(value, ty.rank() - batch))?.clone();
        self.concatenated(&columns.cells, &ty, batch)
    }
}

/// The columns of this shape that are chosen by index.
fn chosen(shape: &[usize], mut column: impl FnMut(&[usize]) -> ValueId) -> Option<Columns> {
    Grid::tabulate(shape, |index| Ok::<_, ()>(column(index))).ok()
}

/// The positions that a slice takes along each axis after those of the batch.
fn axes(slice: &Slice, batch: usize) -> Option<Vec<Vec<usize>>> {
    let bounds = slice.starts.iter().zip(&slice.ends).zip(&slice.steps).skip(batch);
    bounds.map(|((start, end), step)| Some(taken(start, end, *step)?.collect())).collect()
}
