//! Short rows that are summed as they are: the run time sums as many at once as a register has lanes.

use std::fmt::Write;

use mind_core::plan::{Fold, Operand, Target, View};

use super::{Along, Frame, Loops, grouped};
use crate::emit::nest::{WORTH_DISPATCHING, known};

/// A sum of each row, stored in rows of its own.
struct RowSum<'n> {
    fold: &'n Fold,
    /// The position of what is summed among the nest's loads.
    load: usize,
    target: &'n View,
}

impl<'a> Loops<'a, '_> {
    /// Sums rows, if that is all that the nest does and they are short.
    pub(super) fn short_rows(&mut self) -> bool {
        let (Some(sums), Some(len)) = (self.sums_of_rows(), self.inner_known()) else { return false };
        let is_short = |sum: &RowSum| len > 1 && len <= super::lanes_of(sum.fold.dtype);
        let is_little = known(&self.nest.extents).is_some_and(|elements| elements <= WORTH_DISPATCHING);
        if is_little || !sums.iter().all(is_short) {
            return false;
        }
        let axis = self.nest.row_axes - 1;
        (0..axis).for_each(|outer| self.open(outer));
        let lanes = len.next_power_of_two();
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
                 rt::sum_rows::<_, {len}, {lanes}>(&{read}[{from}..], {stride}, {sums});"
            );
            if fold.count.is_some() {
                let mean = self.mean(fold, "*sum");
                let _ = writeln!(self.text, "for sum in {sums} {{ *sum = {mean}; }}");
            }
        }
        (0..axis).for_each(|_| self.text.push_str("}\n"));
        true
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
        if self.frame != Frame::Nest || axis + 2 != self.rank() || !is_alone {
            return None;
        }
        let sums = pass.row_stores.iter().map(|store| {
            let sum = |fold: &&Fold| matches!(&fold.target, Target::Number(value) if store.operand == Operand::Number(*value));
            let fold = pass.folds.iter().find(sum)?;
            let Operand::Load(load) = fold.operand else { return None };
            let follows = matches!(Along::of(&self.nest.loads[load], axis + 1), Along::Consecutive)
                && matches!(Along::of(&store.target, axis), Along::Consecutive);
            let is_read_alone = self.captures.loads[load] != self.captures.target(&store.target);
            (follows && is_read_alone).then_some(RowSum { fold, load, target: &store.target })
        });
        sums.collect()
    }
}
