//! Computes the numbers that a nest needs once per row, for a block of short rows at a time.

use std::ops::Range;

use crate::{
    dim::Dim,
    ir::ValueId,
    loops::{Control, ElementRef, Expr, Holds, Size, Statement, Var},
    plan::{Node, Pass, Target},
};

use super::{
    blocks::BLANK,
    elements::Variables,
    rows::{Block, NestLowering},
};

/// The most rows of a block.
const ROWS: usize = 16;

/// The most elements of a block of rows, so that elements that several passes read are still in the fastest cache.
const BLOCK: usize = 6 * 1024;

/// A number that is computed once per row.
pub(super) struct RowNumber {
    pub(super) value: ValueId,
    /// Its variable in the current row, once it is computed.
    pub(super) var: Option<Var>,
    holds: Holds,
    /// The array of the numbers of all rows of a block.
    pub(super) block: Option<Var>,
}

impl NestLowering<'_> {
    /// The most rows of a block, if rows are processed in blocks. The numbers of several rows are computed at once: a
    /// logarithm of one number costs as much as the logarithms of a whole register, and the next row is summed while
    /// one row waits for its numbers.
    pub(super) fn rows_at_once(&self) -> Option<Size> {
        if let Some(rows) = self.flat_rows() {
            return Some(Size::known(rows));
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
                let rows = BLOCK.checked_div(usize::try_from(len).ok()?)?.clamp(1, ROWS);
                (rows > 1).then(|| Size::known(rows))
            }
            None => Some(Size::Share { of: BLOCK, by: Box::new((&row).into()), most: ROWS }),
        }
    }

    pub(super) fn open_block(&mut self, axis: usize, rows: Size) {
        let (from, to) = self.open_chains(axis, self.extent(axis), &self.totals.clone());
        let most = self.out.size("most", rows);
        let [first, rows] = ["first", "rows"].map(|name| self.out.variable(None, name, Holds::Size));
        self.out.open(Control::Blocks { first, rows, from, to, most });
        self.indices[axis] = Some(first);
        self.block = Some(Block { first, rows });
    }

    /// Names the numbers that a pass computes once per row.
    pub(super) fn name_numbers(&mut self, pass: &Pass) {
        let folds = pass.folds.iter().filter_map(|fold| match &fold.target {
            Target::Number(value) => Some((*value, fold.dtype)),
            Target::Memory(_) | Target::Total(_) => None,
        });
        for (value, dtype) in folds.chain(pass.numbers.iter().map(|node| (node.value, node.dtype))) {
            let block = self.block.map(|_| {
                let rows = self.flat_rows().unwrap_or(ROWS);
                let block = self.out.variable(Some(value), "rows", Holds::Array(dtype, rows));
                self.out.push(Statement::Array(block, BLANK));
                block
            });
            self.numbers.push(RowNumber { value, var: None, holds: Holds::Number(dtype), block });
        }
    }

    /// Opens a loop over the rows of a block, if there are blocks. The first `known` numbers are known.
    pub(super) fn open_rows(&mut self, known: usize) {
        let Some(Block { first, rows }) = self.block else { return };
        let axis = self.nest.row_axes - 1;
        let row = self.out.variable(None, "r", Holds::Size);
        self.out.open(Control::For { index: row, from: Size::known(0), to: rows.into() });
        let index = self.index(axis);
        self.out.push(Statement::Size(index, Size::sum(vec![first.into(), row.into()])));
        self.block_row = Some(row);
        for number in 0..known {
            if let Some(block) = self.numbers[number].block {
                let element = Expr::Element(ElementRef { of: block, index: row.into() });
                self.name_number(number, element);
            }
        }
    }

    /// Closes the loop over the rows of a block, and opens another.
    pub(super) fn next_rows(&mut self, known: usize, variables: &mut Variables) {
        if self.block.is_some() {
            self.out.close();
            self.open_rows(known);
            self.still_loads(variables);
        }
    }

    pub(super) fn define_number(&mut self, number: usize, value: Expr) {
        let var = self.name_number(number, value);
        if let (Some(of), Some(row)) = (self.numbers[number].block, self.block_row) {
            self.out.push(Statement::Store(ElementRef { of, index: row.into() }, Expr::Number(var)));
        }
    }

    fn name_number(&mut self, number: usize, value: Expr) -> Var {
        let var = self.out.variable(Some(self.numbers[number].value), "", self.numbers[number].holds);
        self.out.push(Statement::Number(var, value));
        self.numbers[number].var = Some(var);
        var
    }

    pub(super) fn nodes(&self, numbers: Range<usize>) -> Vec<Var> {
        let known = "numbers are computed in their order";
        self.numbers[numbers].iter().map(|number| number.var.expect(known)).collect()
    }
}
