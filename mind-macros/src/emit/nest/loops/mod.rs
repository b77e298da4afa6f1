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
    plan::{Fold, Nest, Operand, Pass, Store, Target, View},
    ty::DType,
};

use super::{
    Along, Body,
    captures::Captures,
    chains::{CHAIN, Chain, MemorySum, Place, in_memory, is_sum_of_rows, most, turns},
    grouped, tuple,
};
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
    /// For each total, in the order of passes, what it is summed in.
    totals: Vec<Sum>,
    /// The sums in memory, and what each is gathered in.
    memory: Vec<(MemorySum<'a>, Gathered)>,
    /// The arrays of elements that are summed for a block of rows at once, in the order of passes.
    values: Vec<String>,
    text: String,
}

/// A sum in an array of lanes; that of numbers of rows has one.
#[derive(Clone)]
struct Sum {
    name: String,
    lanes: usize,
    dtype: DType,
    /// If there is more than one chain, where they end, and what each is gathered in.
    chains: Option<(Chain, Gathered)>,
    /// If the loop of which it has chains is the only one that adds to it, the chain before the one under way: it is settled
    /// when there is a next, and the last one takes what is left after whole blocks.
    last: Option<String>,
}

/// The variables that chains of a sum are gathered in.
#[derive(Clone)]
struct Gathered {
    /// The chain under way.
    chain: String,
    /// What the sum lost to rounding.
    lost: String,
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
            self.begin_sums(depth);
            match self.rows_at_once() {
                Some(rows) if depth + 1 == self.nest.row_axes => self.open_block(depth, &rows),
                Some(_) | None => self.open(depth, &self.totals.clone()),
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
            self.close_chains(depth, &self.totals.clone());
        }
        self.end_sums(0);
        let totals: Vec<_> = self.totals.iter().map(Sum::value).collect();
        let _ = writeln!(self.text, "{}", tuple(&totals));
    }

    fn is_sum_of_rows(&self) -> bool {
        self.memory
            .iter()
            .any(|(sum, _)| sum.place == Place::Scratch && is_sum_of_rows(self.nest, sum.fold, sum.view))
    }

    /// The rows of a matrix, summed by the run time, several at a time.
    fn sum_columns(&mut self) {
        let (sum, Gathered { chain, lost }) = &self.memory[0];
        let Operand::Load(load) = sum.fold.operand else { unreachable!("a sum of rows is one of a load") };
        let view = &self.nest.loads[load];
        let [sums, lost, chain] =
            [self.captures.target(sum.view), lost, chain].map(|name| self.part(name, sum.view, 0));
        let name = &self.captures.loads[load];
        let (offset, stride) = (grouped(&self.position(view, 0..0)), self.stride(view, 0));
        let rows = self.extent(0);
        let _ = writeln!(
            self.text,
            "rt::sum_columns(&mut {sums}, &mut {lost}, &mut {chain}, &{name}[{offset}..], {stride}, {rows});"
        );
        self.end_sums(0);
    }

    fn begin_totals(&mut self) {
        for pass in &self.nest.passes {
            let elements = pass.folds.iter().map(|fold| (fold, true));
            for (fold, of_elements) in elements.chain(pass.row_folds.iter().map(|fold| (fold, false))) {
                if !matches!(fold.target, Target::Total(_)) {
                    continue;
                }
                let sum = match of_elements {
                    true => self.sum_in_lanes("total", fold.dtype, self.lanes(fold.dtype), 0),
                    false => self.sum("total", fold.dtype, 1, CHAIN, 0..self.nest.row_axes),
                };
                self.totals.push(sum);
            }
        }
    }

    /// Declares a sum along the axes from one on, of blocks of lanes along the last.
    fn sum_in_lanes(&mut self, name: &str, dtype: DType, lanes: usize, first: usize) -> Sum {
        self.sum(name, dtype, lanes, most(lanes), first..self.rank())
    }

    /// Declares a sum that is added to in each turn of the loops over some axes.
    fn sum(&mut self, name: &str, dtype: DType, lanes: usize, most: usize, axes: Range<usize>) -> Sum {
        let inner = self.rank() - 1;
        let loops = axes.clone().map(|axis| {
            let turns = turns(self.nest, self.captures.cut, axis);
            (axis, if axis == inner { turns.map(|len| len.div_ceil(lanes)) } else { turns })
        });
        let is_one_run = axes.clone().eq(inner..inner + 1);
        let mut last = None;
        let chain = Chain::of(most, loops);
        let name = self.names.fresh(name);
        let zero = zero(dtype);
        let _ = writeln!(self.text, "let mut {name} = [{zero}; {lanes}];");
        let chains = chain.map(|chain| {
            let gathered = self.gathered(&name);
            let _ = writeln!(self.text, "let mut {} = [{zero}; {lanes}];", gathered.lost);
            if is_one_run {
                let name = self.names.fresh(&format!("{name}_last"));
                let _ = writeln!(self.text, "let mut {name} = [{zero}; {lanes}];");
                last = Some(name);
            }
            (chain, gathered)
        });
        Sum { name, lanes, dtype, chains, last }
    }

    fn gathered(&mut self, name: &str) -> Gathered {
        let [chain, lost] = ["chain", "lost"].map(|what| self.names.fresh(&format!("{name}_{what}")));
        Gathered { chain, lost }
    }

    /// The lanes of a sum along the row. Lanes that stay 0 change no sum: fewer of them give the same bits.
    fn lanes(&self, dtype: DType) -> usize {
        let of_type = lanes_of(dtype);
        self.inner_known().map_or(of_type, |len| len.max(1).next_power_of_two().min(of_type))
    }

    /// The sum of the lanes that a row was summed in.
    fn sum_of_row(&self, sum: &Sum) -> String {
        match self.inner_known() {
            // Nothing is to be kept apart from a loop over blocks: there is one block.
            Some(len) if len <= sum.lanes && self.is_one_run() => format!("rt::add_lanes({})", sum.name),
            Some(_) | None => sum.value(),
        }
    }

    /// Whether a row is one run along the innermost axis.
    fn is_one_run(&self) -> bool {
        self.nest.row_axes + 1 == self.rank()
    }

    fn name_sums_in_memory(&mut self) {
        for sum in in_memory(self.nest, self.captures.cut) {
            let name = self.captures.target(sum.view).trim_start_matches("r#").to_string();
            let gathered = match sum.place {
                Place::Target => {
                    Gathered { chain: self.captures.target(sum.view).into(), lost: String::new() }
                }
                Place::Arrays(_) => self.gathered(&name),
                Place::Scratch => {
                    let [chain, lost] = self.captures.scratch(sum.view).clone();
                    Gathered { chain, lost }
                }
            };
            self.memory.push((sum, gathered));
        }
    }

    /// Clears the sums in memory that the loops from `depth` on add up.
    fn begin_sums(&mut self, depth: usize) {
        let mut text = String::new();
        for (MemorySum { fold, view, chain, place, .. }, Gathered { chain: array, lost }) in
            self.sums_from(depth)
        {
            let (zero, sums) = (zero(fold.dtype), self.sums(view, depth));
            let _ = match (place, chain) {
                (Place::Arrays(len), None) => writeln!(text, "let mut {array} = [{zero}; {len}];"),
                (Place::Arrays(len), Some(_)) => {
                    writeln!(text, "{sums}.fill({zero}); let mut {lost} = [{zero}; {len}];")
                }
                (Place::Target, _) => writeln!(text, "{sums}.fill({zero});"),
                (Place::Scratch, _) => {
                    let lost = self.part(lost, view, depth);
                    writeln!(text, "{sums}.fill({zero}); {lost}.fill({zero});")
                }
            };
        }
        self.text.push_str(&text);
    }

    fn end_sums(&mut self, depth: usize) {
        let mut text = String::new();
        for (MemorySum { fold, view, chain, place, .. }, Gathered { chain: array, .. }) in
            self.sums_from(depth)
        {
            let sums = self.sums(view, depth);
            if matches!((place, chain), (Place::Arrays(_), None)) {
                let _ = writeln!(text, "{sums}.copy_from_slice(&{array});");
            }
            if fold.count.is_some() {
                let mean = self.mean(fold, "*sum");
                let _ = writeln!(text, "for sum in &mut {sums} {{ *sum = {mean}; }}");
            }
        }
        self.text.push_str(&text);
    }

    /// The sums in memory that the loops from `depth` on add up.
    fn sums_from(&self, depth: usize) -> impl Iterator<Item = &(MemorySum<'a>, Gathered)> {
        self.memory.iter().filter(move |(sum, _)| sum.depth == depth)
    }

    /// Goes through the turns of a loop in chains, where sums have chains of it. What is returned are the first turn and the
    /// end of the chain, or of all.
    fn open_chains(&mut self, axis: usize, turns: &str, sums: &[Sum]) -> (String, String) {
        let Some(most) = self.chains(axis, sums) else { return ("0".to_string(), turns.to_string()) };
        let _ = writeln!(
            self.text,
            "for chain{axis} in (0..{turns}).step_by({most}) {{ let end{axis} = (chain{axis} + {most}).min({turns});"
        );
        let mut text = String::new();
        for (MemorySum { fold, view, place, .. }, Gathered { chain, .. }) in self.chained(axis) {
            let zero = zero(fold.dtype);
            let _ = match place {
                Place::Arrays(len) => writeln!(text, "let mut {chain} = [{zero}; {len}];"),
                Place::Scratch | Place::Target => {
                    writeln!(text, "{}.fill({zero});", self.part(chain, view, axis))
                }
            };
        }
        for Sum { name, lanes, dtype, chains, last } in sums {
            let gathered = chains.as_ref().filter(|(chain, _)| chain.axis == axis);
            if let Some((_, Gathered { chain, lost })) = gathered {
                let zero = zero(*dtype);
                if let Some(last) = last {
                    let _ = writeln!(
                        text,
                        "if chain{axis} > 0 {{ rt::settle(&mut {name}, &mut {lost}, &{last}); }}"
                    );
                }
                let _ = writeln!(text, "let mut {chain} = [{zero}; {lanes}];");
            }
        }
        self.text.push_str(&text);
        (format!("chain{axis}"), format!("end{axis}"))
    }

    /// Settles the chains of a loop.
    fn close_chains(&mut self, axis: usize, sums: &[Sum]) {
        if self.chains(axis, sums).is_none() {
            return;
        }
        let mut text = String::new();
        for (MemorySum { view, place, .. }, Gathered { chain, lost }) in self.chained(axis) {
            let sums = self.part(self.captures.target(view), view, axis);
            let _ = match place {
                Place::Arrays(_) => writeln!(text, "rt::settle_lanes(&mut {sums}, &mut {lost}, {chain});"),
                Place::Scratch | Place::Target => {
                    let [chain, lost] = [chain, lost].map(|name| self.part(name, view, axis));
                    writeln!(text, "rt::settle(&mut {sums}, &mut {lost}, &{chain});")
                }
            };
        }
        for Sum { name, chains, last, .. } in sums {
            if let Some((_, gathered)) = chains.as_ref().filter(|(chain, _)| chain.axis == axis) {
                let Gathered { chain, lost } = gathered;
                let _ = match last {
                    Some(last) => writeln!(text, "{last} = {chain};"),
                    None => writeln!(text, "rt::settle_lanes(&mut {name}, &mut {lost}, {chain});"),
                };
            }
        }
        text.push_str("}\n");
        self.text.push_str(&text);
    }

    /// The most turns of a loop in a chain, if sums have chains of it.
    fn chains(&self, axis: usize, sums: &[Sum]) -> Option<usize> {
        let in_memory = self.memory.iter().filter_map(|(sum, _)| sum.chain);
        let in_lanes = sums.iter().filter_map(|sum| sum.chains.as_ref().map(|(chain, _)| *chain));
        in_memory.chain(in_lanes).filter(|chain| chain.axis == axis).map(|chain| chain.turns).min()
    }

    fn chained(&self, axis: usize) -> impl Iterator<Item = &(MemorySum<'a>, Gathered)> {
        self.memory.iter().filter(move |(sum, _)| sum.chain.is_some_and(|chain| chain.axis == axis))
    }

    /// The part of a sum in memory, or of what lies as it does, that the loops from `axis` on add to.
    fn part(&self, name: &str, view: &View, axis: usize) -> String {
        let at = grouped(&self.position(view, 0..axis));
        let kept = (axis..self.rank()).filter(|axis| view.strides[*axis] != Dim::ZERO);
        let extents: Vec<_> = kept.map(|axis| grouped(&self.extent(axis))).collect();
        let len = if extents.is_empty() { "1".to_string() } else { extents.join(" * ") };
        format!("{name}[{at}..][..{len}]")
    }

    /// What the elements of a sum in memory are added to.
    fn gathered_in(&self, view: &View) -> Option<&(MemorySum<'a>, Gathered)> {
        self.memory.iter().find(|(sum, _)| sum.view.buffer() == view.buffer())
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
                    let (lanes, first) = (self.lanes(fold.dtype), self.nest.row_axes);
                    Some(self.sum_in_lanes("lanes", fold.dtype, lanes, first))
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
                Target::Total(_) => {
                    format!("{}[0]", totals.next().expect("every total was declared").chain())
                }
                Target::Memory(view) => {
                    let (_, Gathered { chain, .. }) = self.gathered_in(view).expect("every sum was named");
                    format!("{chain}[{}]", self.position(view, 0..self.rank()))
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

    fn open(&mut self, axis: usize, sums: &[Sum]) {
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
        format!("rt::reduce_lanes({})", self.in_lanes())
    }

    /// The lanes when all is added.
    fn in_lanes(&self) -> String {
        match (&self.chains, &self.last) {
            (Some((_, Gathered { lost, .. })), Some(last)) => {
                format!("rt::settled({}, {lost}, {last})", self.name)
            }
            (Some(_) | None, _) => self.name.clone(),
        }
    }

    /// What the chain under way is gathered in.
    fn chain(&self) -> &str {
        self.chains.as_ref().map_or(&self.name, |(_, gathered)| &gathered.chain)
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
