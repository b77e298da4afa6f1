//! Which reductions run row by row, with the loops that feed them and those that use them.
//!
//! A group is a stretch of steps of one element type: reductions over the same axes, and loops. Where these axes turn out to be
//! the inner ones of one shape, the steps run on a few rows at a time, and what only they read is held for these rows alone.
//! What is the same along a row, a reduction and what is computed of reductions, is one number a row then.

use std::collections::BTreeSet;

use super::needed::{read_by, source};
use super::plan::{Plan, read, stored};
use super::{ClassId, Fused, Node, NodeId, Op, Program, Reduction, ShapeId, Step};
use crate::plan::repetition;

/// Reductions over the same axes, with loops between them.
#[derive(Clone, Debug, PartialEq)]
pub struct ByRow {
    /// The steps, in order: reductions and loops. Each runs by itself if the shapes are not those of rows.
    pub steps: Vec<Step>,
    /// The axes of the reductions.
    pub axes: Vec<i64>,
    /// Reductions, and what is computed of these and of single numbers: one number a row, or truth value.
    pub numbers: BTreeSet<NodeId>,
    /// Results of other steps and leaves that must be single numbers.
    pub scalars: BTreeSet<NodeId>,
    /// What other steps read, or the caller.
    pub kept: BTreeSet<NodeId>,
    /// What loops compute again, each for itself, since that is as fast as reading it.
    pub repeated: BTreeSet<NodeId>,
    /// What reductions of long rows compute as they fold it.
    pub folded: BTreeSet<NodeId>,
}

impl ByRow {
    /// The loops if shapes are those of rows.
    pub fn loops(&self) -> impl Iterator<Item = &Fused> {
        self.steps.iter().filter_map(whole)
    }

    /// The operands of the reductions.
    pub fn reduced<'a>(&'a self, program: &'a Program) -> impl Iterator<Item = NodeId> + 'a {
        self.steps.iter().filter_map(|step| Some(reduction(program, step)?.1))
    }

    /// What the steps store if shapes are those of rows, but for numbers: elements of all rows or, of what is not kept, of
    /// a few.
    pub fn elements(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.outputs().filter(|node| !self.repeated.contains(node))
    }

    /// Those of [`elements`](Self::elements) that a loop stores.
    pub fn stored(&self, fused: &Fused) -> Vec<NodeId> {
        self.elements().filter(|node| fused.outputs.contains(node)).collect()
    }

    /// The loop that computes what a reduction folds.
    pub fn feeding(&self, folded: NodeId) -> Option<&Fused> {
        self.loops().find(|fused| fused.outputs.contains(&folded))
    }

    /// What a loop computes of each element for some of its nodes, where others are in memory by then.
    pub fn computed(
        &self,
        program: &Program,
        fused: &Fused,
        nodes: &[NodeId],
        in_memory: &[NodeId],
    ) -> BTreeSet<NodeId> {
        let mut computed: BTreeSet<NodeId> = nodes.iter().copied().collect();
        let mut unseen = nodes.to_vec();
        while let Some(node) = unseen.pop() {
            let inside = |operand: &NodeId| {
                fused.nodes.contains(operand)
                    && !self.numbers.contains(operand)
                    && !in_memory.contains(operand)
            };
            unseen.extend(read_by(program, node).filter(inside).filter(|operand| computed.insert(*operand)));
        }
        computed
    }

    /// What is stored of elements where the steps run one by one.
    fn outputs(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.loops().flat_map(|fused| &fused.outputs).copied().filter(|node| !self.numbers.contains(node))
    }

    /// The lanes of folds over elements of so many bytes.
    pub const fn lanes(bytes: usize) -> usize {
        mind_shape::loops::lanes_of(bytes)
    }

    /// The element type of all of it.
    pub fn class(&self, program: &Program) -> ClassId {
        let reduction = self.numbers.first().expect("a group has a reduction");
        program.node(*reduction).class
    }

    /// What an element costs, in additions; numbers of rows are left out.
    pub fn cost(&self, program: &Program) -> usize {
        self.loops().map(|fused| fused.cost_without(program, &self.numbers)).sum::<usize>().max(1)
    }

    /// Whether a step of it stores a node, be it where shapes are not those of rows.
    pub fn stores(&self, node: NodeId) -> bool {
        self.steps.iter().any(|step| stored(step).contains(&node))
    }

    /// What must have one shape: what is stored and reduced, and what is not to be computed for more elements than it has.
    pub fn alike(&self, program: &Program) -> BTreeSet<NodeId> {
        let same = self.steps.iter().flat_map(|step| match step {
            Step::Alike { same, .. } => &same[..],
            Step::Fused(_) | Step::Kernel(_) | Step::Watch(_) | Step::ByRow(_) => &[],
        });
        let same = same.copied().filter(|node| !self.numbers.contains(node));
        same.chain(self.outputs()).chain(self.reduced(program)).collect()
    }
}

