//! Decides which elementwise operations share a loop.
//!
//! Nodes of one shape share a loop unless another step has to run between them. A node whose shape may be smaller than
//! that of the loop would be computed for each element of the larger shape. It joins the loop if computing it is as
//! fast as reading it, so `x * s + b` is one loop. A slower node, such as the `exp(b)` of `x + exp(b)`, joins on the
//! condition that its shape turns out to be that of the loop; otherwise it gets a separate loop.

use std::collections::BTreeSet;

use super::needed::{Needed, read_by};
use super::{ClassId, Fused, NodeId, Program, ShapeId, Step};
use crate::plan::LONGEST;
use crate::written::WorkKind;

/// A step that may still grow, or be merged into a later one.
enum Draft {
    Gone,
    Kernel(NodeId),
    Watch(NodeId),
    Loop(FusedLoop),
}

/// Nodes that share a loop.
#[derive(Clone, Default)]
struct FusedLoop {
    /// The nodes that the loop computes, ascending. The last one has the shape of the index space.
    members: Vec<NodeId>,
    /// Groups of members that run as separate loops if a condition does not hold, in the order of their steps.
    parts: Vec<SeparableLoop>,
}

/// A part of a loop that may have to run as a separate loop.
#[derive(Clone)]
struct SeparableLoop {
    /// Its former step.
    step: usize,
    /// Its nodes, ascending.
    members: Vec<NodeId>,
    /// Whether it may run in the loop only if it has the same shape.
    conditional: bool,
}

/// Whether a loop can be merged into a later one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Moves {
    Yes,
    /// If its shape turns out to be the same.
    IfSame,
    No,
}

struct Fusion<'a> {
    program: &'a Program,
    needed: &'a Needed,
    drafts: Vec<Draft>,
    /// The step that computes each node, or its source if the node is a view.
    step_of: Vec<Option<usize>>,
}

/// The steps that compute the needed nodes, in order.
pub(super) fn steps(program: &Program, needed: &Needed) -> Vec<Step> {
    let step_of = vec![None; program.nodes.len()];
    let mut fusion = Fusion { program, needed, drafts: Vec::new(), step_of };
    for (id, node) in program.iter().filter(|(id, _)| needed.reads(*id)) {
        match program.kind(id) {
            WorkKind::Known => {}
            WorkKind::View => fusion.step_of[id.index()] = fusion.step_of[node.operands[0].index()],
            WorkKind::Cheap | WorkKind::Expensive => fusion.elementwise(id),
            // The loops that read the node compute it.
            WorkKind::Free if !fusion.is_stored(id, |_| true) => {
                let sources = read_by(program, id).filter_map(|operand| fusion.step_of[operand.index()]);
                fusion.step_of[id.index()] = sources.max();
            }
            WorkKind::Free => {
                fusion.step_of[id.index()] = Some(fusion.drafts.len());
                fusion.drafts.push(Draft::Loop(FusedLoop { members: vec![id], parts: Vec::new() }));
            }
            WorkKind::Kernel => {
                fusion.step_of[id.index()] = Some(fusion.drafts.len());
                fusion.drafts.push(Draft::Kernel(id));
            }
        }
        if needed.is_watched(id) {
            fusion.drafts.push(Draft::Watch(id));
        }
    }
    let drafts = fusion.drafts.iter().filter_map(|draft| match draft {
        Draft::Gone => None,
        Draft::Kernel(node) => Some(Step::Kernel(*node)),
        Draft::Watch(node) => Some(Step::Watch(*node)),
        Draft::Loop(own) => Some(fusion.step(own)),
    });
    drafts.collect()
}

