//! Groups reductions that run row by row, with the loops that feed them and the loops that use them.
//!
//! A group is a sequence of consecutive steps of one element type: reductions over the same axes, and loops. If these
//! axes turn out to be the inner axes of one shape, the steps run *by row*, on a few rows at a time. Nodes that only
//! the group reads are then stored for these rows alone. Values that are constant along a row, namely reductions and
//! values computed from them, are then one number per row.

use std::collections::BTreeSet;

use super::needed::{read_by, source};
use super::plan::{Plan, read, stored};
use super::{ClassId, Fused, Node, NodeId, Op, Program, Reduction, ShapeId, Step};
use crate::plan::repetition;

/// Reductions over the same axes, with loops between them.
#[derive(Clone, Debug, PartialEq)]
pub struct ByRow {
    /// The steps, in order: reductions and loops. They run one after the other on whole tensors if the group cannot run
    /// by row.
    pub steps: Vec<Step>,
    /// The axes of the reductions.
    pub axes: Vec<i64>,
    /// Reductions, and nodes computed from them and from scalars: one number or truth value per row.
    pub numbers: BTreeSet<NodeId>,
    /// Leaves and results of other steps that must be scalars.
    pub scalars: BTreeSet<NodeId>,
    /// The nodes that other steps or the caller read.
    pub kept: BTreeSet<NodeId>,
    /// The nodes that each loop computes again where it reads them, since that is as fast as reading them.
    pub repeated: BTreeSet<NodeId>,
    /// The operands that reductions of long rows compute while they fold them.
    pub folded: BTreeSet<NodeId>,
}

impl ByRow {
    /// The loops of the group when it runs by row.
    pub fn loops(&self) -> impl Iterator<Item = &Fused> {
        self.steps.iter().filter_map(whole)
    }

    /// The operands of the reductions.
    pub fn reduced<'a>(&'a self, program: &'a Program) -> impl Iterator<Item = NodeId> + 'a {
        self.steps.iter().filter_map(|step| Some(reduction(program, step)?.1))
    }

    /// The nodes other than numbers that the steps store when the group runs by row. Kept nodes are stored for all
    /// rows, other nodes for a few rows at a time.
    pub fn elements(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.outputs().filter(|node| !self.repeated.contains(node))
    }

    /// The [`elements`](Self::elements) that a loop stores.
    pub fn stored(&self, fused: &Fused) -> Vec<NodeId> {
        self.elements().filter(|node| fused.outputs.contains(node)).collect()
    }

    /// The loop that computes the operand of a reduction.
    pub fn feeding(&self, folded: NodeId) -> Option<&Fused> {
        self.loops().find(|fused| fused.outputs.contains(&folded))
    }

    /// The nodes that a loop computes per element in order to compute `nodes`, if it can read those `in_memory`.
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

    /// The outputs of the loops, except numbers.
    fn outputs(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.loops().flat_map(|fused| &fused.outputs).copied().filter(|node| !self.numbers.contains(node))
    }

    /// The number of lanes of a fold over elements of this size in bytes.
    pub const fn lanes(bytes: usize) -> usize {
        mind_shape::loops::lanes_of(bytes)
    }

    /// The element type of the group.
    pub fn class(&self, program: &Program) -> ClassId {
        let reduction = self.numbers.first().expect("a group has a reduction");
        program.node(*reduction).class
    }

    /// The cost of an element in additions, without the nodes that are one number per row.
    pub fn cost(&self, program: &Program) -> usize {
        self.loops().map(|fused| fused.cost_without(program, &self.numbers)).sum::<usize>().max(1)
    }

    /// Whether a step of the group stores a node, by row or not.
    pub fn stores(&self, node: NodeId) -> bool {
        self.steps.iter().any(|step| stored(step).contains(&node))
    }

    /// The nodes that must have one shape for the group to run by row: stored nodes, operands of reductions, and nodes
    /// that should not be computed for more elements than they have.
    pub fn nodes_of_one_shape(&self, program: &Program) -> BTreeSet<NodeId> {
        let same = self.steps.iter().flat_map(|step| match step {
            Step::Alike { same, .. } => &same[..],
            Step::Fused(_) | Step::Kernel(_) | Step::Watch(_) | Step::ByRow(_) => &[],
        });
        let same = same.copied().filter(|node| !self.numbers.contains(node));
        same.chain(self.outputs()).chain(self.reduced(program)).collect()
    }
}

