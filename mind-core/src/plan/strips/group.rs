//! Groups steps that run together on a strip of rows at a time.
//!
//! The search starts from a large product and follows the steps that read or write tensors as large as it, row by row.
//! Such steps join a group unless another step lies between them. A group computes again the rows that it reads from
//! other groups.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use crate::{
    dim::Dim,
    plan::{
        Buffer, BufferId, Location, MatMul, Nest, Step, View, arena,
        order::{self, Edges},
    },
};

use super::{
    Limits,
    cut::place_of_cut,
    rows::{Along, RowView, Rows},
};

/// The most steps that a search may visit, so that planning stays near-linear in long programs.
const FARTHEST: usize = 1024;

/// Steps that process the same rows.
pub(super) struct StepGroup {
    pub(super) rows: Rows,
    /// The positions of the steps, in an order in which they can run, and how each processes the rows.
    pub(super) steps: Vec<(usize, Along)>,
    /// The buffers that these steps write and no other step reads.
    pub(super) local: BTreeSet<BufferId>,
    /// Steps that need not run, since every reader computes their rows again.
    pub(super) unread: Vec<usize>,
}

/// Finds the groups among steps, each in an order in which it can run. Copies of steps that are computed again are
/// appended to `steps`.
pub(super) fn find(
    buffers: &mut Vec<Buffer>,
    steps: &mut Vec<Step>,
    delivered: &[BufferId],
    limits: &Limits,
) -> Vec<StepGroup> {
    let seeds: Vec<usize> =
        (0..steps.len()).filter(|step| is_large(buffers, &steps[*step], limits)).collect();
    if seeds.is_empty() {
        return Vec::new();
    }
    let mut search = Search::new(buffers, steps, limits);
    for seed in seeds {
        if search.group_of[seed].is_none() {
            search.groups_from(seed);
        }
    }
    let Search { mut groups, .. } = search;
    let users = Users::new(steps, buffers.len());
    for group in &mut groups {
        group.leave_out_unread(&users, buffers, steps, delivered);
        group.find_local(&users, buffers, steps);
        delivered.iter().for_each(|buffer| _ = group.local.remove(buffer));
    }
    groups.retain(|group| group.local.iter().any(|buffer| group.is_large(&buffers[buffer.0])));
    groups
}

/// Whether a step computes a temporary that is much larger than its operands, matrix by matrix.
fn is_large(buffers: &[Buffer], step: &Step, limits: &Limits) -> bool {
    let Step::MatMul(MatMul { extents, finish, .. }) = step else { return false };
    let is_temporary = finish.stores.iter().any(|store| {
        store.target.buffer().is_some_and(|buffer| matches!(buffers[buffer.0].place, Location::Arena { .. }))
    });
    // Small matrices are better left to threads. Matrices whose size is known only at run time are therefore not cut.
    let [Some(m), Some(k), Some(n)] = extents.each_ref().map(Dim::as_literal) else { return false };
    let operands = m.checked_add(n).and_then(|lines| lines.checked_mul(k)?.checked_mul(limits.larger));
    let elements = m.checked_mul(n).zip(operands);
    let is_large =
        elements.is_some_and(|(elements, operands)| elements >= limits.large && elements >= operands);
    is_temporary && is_large
}

/// The bytes of an element of a product.
fn bytes_of(buffers: &[Buffer], product: &MatMul) -> i64 {
    let buffer = product.finish.stores.iter().find_map(|store| store.target.buffer());
    let buffer = buffer.expect("a product is stored in memory");
    buffers[buffer.0].ty.dtype.bytes() as i64
}

/// The step that writes each buffer, and the steps that read it.
struct Users {
    writer: Vec<Option<usize>>,
    readers: Vec<Vec<usize>>,
}

impl Users {
    fn new(steps: &[Step], buffers: usize) -> Self {
        let mut users = Self { writer: vec![None; buffers], readers: vec![Vec::new(); buffers] };
        for (position, step) in steps.iter().enumerate() {
            step.for_each_write(|buffer| users.writer[buffer.0] = Some(position));
            step.for_each_read(|buffer| {
                if users.readers[buffer.0].last() != Some(&position) {
                    users.readers[buffer.0].push(position);
                }
            });
        }
        users
    }
}

