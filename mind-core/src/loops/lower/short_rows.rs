//! Folds of short rows: the run time folds as many at once as a register has lanes.
//!
//! A nest that does nothing but fold rows passes all of them to the run time. If `exp` or `ln` is computed first and
//! rows are contiguous, a block of rows is computed as one row; otherwise many lanes would be computed in vain.

use std::mem;

use crate::{
    dim::Dim,
    loops::{Holds, Size, Statement, Subslice},
    plan::{Fold, Nest, Node, Operand, Pass, Store, Target, View},
    ty::{DType, Shape},
};

use super::{
    Along, WORTH_DISPATCHING,
    blocks::BLANK,
    folds::lanes_of,
    known,
    rows::{Block, Columns, LONGEST_FLAT, NestLowering, NestRows, Short},
};

/// A fold of each row, stored contiguously.
struct RowFold<'n> {
    fold: &'n Fold,
    /// The position of the operand among the nest's loads.
    load: usize,
    target: &'n View,
}

impl<'a> NestLowering<'a> {
    /// Folds rows, if the nest does nothing else and the rows are short or may be short.
    pub(super) fn rows_alone(&mut self) -> bool {
        let Some(folds) = self.folds_of_rows() else { return false };
        let len = match self.inner_known() {
            Some(len) if self.sums_are_short(folds.iter().map(|of| of.fold)) => Size::known(len),
            Some(_) => return false,
            None => self.inner_len(),
        };
        let axis = self.nest.row_axes - 1;
        (0..axis).for_each(|outer| self.open(outer, &[]));
        for RowFold { fold, load, target } in folds {
            let view = &self.nest.loads[load];
            let of =
                Subslice { of: self.captures.loads[load], at: Some(self.position(view, 0..axis)), len: None };
            let folds = Subslice {
                of: self.captures.target(target),
                at: Some(self.position(target, 0..axis)),
                len: Some(self.extent(axis)),
            };
            let (monoid, stride) = (fold.monoid, (&view.strides[axis]).into());
            let (len, part) = (len.clone(), folds.clone());
            self.out.push(Statement::FoldRows { monoid, folds, of, len, stride });
            self.divide(fold, part);
        }
        (0..axis).for_each(|_| self.out.close());
        true
    }

