//! Lowers the loops of a nest: rows, the passes over a row, and their sums.
//!
//! A sum along a row is accumulated in lanes as in the run time: element `i` goes to lane `i % LANES`, in blocks as
//! wide as the lanes. The rest after the last whole block goes to a copy of the lanes, since an array that is also
//! indexed by a variable stays in memory.

use std::ops::Range;

use crate::{
    dim::Dim,
    ir::ValueId,
    loops::{Control, ElementRef, Expr, Holds, Size, Statement, Subslice, Total, Var},
    plan::{Fold, Nest, Node, Pass, Plan, Scalar, Store, Target, View},
    reduce::Monoid,
    ty::DType,
};

use super::{
    Along,
    captures::Captures,
    chains::{MemoryFold, PartialSums},
    dtype,
    elements::Variables,
    folds::LaneFold,
    numbers::RowNumber,
    writer::Writer,
};

/// The rows of a nest.
#[derive(Clone, Copy)]
pub(super) enum NestRows {
    /// All rows of the nest, one for each index of the outer axes.
    Nest,
    /// The columns of a block of a product's sums.
    Block(Columns),
    /// Whole rows of a product's sums, whose length is known.
    Row,
    /// A block of short rows as one row.
    Rows(Columns),
}

/// A bound on the length of rows in one version of the loops.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Short {
    /// Several rows are computed as one row, and then folded at once.
    Flat,
    /// A row is computed as a block of this many elements, of which the row may fill a part.
    Block(usize),
}

/// The longest row of unknown length that is folded with other rows at once. A longer one takes as little time alone.
pub(super) const LONGEST_FLAT: usize = 64;

/// A part of a row.
#[derive(Clone, Copy)]
pub(super) struct Columns {
    /// Its start.
    pub(super) column: Var,
    /// Its length.
    pub(super) columns: Var,
    /// The row at which the written memory begins, if it differs from the row at which the read memory begins.
    pub(super) first: Option<Var>,
}

/// The rows of a block that are processed together.
#[derive(Clone, Copy)]
pub(super) struct Block {
    pub(super) first: Var,
    pub(super) rows: Var,
}

pub(super) struct NestLowering<'a> {
    pub(super) plan: &'a Plan,
    pub(super) nest: &'a Nest,
    pub(super) captures: &'a Captures,
    pub(super) frame: NestRows,
    /// The index of the open loop over each axis.
    pub(super) indices: Vec<Option<Var>>,
    /// The numbers of the row so far.
    pub(super) numbers: Vec<RowNumber>,
    /// The accumulators of the totals, in the order of passes.
    pub(super) totals: Vec<LaneFold>,
    /// The folds in memory, and the variables that accumulate each.
    pub(super) memory: Vec<(MemoryFold<'a>, Gathered)>,
    /// The arrays of operands that are summed for a block of rows at once, in the order of passes.
    pub(super) values: Vec<Var>,
    /// The nodes that draw random bits ahead, and the bits of each.
    pub(super) draws: Vec<(ValueId, Var)>,
    pub(super) block: Option<Block>,
    /// The current row within the block.
    pub(super) block_row: Option<Var>,
    /// The row of a product's sums.
    pub(super) sums: Option<Var>,
    /// How rows are computed in the version of the loops for short rows.
    pub(super) short: Option<Short>,
    pub(super) out: Writer,
}

/// The variables that accumulate a sum.
#[derive(Clone, Copy)]
pub(super) struct Gathered {
    /// The current chain.
    pub(super) chain: Var,
    /// The rounding error of the sum, if there is more than one chain.
    pub(super) lost: Option<Var>,
}

/// The monoid and the element type of a fold.
#[derive(Clone, Copy)]
pub(super) struct FoldElement {
    pub(super) monoid: &'static Monoid,
    pub(super) dtype: DType,
}

impl FoldElement {
    pub(super) fn of(fold: &Fold) -> Self {
        Self { monoid: fold.monoid, dtype: fold.dtype }
    }
}

impl<'a> NestLowering<'a> {
    pub(super) fn new(
        plan: &'a Plan,
        nest: &'a Nest,
        captures: &'a Captures,
        frame: NestRows,
        out: Writer,
    ) -> Self {
        Self {
            plan,
            nest,
            captures,
            frame,
            indices: vec![None; nest.extents.len()],
            numbers: Vec::new(),
            totals: Vec::new(),
            memory: Vec::new(),
            values: Vec::new(),
            draws: Vec::new(),
            block: None,
            block_row: None,
            sums: None,
            short: None,
            out,
        }
    }

