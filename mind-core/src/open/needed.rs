//! Finds the nodes that a plan needs, and their readers.

use super::{NodeId, Op, Program};
use crate::{plan::Watching, written::WorkKind};

/// Which nodes' elements are read, and by which nodes.
pub(super) struct Needed {
    needed: Vec<bool>,
    /// The readers of each node, ascending.
    readers: Vec<Vec<NodeId>>,
    is_result: Vec<bool>,
    is_watched: Vec<bool>,
}

impl Needed {
    /// Finds the nodes that the results and the effects of a program need.
    pub(super) fn of(program: &Program, watching: Watching) -> Self {
        let count = program.nodes.len();
        let (mut is_result, mut readers) = (vec![false; count], vec![Vec::new(); count]);
        program.result.nodes().into_iter().for_each(|node| is_result[node.index()] = true);
        let mut needed = is_result.clone();
        program.iter().for_each(|(id, node)| needed[id.index()] |= node.op.is_effect());
        for (id, _) in program.iter().rev() {
            if needed[id.index()] {
                read_by(program, id).for_each(|operand| needed[operand.index()] = true);
            }
        }
        for (id, _) in program.iter().filter(|(id, _)| needed[id.index()]) {
            for operand in read_by(program, id) {
                // A node may have the same operand twice.
                if readers[operand.index()].last() != Some(&id) {
                    readers[operand.index()].push(id);
                }
            }
        }
        let is_watched = program.iter().map(|(id, node)| match watching {
            Watching::Shown => node.op.is_effect(),
            Watching::Nan => needed[id.index()] && !matches!(node.op, Op::Const(_)),
        });
        let is_watched = is_watched.collect();
        Self { needed, readers, is_result, is_watched }
    }

    /// Whether a step watches a node.
    pub(super) fn is_watched(&self, node: NodeId) -> bool {
        self.is_watched[node.index()]
    }

    /// Whether a node's elements are read.
    pub(super) fn reads(&self, node: NodeId) -> bool {
        self.needed[node.index()]
    }

    /// The nodes that read a node's elements.
    pub(super) fn readers(&self, node: NodeId) -> &[NodeId] {
        &self.readers[node.index()]
    }

    /// Whether a node is among the results.
    pub(super) fn is_result(&self, node: NodeId) -> bool {
        self.is_result[node.index()]
    }
}

/// The operands whose elements a node reads.
pub(super) fn read_by(program: &Program, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
    let node = program.node(sort_of(program, node).unwrap_or(node));
    let operands = node.operands.iter().enumerate();
    operands.filter(|(position, _)| node.op.reads(*position)).map(|(_, operand)| *operand)
}

/// The sort whose first elements along the sorted axis a node takes, if nothing else reads the sort. The kernel of the
/// sort then computes the node.
pub fn sort_of(program: &Program, node: NodeId) -> Option<NodeId> {
    let axis = program.node(node).op.axis_of_first()?;
    let sort = program.node(node).operands[0];
    let Op::Reorder(reorder) = &program.node(sort).op else { return None };
    let reads =
        program.iter().flat_map(|(_, node)| &node.operands).filter(|operand| **operand == sort).count();
    (reorder.compared_axis() == Some(axis) && reads == 1 && !program.result.nodes().contains(&sort))
        .then_some(sort)
}

/// Follows views to the node whose elements they show. Returns a node that is not a view unchanged.
pub(super) fn source(program: &Program, mut node: NodeId) -> NodeId {
    while program.node(node).op.kind() == WorkKind::View {
        node = program.node(node).operands[0];
    }
    node
}
