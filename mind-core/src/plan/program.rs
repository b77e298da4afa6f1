//! Divides a nest into passes: chooses the pass that computes each operation, and the values that are computed again or
//! kept.
//!
//! An operation is computed in the first pass in which its operands are known. A later pass that needs it loads it if
//! it is stored anyway, and otherwise computes it again. Exponentials, logarithms and quotients are kept instead, in
//! the row of a tensor that this or a later pass stores to anyway, if there is one.

use crate::{
    dim::Dim,
    ir::ValueId,
    plan::{
        BufferId, Fold, Nest, Node, Operand, Pass, Source, Store, Target, View,
        fusion::{InPlace, Space, reads_in_place},
        graph::{Graph, ItemId, ItemOperand, Work},
        view::{self, row_major},
    },
    ty::Shape,
};

/// The items of a nest, and their buffers.
pub(super) struct Cluster<'a> {
    pub(super) graph: &'a Graph,
    pub(super) space: &'a Space,
    /// The members, ascending. They include items that are computed again although another nest computes them too.
    pub(super) members: &'a [ItemId],
    /// The buffer of each member that is read outside of the nest.
    pub(super) buffers: &'a [Option<BufferId>],
    /// The buffer of every item that is read from outside.
    pub(super) buffer_of: &'a dyn Fn(ItemId) -> BufferId,
}

/// The nest of a cluster; `None` if it has no results.
pub(super) fn nest(cluster: &Cluster<'_>) -> Option<Nest> {
    assert_eq!(cluster.members.len(), cluster.buffers.len(), "a place, or none, for each member");
    let mut builder = Builder::new(cluster);
    builder.schedule();
    let last = builder.sinks.iter().flatten().map(|pass| pass + 1).max()?;
    if builder.makes_numbers_only() {
        return nest_of_rows(cluster, builder.row_axes);
    }
    builder.needs = vec![vec![false; cluster.members.len()]; last];
    for pass in (0..last).rev() {
        builder.find_needs(pass);
    }
    let passes = (0..last).map(|pass| builder.pass(pass)).collect();
    Some(builder.finish(passes))
}

/// The nest of a cluster that only computes numbers of rows. Its index space is that of the rows.
fn nest_of_rows(cluster: &Cluster<'_>, row_axes: usize) -> Option<Nest> {
    let space = cluster.space.of_rows(cluster.graph, row_axes);
    let members = cluster.members.iter().zip(cluster.buffers);
    let members = members.filter(|(member, _)| cluster.graph.items[**member].space == space.extents);
    let (members, buffers): (Vec<ItemId>, Vec<Option<BufferId>>) = members.unzip();
    nest(&Cluster { space: &space, members: &members, buffers: &buffers, ..*cluster })
}

/// The role of a member in the nest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MemberRole {
    /// Computed at each index.
    Element,
    /// A fold over the elements of a row, which is a number of the row.
    RowFold,
    /// Computed once per row.
    Number,
    /// A fold of elements over rows, or over everything.
    Fold,
    /// A fold of elements over the row and then over rows.
    FoldOfRowFolds,
    /// A fold of numbers over rows.
    FoldOfNumbers,
}

struct Builder<'a> {
    cluster: &'a Cluster<'a>,
    row_axes: usize,
    roles: Vec<MemberRole>,
    /// The pass in which each member is first computed.
    first: Vec<usize>,
    /// The pass in which each member is stored or summed, if it is.
    sinks: Vec<Option<usize>>,
    /// For each pass, the elements that it computes.
    needs: Vec<Vec<bool>>,
    /// For each member, the member in whose row it is kept.
    kept: Vec<Option<usize>>,
    loads: Vec<View>,
}

impl<'a> Builder<'a> {
    fn new(cluster: &'a Cluster<'a>) -> Self {
        let count = cluster.members.len();
        let row_axes = cluster.space.rows(cluster.graph);
        let mut builder = Self {
            cluster,
            row_axes,
            roles: Vec::new(),
            first: vec![0; count],
            sinks: vec![None; count],
            needs: Vec::new(),
            kept: vec![None; count],
            loads: Vec::new(),
        };
        builder.roles = cluster.members.iter().map(|item| builder.role(*item)).collect();
        builder
    }

