//! The loops of a nest: rows, the passes over a row, and what becomes of their sums.
//!
//! Rows are slices as long as their loops, so that no bound is checked within a row. A sum along a row goes to lanes as
//! `mind_rt`'s own sums do, element `i` to lane `i % LANES`, in blocks as wide as the lanes; what is left after the last
//! whole block goes to a copy of the lanes, since an array that is also indexed by a variable stays in memory.

mod columns;
mod elements;
mod numbers;
mod short_rows;

use std::{fmt::Write, ops::Range};

use mind_core::{
    dim::Dim,
    ir::ValueId,
    plan::{Fold, Nest, Pass, Store, Target, View},
    ty::DType,
};

use super::{Along, Body, captures::Captures, grouped, split::separable, tuple};
use crate::emit::names::Names;

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
    /// For each total, in the order of passes, the lanes or the number that it is summed in.
    totals: Vec<Sum>,
    /// The sums of short rows, and the array that each is gathered in.
    short: Vec<(View, String)>,
    /// The arrays of elements that are summed for a block of rows at once, in the order of passes.
    values: Vec<String>,
    text: String,
}

/// So many sums, known ahead, are gathered in an array, which is in registers if it is short enough. In memory, each row would
/// wait for the one before to be stored.
const SHORT: usize = 256;

