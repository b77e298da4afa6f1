//! Which elementwise operations share a loop.
//!
//! Nodes of one shape share a loop wherever no other step stands between them. A node whose shape may be smaller than
//! that of the loop joins it only if it is computed as fast as it is read, since it is computed for each element of the
//! larger one: so `x * s + b` is one loop, while the `exp(b)` of `x + exp(b)` has its own.

use std::collections::BTreeSet;

use super::{Fused, NodeId, Op, Program, ShapeId, Step, Unary};

/// The most operations in one loop: rustc's time and memory grow faster than the length of a function.
const LONGEST: usize = 128;

/// Which nodes' elements are read, and by which nodes.
pub(super) struct Needed {
    needed: Vec<bool>,
    /// Ascending.
    readers: Vec<Vec<NodeId>>,
    is_result: Vec<bool>,
}

impl Needed {
    /// What the results of a program need.
    pub(super) fn of(program: &Program) -> Self {
        let count = program.nodes.len();
        let (mut is_result, mut readers) = (vec![false; count], vec![Vec::new(); count]);
        program.result.nodes().into_iter().for_each(|node| is_result[node.index()] = true);
        let mut needed = is_result.clone();
        for (id, _) in program.iter().rev() {
            if needed[id.index()] {
                read_by(program, id).for_each(|operand| needed[operand.index()] = true);
            }
        }
        for (id, _) in program.iter().filter(|(id, _)| needed[id.index()]) {
            for operand in read_by(program, id) {
                // An operand may stand twice.
                if readers[operand.index()].last() != Some(&id) {
                    readers[operand.index()].push(id);
                }
            }
        }
        Self { needed, readers, is_result }
    }

    /// Whether a node's elements are read.
    pub(super) fn reads(&self, node: NodeId) -> bool {
        self.needed[node.index()]
    }
}

/// The operands of which a node reads the elements.
pub(super) fn read_by(program: &Program, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
    let node = program.node(node);
    let operands = node.operands.iter().enumerate();
    operands.filter(|(position, _)| node.op.reads(*position)).map(|(_, operand)| *operand)
}

/// What kind of work an operation is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Nothing: its elements are there.
    Given,
    /// Nothing: its elements are those of its operand.
    View,
    /// For each element by itself, as fast as reading one.
    Cheap,
    /// For each element by itself, slower.
    Dear,
    /// An element read or known, at another place: computed wherever it is needed.
    Free,
    /// A kernel of its own.
    Kernel,
}

fn kind(op: &Op) -> Kind {
    match op {
        Op::Leaf(_) | Op::Constant(_) => Kind::Given,
        Op::Reshape { .. } | Op::ExpandDims { .. } | Op::Squeeze { .. } | Op::ReshapeLike => Kind::View,
        Op::Unary(Unary::Neg | Unary::Relu) | Op::Binary(_) | Op::ReluGrad | Op::StopGradient => Kind::Cheap,
        Op::Unary(Unary::Exp | Unary::Log) => Kind::Dear,
        Op::BroadcastTo { .. } | Op::BroadcastLike | Op::FilledLike { .. } => Kind::Free,
        Op::At
        | Op::MatMul
        | Op::Dot
        | Op::Reduce { .. }
        | Op::Transpose { .. }
        | Op::Subscript(_)
        | Op::Slice { .. }
        | Op::Gather
        | Op::Conv2d(_)
        | Op::CountReduced { .. }
        | Op::SumLike
        | Op::ProductGradLhs
        | Op::ProductGradRhs
        | Op::SubscriptGrad(_)
        | Op::SliceGrad { .. }
        | Op::GatherGrad
        | Op::Conv2dGradInput(_)
        | Op::Conv2dGradFilter(_) => Kind::Kernel,
    }
}

/// Whether an operation leaves the elements where they are.
pub(super) fn is_view(op: &Op) -> bool {
    kind(op) == Kind::View
}

/// A step that may still grow, or be taken into a later one.
enum Draft {
    Gone,
    Kernel(NodeId),
    /// The nodes that are computed, ascending; that of the whole index space is the last.
    Loop(Vec<NodeId>),
}

struct Fusion<'a> {
    program: &'a Program,
    needed: &'a Needed,
    drafts: Vec<Draft>,
    /// The step that computes each node, or what it is a view of.
    step_of: Vec<Option<usize>>,
}

/// The steps that compute what is needed, in order.
pub(super) fn steps(program: &Program, needed: &Needed) -> Vec<Step> {
    let step_of = vec![None; program.nodes.len()];
    let mut fusion = Fusion { program, needed, drafts: Vec::new(), step_of };
    for (id, node) in program.iter().filter(|(id, _)| needed.reads(*id)) {
        match kind(&node.op) {
            Kind::Given => {}
            Kind::View => fusion.step_of[id.index()] = fusion.step_of[node.operands[0].index()],
            Kind::Cheap | Kind::Dear => fusion.elementwise(id),
            // Loops compute it themselves.
            Kind::Free if !fusion.is_stored(id, |_| true) => {
                let sources = read_by(program, id).filter_map(|operand| fusion.step_of[operand.index()]);
                fusion.step_of[id.index()] = sources.max();
            }
            Kind::Free => fusion.start(vec![id]),
            Kind::Kernel => {
                fusion.step_of[id.index()] = Some(fusion.drafts.len());
                fusion.drafts.push(Draft::Kernel(id));
            }
        }
    }
    fusion.finish()
}

