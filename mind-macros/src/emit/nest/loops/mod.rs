//! The loops of a nest: rows, the passes over a row, and what becomes of their sums.
//!
//! Rows are slices as long as their loops, so that no bound is checked within a row. A sum along a row goes to lanes as
//! `mind_rt`'s own sums do, element `i` to lane `i % LANES`, in blocks as wide as the lanes; what is left after the last
//! whole block goes to a copy of the lanes, since an array that is also indexed by a variable stays in memory.

mod columns;
mod elements;
mod folds;
mod numbers;
mod short_rows;

use std::{fmt::Write, ops::Range};

use mind_core::{
    dim::Dim,
    ir::ValueId,
    plan::{Fold, Nest, Pass, Store, Target, View},
    reduce::{Monoid, Neutral},
    ty::DType,
};

use super::{Along, Body, captures::Captures, chains::MemoryFold, grouped, tuple};
use crate::emit::{body::expression, names::Names};

use folds::{Gathered, LaneFold, lanes_of};

/// What stands in the function that takes the captured slices.
pub(super) fn text(body: &Body<'_>, nest: &Nest, captures: &Captures) -> String {
    columns::text(body, nest, captures).unwrap_or_else(|| {
        let mut loops = Loops::new(body, nest, captures, Frame::Nest);
        loops.rows();
        loops.text
    })
}

/// What becomes of row `i0` of a block, or of a whole row, of a product's sums: the nest has one pass of stores.
pub(super) fn row(body: &Body<'_>, nest: &Nest, captures: &Captures, frame: Frame) -> String {
    let mut loops = Loops::new(body, nest, captures, frame);
    for pass in &nest.passes {
        let variables = loops.variables(pass);
        loops.still_loads(&variables);
        loops.elements(pass, &variables, &[]);
    }
    loops.text
}

/// What the rows of a nest are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Frame {
    /// All that its outer axes count.
    Nest,
    /// The columns of a block of `sums`: `columns` from `column` on. What is written begins at row `first`.
    Block,
    /// Whole rows of `sums`, whose length is known.
    Row,
    /// A block of `rows` short rows as one: `columns` elements from `column` on.
    Rows,
}

struct Loops<'a, 'p> {
    body: &'a Body<'p>,
    nest: &'a Nest,
    captures: &'a Captures,
    frame: Frame,
    names: Names,
    /// The numbers of the row so far.
    numbers: Vec<RowNumber>,
    /// For each total, in the order of passes, what it is summed in.
    totals: Vec<LaneFold>,
    /// The sums in memory, and what each is gathered in.
    memory: Vec<(MemoryFold<'a>, Gathered)>,
    /// The arrays of elements that are summed for a block of rows at once, in the order of passes.
    values: Vec<String>,
    text: String,
}

/// A number of the row.
struct RowNumber {
    value: ValueId,
    name: String,
    /// Those of all rows of a block of rows.
    block: Option<String>,
}

/// Where in a row an element is.
#[derive(Clone, Copy)]
enum At {
    /// Index `j` of the row.
    Row,
    /// Index `lane` of the block at `start`.
    Block,
    /// The same in a block that is filled up with zeros; `counts` tells whether it is an element of the row.
    Padded,
}

/// The variables of one pass.
struct Variables {
    /// For each load, a row, a number, or nothing if the pass does not read it.
    loads: Vec<Option<String>>,
    /// For each node of the elements.
    nodes: Vec<String>,
    /// For each buffer that the pass writes along the row, the row.
    targets: Vec<(View, String)>,
    /// For each sum of short rows, the array of what is summed, and the row in that.
    values: Vec<(String, String)>,
}

impl<'a, 'p> Loops<'a, 'p> {
    fn new(body: &'a Body<'p>, nest: &'a Nest, captures: &'a Captures, frame: Frame) -> Self {
        Self {
            body,
            nest,
            captures,
            frame,
            names: captures.names.clone(),
            numbers: Vec::new(),
            totals: Vec::new(),
            memory: Vec::new(),
            values: Vec::new(),
            text: String::new(),
        }
    }