    fn role(&self, item: ItemId) -> MemberRole {
        let (extents, item) = (&self.cluster.space.extents, &self.cluster.graph.items[item]);
        let of_elements = item.space == *extents;
        let Some(reduced) = item.work.reduced() else {
            return if of_elements { MemberRole::Element } else { MemberRole::Number };
        };
        if !of_elements {
            return MemberRole::FoldOfNumbers;
        }
        let (rows, elements) = reduced.split_at(self.row_axes);
        // A fold to a scalar covers all elements at once.
        let is_total = item.shape.rank() == 0;
        match (rows.contains(&true), elements.contains(&true)) {
            _ if is_total => MemberRole::Fold,
            (_, false) => MemberRole::Fold,
            (false, true) => MemberRole::RowFold,
            (true, true) => MemberRole::FoldOfRowFolds,
        }
    }

    fn makes_numbers_only(&self) -> bool {
        self.roles.iter().zip(&self.sinks).all(|(role, sink)| match role {
            MemberRole::Number | MemberRole::FoldOfNumbers => true,
            MemberRole::Element | MemberRole::RowFold | MemberRole::Fold | MemberRole::FoldOfRowFolds => {
                sink.is_none()
            }
        })
    }

    /// The position of an item among the members.
    fn member(&self, item: ItemId) -> Option<usize> {
        self.cluster.members.binary_search(&item).ok()
    }

    /// How a member reads another member.
    fn inside(&self, member: usize, read: &ItemOperand) -> Option<(usize, InPlace)> {
        let ItemOperand::View(view) = read else { return None };
        let item = read.item()?;
        let other = self.member(item)?;
        let graph = self.cluster.graph;
        let reader = &graph.items[self.cluster.members[member]];
        let how = reads_in_place(graph, reader, view, item, self.cluster.space);
        Some((other, how.expect("clusters merge where all reads between them are in place")))
    }