impl ByRow {
    /// What is no result of the group, not reduced, and one quick operation on one tensor at most that lies outside of it.
    fn repeated(&self, program: &Program) -> BTreeSet<NodeId> {
        let is_reduced = |node: &NodeId| self.reduced(program).any(|reduced| reduced == *node);
        let reads = |node: NodeId| {
            let Node { op: Op::Map(map), operands, .. } = program.node(node) else { return None };
            let is_tensor = |operand: &NodeId| {
                let is_constant = matches!(program.node(*operand).op, Op::Const(_));
                !is_constant && !self.numbers.contains(operand) && !self.scalars.contains(operand)
            };
            let tensors: Vec<NodeId> = operands.iter().copied().filter(is_tensor).collect();
            let outside = |tensor: &NodeId| self.loops().any(|fused| fused.inputs.contains(tensor));
            let are_there = tensors.iter().all(|tensor| outside(tensor) && !self.stores(*tensor));
            (are_there && !map.row().cost.is_worth_keeping()).then_some((Vec::new(), tensors))
        };
        self.outputs()
            .filter(|node| !self.kept.contains(node) && !is_reduced(node))
            .filter(|node| repetition(*node, 1, reads).is_some())
            .collect()
    }
}

impl ByRow {
    /// What one reduction reads and nothing else, if that computes nothing slow twice and is one loop.
    fn folded(&self, program: &Program) -> BTreeSet<NodeId> {
        let is_read_once = |node: &NodeId| {
            self.reduced(program).filter(|reduced| reduced == node).count() == 1
                && self.loops().all(|fused| !fused.inputs.contains(node))
        };
        let is_alone = |node: &NodeId| {
            let Some(fused) = self.feeding(*node) else { return false };
            let others: Vec<NodeId> = self.stored(fused).into_iter().filter(|other| other != node).collect();
            let may_stand_there = |node: NodeId| {
                let Op::Map(map) = &program.node(node).op else { return true };
                map.row().range.is_none() && (others.is_empty() || !map.row().cost.is_worth_keeping())
            };
            self.computed(program, fused, &[*node], &others).into_iter().all(may_stand_there)
        };
        self.outputs()
            .filter(|node| !self.kept.contains(node) && !self.repeated.contains(node))
            .filter(|node| is_read_once(node) && is_alone(node))
            .collect()
    }
}

/// The loop that a step is where shapes are alike.
fn whole(step: &Step) -> Option<&Fused> {
    match step {
        Step::Fused(fused) | Step::Alike { fused, .. } => Some(fused),
        Step::Kernel(_) | Step::Watch(_) | Step::ByRow(_) => None,
    }
}

/// What a reduction reduces, as it is written.
type Written<'a> = &'a Reduction<Option<Vec<i64>>>;

/// The reduction that a step is, its operand and what it reduces.
fn reduction<'a>(program: &'a Program, step: &Step) -> Option<(NodeId, NodeId, Written<'a>)> {
    let Step::Kernel(node) = step else { return None };
    let known = program.node(*node);
    let Op::Reduce(_, reduction) = &known.op else { return None };
    Some((*node, known.operands[0], reduction))
}

/// The steps with groups for those that may run row by row.
pub(super) fn group(program: &Program, steps: Vec<Step>) -> Vec<Step> {
    let mut grouped = Vec::new();
    let mut group = Group::new(program);
    for step in steps {
        if !group.takes(&step) {
            grouped.extend(std::mem::replace(&mut group, Group::new(program)).finish());
        }
        if group.takes(&step) {
            group.add(step);
        } else {
            grouped.push(step);
        }
    }
    grouped.extend(group.finish());
    keep(program, &mut grouped);
    grouped
}

/// Says of each group what is read outside of it.
fn keep(program: &Program, steps: &mut [Step]) {
    let mut read_at: Vec<(Option<usize>, NodeId)> =
        program.result.nodes().into_iter().map(|node| (None, source(program, node))).collect();
    for (position, step) in steps.iter().enumerate() {
        read_at.extend(read(program, step).into_iter().map(|node| (Some(position), source(program, node))));
    }
    for (position, step) in steps.iter_mut().enumerate() {
        let stored: BTreeSet<NodeId> = stored(step).into_iter().collect();
        if let Step::ByRow(group) = step {
            let outside = read_at.iter().filter(|(reader, _)| *reader != Some(position));
            group.kept = outside.map(|(_, node)| *node).filter(|node| stored.contains(node)).collect();
            group.repeated = group.repeated(program);
            group.folded = group.folded(program);
        }
    }
}

/// A group that may still grow.
struct Group<'a> {
    program: &'a Program,
    steps: Vec<Step>,
    /// What the steps store where shapes are those of rows.
    stored: BTreeSet<NodeId>,
    numbers: BTreeSet<NodeId>,
    scalars: BTreeSet<NodeId>,
    /// Reductions without the axes that they reduce: nothing broadcasts them along rows.
    loose: BTreeSet<NodeId>,
    /// The axes of the reductions, once there is one.
    axes: Option<Vec<i64>>,
    /// Shapes that are reduced.
    reduced: BTreeSet<ShapeId>,
}