    fn rows(&mut self) {
        if self.rows_alone() {
            return;
        }
        self.begin_totals();
        self.name_sums_in_memory();
        if self.is_sum_of_rows() {
            return self.sum_columns();
        }
        self.begin_values();
        for depth in 0..self.nest.row_axes {
            self.begin_folds(depth);
            match self.rows_at_once() {
                Some(rows) if depth + 1 == self.nest.row_axes => self.open_block(depth, &rows),
                Some(_) | None => self.open(depth, &self.totals.clone()),
            }
        }
        self.begin_folds(self.nest.row_axes);
        let mut totals = self.totals.clone().into_iter();
        for pass in &self.nest.passes {
            self.pass(pass, &mut totals);
        }
        for depth in (0..self.nest.row_axes).rev() {
            self.end_folds(depth + 1);
            self.text.push_str("}\n");
            self.close_chains(depth, &self.totals.clone());
        }
        self.end_folds(0);
        let totals: Vec<_> = self.totals.iter().map(LaneFold::part).collect();
        let _ = writeln!(self.text, "{}", tuple(&totals));
    }

    fn pass(&mut self, pass: &Pass, totals: &mut impl Iterator<Item = LaneFold>) {
        let variables = self.variables(pass);
        let known = self.numbers.len();
        self.name_numbers(pass);
        if let Some(flat) = self.flat(pass) {
            self.flat_pass(pass, &flat, known);
            self.open_rows(known + pass.folds.len());
            self.still_loads(&variables);
            self.numbers_of_rows(pass, known + pass.folds.len(), &variables, totals);
            return;
        }
        self.open_rows(known);
        let sums: Vec<Option<LaneFold>> = pass
            .folds
            .iter()
            .map(|fold| match &fold.target {
                Target::Total(_) => totals.next(),
                Target::Number(_) => {
                    let (lanes, first) = (self.lanes(fold.dtype), self.nest.row_axes);
                    Some(self.fold_in_lanes("lanes", Element::of(fold), lanes, first))
                }
                Target::Memory(_) => None,
            })
            .collect();
        self.still_loads(&variables);
        self.elements(pass, &variables, &sums);
        let mut number = known;
        for (fold, sum) in pass.folds.iter().zip(&sums) {
            if let (Target::Number(_), Some(sum)) = (&fold.target, sum) {
                let value = self.mean(fold, &self.sum_of_row(sum));
                self.define_number(number, &value);
                number += 1;
            }
        }
        if !pass.numbers.is_empty() {
            self.next_rows(number, &variables);
        }
        self.numbers_of_rows(pass, number, &variables, totals);
    }

    /// What is computed, stored and summed once a row when a pass is over, with so many numbers known.
    fn numbers_of_rows(
        &mut self,
        pass: &Pass,
        first: usize,
        variables: &Variables,
        totals: &mut impl Iterator<Item = LaneFold>,
    ) {
        let mut number = first;
        for node in &pass.numbers {
            let value = self.node(node, &self.nodes(first..number), variables, At::Row);
            self.define_number(number, &value);
            number += 1;
        }
        if !(pass.row_stores.is_empty() && pass.row_folds.is_empty()) {
            self.next_rows(number, variables);
        }
        let nodes = self.nodes(first..number);
        for Store { operand, target } in &pass.row_stores {
            let value = self.operand(operand, &nodes, variables, At::Row);
            let (name, at) = (self.captures.target(target), self.position(target, 0..self.rank()));
            let _ = writeln!(self.text, "{name}[{at}] = {value};");
        }
        for fold in &pass.row_folds {
            let value = self.operand(&fold.operand, &nodes, variables, At::Row);
            let sum = match &fold.target {
                Target::Total(_) => {
                    format!("{}[0]", totals.next().expect("every total was declared").chain())
                }
                Target::Memory(view) => {
                    let (_, Gathered { chain, .. }) = self.gathered_in(view).expect("every sum was named");
                    format!("{chain}[{}]", self.position(view, 0..self.rank()))
                }
                Target::Number(_) => unreachable!("sums over rows are no numbers of a row"),
            };
            let _ = writeln!(self.text, "{sum} = {};", combined(&sum, &value, fold));
        }
        if self.rows_at_once().is_some() {
            self.text.push_str("}\n");
        }
    }

    /// Divides each of the sums, if they are means.
    fn divide(&mut self, fold: &Fold, sums: &str) {
        if fold.count.is_some() {
            let mean = self.mean(fold, "*sum");
            let _ = writeln!(self.text, "for sum in {sums} {{ *sum = {mean}; }}");
        }
    }

    fn mean(&self, fold: &Fold, sum: &str) -> String {
        match &fold.count {
            Some(count) => format!("{sum} / ({} as {})", grouped(&self.body.extent(count)), fold.dtype),
            None => sum.to_string(),
        }
    }