/// Where a sum is gathered.
#[derive(Clone)]
enum Sum {
    /// In an array of so many lanes.
    Lanes(String, usize),
    /// In a single number.
    Number(String),
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
            short: Vec::new(),
            values: Vec::new(),
            text: String::new(),
        }
    }

    fn rows(&mut self) {
        if self.rows_alone() {
            return;
        }
        self.begin_totals();
        self.begin_values();
        for depth in 0..self.nest.row_axes {
            self.begin_sums(depth);
            match self.rows_at_once() {
                Some(rows) if depth + 1 == self.nest.row_axes => self.open_block(depth, &rows),
                Some(_) | None => self.open(depth),
            }
        }
        self.begin_sums(self.nest.row_axes);
        let mut totals = self.totals.clone().into_iter();
        for pass in &self.nest.passes {
            self.pass(pass, &mut totals);
        }
        for depth in (0..self.nest.row_axes).rev() {
            self.end_sums(depth + 1);
            self.text.push_str("}\n");
        }
        self.end_sums(0);
        let totals: Vec<_> = self.totals.iter().map(Sum::value).collect();
        let _ = writeln!(self.text, "{}", tuple(&totals));
    }

    fn begin_totals(&mut self) {
        for pass in &self.nest.passes {
            let elements = pass.folds.iter().map(|fold| (fold, true));
            for (fold, lanes) in elements.chain(pass.row_folds.iter().map(|fold| (fold, false))) {
                if !matches!(fold.target, Target::Total(_)) {
                    continue;
                }
                let name = self.names.fresh("total");
                let sum = match lanes {
                    true => Sum::Lanes(name, self.lanes(fold.dtype)),
                    false => Sum::Number(name),
                };
                self.declare(&sum, fold.dtype);
                self.totals.push(sum);
            }
        }
    }

    fn declare(&mut self, sum: &Sum, dtype: DType) {
        let zero = zero(dtype);
        let _ = match sum {
            Sum::Lanes(name, lanes) => writeln!(self.text, "let mut {name} = [{zero}; {lanes}];"),
            Sum::Number(name) => writeln!(self.text, "let mut {name} = {zero};"),
        };
    }

    /// The lanes of a sum along the row. Lanes that stay 0 change no sum: fewer of them give the same bits.
    fn lanes(&self, dtype: DType) -> usize {
        let of_type = lanes_of(dtype);
        self.inner_known().map_or(of_type, |len| len.max(1).next_power_of_two().min(of_type))
    }

    /// The sum of the lanes that a row was summed in.
    fn sum_of_row(&self, sum: &Sum) -> String {
        match (sum, self.inner_known()) {
            // Nothing is to be kept apart from a loop over blocks: there is one block.
            (Sum::Lanes(name, lanes), Some(len)) if len <= *lanes && self.is_one_run() => {
                format!("rt::add_lanes({name})")
            }
            _ => sum.value(),
        }
    }

    /// Whether a row is one run along the innermost axis.
    fn is_one_run(&self) -> bool {
        self.nest.row_axes + 1 == self.rank()
    }

    /// The sums in memory whose outermost summed axis is the next to be opened.
    fn sums_in_memory(&self, depth: usize) -> Vec<(&Fold, &View)> {
        let folds = self.nest.passes.iter().flat_map(|pass| pass.folds.iter().chain(&pass.row_folds));
        let views = folds.filter_map(|fold| match &fold.target {
            Target::Memory(view) => Some((fold, view)),
            Target::Number(_) | Target::Total(_) => None,
        });
        let begins = |view: &View| {
            let axes = view.strides.iter().take(self.nest.row_axes);
            let kept = axes.take_while(|stride| **stride != Dim::ZERO).count();
            (0..=kept).rev().find(|depth| *depth == 0 || separable(view, self.nest, depth - 1))
        };
        views.filter(|(_, view)| begins(view) == Some(depth)).collect()
    }

    fn begin_sums(&mut self, depth: usize) {
        let sums = self.sums_in_memory(depth).into_iter();
        let sums: Vec<(View, DType)> = sums.map(|(fold, view)| (view.clone(), fold.dtype)).collect();
        for (view, dtype) in sums {
            let zero = zero(dtype);
            let Some(len) = self.short_row(&view, depth) else {
                let _ = writeln!(self.text, "{}.fill({zero});", self.sums(&view, depth));
                continue;
            };
            let name = self.captures.target(&view).trim_start_matches("r#");
            let name = self.names.fresh(&format!("{name}_sums"));
            let _ = writeln!(self.text, "let mut {name} = [{zero}; {len}];");
            self.short.push((view, name));
        }
    }

    /// The number of sums that the loops from `depth` on gather, if they are a row and few.
    fn short_row(&self, view: &View, depth: usize) -> Option<usize> {
        let inner = self.rank() - 1;
        let is_row = inner == self.nest.row_axes
            && view.strides[depth..inner].iter().all(|stride| *stride == Dim::ZERO)
            && matches!(Along::of(view, inner), Along::Consecutive);
        self.inner_known().filter(|len| is_row && *len <= SHORT)
    }

    /// The array that a sum in memory is gathered in, if it is.
    fn short_sums(&self, view: &View) -> Option<&str> {
        let short = self.short.iter().find(|(known, _)| known.buffer() == view.buffer());
        short.map(|(_, name)| &**name)
    }

    fn end_sums(&mut self, depth: usize) {
        let mut text = String::new();
        for (fold, view) in self.sums_in_memory(depth) {
            let sums = self.sums(view, depth);
            if let Some(short) = self.short_sums(view) {
                let _ = writeln!(text, "{sums}.copy_from_slice(&{short});");
            }
            if fold.count.is_some() {
                let mean = self.mean(fold, "*sum");
                let _ = writeln!(text, "for sum in &mut {sums} {{ *sum = {mean}; }}");
            }
        }
        self.text.push_str(&text);
    }

    /// The part of a target in memory that the loops from `depth` on sum into.
    fn sums(&self, view: &View, depth: usize) -> String {
        let name = self.captures.target(view);
        match depth.checked_sub(1) {
            None => format!("{name}[..]"),
            Some(outer) => {
                let (at, len) = (self.position(view, 0..depth), self.stride(view, outer));
                format!("{name}[{}..][..{len}]", grouped(&at))
            }
        }
    }

    fn pass(&mut self, pass: &Pass, totals: &mut impl Iterator<Item = Sum>) {
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
        let sums: Vec<Option<Sum>> = pass
            .folds
            .iter()
            .map(|fold| match &fold.target {
                Target::Total(_) => totals.next(),
                Target::Number(_) => {
                    let sum = Sum::Lanes(self.names.fresh("lanes"), self.lanes(fold.dtype));
                    self.declare(&sum, fold.dtype);
                    Some(sum)
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
        totals: &mut impl Iterator<Item = Sum>,
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
                Target::Total(_) => match totals.next() {
                    Some(Sum::Number(name) | Sum::Lanes(name, _)) => name,
                    None => unreachable!("every total was declared"),
                },
                Target::Memory(view) => {
                    let (name, at) = (self.captures.target(view), self.position(view, 0..self.rank()));
                    format!("{name}[{at}]")
                }
                Target::Number(_) => unreachable!("sums over rows are no numbers of a row"),
            };
            let _ = writeln!(self.text, "{sum} = {};", add(&sum, &value, fold.dtype));
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

    fn open(&mut self, axis: usize) {
        let extent = self.extent(axis);
        let _ = writeln!(self.text, "for i{axis} in 0..{extent} {{");
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
        let buffer = view.buffer().expect("nests read and write memory");
        self.body.plan.buffers[buffer.0].ty.dtype
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

impl Sum {
    fn value(&self) -> String {
        match self {
            Self::Lanes(name, _) => format!("rt::reduce_lanes({name})"),
            Self::Number(name) => name.clone(),
        }
    }

    fn width(&self) -> usize {
        match self {
            Self::Lanes(_, lanes) => *lanes,
            Self::Number(_) => 1,
        }
    }
}

/// The lanes of a sum, as the run time has them.
fn lanes_of(dtype: DType) -> usize {
    128 / dtype.bytes()
}

fn zero(dtype: DType) -> String {
    if dtype.is_float() { format!("0.0_{dtype}") } else { format!("0_{dtype}") }
}

fn add(sum: &str, value: &str, dtype: DType) -> String {
    if dtype.is_float() { format!("{sum} + {value}") } else { format!("{sum}.wrapping_add({value})") }
}
