//! The loops of a nest: rows, the passes over a row, and what becomes of their sums.
//!
//! Rows are slices as long as their loops, so that no bound is checked within a row. A sum along a row goes to lanes as
//! `mind_rt`'s own sums do, element `i` to lane `i % LANES`, in blocks as wide as the lanes; what is left after the last
//! whole block goes to a copy of the lanes, since an array that is also indexed by a variable stays in memory.

use std::{fmt::Write, ops::Range};

use mind_core::{
    dim::Dim,
    ir::ValueId,
    plan::{Fold, Nest, Node, Operand, Pass, ScalarOp, Store, Target, View},
    ty::DType,
};

use super::{Along, Body, captures::Captures, grouped, split::separable, tuple};
use crate::emit::{body::expression, names::Names};

/// What stands in the function that takes the captured slices.
pub(super) fn text(body: &Body<'_>, nest: &Nest, captures: &Captures) -> String {
    let mut loops = Loops::new(body, nest, captures, Frame::Nest);
    loops.rows();
    loops.text
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
}

/// Rows of a block of rows, at most.
const ROWS: usize = 16;

/// The longest row, in elements, that is passed over in blocks of rows: what a block reads stays in the fastest cache.
const SHORT_ROW: i64 = 512;

/// Elements of a row that are handled at once where its length is not known: a register of the highest level.
const fn register(dtype: DType) -> usize {
    64 / dtype.bytes()
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
    text: String,
}

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
}