    /// Whether rows are short enough, and may be numerous enough, that summing several at once is worthwhile.
    fn sums_are_short<'f>(&self, mut folds: impl Iterator<Item = &'f Fold>) -> bool {
        let is_little = known(&self.nest.extents).is_some_and(|elements| elements <= WORTH_DISPATCHING);
        let len = self.inner_known().filter(|len| *len > 1 && !is_little);
        matches!(self.frame, NestRows::Nest)
            && self.nest.row_axes + 1 == self.rank()
            && self.nest.row_axes > 0
            && len.is_some_and(|len| folds.all(|fold| is_sum(fold) && len <= lanes_of(fold.dtype)))
    }

    /// The folds of rows that a nest stores, if it does nothing else, and the elements of rows and the folds are
    /// contiguous.
    fn folds_of_rows(&self) -> Option<Vec<RowFold<'a>>> {
        let nest = self.nest;
        let axis = nest.row_axes.checked_sub(1)?;
        let [pass] = &nest.passes[..] else { return None };
        let is_alone = pass.elements.is_empty()
            && pass.stores.is_empty()
            && pass.numbers.is_empty()
            && pass.row_folds.is_empty()
            && pass.folds.len() == pass.row_stores.len();
        if axis + 2 != self.rank() || !is_alone {
            return None;
        }
        let folds = pass.row_stores.iter().map(|store| {
            let is_stored = |fold: &&Fold| matches!(&fold.target, Target::Number(value) if store.operand == Operand::Number(*value));
            let fold = pass.folds.iter().find(is_stored).filter(|fold| fold.dtype != DType::Bool)?;
            let Operand::Load(load) = fold.operand else { return None };
            let follows = matches!(Along::of(&self.nest.loads[load], axis + 1), Along::Consecutive)
                && matches!(Along::of(&store.target, axis), Along::Consecutive);
            let is_read_alone = self.captures.loads[load] != self.captures.target(&store.target);
            (follows && is_read_alone).then_some(RowFold { fold, load, target: &store.target })
        });
        folds.collect()
    }

    /// Declares the arrays of elements that are summed and not stored.
    pub(super) fn begin_values(&mut self) {
        let nest = self.nest;
        for pass in nest.passes.iter().filter(|pass| self.flat(pass).is_some()).collect::<Vec<_>>() {
            let Some(rows) = self.flat_rows() else { continue };
            let len = self.inner_known().unwrap_or(LONGEST_FLAT);
            for fold in pass.folds.iter().filter(|fold| in_memory(pass, fold).is_none()) {
                let values = self.out.variable(None, "values", Holds::Array(fold.dtype, len * rows));
                self.out.push(Statement::Array(values, BLANK));
                self.values.push(values);
            }
        }
    }

    /// The most rows of a block, if a pass is computed for a block of rows as one row.
    pub(super) fn flat_rows(&self) -> Option<usize> {
        /// The most elements of a block.
        const BLOCK: usize = 2048;

        let is_flat = self.nest.passes.iter().any(|pass| self.flat(pass).is_some());
        let rows = self.inner_known().map_or(16, |len| (BLOCK / len).clamp(16, 256) / 16 * 16);
        is_flat.then_some(rows)
    }

    /// Computes the elements of a pass for a block of rows as one row, in the nest that [`Self::flat`] returns, and
    /// sums the rows. The sums are the numbers from `first` on.
    pub(super) fn flat_pass(&mut self, pass: &Pass, flat: &Nest, first: usize) {
        let len = self.inner_len();
        let axis = self.nest.row_axes - 1;
        let block = self.block.expect("short rows are summed in blocks");
        let flat_pass = &flat.passes[0];
        let [column, columns] = [("column", block.first), ("columns", block.rows)]
            .map(|(name, rows)| self.out.size(name, Size::from(rows).times(len.clone())));
        let arrays: Vec<_> = self.values.drain(..flat_pass.folds.len()).collect();
        let frame = NestRows::Rows(Columns { column, columns, first: None });
        let mut inner = NestLowering::new(self.plan, flat, self.captures, frame, mem::take(&mut self.out));
        inner.indices.clone_from_slice(&self.indices[..=axis]);
        let mut variables = inner.variables(flat_pass);
        for of in &arrays {
            let row = inner.out.derived(*of, "row", Holds::Borrowed(inner.out.dtype(*of)));
            let part = Subslice { of: *of, at: None, len: Some(columns.into()) };
            inner.out.push(Statement::Borrow { var: row, part, written: true });
            variables.values.push(row);
        }
        inner.still_loads(&mut variables);
        inner.elements(flat_pass, &variables, &vec![None; flat_pass.folds.len()]);
        self.out = inner.out;
        let mut arrays = arrays.into_iter();
        for (position, fold) in pass.folds.iter().enumerate() {
            let (of, stride) = match in_memory(pass, fold) {
                Some(OperandLocation::Loaded(load)) => {
                    let view = &self.nest.loads[load];
                    let at = Some(self.position_of_block(view, axis, block));
                    (Subslice { of: self.captures.loads[load], at, len: None }, (&view.strides[axis]).into())
                }
                Some(OperandLocation::Stored(view)) => {
                    let at = Some(self.position_of_block(view, axis, block));
                    (Subslice { of: self.captures.target(view), at, len: None }, (&view.strides[axis]).into())
                }
                None => {
                    let values = arrays.next().expect("elements that are not in memory have an array");
                    (Subslice::whole(values), len.clone())
                }
            };
            let sums = self.numbers[first + position].block.expect("there are blocks of rows");
            let sums = Subslice { of: sums, at: None, len: Some(block.rows.into()) };
            let (monoid, len, folds) = (fold.monoid, len.clone(), sums.clone());
            self.out.push(Statement::FoldRows { monoid, folds, of, len, stride });
            self.divide(fold, sums);
        }
    }

    /// The position of the first row of a block.
    fn position_of_block(&self, view: &View, axis: usize, block: Block) -> Size {
        let first = Size::from(block.first).times((&view.strides[axis]).into());
        Size::sum(vec![self.position(view, 0..axis), first])
    }

    /// A nest of the pass, in which the last row axis and the axis along rows are one axis. Its folds are those whose
    /// operands are not in memory. `None` if the pass does not sum short rows, or if rows are not contiguous.
    pub(super) fn flat(&self, pass: &Pass) -> Option<Nest> {
        // Values that are faster to compute than to read would only be written and read once more.
        let is_slow = |node: &Node| node.op.row().cost.is_series();
        let is_worth_it = || pass.elements.is_empty() || pass.elements.iter().any(is_slow);
        let are_short = match self.short {
            Some(Short::Flat) => pass.folds.iter().all(|fold| fold.dtype != DType::Bool),
            Some(Short::Block(_)) | None => is_worth_it() && self.sums_are_short(pass.folds.iter()),
        };
        if pass.folds.is_empty() || !are_short {
            return None;
        }
        let axis = self.nest.row_axes - 1;
        let len = self.nest.extents[axis].mul(&self.nest.extents[axis + 1]).ok()?;
        let extents: Vec<Dim> = self.nest.extents[..axis].iter().cloned().chain([len]).collect();
        let flat = |view: &View| flat_view(view, &self.nest.extents[axis + 1], &extents);
        let operands = pass.elements.iter().flat_map(|node| &node.operands);
        let operands = operands.chain(pass.stores.iter().map(|store| &store.operand));
        let mut operands = operands.chain(pass.folds.iter().map(|fold| &fold.operand));
        let is_flat = |operand: &Operand| match operand {
            Operand::Load(load) => flat(&self.nest.loads[*load]).is_some(),
            Operand::Node(_) | Operand::Scalar(_) => true,
            Operand::Number(_) | Operand::Product => false,
        };
        let sums_rows = pass.folds.iter().all(|fold| match (&fold.target, &fold.operand) {
            (Target::Number(_), Operand::Load(load)) => {
                matches!(Along::of(&self.nest.loads[*load], axis + 1), Along::Consecutive)
            }
            (target, _) => matches!(target, Target::Number(_)),
        });
        if !sums_rows || !operands.all(is_flat) {
            return None;
        }
        let stores =
            pass.stores.iter().map(|store| Some(Store { target: flat(&store.target)?, ..store.clone() }));
        let pass = Pass {
            elements: pass.elements.clone(),
            stores: stores.collect::<Option<_>>()?,
            folds: pass.folds.iter().filter(|fold| in_memory(pass, fold).is_none()).cloned().collect(),
            ..Pass::default()
        };
        // Loads that the pass does not read may have any layout.
        let loads = self.nest.loads.iter().map(|view| flat(view).unwrap_or_else(|| view.clone())).collect();
        Some(Nest { extents, row_axes: axis, loads, passes: vec![pass] })
    }
}

