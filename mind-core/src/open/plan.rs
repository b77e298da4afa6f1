//! What runs and where results lie.

use super::{ClassId, LeafId, NodeId};

/// The steps of a program. Shapes are not known, so a plan speaks of whole buffers and leaves index spaces to run time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// What runs, in order.
    pub steps: Vec<Step>,
    /// Where each node's elements lie, by node; nothing for what no step computes.
    pub places: Vec<Option<Place>>,
    /// The element type of each slot. A slot is as long as the longest of the buffers that lie there, one after another.
    pub slots: Vec<ClassId>,
}

/// One thing to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// One loop over one index space.
    Fused(Fused),
    /// An operation with a kernel of its own: the node.
    Kernel(NodeId),
}

/// Elementwise operations in one loop.
#[derive(Clone, Debug, PartialEq)]
pub struct Fused {
    /// What is read, broadcast to the index space: leaves, constants and results of other steps.
    pub inputs: Vec<NodeId>,
    /// What is computed for each index, in order.
    pub nodes: Vec<NodeId>,
    /// Those of the nodes that are stored. All have the shape of the index space.
    pub outputs: Vec<NodeId>,
}

/// Where the elements of a node lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the caller's tensor.
    Leaf(LeafId),
    /// In the program: it is a constant.
    Constant,
    /// In the result of this position among the nodes of [`Program::result`](super::Program::result).
    Result(usize),
    /// In a slot of the workspace.
    Slot(usize),
    /// Where those of this other node lie, seen in another shape.
    View(NodeId),
    /// Nowhere: it is computed where one loop needs it.
    Loop,
}