struct Search<'s> {
    limits: Limits,
    buffers: &'s mut Vec<Buffer>,
    steps: &'s mut Vec<Step>,
    users: Users,
    edges: Edges,
    groups: Vec<StepGroup>,
    group_of: Vec<Option<usize>>,
    /// The steps that run before a check, and so before any memory that a caller sees is written.
    feeds_check: HashSet<usize>,
    /// The step that each is a copy of, or itself.
    origin: Vec<usize>,
}

impl<'s> Search<'s> {
    fn new(buffers: &'s mut Vec<Buffer>, steps: &'s mut Vec<Step>, limits: &Limits) -> Self {
        let users = Users::new(steps, buffers.len());
        let (edges, group_of) = (Edges::new(steps, buffers), vec![None; steps.len()]);
        let origin = (0..steps.len()).collect();
        let feeds_check = order::before_checks(steps, buffers);
        Self {
            limits: *limits,
            origin,
            feeds_check,
            buffers,
            steps,
            users,
            edges,
            groups: Vec::new(),
            group_of,
        }
    }

    /// Finds the groups of all steps that process the rows of a product.
    fn groups_from(&mut self, seed: usize) {
        let Step::MatMul(product) = &self.steps[seed] else { return };
        let rows = Rows::of(product);
        if place_of_cut(&rows, self.limits.bytes / bytes_of(self.buffers, product)).is_none() {
            return;
        }
        let found = self.connected(&rows, seed);
        let first = self.groups.len();
        for (step, along) in &found {
            let fitting = (first..self.groups.len()).rev().find(|group| self.may_join(*group, *step, along));
            let group = fitting.unwrap_or_else(|| {
                let (rows, local) = (rows.clone(), BTreeSet::new());
                self.groups.push(StepGroup { rows, steps: Vec::new(), local, unread: Vec::new() });
                self.groups.len() - 1
            });
            self.groups[group].steps.push((*step, along.clone()));
            self.group_of[*step] = Some(group);
        }
        for group in first..self.groups.len() {
            self.compute_again(group);
        }
    }

    /// The steps that read or write tensors as large as a product row by row, directly or through each other,
    /// ascending.
    fn connected(&self, rows: &Rows, seed: usize) -> BTreeMap<usize, Along> {
        let mut found = BTreeMap::new();
        let mut next = vec![seed];
        while let Some(step) = next.pop() {
            if found.contains_key(&step) || self.group_of[step].is_some() || found.len() > FARTHEST {
                continue;
            }
            let Some(along) = self.fitting(rows, step) else { continue };
            found.insert(step, along);
            let of = &self.steps[step];
            of.for_each_write(|buffer| {
                if rows.are_of(&self.buffers[buffer.0]) {
                    next.extend(&self.users.readers[buffer.0]);
                }
            });
            of.for_each_read(|buffer| {
                if rows.are_of(&self.buffers[buffer.0]) {
                    next.extend(self.users.writer[buffer.0]);
                }
            });
        }
        found
    }

