//! What a plan needs to know of each node: who reads it, and what kind of work it is.

use super::{NodeId, Op, Program};

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

    /// The nodes that read a node's elements.
    pub(super) fn readers(&self, node: NodeId) -> &[NodeId] {
        &self.readers[node.index()]
    }

    /// Whether a node is among the results.
    pub(super) fn is_result(&self, node: NodeId) -> bool {
        self.is_result[node.index()]
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
pub(super) enum Kind {
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

pub(super) fn kind(op: &Op) -> Kind {
    match op {
        Op::Leaf(_) | Op::Constant(_) => Kind::Given,
        Op::Reshape { .. } | Op::ExpandDims { .. } | Op::Squeeze { .. } | Op::ReshapeLike => Kind::View,
        Op::Map(map) if map.row().cost.is_series() => Kind::Dear,
        Op::Map(_) => Kind::Cheap,
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