    fn open(&mut self, axis: usize, sums: &[LaneFold]) {
        let (from, to) = self.open_chains(axis, &grouped(&self.extent(axis)), sums);
        let _ = writeln!(self.text, "for i{axis} in {from}..{to} {{");
    }

    fn rank(&self) -> usize {
        self.nest.extents.len()
    }

    /// The extent of an axis, or of the part of it that is left after cuts.
    fn extent(&self, axis: usize) -> String {
        if matches!(self.frame, Frame::Block | Frame::Rows) {
            return "columns".to_string();
        }
        match self.captures.steps(axis) {
            Some(steps) => steps.to_string(),
            None => self.body.extent(&self.nest.extents[axis]),
        }
    }

    fn inner_len(&self) -> String {
        self.extent(self.rank() - 1)
    }

    /// The length of a row, if it is known.
    fn inner_known(&self) -> Option<usize> {
        let inner = self.rank() - 1;
        if matches!(self.frame, Frame::Block | Frame::Rows) || self.captures.steps(inner).is_some() {
            return None;
        }
        self.nest.extents[inner].as_literal().and_then(|len| usize::try_from(len).ok())
    }

    fn stride(&self, view: &View, axis: usize) -> String {
        grouped(&self.body.extent(&view.strides[axis]))
    }

    /// Where the first element of the current row, or of the part of it that is in the block, is.
    fn row_position(&self, view: &View, written: bool) -> String {
        let inner = self.rank() - 1;
        let at = match self.frame {
            Frame::Nest | Frame::Row => return self.position(view, 0..inner),
            Frame::Block => self.position_by(view, 0..inner, if written { "(i0 - first)" } else { "i0" }),
            Frame::Rows => self.position(view, 0..inner),
        };
        match Along::of(view, inner) {
            Along::Still => at,
            Along::Consecutive => format!("{at} + column"),
            Along::Strided => format!("{at} + column * {}", self.stride(view, inner)),
        }
    }

    fn dtype(&self, view: &View) -> DType {
        self.body.dtype(view)
    }

    /// Where the element of a view is at the current indices of some axes and 0 of the others.
    fn position(&self, view: &View, axes: Range<usize>) -> String {
        self.position_by(view, axes, "i0")
    }

    /// The same with an index of the outermost axis.
    fn position_by(&self, view: &View, axes: Range<usize>, outermost: &str) -> String {
        let mut parts = Vec::new();
        if view.offset != Dim::ZERO {
            parts.push(self.body.extent(&view.offset));
        }
        for axis in axes {
            let index = if axis == 0 { outermost.to_string() } else { format!("i{axis}") };
            match &view.strides[axis] {
                stride if *stride == Dim::ZERO => {}
                stride if stride.is_one() => parts.push(index),
                _ => parts.push(format!("{index} * {}", self.stride(view, axis))),
            }
        }
        if parts.is_empty() { "0".to_string() } else { parts.join(" + ") }
    }
}

impl Variables {
    fn is_target(&self, name: &str) -> bool {
        self.targets.iter().any(|(_, target)| target == name)
    }
}

fn zero(dtype: DType) -> String {
    if dtype.is_float() { format!("0.0_{dtype}") } else { format!("0_{dtype}") }
}

/// An element of a fold with one more.
fn combined(all: &str, value: &str, fold: &Fold) -> String {
    expression(fold.monoid.combine, &[all.to_string(), value.to_string()], fold.dtype, "rt")
}

/// What is put together, and by what.
#[derive(Clone, Copy)]
struct Element {
    monoid: &'static Monoid,
    dtype: DType,
}

impl Element {
    fn of(fold: &Fold) -> Self {
        Self { monoid: fold.monoid, dtype: fold.dtype }
    }

    /// What changes no element.
    fn neutral(self) -> String {
        let dtype = self.dtype;
        match (self.monoid.neutral, dtype.is_float()) {
            (Neutral::Zero, _) => zero(dtype),
            (Neutral::One, true) => format!("1.0_{dtype}"),
            (Neutral::One, false) => format!("1_{dtype}"),
            (Neutral::Least, true) => format!("{dtype}::NEG_INFINITY"),
            (Neutral::Least, false) => format!("{dtype}::MIN"),
            (Neutral::Greatest, true) => format!("{dtype}::INFINITY"),
            (Neutral::Greatest, false) => format!("{dtype}::MAX"),
        }
    }
}