    /// Lowers all rows. Returns the totals of the loops.
    pub(super) fn rows(&mut self) -> Vec<Total> {
        if self.rows_alone() || self.rows_across_lanes() {
            return Vec::new();
        }
        self.begin_totals();
        self.name_sums_in_memory();
        if self.is_sum_of_rows() {
            self.sum_columns();
            return Vec::new();
        }
        self.begin_values();
        self.declare_draws();
        match self.short_rows() {
            Some(lanes) => self.short_or_long_rows(lanes),
            None => self.all_rows(),
        }
        let folds = self.nest.folds().filter_map(|fold| match &fold.target {
            Target::Total(value) => Some((fold, *value)),
            Target::Number(_) | Target::Memory(_) => None,
        });
        let totals = folds.zip(&self.totals).map(|((fold, value), total)| Total {
            value,
            monoid: fold.monoid,
            dtype: fold.dtype,
            count: fold.count.clone(),
            part: total.value(),
        });
        totals.collect()
    }

    /// Versions of the loops, of which one runs. Short rows are folded several at once if they can be, else as blocks
    /// of half as many elements as there are lanes, or of as many.
    fn short_or_long_rows(&mut self, lanes: usize) {
        let len = self.inner_len();
        let totals = self.totals.clone();
        self.short = Some(Short::Flat);
        let folds_row = |pass: &&Pass| pass.folds.iter().any(|fold| matches!(fold.target, Target::Number(_)));
        let is_flat = self.nest.passes.iter().filter(folds_row).all(|pass| self.flat(pass).is_some());
        let versions = match is_flat {
            true => vec![(LONGEST_FLAT, Short::Flat)],
            false => [lanes / 2, lanes].map(|block| (block, Short::Block(block))).to_vec(),
        };
        let mut above = None;
        let versions = versions.into_iter().map(|(most, short)| (Some(most), Some(short)));
        for (most, short) in versions.chain([(None, None)]) {
            if let Some(most) = most {
                self.out.open(Control::If { less: len.clone(), than: Size::known(most + 1) });
            }
            if let Some(above) = above {
                self.out.open(Control::If { less: Size::known(above), than: len.clone() });
                self.totals = totals.iter().map(|total| self.with_own_chain(total)).collect();
                self.numbers.clear();
            }
            self.short = short;
            (self.block, self.block_row) = (None, None);
            if short == Some(Short::Flat) {
                self.begin_values();
            }
            self.all_rows();
            above.iter().for_each(|_| self.out.close());
            most.iter().for_each(|_| self.out.close());
            above = most;
        }
    }

    /// The length of the block as which a whole row is computed, in the version for rows that are at most as long.
    pub(super) fn short_block(&self) -> Option<usize> {
        match self.short {
            Some(Short::Block(block)) => Some(block),
            Some(Short::Flat) | None => None,
        }
    }

    /// The loops over rows, and the folds that they add to.
    pub(super) fn all_rows(&mut self) {
        let totals = self.totals.clone();
        let factor = (self.is_one_run() && self.rows_at_once().is_none())
            .then(|| self.run_factor(&self.nest.passes))
            .flatten();
        for depth in 0..self.nest.row_axes {
            self.begin_folds(depth);
            let is_last = depth + 1 == self.nest.row_axes;
            match (self.rows_at_once(), &factor) {
                (Some(rows), _) if is_last => self.open_block(depth, rows),
                (None, Some(factor)) if is_last => self.open_nonzero(factor),
                _ => self.open(depth, &totals),
            }
        }
        self.begin_folds(self.nest.row_axes);
        let mut of_passes = totals.clone().into_iter();
        for pass in &self.nest.passes {
            self.pass(pass, &mut of_passes);
        }
        if factor.is_some() {
            self.out.close();
        }
        for depth in (0..self.nest.row_axes).rev() {
            self.end_folds(depth + 1);
            self.out.close();
            self.close_chains(depth, &totals);
        }
        self.end_folds(0);
    }

