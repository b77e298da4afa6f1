//! Finds how many columns of large tensors the rows of a strip see.
//!
//! The mask of causal attention lets a row see the columns up to its own position. After the last column that the last
//! row of a strip sees, a mask `j <= i + ahead` is false. The scores that it selects are then -∞, and their
//! exponentials 0. Leaving them out changes no result:
//!
//! - Maxima do not change by -∞, nor sums by zeros.
//! - Products with zeros are zeros if the other factor is finite. The strips check this in memory before they begin.
//!
//! This module proves that from the steps of a group, with one fact per element. It recognises comparisons of
//! positions, but no operation by its name, so masks and attention may be written in other ways.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    dim::Dim,
    ir::ValueId,
    map::Map,
    plan::{Buffer, BufferId, Fold, Location, MatMul, Nest, Node, Operand, Pass, Source, Step, Store},
};

use super::{
    fact::{Fact, Masks},
    group::StepGroup,
    rows::{Along, Covered, RowView, Rows},
};

/// The columns that strips may leave out.
pub(super) struct LeftOut {
    /// The row at place `i` sees the columns up to `i + ahead`.
    pub(super) ahead: i64,
    /// The buffers that must be finite, or else all columns count. They are only read.
    pub(super) finite: BTreeSet<BufferId>,
    /// The buffers that have fewer columns then.
    pub(super) shortened: BTreeSet<BufferId>,
}

/// The axis of a nest along the columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Columns {
    /// The nest does not access shortened buffers.
    None,
    /// This axis, along the columns alone.
    Own(usize),
    /// This axis, along the rows and the columns.
    WithRows(usize),
}

/// The columns that the rows of a group do not see, if any.
pub(super) fn find(buffers: &[Buffer], steps: &[Step], group: &StepGroup) -> Option<LeftOut> {
    let columns = group.rows.columns.as_literal()?;
    let shortened: BTreeSet<BufferId> = buffers_of_rows(buffers, group);
    let with = |ahead: Option<i64>| {
        let mut hidden = HiddenColumns::new(buffers, steps, group, &shortened, ahead);
        for (step, along) in &group.steps {
            if !hidden.step(&steps[*step], along) {
                hidden.holds = false;
            }
        }
        hidden
    };
    // The fewest columns are chosen that the masks allow and for which the proof holds.
    with(None).masks.found.into_iter().filter(|ahead| *ahead < columns).find_map(|ahead| {
        let HiddenColumns { holds, finite, .. } = with(Some(ahead));
        holds.then(|| LeftOut { ahead, finite, shortened: shortened.clone() })
    })
}

/// The local buffers of a group that are as large as its product.
fn buffers_of_rows(buffers: &[Buffer], group: &StepGroup) -> BTreeSet<BufferId> {
    let is_large = |buffer: &&BufferId| group.rows.are_of(&buffers[buffer.0]);
    group.local.iter().filter(is_large).copied().collect()
}

/// The axis of a nest along the columns of shortened buffers; `None` if no axis is one.
pub(super) fn columns_of(
    rows: &Rows,
    nest: &Nest,
    covered: &[Covered],
    row_views: &[RowView<'_>],
    shortened: &BTreeSet<BufferId>,
) -> Option<Columns> {
    let is_shortened =
        |row_view: &RowView<'_>| row_view.view.buffer().is_some_and(|buffer| shortened.contains(&buffer));
    if !row_views.iter().any(is_shortened) {
        return Some(Columns::None);
    }
    let mut own = (0..covered.len()).filter(|axis| covered[*axis].axes.is_empty());
    let last = rows.axes.len() - 1;
    match (own.next(), own.next()) {
        (Some(axis), None) => {
            let is_all = nest.extents[axis] == rows.columns && axis >= nest.row_axes;
            (is_all && covered.iter().all(|covered| covered.within.is_one() || covered.axes.is_empty()))
                .then_some(Columns::Own(axis))
        }
        (None, None) => {
            let axis = covered.iter().position(|covered| covered.axes.contains(&last))?;
            let others_stand_still = row_views
                .iter()
                .all(|row_view| is_shortened(row_view) || row_view.view.strides[axis] == Dim::ZERO);
            (covered[axis].within == rows.columns && others_stand_still).then_some(Columns::WithRows(axis))
        }
        _ => None,
    }
}

/// A proof about the elements after the columns that are seen.
struct HiddenColumns<'s> {
    buffers: &'s [Buffer],
    rows: &'s Rows,
    shortened: &'s BTreeSet<BufferId>,
    /// The buffers that the group writes.
    written: BTreeSet<BufferId>,
    masks: Masks,
    /// The facts about the elements of shortened buffers.
    facts: BTreeMap<BufferId, Fact>,
    finite: BTreeSet<BufferId>,
    holds: bool,
}