impl Fusion<'_> {
    fn kind(&self, node: NodeId) -> WorkKind {
        self.program.kind(node)
    }

    fn shape(&self, node: NodeId) -> ShapeId {
        self.program.node(node).shape
    }

    /// Whether a node must be stored: it is a result or watched, or a reader is not `inside` its loop or is no loop.
    fn is_stored(&self, node: NodeId, inside: impl Fn(NodeId) -> bool) -> bool {
        let is_free = self.kind(node) == WorkKind::Free;
        let in_loop = |reader: &NodeId| match self.kind(*reader) {
            WorkKind::Cheap | WorkKind::Expensive => is_free || inside(*reader),
            WorkKind::Known | WorkKind::View | WorkKind::Free | WorkKind::Kernel => false,
        };
        self.needed.is_result(node)
            || self.needed.is_watched(node)
            || !self.needed.readers(node).iter().all(in_loop)
    }

    /// Whether a step computes a node. `step_of` alone does not tell: for other nodes it is the step of their sources.
    fn is_member(&self, node: NodeId, step: usize) -> bool {
        let computed = match self.kind(node) {
            WorkKind::Cheap | WorkKind::Expensive => true,
            WorkKind::Free => self.is_stored(node, |_| true),
            WorkKind::Known | WorkKind::View | WorkKind::Kernel => false,
        };
        computed && self.step_of[node.index()] == Some(step)
    }

    fn elementwise(&mut self, node: NodeId) {
        let operands: Vec<NodeId> = read_by(self.program, node).collect();
        let latest = operands.iter().filter_map(|operand| self.step_of[operand.index()]).max();
        // The node joins the latest loop that it reads from, if that has its shape, or starts a new loop.
        let own = match latest.filter(|step| self.joins(*step, node, &operands)) {
            Some(step) => step,
            None => {
                self.drafts.push(Draft::Loop(FusedLoop::default()));
                self.drafts.len() - 1
            }
        };
        // Earlier loops that no other step reads are merged into this one, the latest first.
        let member_of = |operand: &NodeId| {
            self.step_of[operand.index()].filter(|step| *step != own && self.is_member(*operand, *step))
        };
        let mut before: Vec<usize> = operands.iter().filter_map(member_of).collect();
        before.sort_unstable();
        before.dedup();
        self.step_of[node.index()] = Some(own);
        let FusedLoop { mut members, mut parts } = self.take_loop(own);
        members.push(node);
        for step in before.into_iter().rev() {
            let moves = self.moves(step, (own, &members), node);
            if moves == Moves::No {
                continue;
            }
            let taken = self.take_loop(step);
            taken.members.iter().for_each(|member| self.step_of[member.index()] = Some(own));
            // If one part may become a separate loop, the loops that it reads must be separable too, to run before it.
            let rest = taken.rest();
            let is_apart = moves == Moves::IfSame || !parts.is_empty() || !taken.parts.is_empty();
            let own_parts = is_apart.then_some(SeparableLoop { step, members: rest, conditional: false });
            parts.extend(own_parts.into_iter().chain(taken.parts).map(|part| SeparableLoop {
                conditional: part.conditional || moves == Moves::IfSame && !self.is_cheap(&part.members),
                ..part
            }));
            members.extend(taken.members);
        }
        members.sort_unstable();
        parts.sort_by_key(|part| part.step);
        self.drafts[own] = Draft::Loop(FusedLoop { members, parts });
    }

    /// Takes the loop of a step and leaves the step empty. Returns an empty loop for other steps.
    fn take_loop(&mut self, step: usize) -> FusedLoop {
        match std::mem::replace(&mut self.drafts[step], Draft::Gone) {
            Draft::Loop(taken) => taken,
            other => {
                self.drafts[step] = other;
                FusedLoop::default()
            }
        }
    }

    /// The nodes of a step that is a loop; empty for other steps.
    fn members(&self, step: usize) -> &[NodeId] {
        if let Draft::Loop(own) = &self.drafts[step] { &own.members } else { &[] }
    }

    /// Whether a node can be added to a step: it is a loop of the same shape, and no later step computes an operand.
    fn joins(&self, step: usize, node: NodeId, operands: &[NodeId]) -> bool {
        let members = self.members(step);
        let there =
            |operand: &NodeId| self.step_of[operand.index()] < Some(step) || self.is_member(*operand, step);
        (1..LONGEST).contains(&members.len())
            && self.space(members) == self.shape(node)
            && self.have_one_type(members.iter().chain([&node]))
            && operands.iter().all(there)
    }

    /// Whether a loop can be merged into the later loop of `node`, whose nodes so far are `own_members`. No other step
    /// may read what the loop computes. If its shape may be smaller, its nodes must be as fast to compute as to read,
    /// else the merge depends on the shape.
    fn moves(&self, step: usize, (own, own_members): (usize, &[NodeId]), node: NodeId) -> Moves {
        let (members, count) = (self.members(step), own_members.len());
        let inside = |reader: NodeId| self.step_of[reader.index()].is_some_and(|of| of == step || of == own);
        if members.is_empty()
            || members.len() + count > LONGEST
            || members.iter().any(|member| self.is_stored(*member, inside))
            || !self.have_one_type(members.iter().chain(own_members).chain([&node]))
        {
            return Moves::No;
        }
        let space = self.space(members);
        if space == self.shape(node) {
            Moves::Yes
        } else if space.is_scalar() {
            Moves::No
        } else if self.is_cheap(members) {
            Moves::Yes
        } else {
            Moves::IfSame
        }
    }

    /// Whether these nodes and their operands have one element type, apart from truth values. A loop requires this.
    fn have_one_type<'n>(&self, nodes: impl Iterator<Item = &'n NodeId>) -> bool {
        let each = nodes.flat_map(|node| read_by(self.program, *node).chain([*node]));
        let classes: BTreeSet<ClassId> = each
            .filter(|node| !self.program.is_of_truths(*node))
            .map(|node| self.program.node(node).class)
            .collect();
        classes.len() <= 1
    }

    fn is_cheap(&self, members: &[NodeId]) -> bool {
        members.iter().all(|member| self.kind(*member) == WorkKind::Cheap)
    }

    /// The shape of the index space of a loop, which is the shape of its last node.
    fn space(&self, members: &[NodeId]) -> ShapeId {
        self.shape(*members.last().expect("a loop has a node"))
    }

    /// Converts a loop to a step.
    fn step(&self, own: &FusedLoop) -> Step {
        let fused = self.fused(&own.members);
        let same: Vec<NodeId> = own
            .parts
            .iter()
            .filter(|part| part.conditional)
            .filter_map(|part| part.members.last().copied())
            .collect();
        if same.is_empty() {
            return Step::Fused(fused);
        }
        let parts = own.parts.iter().map(|part| self.fused(&part.members));
        let apart = parts.chain([self.fused(&own.rest())]).collect();
        Step::Alike { same, fused, apart }
    }

    /// The loop over these nodes, with its inputs and outputs.
    fn fused(&self, members: &[NodeId]) -> Fused {
        let (mut nodes, mut inputs) = (BTreeSet::from_iter(members.iter().copied()), BTreeSet::new());
        let mut unseen = members.to_vec();
        while let Some(node) = unseen.pop() {
            for operand in read_by(self.program, node) {
                if nodes.contains(&operand) {
                    continue;
                }
                if self.kind(operand) == WorkKind::Free {
                    nodes.insert(operand);
                    unseen.push(operand);
                } else {
                    inputs.insert(operand);
                }
            }
        }
        let is_stored =
            |node: &NodeId| self.is_stored(*node, |reader| members.binary_search(&reader).is_ok());
        let outputs = members.iter().copied().filter(is_stored).collect();
        Fused { inputs: inputs.into_iter().collect(), nodes: nodes.into_iter().collect(), outputs }
    }
}

impl FusedLoop {
    /// The members that are in no part, ascending.
    fn rest(&self) -> Vec<NodeId> {
        let in_part =
            |member: &NodeId| self.parts.iter().any(|part| part.members.binary_search(member).is_ok());
        self.members.iter().copied().filter(|member| !in_part(member)).collect()
    }
}