    fn reads(&self, member: usize) -> &'a [ItemOperand] {
        &self.cluster.graph.items[self.cluster.members[member]].reads
    }

    fn schedule(&mut self) {
        for member in 0..self.cluster.members.len() {
            let mut pass = 0;
            for read in self.reads(member) {
                pass = match self.inside(member, read) {
                    None => pass,
                    Some((other, InPlace::Element)) => pass.max(self.first[other]),
                    Some((other, InPlace::Number)) => {
                        // A number is known after the pass.
                        let after = match self.roles[member] {
                            MemberRole::Number | MemberRole::FoldOfNumbers => 0,
                            MemberRole::Element
                            | MemberRole::RowFold
                            | MemberRole::Fold
                            | MemberRole::FoldOfRowFolds => 1,
                        };
                        pass.max(self.first[other] + after)
                    }
                };
            }
            self.first[member] = pass;
            let is_sink = match self.roles[member] {
                MemberRole::Element => self.cluster.buffers[member].is_some(),
                MemberRole::RowFold
                | MemberRole::Number
                | MemberRole::Fold
                | MemberRole::FoldOfRowFolds
                | MemberRole::FoldOfNumbers => true,
            };
            self.sinks[member] = is_sink.then_some(pass);
        }
    }

    /// Marks the elements that a pass computes. Later passes have been processed, so the values to keep for them are
    /// known.
    fn find_needs(&mut self, pass: usize) {
        for member in (0..self.cluster.members.len()).rev() {
            let here = match self.roles[member] {
                MemberRole::Element => {
                    let keeps = self.kept[member].is_some() && self.first[member] == pass;
                    self.needs[pass][member] |= self.sinks[member] == Some(pass) || keeps;
                    self.needs[pass][member]
                }
                MemberRole::RowFold | MemberRole::Fold | MemberRole::FoldOfRowFolds => {
                    self.sinks[member] == Some(pass)
                }
                MemberRole::Number | MemberRole::FoldOfNumbers => false,
            };
            if !here {
                continue;
            }
            for read in self.reads(member) {
                if let Some((other, InPlace::Element)) = self.inside(member, read)
                    && !self.is_loaded(other, pass)
                {
                    self.needs[pass][other] = true;
                }
            }
        }
    }

    /// Whether a pass loads an element that an earlier pass computed. If it must be kept for this, its place is chosen
    /// here.
    fn is_loaded(&mut self, member: usize, pass: usize) -> bool {
        if self.first[member] >= pass {
            return false;
        }
        if self.cluster.buffers[member].is_some() || self.kept[member].is_some() {
            return true;
        }
        let work = &self.cluster.graph.items[self.cluster.members[member]].work;
        let is_costly = matches!(work, Work::Elementwise(op) if op.row().cost.is_worth_keeping());
        if is_costly {
            let dtype = |member: usize| self.cluster.graph.items[self.cluster.members[member]].dtype;
            self.kept[member] = (0..self.cluster.members.len()).find(|other| {
                self.roles[*other] == MemberRole::Element
                    && self.cluster.buffers[*other].is_some()
                    && self.first[*other] >= pass
                    && dtype(*other) == dtype(member)
                    && !self.kept.contains(&Some(*other))
            });
        }
        self.kept[member].is_some()
    }

    fn pass(&mut self, number: usize) -> Pass {
        let mut pass = Pass::default();
        let mut nodes: Vec<Option<usize>> = vec![None; self.cluster.members.len()];
        for member in 0..self.cluster.members.len() {
            let id = self.cluster.members[member];
            let item = &self.cluster.graph.items[id];
            let is_sink = self.sinks[member] == Some(number);
            match self.roles[member] {
                MemberRole::Element if self.needs[number][member] => {
                    let node = self.node(member, &nodes);
                    nodes[member] = Some(pass.elements.len());
                    let operand = Operand::Node(pass.elements.len());
                    pass.elements.push(node);
                    let kept = self.kept[member].filter(|_| self.first[member] == number);
                    for at in [is_sink.then_some(member), kept].into_iter().flatten() {
                        pass.stores.push(Store { operand: operand.clone(), target: self.target(at) });
                    }
                }
                MemberRole::Element => {}
                MemberRole::Number if is_sink => {
                    pass.numbers.push(self.node(member, &nodes));
                    self.store_number(member, item.value, &mut pass);
                }
                MemberRole::RowFold if is_sink => {
                    let target = Target::Number(item.value);
                    pass.folds.push(self.fold(member, &nodes, target));
                    self.store_number(member, item.value, &mut pass);
                }
                MemberRole::Fold if is_sink => {
                    let target = self.sum_target(member);
                    pass.folds.push(self.fold(member, &nodes, target));
                }
                MemberRole::FoldOfRowFolds if is_sink => {
                    let fold = self.fold(member, &nodes, Target::Number(item.value));
                    pass.row_folds.push(Fold {
                        operand: Operand::Number(item.value),
                        target: self.sum_target(member),
                        ..fold.clone()
                    });
                    pass.folds.push(Fold { count: None, ..fold });
                }
                MemberRole::FoldOfNumbers if is_sink => {
                    let target = self.sum_target(member);
                    pass.row_folds.push(self.fold(member, &nodes, target));
                }
                MemberRole::Number
                | MemberRole::RowFold
                | MemberRole::Fold
                | MemberRole::FoldOfRowFolds
                | MemberRole::FoldOfNumbers => {}
            }
        }
        pass
    }

    fn store_number(&self, member: usize, value: ValueId, pass: &mut Pass) {
        if self.cluster.buffers[member].is_some() {
            let store = Store { operand: Operand::Number(value), target: self.target(member) };
            pass.row_stores.push(store);
        }
    }

    fn node(&mut self, member: usize, nodes: &[Option<usize>]) -> Node {
        let item = &self.cluster.graph.items[self.cluster.members[member]];
        let Work::Elementwise(op) = item.work else { unreachable!("only operations are nodes") };
        let operands = item.reads.iter().map(|read| self.operand(member, read, nodes)).collect();
        Node { op, operands, dtype: item.dtype, of: item.of, value: item.value }
    }

    fn fold(&mut self, member: usize, nodes: &[Option<usize>], target: Target) -> Fold {
        let item = &self.cluster.graph.items[self.cluster.members[member]];
        let Work::Fold { count, monoid, .. } = &item.work else { unreachable!("only folds are folds") };
        let operand = self.operand(member, &item.reads[0], nodes);
        Fold { monoid, operand, count: count.clone(), dtype: item.dtype, target }
    }

    fn operand(&mut self, member: usize, read: &ItemOperand, nodes: &[Option<usize>]) -> Operand {
        match (self.inside(member, read), read) {
            (Some((other, InPlace::Number)), _) => {
                Operand::Number(self.cluster.graph.items[self.cluster.members[other]].value)
            }
            (Some((other, InPlace::Element)), _) => match nodes[other] {
                Some(node) => Operand::Node(node),
                None => {
                    let view = self.target(self.kept[other].unwrap_or(other));
                    self.load(view)
                }
            },
            (None, ItemOperand::Scalar(scalar)) => Operand::Scalar(scalar.clone()),
            (None, ItemOperand::View(view)) => {
                let source = match read.item() {
                    Some(item) => Source::Buffer((self.cluster.buffer_of)(item)),
                    None => view.source.clone(),
                };
                // A number reads in the space of rows, so it is constant along the elements.
                let mut strides = view.strides.clone();
                strides.resize(self.cluster.space.extents.len(), Dim::ZERO);
                self.load(self.view(source, view.offset.clone(), strides))
            }
        }
    }

    fn load(&mut self, view: View) -> Operand {
        let known = self.loads.iter().position(|load| *load == view);
        Operand::Load(known.unwrap_or_else(|| {
            self.loads.push(view);
            self.loads.len() - 1
        }))
    }

    fn view(&self, source: Source, offset: Dim, strides: Vec<Dim>) -> View {
        View { source, offset, strides, shape: Shape::from_slice(&self.cluster.space.extents) }
    }

    /// The view that a member is stored to.
    fn target(&self, member: usize) -> View {
        let buffer = self.cluster.buffers[member].expect("only what is read elsewhere is stored");
        let item = &self.cluster.graph.items[self.cluster.members[member]];
        let mut strides = match item.work.reduced() {
            Some(reduced) => {
                let mut kept = row_major(&Shape::new(item.stripped())).into_iter();
                let stride = |reduced: &bool| if *reduced { None } else { kept.next() };
                reduced.iter().map(stride).map(|stride| stride.unwrap_or(Dim::ZERO)).collect()
            }
            None => row_major(&Shape::from_slice(&item.space)),
        };
        strides.resize(self.cluster.space.extents.len(), Dim::ZERO);
        self.view(Source::Buffer(buffer), Dim::ZERO, strides)
    }

    fn sum_target(&self, member: usize) -> Target {
        let item = &self.cluster.graph.items[self.cluster.members[member]];
        if item.shape.rank() == 0 { Target::Total(item.value) } else { Target::Memory(self.target(member)) }
    }

    /// Builds the nest, with axes merged that all views traverse alike.
    fn finish(mut self, mut passes: Vec<Pass>) -> Nest {
        let mut extents = self.cluster.space.extents.clone();
        let mut loads = std::mem::take(&mut self.loads);
        let sums_over_rows =
            self.roles.iter().any(|role| *role == MemberRole::Fold || *role == MemberRole::FoldOfNumbers);
        let has_rows = self.row_axes > 0 && (sums_over_rows || self.cluster.space.row_axes.is_some());
        let mut is_row: Vec<bool> = (0..extents.len()).map(|axis| has_rows && axis < self.row_axes).collect();
        let mut views: Vec<&mut View> = loads.iter_mut().collect();
        for pass in &mut passes {
            let stores = pass.stores.iter_mut().chain(&mut pass.row_stores);
            views.extend(stores.map(|store| &mut store.target));
            for fold in pass.folds.iter_mut().chain(&mut pass.row_folds) {
                match &mut fold.target {
                    Target::Memory(view) => views.push(view),
                    Target::Number(_) | Target::Total(_) => {}
                }
            }
        }
        view::collapse(&mut extents, &mut views, &mut is_row);
        if extents.is_empty() {
            extents.push(Dim::ONE);
            is_row.push(false);
            for view in views {
                view.strides.push(Dim::ZERO);
                view.shape = Shape::new(extents.clone());
            }
        }
        let sums_whole_rows =
            self.roles.iter().any(|role| *role == MemberRole::RowFold || *role == MemberRole::FoldOfRowFolds);
        let row_axes = if has_rows {
            is_row.iter().filter(|is_row| **is_row).count()
        } else if sums_whole_rows || self.stores_nothing() {
            0
        } else {
            extents.len() - 1
        };
        Nest { extents, row_axes, loads, passes }
    }

    /// Whether the nest computes scalars only.
    fn stores_nothing(&self) -> bool {
        self.cluster.buffers.iter().all(Option::is_none)
    }
}