    /// How a step processes rows, if for each row it reads and writes only that row of large tensors.
    fn fitting(&self, rows: &Rows, step: usize) -> Option<Along> {
        let step = &self.steps[step];
        rows.along(step).into_iter().find(|along| {
            let Some(row_views) = rows.row_views(step, along) else { return false };
            let fits = |row_view: &RowView<'_>| {
                let Some(buffer) = row_view.view.buffer() else { return true };
                let buffer = &self.buffers[buffer.0];
                let is_large = rows.are_of(buffer);
                match (row_view.is_written, along) {
                    (true, Along::Sums) => !is_large,
                    (true, Along::Rows(_)) => rows.is_row_of(row_view, buffer),
                    (false, _) => !is_large || rows.is_row_of(row_view, buffer),
                }
            };
            row_views.iter().all(fits)
        })
    }

    /// Whether a step can run in the strips of a group. It must read the results of the group row by row, and no step
    /// outside the group may lie between them.
    fn may_join(&self, group: usize, step: usize, along: &Along) -> bool {
        let group_of = &self.groups[group];
        let rows = &group_of.rows;
        let row_views = rows.row_views(&self.steps[step], along).expect("it goes along the rows");
        let reads_rows = row_views.iter().filter(|row_view| !row_view.is_written).all(|row_view| {
            let Some(buffer) = row_view.view.buffer() else { return true };
            let writer = self.users.writer[buffer.0];
            let writer = group_of.steps.iter().find(|(member, _)| Some(*member) == writer);
            writer.is_none_or(|(_, along)| {
                *along != Along::Sums && rows.is_row_of(row_view, &self.buffers[buffer.0])
            })
        });
        let feeds_check = |step: usize| self.feeds_check.contains(&self.origin[step]);
        let are_as_early = group_of.steps.iter().all(|(member, _)| feeds_check(*member) == feeds_check(step));
        reads_rows && are_as_early && !self.lies_between(group, step)
    }

    /// Whether a step outside of the group must come after one of its steps and before another. `step` counts as one of
    /// its steps.
    fn lies_between(&self, group: usize, step: usize) -> bool {
        let mut own: BTreeSet<usize> = self.groups[group].steps.iter().map(|(step, _)| *step).collect();
        own.insert(step);
        let last = self.last_that_leads_back(step);
        let mut seen = BTreeSet::new();
        let mut next: Vec<usize> = own
            .iter()
            .flat_map(|step| &self.edges.readers[*step])
            .copied()
            .filter(|step| !own.contains(step))
            .collect();
        while let Some(found) = next.pop() {
            if own.contains(&found) {
                return true;
            }
            if found > last || !seen.insert(found) {
                continue;
            }
            if seen.len() > FARTHEST {
                return true;
            }
            next.extend(&self.edges.readers[found]);
            // A group runs as a single step.
            let beside = self.group_of[found].map(|group| &self.groups[group].steps[..]).unwrap_or_default();
            next.extend(beside.iter().map(|(step, _)| *step).filter(|step| !seen.contains(step)));
        }
        false
    }

    /// The last step from which a path may lead back to `step` or an earlier step. A group runs as a single step, so
    /// paths from its last step include those from its first.
    fn last_that_leads_back(&self, step: usize) -> usize {
        let span = |group: &StepGroup| {
            let originals =
                || group.steps.iter().map(|(step, _)| *step).filter(|step| *step == self.origin[*step]);
            originals().min().zip(originals().max())
        };
        let spans: Vec<(usize, usize)> = self.groups.iter().filter_map(span).collect();
        let mut last = step;
        loop {
            let across = spans.iter().filter(|(first, _)| *first <= last).map(|(_, last)| *last);
            match across.max() {
                Some(farther) if farther > last => last = farther,
                Some(_) | None => return last,
            }
        }
    }

    /// Makes a group compute the rows that it reads from other groups.
    fn compute_again(&mut self, group: usize) {
        let members: Vec<usize> = self.groups[group].steps.iter().map(|(step, _)| *step).collect();
        let rows = self.groups[group].rows.clone();
        let mut needed: BTreeSet<BufferId> = BTreeSet::new();
        let mut makers: BTreeSet<usize> = BTreeSet::new();
        let mut next = members.clone();
        while let Some(step) = next.pop() {
            self.steps[step].for_each_read(|buffer| {
                let maker = self.users.writer[buffer.0].filter(|maker| !members.contains(maker));
                // An element that a nest keeps in a stored tensor for its later passes is needed too.
                let is_needed = |maker: &usize| *maker == step || rows.are_of(&self.buffers[buffer.0]);
                if let Some(maker) = maker.filter(is_needed) {
                    needed.insert(buffer);
                    if makers.insert(maker) {
                        next.push(maker);
                    }
                }
            });
        }
        // The rows that a step processes are known from its group.
        let is_known = |maker: &usize| self.group_of[*maker].is_some_and(|of| self.groups[of].rows == rows);
        if needed.is_empty() || !makers.iter().all(is_known) {
            return;
        }
        let again: BTreeMap<BufferId, BufferId> = needed
            .iter()
            .map(|buffer| {
                self.buffers.push(Buffer { place: arena::UNASSIGNED, ..self.buffers[buffer.0].clone() });
                self.users.writer.push(None);
                self.users.readers.push(Vec::new());
                (*buffer, BufferId(self.buffers.len() - 1))
            })
            .collect();
        let mut copies = Vec::new();
        let mut makers: Vec<usize> = makers.into_iter().collect();
        makers.sort_by_key(|maker| self.origin[*maker]);
        for maker in makers {
            let of = self.group_of[maker].expect("it is in a group");
            let along = self.groups[of].steps.iter().find(|(step, _)| *step == maker);
            let along = along.expect("a group has its steps").1.clone();
            let mut copy = self.steps[maker].clone();
            keep_stores(&mut copy, &|view| view.buffer().is_some_and(|buffer| again.contains_key(&buffer)));
            rename(&mut copy, &again);
            let own = self.steps.len();
            copy.for_each_write(|buffer| self.users.writer[buffer.0] = Some(own));
            self.steps.push(copy);
            self.group_of.push(Some(group));
            self.edges.readers.push(Vec::new());
            self.origin.push(self.origin[maker]);
            copies.push((own, along));
        }
        // Large buffers are read row by row. A step may read other rows of smaller buffers, so these are not replaced.
        let mut large = again;
        large.retain(|buffer, _| rows.are_of(&self.buffers[buffer.0]));
        for step in members {
            rename(&mut self.steps[step], &large);
        }
        copies.append(&mut self.groups[group].steps);
        self.groups[group].steps = copies;
    }
}