    /// The lanes of folds along rows that may be short. `None` unless rows of unknown length are folded and
    /// elements beyond a row may be read.
    fn short_rows(&self) -> Option<usize> {
        let is_open = matches!(self.frame, NestRows::Nest)
            && self.is_one_run()
            && self.nest.row_axes > 0
            && self.inner_known().is_none()
            && self.captures.steps(self.rank() - 1).is_none();
        let passes = &self.nest.passes;
        let is_number = |fold: &Fold| matches!(fold.target, Target::Number(_));
        let folds_row = |pass: &Pass| pass.folds.iter().any(is_number);
        let is_suited = |pass: &Pass| {
            let is_row = pass.folds.iter().all(is_number) && self.can_be_padded(pass, &self.variables(pass));
            // Other passes process no more elements than the row has.
            let is_other = pass.folds.iter().all(|fold| matches!(fold.target, Target::Memory(_)));
            is_row || is_other
        };
        let in_arrays = self.memory.iter().any(|(sum, _)| matches!(sum.place, PartialSums::Arrays(_)));
        let lanes = passes.iter().filter(|pass| folds_row(pass)).map(|pass| self.lanes(pass)).min()?;
        (is_open && !in_arrays && passes.iter().all(is_suited)).then_some(lanes)
    }

    fn pass(&mut self, pass: &'a Pass, totals: &mut impl Iterator<Item = LaneFold>) {
        let mut variables = self.variables(pass);
        let known = self.numbers.len();
        self.name_numbers(pass);
        if let Some(flat) = self.flat(pass) {
            self.flat_pass(pass, &flat, known);
            self.open_rows(known + pass.folds.len());
            self.still_loads(&mut variables);
            self.numbers_of_rows(pass, known + pass.folds.len(), &mut variables, totals);
            return;
        }
        self.open_rows(known);
        let sums: Vec<Option<LaneFold>> = pass
            .folds
            .iter()
            .map(|fold| match &fold.target {
                Target::Total(_) => totals.next(),
                Target::Number(value) => {
                    let (lanes, first) = (self.lanes(pass), self.nest.row_axes);
                    Some(self.fold_in_lanes(Some(*value), FoldElement::of(fold), lanes, first))
                }
                Target::Memory(_) => None,
            })
            .collect();
        self.still_loads(&mut variables);
        self.elements(pass, &variables, &sums);
        let mut number = known;
        for (fold, sum) in pass.folds.iter().zip(&sums) {
            if let (Target::Number(_), Some(sum)) = (&fold.target, sum) {
                let value = self.mean(fold, self.value_of_row(sum));
                self.define_number(number, value);
                number += 1;
            }
        }
        if !pass.numbers.is_empty() {
            self.next_rows(number, &mut variables);
        }
        self.numbers_of_rows(pass, number, &mut variables, totals);
    }

    /// Computes, stores and sums the numbers of a row after a pass. The numbers before `first` are known.
    fn numbers_of_rows(
        &mut self,
        pass: &Pass,
        first: usize,
        variables: &mut Variables,
        totals: &mut impl Iterator<Item = LaneFold>,
    ) {
        let mut number = first;
        for node in &pass.numbers {
            let value = self.node(node, &self.nodes(first..number), variables, None);
            self.define_number(number, value);
            number += 1;
        }
        if !(pass.row_stores.is_empty() && pass.row_folds.is_empty()) {
            self.next_rows(number, variables);
        }
        let nodes = self.nodes(first..number);
        for Store { operand, target } in &pass.row_stores {
            let value = self.operand(operand, &nodes, variables, None);
            let place =
                ElementRef { of: self.captures.target(target), index: self.position(target, 0..self.rank()) };
            self.out.push(Statement::Store(place, value));
        }
        for fold in &pass.row_folds {
            let value = self.operand(&fold.operand, &nodes, variables, None);
            let place = match &fold.target {
                Target::Total(_) => {
                    let total = totals.next().expect("every total was declared");
                    ElementRef { of: total.chain(), index: Size::known(0) }
                }
                Target::Memory(view) => {
                    let (_, Gathered { chain, .. }) = self.gathered_in(view).expect("every sum was named");
                    ElementRef { of: *chain, index: self.position(view, 0..self.rank()) }
                }
                Target::Number(_) => unreachable!("sums over rows are no numbers of a row"),
            };
            self.out.push(Statement::Combine { place, monoid: fold.monoid, value, mask: None });
        }
        if self.block.is_some() {
            self.out.close();
        }
    }

    /// Divides each of the sums, if they are means.
    pub(super) fn divide(&mut self, fold: &Fold, sums: Subslice) {
        if let Some(count) = &fold.count {
            self.out.push(Statement::Divide(sums, count.into()));
        }
    }

