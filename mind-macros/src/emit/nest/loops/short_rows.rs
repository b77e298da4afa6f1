//! Sums of short rows: the run time sums as many at once as a register has lanes.
//!
//! Where a nest does nothing but sum rows, it is told all of them. Where `exp` or `ln` are computed first, and rows follow
//! each other, a block of rows is computed as one row, or else many lanes would be computed in vain.

use std::fmt::Write;

use mind_core::{
    dim::Dim,
    plan::{Fold, Nest, Node, Operand, Pass, Store, Target, View},
    ty::Shape,
};

use super::{Along, Frame, Loops, grouped, lanes_of, zero};
use crate::emit::nest::{WORTH_DISPATCHING, known};

/// A sum of each row, stored in rows of its own.
struct RowSum<'n> {
    fold: &'n Fold,
    /// The position of what is summed among the nest's loads.
    load: usize,
    target: &'n View,
}

impl<'a> Loops<'a, '_> {
    /// Sums rows, if that is all that the nest does and they are short or may be.
    pub(super) fn rows_alone(&mut self) -> bool {
        let Some(sums) = self.sums_of_rows() else { return false };
        let (sum_rows, len) = match self.inner_known() {
            Some(len) if self.sums_are_short(sums.iter().map(|sum| sum.fold)) => {
                (format!("sum_rows::<_, {len}, {}>", len.next_power_of_two()), String::new())
            }
            Some(_) => return false,
            None => ("sum_rows_of".to_string(), format!("{}, ", self.inner_len())),
        };
        let axis = self.nest.row_axes - 1;
        (0..axis).for_each(|outer| self.open(outer, &[]));
        for RowSum { fold, load, target } in sums {
            let view = &self.nest.loads[load];
            let (from, at) = (self.position(view, 0..axis), self.position(target, 0..axis));
            let (from, at, rows) = (grouped(&from), grouped(&at), grouped(&self.extent(axis)));
            let (read, written) = (&self.captures.loads[load], self.captures.target(target));
            let stride = self.body.extent(&view.strides[axis]);
            let sums = self.names.fresh("sums");
            let _ = writeln!(
                self.text,
                "let {sums} = &mut {written}[{at}..][..{rows}];\n\
                 rt::{sum_rows}(&{read}[{from}..], {len}{stride}, {sums});"
            );
            self.divide(fold, &sums);
        }
        (0..axis).for_each(|_| self.text.push_str("}\n"));
        true
    }

    /// Whether rows are so short, and there may be so many, that several are worth being summed at once.
    fn sums_are_short<'f>(&self, mut folds: impl Iterator<Item = &'f Fold>) -> bool {
        let is_little = known(&self.nest.extents).is_some_and(|elements| elements <= WORTH_DISPATCHING);
        let len = self.inner_known().filter(|len| *len > 1 && !is_little);
        self.frame == Frame::Nest
            && self.nest.row_axes + 1 == self.rank()
            && self.nest.row_axes > 0
            && len.is_some_and(|len| folds.all(|fold| is_sum(fold) && len <= lanes_of(fold.dtype)))
    }

    /// The sums of rows that a nest stores, if it does nothing else and rows, and sums, follow each other in memory.
    fn sums_of_rows(&self) -> Option<Vec<RowSum<'a>>> {
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
        let sums = pass.row_stores.iter().map(|store| {
            let sum = |fold: &&Fold| matches!(&fold.target, Target::Number(value) if store.operand == Operand::Number(*value));
            let fold = pass.folds.iter().find(sum).filter(|fold| is_sum(fold))?;
            let Operand::Load(load) = fold.operand else { return None };
            let follows = matches!(Along::of(&self.nest.loads[load], axis + 1), Along::Consecutive)
                && matches!(Along::of(&store.target, axis), Along::Consecutive);
            let is_read_alone = self.captures.loads[load] != self.captures.target(&store.target);
            (follows && is_read_alone).then_some(RowSum { fold, load, target: &store.target })
        });
        sums.collect()
    }

    /// Declares the arrays of elements that are summed and not stored.
    pub(super) fn begin_values(&mut self) {
        let nest = self.nest;
        for pass in nest.passes.iter().filter(|pass| self.flat(pass).is_some()).collect::<Vec<_>>() {
            let (Some(len), Some(rows)) = (self.inner_known(), self.flat_rows()) else { continue };
            for fold in pass.folds.iter().filter(|fold| in_memory(pass, fold).is_none()) {
                let values = self.names.fresh("values");
                let _ = writeln!(self.text, "let mut {values} = [{}; {}];", zero(fold.dtype), len * rows);
                self.values.push(values);
            }
        }
    }

    /// The most rows of a block, if a pass is computed for such as one row.
    pub(super) fn flat_rows(&self) -> Option<usize> {
        /// Elements of a block, at most.
        const BLOCK: usize = 2048;

        let len = self.inner_known()?;
        let is_flat = self.nest.passes.iter().any(|pass| self.flat(pass).is_some());
        is_flat.then(|| (BLOCK / len).clamp(16, 256) / 16 * 16)
    }

    /// Computes the elements of a pass for a block of rows as one row, as [`Self::flat`] has it, and sums the rows. The sums
    /// are the numbers from `first` on.
    pub(super) fn flat_pass(&mut self, pass: &Pass, flat: &Nest, first: usize) {
        let len = self.inner_known().expect("short rows have a known length");
        let axis = self.nest.row_axes - 1;
        let mut inner = Loops::new(self.body, flat, self.captures, Frame::Rows);
        inner.names = self.names.clone();
        let flat_pass = &flat.passes[0];
        let mut variables = inner.variables(flat_pass);
        let _ = writeln!(inner.text, "let (column, columns) = (first * {len}, rows * {len});");
        for values in self.values.drain(..flat_pass.folds.len()) {
            let row = inner.names.fresh("values_row");
            let _ = writeln!(inner.text, "let {row} = &mut {values}[..columns];");
            variables.values.push((values, row));
        }
        inner.still_loads(&variables);
        inner.elements(flat_pass, &variables, &vec![None; flat_pass.folds.len()]);
        let (text, names) = (inner.text, inner.names);
        self.text.push_str(&text);
        self.names = names;
        let mut values = variables.values.iter();
        let lanes = len.next_power_of_two();
        for (position, fold) in pass.folds.iter().enumerate() {
            let (from, stride) = match in_memory(pass, fold) {
                Some(Elements::Loaded(load)) => {
                    let view = &self.nest.loads[load];
                    let at = self.position_of_block(view, axis);
                    (format!("{}[{at}..]", self.captures.loads[load]), self.body.extent(&view.strides[axis]))
                }
                Some(Elements::Stored(view)) => {
                    let at = self.position_of_block(view, axis);
                    (format!("{}[{at}..]", self.captures.target(view)), self.body.extent(&view.strides[axis]))
                }
                None => {
                    let (values, _) = values.next().expect("what is not in memory has values");
                    (format!("{values}[..]"), len.to_string())
                }
            };
            let sums = self.numbers[first + position].block.as_ref().expect("there are blocks of rows");
            let _ = writeln!(
                self.text,
                "rt::sum_rows::<_, {len}, {lanes}>(&{from}, {stride}, &mut {sums}[..rows]);"
            );
            let sums = format!("&mut {sums}[..rows]");
            self.divide(fold, &sums);
        }
    }

    /// Where the first row of a block is.
    fn position_of_block(&self, view: &View, axis: usize) -> String {
        format!("{} + first * {}", self.position(view, 0..axis), self.stride(view, axis))
    }

    /// A pass with the last row axis and the axis along rows as one, whose sums are those that are in no memory; nothing if
    /// it does not sum short rows or rows do not follow each other.
    pub(super) fn flat(&self, pass: &Pass) -> Option<Nest> {
        // What is computed faster than it is read would only be written and read once more.
        let is_slow = |node: &Node| node.op.row().cost.is_series();
        let is_worth_it = pass.elements.is_empty() || pass.elements.iter().any(is_slow);
        if pass.folds.is_empty() || !is_worth_it || !self.sums_are_short(pass.folds.iter()) {
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
            Operand::Number(_) | Operand::Sum => false,
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
        // What the pass does not read may lie in any way.
        let loads = self.nest.loads.iter().map(|view| flat(view).unwrap_or_else(|| view.clone())).collect();
        Some(Nest { extents, row_axes: axis, loads, passes: vec![pass] })
    }
}