/// The variables of one pass.
struct Variables {
    /// For each load, a row, a number, or nothing if the pass does not read it.
    loads: Vec<Option<String>>,
    /// For each node of the elements.
    nodes: Vec<String>,
    /// For each buffer that the pass writes along the row, the row.
    targets: Vec<(View, String)>,
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
            text: String::new(),
        }
    }

    fn rows(&mut self) {
        self.begin_totals();
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
        let of_type = if dtype.bytes() == 4 { 32 } else { 16 };
        self.inner_known().map_or(of_type, |len| len.max(1).next_power_of_two().min(of_type))
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
        let mut text = String::new();
        for (fold, view) in self.sums_in_memory(depth) {
            let _ = writeln!(text, "{}.fill({});", self.sums(view, depth), zero(fold.dtype));
        }
        self.text.push_str(&text);
    }

    fn end_sums(&mut self, depth: usize) {
        let mut text = String::new();
        for (fold, view) in self.sums_in_memory(depth) {
            if fold.count.is_some() {
                let mean = self.mean(fold, "*sum");
                let _ = writeln!(text, "for sum in &mut {} {{ *sum = {mean}; }}", self.sums(view, depth));
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
                let value = self.mean(fold, &sum.value());
                self.define_number(number, &value);
                number += 1;
            }
        }
        if !pass.numbers.is_empty() {
            self.next_rows(number, &variables);
        }
        let first = number;
        for node in &pass.numbers {
            let value = self.node(node, &self.nodes(first..number), &variables, At::Row);
            self.define_number(number, &value);
            number += 1;
        }
        if !(pass.row_stores.is_empty() && pass.row_folds.is_empty()) {
            self.next_rows(number, &variables);
        }
        let nodes = self.nodes(first..number);
        for Store { operand, target } in &pass.row_stores {
            let value = self.operand(operand, &nodes, &variables, At::Row);
            let (name, at) = (self.captures.target(target), self.position(target, 0..self.rank()));
            let _ = writeln!(self.text, "{name}[{at}] = {value};");
        }
        for fold in &pass.row_folds {
            let value = self.operand(&fold.operand, &nodes, &variables, At::Row);
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

    /// Whether rows are passed over in blocks, and how many rows these have at most. Numbers of several rows are computed at
    /// once: a logarithm of one number costs as much as those of a whole register.
    fn rows_at_once(&self) -> Option<String> {
        let slow = |node: &Node| matches!(node.op, ScalarOp::Exp | ScalarOp::Log | ScalarOp::Div);
        let numbers = self.nest.passes.iter().flat_map(|pass| &pass.numbers);
        if self.nest.row_axes == 0 || !numbers.into_iter().any(slow) {
            return None;
        }
        let row = self.nest.extents[self.nest.row_axes..].iter();
        let row = row.fold(Some(Dim::ONE), |product, extent| product?.mul(extent).ok())?;
        match row.as_literal() {
            Some(len) => (len <= SHORT_ROW).then(|| ROWS.to_string()),
            None => {
                let len = self.body.extent(&row);
                Some(format!("if {len} <= {SHORT_ROW} {{ {ROWS} }} else {{ 1 }}"))
            }
        }
    }

    fn open_block(&mut self, axis: usize, rows: &str) {
        let extent = grouped(&self.extent(axis));
        let _ = writeln!(
            self.text,
            "let most: usize = {rows};\nfor first in (0..{extent}).step_by(most) {{ \
             let rows = ({extent} - first).min(most);"
        );
    }

    /// Names for what a pass computes once for each row.
    fn name_numbers(&mut self, pass: &Pass) {
        let blocks = self.rows_at_once().is_some();
        let folds = pass.folds.iter().filter_map(|fold| match &fold.target {
            Target::Number(value) => Some((*value, fold.dtype)),
            Target::Memory(_) | Target::Total(_) => None,
        });
        for (value, dtype) in folds.chain(pass.numbers.iter().map(|node| (node.value, node.dtype))) {
            let name = self.names.fresh(&self.body.wish(value));
            let block = blocks.then(|| {
                let block = self.names.fresh(&format!("{}_rows", name.trim_start_matches("r#")));
                let _ = writeln!(self.text, "let mut {block} = [{}; {ROWS}];", zero(dtype));
                block
            });
            self.numbers.push(RowNumber { value, name, block });
        }
    }

    /// Goes over the rows of a block, if there are blocks, with so many numbers known.
    fn open_rows(&mut self, known: usize) {
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
    fn next_rows(&mut self, known: usize, variables: &Variables) {
        if self.rows_at_once().is_some() {
            self.text.push_str("}\n");
            self.open_rows(known);
            self.still_loads(variables);
        }
    }

    fn define_number(&mut self, number: usize, value: &str) {
        let RowNumber { name, block, .. } = &self.numbers[number];
        let _ = writeln!(self.text, "let {name} = {value};");
        if let Some(block) = block {
            let _ = writeln!(self.text, "{block}[r] = {name};");
        }
    }

    fn nodes(&self, numbers: Range<usize>) -> Vec<String> {
        self.numbers[numbers].iter().map(|number| number.name.clone()).collect()
    }

    /// Names for what a pass reads, computes and writes.
    fn variables(&mut self, pass: &Pass) -> Variables {
        let mut loads = vec![None; self.nest.loads.len()];
        let element_operands = pass.elements.iter().flat_map(|node| &node.operands);
        let number_operands = pass.numbers.iter().flat_map(|node| &node.operands);
        let stores = pass.stores.iter().chain(&pass.row_stores).map(|store| &store.operand);
        let folds = pass.folds.iter().chain(&pass.row_folds).map(|fold| &fold.operand);
        for operand in element_operands.chain(number_operands).chain(stores).chain(folds) {
            if let Operand::Load(load) = operand {
                loads[*load].get_or_insert_with(String::new);
            }
        }
        let memory = pass.folds.iter().filter_map(|fold| match &fold.target {
            Target::Memory(view) => Some(view),
            Target::Number(_) | Target::Total(_) => None,
        });
        let mut targets: Vec<(View, String)> = Vec::new();
        for view in pass.stores.iter().map(|store| &store.target).chain(memory) {
            if !targets.iter().any(|(known, _)| known.buffer() == view.buffer()) {
                let name =
                    self.names.fresh(&format!("{}_row", self.captures.target(view).trim_start_matches("r#")));
                targets.push((view.clone(), name));
            }
        }
        for (position, variable) in loads.iter_mut().enumerate() {
            let Some(variable) = variable else { continue };
            let field = &self.captures.loads[position];
            let written = targets.iter().find(|(view, _)| self.captures.target(view) == field);
            *variable = match written {
                Some((_, row)) => row.clone(),
                None => self.names.fresh(&format!("{}_row", field.trim_start_matches("r#"))),
            };
        }
        let nodes = pass.elements.iter().map(|node| self.names.fresh(&self.body.wish(node.value))).collect();
        Variables { loads, nodes, targets }
    }

    /// Loads that stand still along the elements are read once a row.
    fn still_loads(&mut self, variables: &Variables) {
        for (position, variable) in variables.loads.iter().enumerate() {
            let view = &self.nest.loads[position];
            if let Some(name) = variable
                && !variables.is_target(name)
                && self.is_still(view)
            {
                let at = self.position(view, 0..self.rank());
                let _ = writeln!(self.text, "let {name} = {}[{at}];", self.captures.loads[position]);
            }
        }
    }

    fn is_still(&self, view: &View) -> bool {
        view.strides[self.nest.row_axes..].iter().all(|stride| *stride == Dim::ZERO)
    }

    fn elements(&mut self, pass: &Pass, variables: &Variables, sums: &[Option<Sum>]) {
        if pass.stores.is_empty() && pass.folds.is_empty() {
            return;
        }
        let outer = self.nest.row_axes..self.rank() - 1;
        self.text.push_str("{\n");
        outer.clone().for_each(|axis| self.open(axis));
        self.slices(variables);
        let len = self.inner_len();
        let width = match self.frame {
            Frame::Nest | Frame::Row => sums.iter().flatten().map(Sum::width).max(),
            Frame::Block => pass.stores.iter().map(|store| register(self.dtype(&store.target))).max(),
        };
        match width {
            None => {
                let _ = writeln!(self.text, "for j in 0..{len} {{");
                self.element(pass, variables, sums, At::Row);
                self.text.push_str("}\n");
            }
            Some(width) => self.blocks(pass, variables, sums, width),
        }
        outer.for_each(|_| self.text.push_str("}\n"));
        self.text.push_str("}\n");
    }

    /// The part of each captured slice that one run along the innermost axis goes over.
    fn slices(&mut self, variables: &Variables) {
        let (inner, len) = (self.rank() - 1, grouped(&self.inner_len()));
        for (view, row) in &variables.targets {
            let (name, at) = (self.captures.target(view), grouped(&self.row_position(view, true)));
            let _ = match Along::of(view, inner) {
                Along::Consecutive => writeln!(self.text, "let {row} = &mut {name}[{at}..][..{len}];"),
                Along::Still | Along::Strided => writeln!(self.text, "let {row} = &mut {name}[{at}..];"),
            };
        }
        for (position, variable) in variables.loads.iter().enumerate() {
            let view = &self.nest.loads[position];
            let Some(row) = variable.as_ref().filter(|name| !variables.is_target(name)) else { continue };
            if self.is_still(view) {
                continue;
            }
            let name = &self.captures.loads[position];
            let at = self.row_position(view, false);
            let _ = match Along::of(view, inner) {
                Along::Still => writeln!(self.text, "let {row} = {name}[{at}];"),
                Along::Consecutive => {
                    writeln!(self.text, "let {row} = &{name}[{}..][..{len}];", grouped(&at))
                }
                Along::Strided => writeln!(self.text, "let {row} = &{name}[{}..];", grouped(&at)),
            };
        }
    }

    /// Blocks as wide as the lanes of sums, and what is left.
    fn blocks(&mut self, pass: &Pass, variables: &Variables, sums: &[Option<Sum>], width: usize) {
        let (len, known) = (grouped(&self.inner_len()), self.inner_known());
        if known.is_some_and(|len| len <= width) {
            let _ = writeln!(self.text, "let start = 0; for lane in 0..{len} {{");
            self.element(pass, variables, sums, At::Block);
            self.text.push_str("}\n");
            return;
        }
        let rows: Vec<(String, bool, String)> = self
            .consecutive(variables)
            .into_iter()
            .map(|(row, written)| {
                let rest = self.names.fresh(&format!("{row}_rest"));
                (row, written, rest)
            })
            .collect();
        for (row, written, rest) in &rows {
            let chunks = if *written { "as_chunks_mut" } else { "as_chunks" };
            let _ = writeln!(self.text, "let ({row}, {rest}) = {row}.{chunks}::<{width}>();");
        }
        let _ = writeln!(self.text, "for block in 0..{len} / {width} {{ let start = block * {width};");
        for (row, written, _) in &rows {
            let borrow = if *written { "&mut " } else { "&" };
            let _ = writeln!(self.text, "let {row} = {borrow}{row}[block];");
        }
        let _ = writeln!(self.text, "for lane in 0..{width} {{");
        self.element(pass, variables, sums, At::Block);
        self.text.push_str("} }\n");
        if known.is_some_and(|len| len % width == 0) {
            return;
        }
        for (row, _, rest) in &rows {
            let _ = writeln!(self.text, "let {row} = {rest};");
        }
        let _ = writeln!(self.text, "let start = {len} / {width} * {width};");
        let mut rests = Vec::new();
        let mut back = String::new();
        for sum in sums {
            rests.push(sum.as_ref().map(|sum| match sum {
                Sum::Lanes(name, lanes) => {
                    let rest = self.names.fresh("rest");
                    let _ = writeln!(self.text, "let mut {rest} = {name};");
                    let _ = write!(back, "{name} = {rest}; ");
                    Sum::Lanes(rest, *lanes)
                }
                Sum::Number(name) => Sum::Number(name.clone()),
            }));
        }
        let _ = writeln!(self.text, "for lane in 0..{len} - start {{");
        self.element(pass, variables, &rests, At::Block);
        let _ = writeln!(self.text, "}}\n{back}");
    }

    /// The rows whose elements follow each other, and whether they are written.
    fn consecutive(&self, variables: &Variables) -> Vec<(String, bool)> {
        let inner = self.rank() - 1;
        let follows = |view: &View| matches!(Along::of(view, inner), Along::Consecutive);
        let targets = variables.targets.iter().filter(|(view, _)| follows(view));
        let mut rows: Vec<_> = targets.map(|(_, row)| (row.clone(), true)).collect();
        if self.frame == Frame::Block {
            rows.push(("sums".to_string(), false));
        }
        let loads = variables.loads.iter().zip(&self.nest.loads);
        for (row, view) in loads.filter_map(|(row, view)| Some((row.as_ref()?, view))) {
            if follows(view) && !variables.is_target(row) {
                rows.push((row.clone(), false));
            }
        }
        rows
    }

    /// Everything that happens at one element.
    fn element(&mut self, pass: &Pass, variables: &Variables, sums: &[Option<Sum>], at: At) {
        for (node, name) in pass.elements.iter().zip(&variables.nodes) {
            let text = self.node(node, &variables.nodes, variables, at);
            let _ = writeln!(self.text, "let {name} = {text};");
        }
        // An operand may be the element that a store replaces.
        let operands = pass.stores.iter().map(|store| &store.operand);
        let operands = operands.chain(pass.folds.iter().map(|fold| &fold.operand));
        let mut values = Vec::new();
        for operand in operands {
            let text = self.operand(operand, &variables.nodes, variables, at);
            values.push(match operand {
                Operand::Load(_) if pass.stores.len() + pass.folds.len() > 1 => {
                    let name = self.names.fresh("element");
                    let _ = writeln!(self.text, "let {name} = {text};");
                    name
                }
                Operand::Load(_)
                | Operand::Node(_)
                | Operand::Number(_)
                | Operand::Scalar(_)
                | Operand::Sum => text,
            });
        }
        let mut values = values.into_iter();
        for (store, value) in pass.stores.iter().zip(values.by_ref()) {
            let place = self.target_element(&store.target, variables, at);
            let _ = writeln!(self.text, "{place} = {value};");
        }
        for ((fold, sum), value) in pass.folds.iter().zip(sums).zip(values) {
            let widest = sums.iter().flatten().map(Sum::width).max();
            let place = match (&fold.target, sum) {
                (Target::Memory(view), _) => self.target_element(view, variables, at),
                (_, Some(Sum::Lanes(name, lanes))) if Some(*lanes) == widest => format!("{name}[lane]"),
                (_, Some(Sum::Lanes(name, lanes))) => format!("{name}[lane % {lanes}]"),
                (_, Some(Sum::Number(_)) | None) => unreachable!("sums along a row have lanes"),
            };
            let _ = writeln!(self.text, "{place} = {};", add(&place, &value, fold.dtype));
        }
    }

    fn node(&self, node: &Node, nodes: &[String], variables: &Variables, at: At) -> String {
        let operands = node.operands.iter().map(|operand| self.operand(operand, nodes, variables, at));
        expression(node.op, &operands.collect::<Vec<_>>(), node.dtype)
    }

    fn operand(&self, operand: &Operand, nodes: &[String], variables: &Variables, at: At) -> String {
        match operand {
            Operand::Node(node) => nodes[*node].clone(),
            Operand::Number(value) => {
                let number = self.numbers.iter().rfind(|number| number.value == *value);
                number.expect("numbers are computed before they are read").name.clone()
            }
            Operand::Scalar(scalar) => self.captures.scalar(self.body, scalar),
            Operand::Load(load) => {
                let name = variables.loads[*load].as_ref().expect("a pass names what it reads");
                self.along(name, &self.nest.loads[*load], at, variables.is_target(name))
            }
            Operand::Sum => match at {
                At::Row => "sums[j]".to_string(),
                At::Block => "sums[lane]".to_string(),
            },
        }
    }

    fn target_element(&self, view: &View, variables: &Variables, at: At) -> String {
        let row = variables.targets.iter().find(|(known, _)| known.buffer() == view.buffer());
        let (_, name) = row.expect("a pass names what it writes");
        self.along(name, view, at, true)
    }

    /// The element of a row; a row that stands still is its only element, unless it is written.
    fn along(&self, name: &str, view: &View, at: At, written: bool) -> String {
        let inner = self.rank() - 1;
        match (Along::of(view, inner), at) {
            (Along::Still, _) if written => format!("{name}[0]"),
            (Along::Still, _) => name.to_string(),
            (Along::Consecutive, At::Row) => format!("{name}[j]"),
            (Along::Consecutive, At::Block) => format!("{name}[lane]"),
            (Along::Strided, At::Row) => format!("{name}[j * {}]", self.stride(view, inner)),
            (Along::Strided, At::Block) => format!("{name}[(start + lane) * {}]", self.stride(view, inner)),
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
        if self.frame == Frame::Block {
            return "columns".to_string();
        }
        match (axis, self.captures.steps()) {
            (0, Some(steps)) => steps.to_string(),
            _ => self.body.extent(&self.nest.extents[axis]),
        }
    }

    fn inner_len(&self) -> String {
        self.extent(self.rank() - 1)
    }

    /// The length of a row, if it is known.
    fn inner_known(&self) -> Option<usize> {
        let inner = self.rank() - 1;
        if self.frame == Frame::Block || (inner == 0 && self.captures.steps().is_some()) {
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
        if self.frame != Frame::Block {
            return self.position(view, 0..inner);
        }
        let at = self.position_by(view, 0..inner, if written { "(i0 - first)" } else { "i0" });
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

fn zero(dtype: DType) -> String {
    if dtype.is_float() { format!("0.0_{dtype}") } else { format!("0_{dtype}") }
}

fn add(sum: &str, value: &str, dtype: DType) -> String {
    if dtype.is_float() { format!("{sum} + {value}") } else { format!("{sum}.wrapping_add({value})") }
}