    pub(super) fn mean(&self, fold: &Fold, sum: Expr) -> Expr {
        match &fold.count {
            Some(count) => Expr::Mean { sum: Box::new(sum), count: count.into(), dtype: fold.dtype },
            None => sum,
        }
    }

    /// Opens the loop over an axis, and the loop over its chains.
    pub(super) fn open(&mut self, axis: usize, sums: &[LaneFold]) {
        let (from, to) = self.open_chains(axis, self.extent(axis), sums);
        let index = self.index(axis);
        self.out.open(Control::For { index, from, to });
    }

    /// A new index of an axis.
    pub(super) fn index(&mut self, axis: usize) -> Var {
        let index = self.out.variable(None, &format!("i{axis}"), Holds::Size);
        self.indices[axis] = Some(index);
        index
    }

    pub(super) fn rank(&self) -> usize {
        self.nest.extents.len()
    }

    /// The part of a row that is processed, if it is not the whole row.
    pub(super) fn columns(&self) -> Option<Columns> {
        match self.frame {
            NestRows::Block(columns) | NestRows::Rows(columns) => Some(columns),
            NestRows::Nest | NestRows::Row => None,
        }
    }

    /// The extent of an axis, or of the part of it that the loops process.
    pub(super) fn extent(&self, axis: usize) -> Size {
        if let Some(Columns { columns, .. }) = self.columns() {
            return columns.into();
        }
        match self.captures.steps(axis) {
            Some(steps) => steps.into(),
            None => (&self.nest.extents[axis]).into(),
        }
    }

    pub(super) fn inner_len(&self) -> Size {
        self.extent(self.rank() - 1)
    }

    /// The length of a row, if it is known.
    pub(super) fn inner_known(&self) -> Option<usize> {
        let inner = self.rank() - 1;
        if self.columns().is_some() || self.captures.steps(inner).is_some() {
            return None;
        }
        self.nest.extents[inner].as_literal().and_then(|len| usize::try_from(len).ok())
    }

    /// The position of the first element of the current row, or of its part in the block.
    pub(super) fn row_position(&self, view: &View, written: bool) -> Size {
        let inner = self.rank() - 1;
        let Some(Columns { column, first, .. }) = self.columns() else {
            return self.position(view, 0..inner);
        };
        let mut parts = vec![self.position_from(view, 0..inner, first.filter(|_| written))];
        match Along::of(view, inner) {
            Along::Fixed => {}
            Along::Consecutive => parts.push(column.into()),
            Along::Strided => parts.push(Size::from(column).times((&view.strides[inner]).into())),
        }
        Size::sum(parts)
    }

    pub(super) fn dtype(&self, view: &View) -> DType {
        dtype(self.plan, view)
    }

    /// The position of a view's element at the current indices of `axes`, and at index 0 of the other axes.
    pub(super) fn position(&self, view: &View, axes: Range<usize>) -> Size {
        self.position_from(view, axes, None)
    }

    /// The same in memory that begins at index `first` of the outermost axis.
    fn position_from(&self, view: &View, axes: Range<usize>, first: Option<Var>) -> Size {
        let mut parts = Vec::new();
        if view.offset != Dim::ZERO {
            parts.push(Size::from(&view.offset));
        }
        for axis in axes {
            let stride = &view.strides[axis];
            if *stride == Dim::ZERO {
                continue;
            }
            let index = Size::from(self.indices[axis].expect("the loops of outer axes are open"));
            let index = match first {
                Some(first) if axis == 0 => index.minus(first.into()),
                Some(_) | None => index,
            };
            parts.push(if stride.is_one() { index } else { index.times(stride.into()) });
        }
        Size::sum(parts)
    }

    pub(super) fn node(&self, node: &Node, nodes: &[Var], variables: &Variables, at: Option<&Size>) -> Expr {
        let operands = node.operands.iter().map(|operand| self.operand(operand, nodes, variables, at));
        Expr::Apply { op: node.op, operands: operands.collect(), dtype: node.dtype }
    }

    pub(super) fn scalar(&self, scalar: &Scalar) -> Expr {
        match scalar {
            Scalar::Constant(data) => Expr::Constant(data.clone()),
            Scalar::Input(_) | Scalar::Local(_) | Scalar::Count { .. } => {
                Expr::Number(self.captures.scalar(scalar).expect("every single number is captured"))
            }
        }
    }

    pub(super) fn number(&self, value: ValueId) -> Var {
        let number = self.numbers.iter().rfind(|number| number.value == value);
        number.and_then(|number| number.var).expect("numbers are computed before they are read")
    }
}
