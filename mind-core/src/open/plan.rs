//! Plans: the steps that run, and the locations of results.

use std::collections::BTreeSet;

use super::{
    ByRow, ClassId, LeafId, NodeId, Op, Own, Program, by_row, fuse,
    needed::{Needed, read_by, source},
};
use crate::{plan::Watching, written::WorkKind};

/// The plan of a program. Shapes are not known, so a plan refers to whole contiguous buffers, and index spaces are
/// decided at run time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// The location of the elements of each node; `None` for a node that no step needs.
    pub places: Vec<Option<Location>>,
    /// The element type of each slot. Several buffers use a slot, one after another. It has the length of the longest.
    pub slots: Vec<ClassId>,
}

/// One step of a plan.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// One loop over one index space.
    Fused(Fused),
    /// One loop if some shapes turn out to be alike, else several.
    Alike {
        /// The nodes whose shapes decide. They are alike if each has the shape of the last output of `fused`.
        same: Vec<NodeId>,
        /// The one loop.
        fused: Fused,
        /// The several loops, in order. They compute all nodes of `fused`, and store further nodes in between. The last
        /// loop stores the outputs of `fused`.
        apart: Vec<Fused>,
    },
    /// The node of an operation with a separate kernel.
    Kernel(NodeId),
    /// A watched node. The node of an `inspect` is shown; any other node is searched for NaN.
    Watch(NodeId),
    /// Reductions and loops that run on a few rows at a time, if shapes turn out to allow it.
    ByRow(ByRow),
}

/// Elementwise operations in one loop.
#[derive(Clone, Debug, PartialEq)]
pub struct Fused {
    /// The nodes that are read and broadcast to the index space: leaves, constants and results of other steps,
    /// ascending.
    pub inputs: Vec<NodeId>,
    /// The nodes that are computed for each index, in order.
    pub nodes: Vec<NodeId>,
    /// The nodes that are stored, ascending. All have the shape of the index space.
    pub outputs: Vec<NodeId>,
}

impl Fused {
    /// The cost of an element in additions, without the nodes in `apart`, which are computed once for many elements.
    pub(super) fn cost_without(&self, program: &Program, apart: &BTreeSet<NodeId>) -> usize {
        let of = |node: &NodeId| {
            let Op::Map(map) = &program.node(*node).op else { return 0 };
            map.row().cost.additions()
        };
        self.nodes.iter().filter(|node| !apart.contains(node)).map(of).sum()
    }

    /// The cost of an element in additions, at least 1.
    pub fn cost(&self, program: &Program) -> usize {
        self.cost_without(program, &BTreeSet::new()).max(1)
    }
}

/// The location of the elements of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Location {
    /// In the caller's tensor.
    Leaf(LeafId),
    /// In the program: it is a constant.
    Constant,
    /// In the result at this position among the nodes of [`Program::result`]. A node that occurs there several times
    /// lies in the first position, and must be copied to the others. A result that lies elsewhere must be copied too.
    Result(usize),
    /// In a slot of the workspace.
    Slot(usize),
    /// In the location of this other node, viewed in another shape.
    View(NodeId),
    /// Nowhere: each loop that needs the node computes it.
    Loop,
}

/// The plan of a program.
///
/// ```
/// use mind_core::{open, surface::parse_expression};
/// let (expression, _) = parse_expression("relu(x @ w + b) * 2.0".parse().unwrap());
/// let program = open::lower(&expression.unwrap()).0.unwrap();
/// let plan = open::plan(&program);
/// assert_eq!(plan.steps.len(), 2); // the product, then one loop
/// assert_eq!(plan.slots.len(), 1);
/// ```
pub fn plan(program: &Program) -> Plan {
    plan_watching(program, Watching::Shown)
}