/// A view with its last two axes, the inner one so long, as one, which gives the extents; nothing if its elements along them
/// neither follow each other nor are one.
pub(super) fn flat_view(view: &View, inner_len: &Dim, extents: &[Dim]) -> Option<View> {
    let [outer @ .., across, along] = &view.strides[..] else { return None };
    let follows = along.is_one() && across == inner_len;
    let is_still = [across, along].iter().all(|stride| **stride == Dim::ZERO);
    let stride = if follows { Dim::ONE } else { Dim::ZERO };
    let strides = outer.iter().cloned().chain([stride]).collect();
    (follows || is_still).then(|| View { strides, shape: Shape::from_slice(extents), ..view.clone() })
}

/// Whether the run time has kernels for a fold of many rows at once.
fn is_sum(fold: &Fold) -> bool {
    fold.monoid.settles
}

/// Elements that lie in memory.
enum Elements<'n> {
    Loaded(usize),
    Stored(&'n View),
}

/// Where what is summed lies once the elements of the pass are stored.
fn in_memory<'n>(pass: &'n Pass, fold: &Fold) -> Option<Elements<'n>> {
    let stored = pass.stores.iter().find(|store| store.operand == fold.operand);
    match (stored, &fold.operand) {
        (Some(store), _) => Some(Elements::Stored(&store.target)),
        (None, Operand::Load(load)) if pass.stores.is_empty() => Some(Elements::Loaded(*load)),
        _ => None,
    }
}