impl<'s> HiddenColumns<'s> {
    fn new(
        buffers: &'s [Buffer],
        steps: &[Step],
        group: &'s StepGroup,
        shortened: &'s BTreeSet<BufferId>,
        ahead: Option<i64>,
    ) -> Self {
        let mut written = BTreeSet::new();
        group
            .steps
            .iter()
            .for_each(|(step, _)| steps[*step].for_each_write(|buffer| _ = written.insert(buffer)));
        Self {
            buffers,
            rows: &group.rows,
            shortened,
            written,
            masks: Masks { ahead, found: BTreeSet::new() },
            facts: BTreeMap::new(),
            finite: BTreeSet::new(),
            holds: true,
        }
    }

    /// Whether the elements after the columns that are seen change no result of a step.
    fn step(&mut self, step: &Step, along: &Along) -> bool {
        let Some(row_views) = self.rows.row_views(step, along) else { return false };
        match (step, along) {
            (Step::Nest(nest), Along::Rows(covered)) => self.nest(nest, covered, &row_views),
            (Step::MatMul(product), along) => self.product(product, along, &row_views),
            _ => false,
        }
    }

    fn nest(&mut self, nest: &Nest, covered: &[Covered], row_views: &[RowView<'_>]) -> bool {
        let columns = match columns_of(self.rows, nest, covered, row_views, self.shortened) {
            Some(Columns::None) => return true,
            Some(columns) => columns,
            None => return false,
        };
        let column = if let Columns::Own(axis) = columns { Some(axis) } else { None };
        let loads = &row_views[..nest.loads.len()];
        let mut numbers = Numbers::default();
        let mut holds = true;
        for pass in &nest.passes {
            let loaded: Vec<Fact> = loads.iter().map(|row_view| self.loaded(row_view, column)).collect();
            let Pass { elements, stores, folds, numbers: of_row, row_stores: _, row_folds } = pass;
            let facts = self.elements(elements, &loaded, &numbers);
            let of =
                |operand: &Operand, numbers: &Numbers<'_>| fact(operand, &loaded, &facts, &numbers.facts);
            holds &= row_folds.is_empty();
            for Fold { monoid, operand, .. } in folds {
                holds &= column.is_some() && of(operand, &numbers).is_neutral(monoid.neutral);
            }
            let stored: Vec<(Option<BufferId>, Fact)> =
                stores.iter().map(|store| (store.target.buffer(), of(&store.operand, &numbers))).collect();
            holds &= stored.into_iter().all(|(buffer, fact)| self.stored(buffer, fact));
            self.numbers(of_row, &mut numbers);
        }
        holds
    }

    fn product(&mut self, product: &MatMul, along: &Along, row_views: &[RowView<'_>]) -> bool {
        let [lhs, rhs, others @ ..] = row_views else { return false };
        if self.is_shortened(rhs) {
            return false;
        }
        let is_summed = self.is_shortened(lhs);
        // The terms that a product adds are zeros if the other factor is finite.
        let back = if *along == Along::Sums { 2 } else { 1 };
        let of_columns = lhs.view.shape.rank() - back;
        if is_summed && !(self.element(lhs, Some(of_columns)).is_zero() && self.asks_for_finite(rhs)) {
            return false;
        }
        if *along == Along::Sums {
            return !others.iter().any(|row_view| self.is_shortened(row_view));
        }
        let (loads, stores) = others.split_at(product.finish.loads.len());
        if !stores.iter().any(|row_view| self.is_shortened(row_view)) {
            return !loads.iter().any(|row_view| self.is_shortened(row_view));
        }
        let loaded: Vec<Fact> = loads.iter().map(|row_view| self.loaded(row_view, Some(1))).collect();
        let numbers = Numbers::default();
        let facts = self.elements(&product.finish.nodes, &loaded, &numbers);
        let stores = product.finish.stores.iter();
        let stored: Vec<(Option<BufferId>, Fact)> = stores
            .map(|Store { operand, target }| {
                (target.buffer(), fact(operand, &loaded, &facts, &numbers.facts))
            })
            .collect();
        stored.into_iter().all(|(buffer, fact)| self.stored(buffer, fact))
    }

    fn is_shortened(&self, row_view: &RowView<'_>) -> bool {
        row_view.view.buffer().is_some_and(|buffer| self.shortened.contains(&buffer))
    }

    /// Records the fact about a stored element. Returns `false` for a buffer that is not shortened: it needs all
    /// columns, whatever a row sees.
    fn stored(&mut self, buffer: Option<BufferId>, fact: Fact) -> bool {
        let Some(buffer) = buffer.filter(|buffer| self.shortened.contains(buffer)) else { return false };
        self.facts.insert(buffer, fact);
        true
    }

    /// The fact about an element of a shortened buffer. `column` is the axis of the view along the columns, if it has a
    /// separate one. A view that is constant along this axis reads another column, which may be seen.
    fn element(&self, row_view: &RowView<'_>, column: Option<usize>) -> Fact {
        let goes_along = column.is_none_or(|axis| row_view.view.strides[axis].is_one());
        let fact = row_view.view.buffer().and_then(|buffer| self.facts.get(&buffer)).filter(|_| goes_along);
        fact.copied().unwrap_or(Fact::Any)
    }

    /// Whether the strips can check before they begin that a factor is finite. Its buffer is then recorded for the
    /// check.
    fn asks_for_finite(&mut self, row_view: &RowView<'_>) -> bool {
        let Some(buffer) = row_view.view.buffer() else { return false };
        let Buffer { ty, place, .. } = &self.buffers[buffer.0];
        if !ty.dtype.is_float() {
            return true;
        }
        let is_there = !self.written.contains(&buffer) && !matches!(place, Location::Constant(_));
        if is_there {
            self.finite.insert(buffer);
        }
        is_there
    }

    /// The fact about a loaded element. `column` is the axis of its view along the columns.
    fn loaded(&self, row_view: &RowView<'_>, column: Option<usize>) -> Fact {
        match &row_view.view.source {
            Source::Scalar(scalar) => Fact::of(scalar),
            Source::Buffer(buffer) if self.shortened.contains(buffer) => self.element(row_view, column),
            Source::Positions(_) => {
                let (row, batch) = row_view.along.split_last().expect("matrices have rows");
                let column = column.map_or(Some(0), |axis| row_view.view.strides[axis].as_literal());
                let stands_still = batch.iter().all(|step| *step == Dim::ZERO);
                match (row.as_literal(), column, row_view.view.offset.as_literal()) {
                    (Some(row), Some(column), Some(plus)) if stands_still => {
                        Fact::Place { row, column, plus }
                    }
                    _ => Fact::Any,
                }
            }
            Source::Buffer(_) => Fact::Any,
        }
    }

    fn elements(&mut self, nodes: &[Node], loaded: &[Fact], numbers: &Numbers<'_>) -> Vec<Fact> {
        let mut facts: Vec<Fact> = Vec::with_capacity(nodes.len());
        for node in nodes {
            let fact = self.node(node, nodes, loaded, &facts, numbers);
            facts.push(fact);
        }
        facts
    }

    /// Records the facts about numbers of a row. If sums do not depend on the elements after the columns that are seen,
    /// neither do these numbers.
    fn numbers<'n>(&mut self, nodes: &'n [Node], numbers: &mut Numbers<'n>) {
        for node in nodes {
            let fact = self.node(node, &[], &[], &[], numbers);
            numbers.facts.insert(node.value, fact);
            numbers.nodes.insert(node.value, node);
        }
    }

    fn node(
        &mut self,
        node: &Node,
        nodes: &[Node],
        loaded: &[Fact],
        facts: &[Fact],
        numbers: &Numbers<'_>,
    ) -> Fact {
        let operands: Vec<Fact> =
            node.operands.iter().map(|operand| fact(operand, loaded, facts, &numbers.facts)).collect();
        let asks_itself = || {
            let condition = match (&node.operands[0], &node.operands[1]) {
                (Operand::Node(condition), _) => nodes.get(*condition),
                // A node of another pass does not count, since the elements that it loads may have been overwritten
                // since.
                (Operand::Number(condition), Operand::Number(_)) => numbers.nodes.get(condition).copied(),
                _ => None,
            };
            condition.is_some_and(|condition| {
                condition.op == Map::IsFinite && condition.operands[0] == node.operands[1]
            })
        };
        match (node.op, &operands[..]) {
            (Map::Where, [_, _, other]) if other.is_finite() && asks_itself() => Fact::Finite,
            (op, operands) => self.masks.function(op, operands),
        }
    }
}

/// The facts about numbers of a row, by their values, and the nodes that compute them.
#[derive(Default)]
struct Numbers<'n> {
    facts: BTreeMap<ValueId, Fact>,
    nodes: BTreeMap<ValueId, &'n Node>,
}

fn fact(operand: &Operand, loaded: &[Fact], nodes: &[Fact], numbers: &BTreeMap<ValueId, Fact>) -> Fact {
    match operand {
        Operand::Load(load) => loaded.get(*load).copied().unwrap_or(Fact::Any),
        Operand::Node(node) => nodes.get(*node).copied().unwrap_or(Fact::Any),
        Operand::Number(value) => numbers.get(value).copied().unwrap_or(Fact::Any),
        Operand::Scalar(scalar) => Fact::of(scalar),
        Operand::Product => Fact::Any,
    }
}