impl Fusion<'_> {
    fn kind(&self, node: NodeId) -> Kind {
        kind(&self.program.node(node).op)
    }

    fn shape(&self, node: NodeId) -> ShapeId {
        self.program.node(node).shape
    }

    /// Whether a node must be stored: it is a result, or something reads it that is not `inside` its loop.
    fn is_stored(&self, node: NodeId, inside: impl Fn(NodeId) -> bool) -> bool {
        let is_free = self.kind(node) == Kind::Free;
        let in_loop = |reader: &NodeId| match self.kind(*reader) {
            Kind::Cheap | Kind::Dear => is_free || inside(*reader),
            Kind::Given | Kind::View | Kind::Free | Kind::Kernel => false,
        };
        self.needed.is_result[node.index()] || !self.needed.readers[node.index()].iter().all(in_loop)
    }

    /// Whether a node is computed in this loop, rather than standing for what is.
    fn is_member(&self, node: NodeId, step: usize) -> bool {
        let computed = match self.kind(node) {
            Kind::Cheap | Kind::Dear => true,
            Kind::Free => self.is_stored(node, |_| true),
            Kind::Given | Kind::View | Kind::Kernel => false,
        };
        computed && self.step_of[node.index()] == Some(step)
    }

    /// Adds a loop of these nodes as the last step.
    fn start(&mut self, members: Vec<NodeId>) {
        for member in &members {
            self.step_of[member.index()] = Some(self.drafts.len());
        }
        self.drafts.push(Draft::Loop(members));
    }

    fn elementwise(&mut self, node: NodeId) {
        let operands: Vec<NodeId> = read_by(self.program, node).collect();
        let latest = operands.iter().filter_map(|operand| self.step_of[operand.index()]).max();
        // In place in a loop of its shape, or in a new one.
        let own = match latest.filter(|step| self.joins(*step, node, &operands)) {
            Some(step) => step,
            None => {
                self.drafts.push(Draft::Loop(Vec::new()));
                self.drafts.len() - 1
            }
        };
        // Into it go those before it that nothing else waits for, the latest first.
        let member_of = |operand: &NodeId| {
            self.step_of[operand.index()].filter(|step| *step != own && self.is_member(*operand, *step))
        };
        let mut before: Vec<usize> = operands.iter().filter_map(member_of).collect();
        before.sort_unstable();
        before.dedup();
        self.step_of[node.index()] = Some(own);
        let mut members = vec![node];
        members.extend(self.members(own));
        for step in before.into_iter().rev() {
            let taken = self.members(step);
            if members.len() + taken.len() <= LONGEST && self.can_move(step, own, node) {
                members.extend(taken);
                for member in self.members(step).to_vec() {
                    self.step_of[member.index()] = Some(own);
                }
                self.drafts[step] = Draft::Gone;
            }
        }
        members.sort_unstable();
        self.drafts[own] = Draft::Loop(members);
    }

    /// The nodes of a step that is a loop.
    fn members(&self, step: usize) -> &[NodeId] {
        if let Draft::Loop(members) = &self.drafts[step] { members } else { &[] }
    }

    /// Whether a node can be added to a step where it stands: a loop of the same shape, and nothing it reads comes later.
    fn joins(&self, step: usize, node: NodeId, operands: &[NodeId]) -> bool {
        let members = self.members(step);
        let there =
            |operand: &NodeId| self.step_of[operand.index()] < Some(step) || self.is_member(*operand, step);
        (1..LONGEST).contains(&members.len())
            && self.space(members) == self.shape(node)
            && operands.iter().all(there)
    }

    /// Whether a loop can go into the later one of `node`: nothing else reads what it computes, and where its shape may be
    /// smaller, computing it is as fast as reading it.
    fn can_move(&self, step: usize, own: usize, node: NodeId) -> bool {
        let members = self.members(step);
        let inside = |reader: NodeId| self.step_of[reader.index()].is_some_and(|of| of == step || of == own);
        let space = self.space(members);
        let fits = space == self.shape(node)
            || !space.is_scalar() && members.iter().all(|member| self.kind(*member) == Kind::Cheap);
        fits && members.iter().all(|member| !self.is_stored(*member, inside))
    }

    /// The shape of the index space of a loop: that of its last node.
    fn space(&self, members: &[NodeId]) -> ShapeId {
        self.shape(*members.last().expect("a loop has a node"))
    }

    fn finish(self) -> Vec<Step> {
        let mut steps = Vec::new();
        for draft in &self.drafts {
            match draft {
                Draft::Gone => {}
                Draft::Kernel(node) => steps.push(Step::Kernel(*node)),
                Draft::Loop(members) => steps.push(Step::Fused(self.fused(members))),
            }
        }
        steps
    }

    /// A loop with what it reads and stores.
    fn fused(&self, members: &[NodeId]) -> Fused {
        let (mut nodes, mut inputs) = (BTreeSet::from_iter(members.iter().copied()), BTreeSet::new());
        let mut unseen = members.to_vec();
        while let Some(node) = unseen.pop() {
            for operand in read_by(self.program, node) {
                if nodes.contains(&operand) {
                    continue;
                }
                if self.kind(operand) == Kind::Free {
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