impl StepGroup {
    fn is_large(&self, buffer: &Buffer) -> bool {
        self.rows.are_of(buffer)
    }

    /// Removes the steps whose results nothing reads any more, since readers compute them again.
    fn leave_out_unread(
        &mut self,
        users: &Users,
        buffers: &[Buffer],
        steps: &[Step],
        delivered: &[BufferId],
    ) {
        let unread = &mut self.unread;
        self.steps.retain(|(step, along)| {
            let mut is_read = *along == Along::Sums;
            steps[*step].for_each_write(|buffer| {
                let is_temporary = matches!(buffers[buffer.0].place, Location::Arena { .. });
                let is_its_own = users.readers[buffer.0].iter().all(|reader| reader == step);
                is_read |= !(is_temporary && is_its_own) || delivered.contains(&buffer);
            });
            if !is_read {
                unread.push(*step);
            }
            is_read
        });
    }

    fn find_local(&mut self, users: &Users, buffers: &[Buffer], steps: &[Step]) {
        let members: BTreeSet<usize> = self.steps.iter().map(|(step, _)| *step).collect();
        for (step, along) in &self.steps {
            if *along == Along::Sums {
                continue;
            }
            steps[*step].for_each_write(|buffer| {
                let is_temporary = matches!(buffers[buffer.0].place, Location::Arena { .. });
                if is_temporary && users.readers[buffer.0].iter().all(|reader| members.contains(reader)) {
                    self.local.insert(buffer);
                }
            });
        }
    }
}

/// Removes the stores of a step that `keeps` rejects.
fn keep_stores(step: &mut Step, keeps: &dyn Fn(&View) -> bool) {
    match step {
        Step::Nest(nest) => {
            for pass in &mut nest.passes {
                pass.stores.retain(|store| keeps(&store.target));
                pass.row_stores.retain(|store| keeps(&store.target));
            }
            let is_done = |nest: &Nest| {
                nest.passes.last().is_some_and(|pass| pass.stores.is_empty() && pass.row_stores.is_empty())
            };
            while nest.passes.len() > 1 && is_done(nest) {
                nest.passes.pop();
            }
        }
        Step::MatMul(product) => product.finish.stores.retain(|store| keeps(&store.target)),
        _ => unreachable!("a group consists of nests and products"),
    }
}

/// Replaces buffers that a step reads and writes.
fn rename(step: &mut Step, names: &BTreeMap<BufferId, BufferId>) {
    step.for_each_view_mut(&mut |view| {
        if let Some(name) = view.buffer().and_then(|buffer| names.get(&buffer)) {
            *view = view.of(*name);
        }
    });
}