/// As [`plan`], with steps that watch nodes. Each watched node is in memory. Constants are not watched.
pub fn plan_watching(program: &Program, watching: Watching) -> Plan {
    let needed = Needed::of(program, watching);
    let steps = by_row::group(program, fuse::steps(program, &needed));
    let results = program.result.nodes();
    let mut places: Vec<Option<Location>> = program
        .iter()
        .map(|(id, node)| needed.reads(id).then(|| place_of(&node.op, &node.operands)))
        .collect();
    for node in steps.iter().flat_map(stored) {
        let position = results.iter().position(|result| *result == node);
        // Nodes that are not results get their slot below.
        places[node.index()] = position.map(Location::Result);
    }
    let last = last_reads(program, &steps, &results);
    let slots = allocate(program, &steps, &last, &mut places);
    Plan { steps, places, slots }
}

/// The location of a node that no step stores.
fn place_of(op: &Op, operands: &[NodeId]) -> Location {
    if let Some(leaf) = op.input_name() {
        Location::Leaf(*leaf)
    } else if matches!(op, Op::Const(_)) {
        Location::Constant
    } else if op.kind() == WorkKind::View {
        Location::View(operands[0])
    } else {
        Location::Loop
    }
}

/// The nodes that a step stores. Nodes of one group never share a slot, since the steps of a group take turns, each on
/// a few rows.
pub(super) fn stored(step: &Step) -> Vec<NodeId> {
    match step {
        Step::Fused(fused) => fused.outputs.clone(),
        Step::Alike { apart, .. } => apart.iter().flat_map(|fused| &fused.outputs).copied().collect(),
        Step::Kernel(node) => vec![*node],
        Step::Watch(_) => Vec::new(),
        Step::ByRow(group) => group.steps.iter().flat_map(stored).collect(),
    }
}

/// The nodes that a step reads.
pub(super) fn read(program: &Program, step: &Step) -> Vec<NodeId> {
    match step {
        Step::Fused(fused) => fused.inputs.clone(),
        Step::Alike { fused, apart, .. } => {
            [fused].into_iter().chain(apart).flat_map(|fused| &fused.inputs).copied().collect()
        }
        Step::Kernel(node) => read_by(program, *node).collect(),
        Step::Watch(node) => vec![*node],
        Step::ByRow(group) => group.steps.iter().flat_map(|step| read(program, step)).collect(),
    }
}

/// For each stored node, the last step that reads it, directly or through views. A result is read after all
/// steps, so its entry is the number of steps.
fn last_reads(program: &Program, steps: &[Step], results: &[NodeId]) -> Vec<Option<usize>> {
    let mut last: Vec<Option<usize>> = vec![None; program.nodes.len()];
    let mut note = |node: NodeId, step: usize| {
        let known = &mut last[source(program, node).index()];
        *known = (*known).max(Some(step));
    };
    for (position, step) in steps.iter().enumerate() {
        read(program, step).into_iter().for_each(|node| note(node, position));
    }
    results.iter().for_each(|result| note(*result, steps.len()));
    // A sum over no axis may reuse its operand's buffer, so the operand must live as long as the sum.
    for step in steps.iter().rev() {
        if let Step::Kernel(node) = step
            && matches!(program.node(*node).op, Op::Own(Own::SumLike))
        {
            let operand = source(program, program.node(*node).operands[0]).index();
            last[operand] = last[operand].max(last[node.index()]);
        }
    }
    last
}

/// Assigns a slot to each stored node that is not a result. No other node needs the slot at the same time.
fn allocate(
    program: &Program,
    steps: &[Step],
    last: &[Option<usize>],
    places: &mut [Option<Location>],
) -> Vec<ClassId> {
    let mut slots: Vec<ClassId> = Vec::new();
    // The step after which each slot is free.
    let mut busy_until: Vec<usize> = Vec::new();
    for (position, step) in steps.iter().enumerate() {
        for node in stored(step) {
            if places[node.index()].is_some() {
                continue;
            }
            let class = program.node(node).class;
            let free = (0..slots.len()).find(|slot| slots[*slot] == class && busy_until[*slot] < position);
            let slot = free.unwrap_or_else(|| {
                slots.push(class);
                busy_until.push(0);
                slots.len() - 1
            });
            busy_until[slot] = last[node.index()].unwrap_or(position);
            places[node.index()] = Some(Location::Slot(slot));
        }
    }
    slots
}

#[cfg(test)]
mod tests;
