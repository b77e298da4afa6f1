//! Numbers of rows, for a block of short rows at a time.

use std::{fmt::Write, ops::Range};

use mind_core::{
    dim::Dim,
    plan::{Node, Pass, Target},
};

use super::{Loops, RowNumber, Variables, grouped, zero};

/// Rows of a block of rows, at most.
const ROWS: usize = 16;

/// Elements in a block of rows, at most: what its passes read again is still in the fastest cache.
const BLOCK: i64 = 6 * 1024;

impl Loops<'_, '_> {
    /// Whether rows are passed over in blocks, and how many rows these have at most. Numbers of several rows are computed at
    /// once: a logarithm of one number costs as much as those of a whole register, and while one row waits for its numbers the
    /// next is summed.
    pub(super) fn rows_at_once(&self) -> Option<String> {
        if let Some(rows) = self.flat_rows() {
            return Some(rows.to_string());
        }
        let slow = |node: &Node| node.op.row().cost.is_worth_keeping();
        let numbers = self.nest.passes.iter().flat_map(|pass| &pass.numbers);
        if self.nest.row_axes == 0 || !numbers.into_iter().any(slow) {
            return None;
        }
        let mut row = self.nest.extents[self.nest.row_axes..].iter();
        let row = row.try_fold(Dim::ONE, |product, extent| product.mul(extent)).ok()?;
        match row.as_literal() {
            Some(len) => {
                let rows = (BLOCK / len).clamp(1, ROWS as i64);
                (rows > 1).then(|| rows.to_string())
            }
            None => Some(format!("({BLOCK} / {}).clamp(1, {ROWS})", grouped(&self.body.extent(&row)))),
        }
    }

    pub(super) fn open_block(&mut self, axis: usize, rows: &str) {
        let (from, to) = self.open_chains(axis, &grouped(&self.extent(axis)), &self.totals.clone());
        let _ = writeln!(
            self.text,
            "let most: usize = {rows};\nfor first in ({from}..{to}).step_by(most) {{ \
             let rows = ({to} - first).min(most);"
        );
    }

    /// Names for what a pass computes once for each row.
    pub(super) fn name_numbers(&mut self, pass: &Pass) {
        let blocks = self.rows_at_once().is_some();
        let folds = pass.folds.iter().filter_map(|fold| match &fold.target {
            Target::Number(value) => Some((*value, fold.dtype)),
            Target::Memory(_) | Target::Total(_) => None,
        });
        for (value, dtype) in folds.chain(pass.numbers.iter().map(|node| (node.value, node.dtype))) {
            let name = self.names.fresh(&self.body.wish(value));
            let block = blocks.then(|| {
                let block = self.names.fresh(&format!("{}_rows", name.trim_start_matches("r#")));
                let rows = self.flat_rows().unwrap_or(ROWS);
                let _ = writeln!(self.text, "let mut {block} = [{}; {rows}];", zero(dtype));
                block
            });
            self.numbers.push(RowNumber { value, name, block });
        }
    }

    /// Goes over the rows of a block, if there are blocks, with so many numbers known.
    pub(super) fn open_rows(&mut self, known: usize) {
        if self.rows_at_once().is_none() {
            return;
        }
        let axis = self.nest.row_axes - 1;
        let _ = writeln!(self.text, "for r in 0..rows {{ let i{axis} = first + r;");
        for RowNumber { name, block, .. } in &self.numbers[..known] {
            if let Some(block) = block {
                let _ = writeln!(self.text, "let {name} = {block}[r];");
            }
        }
    }

    /// Goes over the rows of a block once more.
    pub(super) fn next_rows(&mut self, known: usize, variables: &Variables) {
        if self.rows_at_once().is_some() {
            self.text.push_str("}\n");
            self.open_rows(known);
            self.still_loads(variables);
        }
    }

    pub(super) fn define_number(&mut self, number: usize, value: &str) {
        let RowNumber { name, block, .. } = &self.numbers[number];
        let _ = writeln!(self.text, "let {name} = {value};");
        if let Some(block) = block {
            let _ = writeln!(self.text, "{block}[r] = {name};");
        }
    }

    pub(super) fn nodes(&self, numbers: Range<usize>) -> Vec<String> {
        self.numbers[numbers].iter().map(|number| number.name.clone()).collect()
    }
}