/// A view with its last two axes as one. The last axis has the extent `inner_len`, and the result has `extents`. `None`
/// if the elements along both axes are neither contiguous nor a single element.
pub(super) fn flat_view(view: &View, inner_len: &Dim, extents: &[Dim]) -> Option<View> {
    let [outer @ .., across, along] = &view.strides[..] else { return None };
    let follows = along.is_one() && across == inner_len;
    let is_still = [across, along].iter().all(|stride| **stride == Dim::ZERO);
    let stride = if follows { Dim::ONE } else { Dim::ZERO };
    let strides = outer.iter().cloned().chain([stride]).collect();
    (follows || is_still).then(|| View { strides, shape: Shape::from_slice(extents), ..view.clone() })
}

/// Whether the run time has kernels for the fold over many rows of known length at once.
fn is_sum(fold: &Fold) -> bool {
    fold.monoid.is_compensated
}

/// The place of elements in memory.
enum OperandLocation<'n> {
    Loaded(usize),
    Stored(&'n View),
}

/// The place of a fold's operand once the elements of the pass are stored; `None` if it is not in memory.
fn in_memory<'n>(pass: &'n Pass, fold: &Fold) -> Option<OperandLocation<'n>> {
    let stored = pass.stores.iter().find(|store| store.operand == fold.operand);
    match (stored, &fold.operand) {
        (Some(store), _) => Some(OperandLocation::Stored(&store.target)),
        (None, Operand::Load(load)) if pass.stores.is_empty() => Some(OperandLocation::Loaded(*load)),
        _ => None,
    }
}
