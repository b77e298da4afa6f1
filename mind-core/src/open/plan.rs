//! What runs and where results lie.

use std::collections::BTreeSet;

use super::{
    ByRow, ClassId, LeafId, NodeId, Op, Own, Program, by_row, fuse,
    needed::{Needed, read_by, source},
};
use crate::{plan::Watching, written::Kind};

/// The steps of a program. Shapes are not known, so a plan speaks of whole buffers, contiguous ones, and leaves index
/// spaces to run time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// What runs, in order.
    pub steps: Vec<Step>,
    /// Where each node's elements lie, by node; nothing for what no step computes.
    pub places: Vec<Option<Location>>,
    /// The element type of each slot. A slot is as long as the longest of the buffers that lie there, one after another.
    pub slots: Vec<ClassId>,
}

/// One thing to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// One loop over one index space.
    Fused(Fused),
    /// One loop if some shapes turn out to be alike, else several.
    Alike {
        /// The nodes whose shapes decide: alike if each has that of the last output of `fused`.
        same: Vec<NodeId>,
        /// The one loop.
        fused: Fused,
        /// The several, in order; all of `fused` and what is stored between them. The last stores what `fused` does.
        apart: Vec<Fused>,
    },
    /// An operation with a kernel of its own: the node.
    Kernel(NodeId),
    /// A node that is watched: shown, if that is its operation, else searched for NaN.
    Watch(NodeId),
    /// Reductions and loops, a few rows at a time if shapes turn out to be those of rows.
    ByRow(ByRow),
}

/// Elementwise operations in one loop.
#[derive(Clone, Debug, PartialEq)]
pub struct Fused {
    /// What is read, broadcast to the index space: leaves, constants and results of other steps; ascending.
    pub inputs: Vec<NodeId>,
    /// What is computed for each index, in order.
    pub nodes: Vec<NodeId>,
    /// Those of the nodes that are stored, ascending. All have the shape of the index space.
    pub outputs: Vec<NodeId>,
}

impl Fused {
    /// What an element costs, in additions, without what is `apart` computed once for many.
    pub(super) fn cost_without(&self, program: &Program, apart: &BTreeSet<NodeId>) -> usize {
        let of = |node: &NodeId| {
            let Op::Map(map) = &program.node(*node).op else { return 0 };
            map.row().cost.additions()
        };
        self.nodes.iter().filter(|node| !apart.contains(node)).map(of).sum()
    }

    /// What an element costs, in additions.
    pub fn cost(&self, program: &Program) -> usize {
        self.cost_without(program, &BTreeSet::new()).max(1)
    }
}

/// Where the elements of a node lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Location {
    /// In the caller's tensor.
    Leaf(LeafId),
    /// In the program: it is a constant.
    Constant,
    /// In the result of this position among the nodes of [`Program::result`]. A node that stands there several times lies
    /// in the first and is to be copied to the others, and so is a node among the results that lies elsewhere.
    Result(usize),
    /// In a slot of the workspace.
    Slot(usize),
    /// Where those of this other node lie, seen in another shape.
    View(NodeId),
    /// Nowhere: it is computed in each loop that needs it.
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

/// As [`plan`], with steps that watch nodes. Each node that is watched is in memory; those of constants are not watched.
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
        // Those without a result get their slot below.
        places[node.index()] = position.map(Location::Result);
    }
    let last = last_reads(program, &steps, &results);
    let slots = allocate(program, &steps, &last, &mut places);
    Plan { steps, places, slots }
}

/// Where a node lies that no step stores.
fn place_of(op: &Op, operands: &[NodeId]) -> Location {
    if let Some(leaf) = op.input_name() {
        Location::Leaf(*leaf)
    } else if matches!(op, Op::Const(_)) {
        Location::Constant
    } else if op.kind() == Kind::View {
        Location::View(operands[0])
    } else {
        Location::Loop
    }
}

/// The nodes that a step stores. None of a group shares its slot with another: each has some rows in turn.
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

/// For each node that a step stores the last step that reads it, by itself or through views; the number of steps for
/// what is read when all have run.
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
    // What is summed over no axis may be left where it is, so it lives as long as the sum.
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

/// Gives a slot to each node that is stored and no result: one that no other needs at the same time.
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