impl ByRow {
    /// The outputs that loops recompute: neither kept nor reduced, and computed by one cheap operation, whose only
    /// tensor operand comes from outside the group.
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
    /// The outputs that one reduction computes while it folds them: nothing else reads them, and no expensive operation
    /// runs twice. Functions with a faster form for operands in range stay in loops.
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

/// The single loop of a step, for shapes that are alike.
fn whole(step: &Step) -> Option<&Fused> {
    match step {
        Step::Fused(fused) | Step::Alike { fused, .. } => Some(fused),
        Step::Kernel(_) | Step::Watch(_) | Step::ByRow(_) => None,
    }
}

/// A reduction as written.
type WrittenReduction<'a> = &'a Reduction<Option<Vec<i64>>>;

/// The reduction of a step, its operand and its attributes.
fn reduction<'a>(program: &'a Program, step: &Step) -> Option<(NodeId, NodeId, WrittenReduction<'a>)> {
    let Step::Kernel(node) = step else { return None };
    let known = program.node(*node);
    let Op::Reduce(_, reduction) = &known.op else { return None };
    Some((*node, known.operands[0], reduction))
}

/// Groups the steps that may run by row.
pub(super) fn group(program: &Program, steps: Vec<Step>) -> Vec<Step> {
    let mut grouped = Vec::new();
    let mut group = GrowingGroup::new(program);
    for step in steps {
        if !group.takes(&step) {
            grouped.extend(std::mem::replace(&mut group, GrowingGroup::new(program)).finish());
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

/// Sets the kept, repeated and folded nodes of each group.
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
struct GrowingGroup<'a> {
    program: &'a Program,
    steps: Vec<Step>,
    /// The nodes that the steps store when they run by row.
    stored: BTreeSet<NodeId>,
    numbers: BTreeSet<NodeId>,
    scalars: BTreeSet<NodeId>,
    /// Reductions that drop the reduced axes. They do not broadcast along rows, so the loops of the group cannot read
    /// them.
    loose: BTreeSet<NodeId>,
    /// The axes of the reductions, once there is one.
    axes: Option<Vec<i64>>,
    /// The shapes of the operands of the reductions.
    reduced: BTreeSet<ShapeId>,
}

impl<'a> GrowingGroup<'a> {
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

    /// Whether a step can be appended to the group.
    fn takes(&self, step: &Step) -> bool {
        let first = self.stored.first();
        let is_of_group_class = |node: &NodeId| {
            first.is_none_or(|first| self.program.node(*first).class == self.program.node(*node).class)
        };
        if let Some((node, operand, reduction)) = reduction(self.program, step) {
            let Some(axes) = &reduction.axes else { return false };
            let is_constant = matches!(self.program.node(source(self.program, operand)).op, Op::Const(_));
            return is_of_group_class(&node)
                && !is_constant
                && !self.numbers.contains(&operand)
                && self.reads(operand)
                && self.axes.as_ref().is_none_or(|own| own == axes);
        }
        let Some(fused) = whole(step) else { return false };
        // All nodes have one element type, except scalar constants, and truth values that a loop holds in registers.
        let is_of_outputs_class = |node: &NodeId| {
            self.program.node(*node).class == self.program.node(fused.outputs[0]).class
                || matches!(&self.program.node(*node).op, Op::Const(constant) if constant.shape.is_empty())
        };
        let in_register = |node: &NodeId| self.program.is_of_truths(*node) && !fused.outputs.contains(node);
        fused.outputs.iter().all(is_of_group_class)
            && fused.inputs.iter().all(is_of_outputs_class)
            && fused.nodes.iter().all(|node| is_of_outputs_class(node) || in_register(node))
            && fused.inputs.iter().all(|input| !self.loose.contains(input) && self.reads(*input))
            && (self.steps.is_empty() || fused.inputs.iter().any(|input| self.stored.contains(input)))
    }

    /// Whether the steps can read a node: a step of the group stores it, or it is not a view of a node that they store.
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

    /// The scalars that a node of a loop reads, if the node may be one number per row; else `None`. Such a node reads
    /// numbers of rows, scalar constants, and nodes from outside the group whose shape is not that of a reduction's
    /// operand.
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

    /// Returns the group as one step. If it holds reductions alone or loops alone, rows save nothing, and it returns
    /// the steps.
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
    /// All steps, with groups replaced by their steps.
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