impl<'a> Group<'a> {
    fn new(program: &'a Program) -> Self {
        Self {
            program,
            steps: Vec::new(),
            stored: BTreeSet::new(),
            numbers: BTreeSet::new(),
            scalars: BTreeSet::new(),
            loose: BTreeSet::new(),
            axes: None,
            reduced: BTreeSet::new(),
        }
    }

    /// Whether a step can stand in the group, behind those that do.
    fn takes(&self, step: &Step) -> bool {
        let first = self.stored.first();
        let alike = |node: &NodeId| {
            first.is_none_or(|first| self.program.node(*first).class == self.program.node(*node).class)
        };
        if let Some((node, operand, reduction)) = reduction(self.program, step) {
            let Some(axes) = &reduction.axes else { return false };
            let is_constant = matches!(self.program.node(source(self.program, operand)).op, Op::Const(_));
            return alike(&node)
                && !is_constant
                && !self.numbers.contains(&operand)
                && self.reads(operand)
                && self.axes.as_ref().is_none_or(|own| own == axes);
        }
        let Some(fused) = whole(step) else { return false };
        // Everything is of one type, but for truth values that a loop has in registers.
        let is_alike = |node: &NodeId| {
            self.program.node(*node).class == self.program.node(fused.outputs[0]).class
                || matches!(&self.program.node(*node).op, Op::Const(constant) if constant.shape.is_empty())
        };
        let in_register = |node: &NodeId| self.program.is_of_truths(*node) && !fused.outputs.contains(node);
        fused.outputs.iter().all(alike)
            && fused.inputs.iter().all(is_alike)
            && fused.nodes.iter().all(|node| is_alike(node) || in_register(node))
            && fused.inputs.iter().all(|input| !self.loose.contains(input) && self.reads(*input))
            && (self.steps.is_empty() || fused.inputs.iter().any(|input| self.stored.contains(input)))
    }

    /// Whether the steps can read a node: it is there as it is stored, or as a whole.
    fn reads(&self, node: NodeId) -> bool {
        self.stored.contains(&node) || !self.stored.contains(&source(self.program, node))
    }

    fn add(&mut self, step: Step) {
        if let Some((node, operand, reduction)) = reduction(self.program, &step) {
            self.axes.clone_from(&reduction.axes);
            self.reduced.insert(self.program.node(operand).shape);
            self.numbers.insert(node);
            self.stored.insert(node);
            if !reduction.keepdims {
                self.loose.insert(node);
            }
        } else if let Some(fused) = whole(&step) {
            for node in &fused.nodes {
                if let Some(scalars) = self.scalars_of(*node, fused) {
                    self.numbers.insert(*node);
                    self.scalars.extend(scalars);
                }
            }
            self.stored.extend(&fused.outputs);
        }
        self.steps.push(step);
    }

    /// The single numbers that a node of a loop reads, if it is one number a row for all that is known: it reads such
    /// numbers, and beside them constants and what no reduction reduces the shape of.
    fn scalars_of(&self, node: NodeId, fused: &Fused) -> Option<Vec<NodeId>> {
        let Op::Map(_) = self.program.node(node).op else { return None };
        let (mut scalars, mut reads_number) = (Vec::new(), false);
        for operand in &self.program.node(node).operands {
            let known = self.program.node(*operand);
            let is_outside = fused.inputs.contains(operand) && !self.stored.contains(operand);
            match &known.op {
                _ if self.numbers.contains(operand) => reads_number = true,
                Op::Const(constant) if constant.shape.is_empty() => {}
                Op::Const(_) => return None,
                _ if is_outside && !self.reduced.contains(&known.shape) => scalars.push(*operand),
                _ => return None,
            }
        }
        reads_number.then_some(scalars)
    }

    /// The group, or its steps where rows would save nothing: reductions alone, or loops.
    fn finish(self) -> Vec<Step> {
        let has_loops = self.steps.iter().any(|step| whole(step).is_some());
        match self.axes {
            Some(axes) if has_loops => vec![Step::ByRow(ByRow {
                steps: self.steps,
                axes,
                numbers: self.numbers,
                scalars: self.scalars,
                kept: BTreeSet::new(),
                repeated: BTreeSet::new(),
                folded: BTreeSet::new(),
            })],
            Some(_) | None => self.steps,
        }
    }
}

impl Plan {
    /// The steps, those of groups one by one.
    pub fn each(&self) -> impl Iterator<Item = &Step> {
        self.steps.iter().flat_map(|step| match step {
            Step::ByRow(group) => &group.steps[..],
            Step::Fused(_) | Step::Alike { .. } | Step::Kernel(_) | Step::Watch(_) => {
                std::slice::from_ref(step)
            }
        })
    }

    /// The groups, with the positions of their steps.
    pub fn groups(&self) -> impl Iterator<Item = (usize, &ByRow)> {
        self.steps.iter().enumerate().filter_map(|(position, step)| match step {
            Step::ByRow(group) => Some((position, group)),
            Step::Fused(_) | Step::Alike { .. } | Step::Kernel(_) | Step::Watch(_) => None,
        })
    }
}
