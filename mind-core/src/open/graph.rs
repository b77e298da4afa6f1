//! The nodes of a program under construction. Equal nodes are shared, and each node has a [`ShapeId`].

use std::collections::{BTreeSet, HashMap};

use super::{
    NodeId, Op, Spot,
    pullbacks::CustomPullbacks,
    shapes::{SCALAR, ShapeId, ShapeTable},
};

/// The limit on the number of nodes of a program.
pub(super) const MAX_NODES: usize = 1 << 16;

/// A node before its element type is known.
#[derive(Clone, Debug)]
pub(super) struct RawNode {
    pub(super) op: Op,
    pub(super) operands: Vec<NodeId>,
    pub(super) spot: Option<Spot>,
    /// The node whose derivative this node was first made for, if any.
    pub(super) derives: Option<NodeId>,
}

/// Nodes, operands first.
#[derive(Default)]
pub(super) struct Graph {
    pub(super) nodes: Vec<RawNode>,
    /// Never iterated, so its order does not affect the result.
    known: HashMap<(Op, Vec<NodeId>), NodeId>,
    shapes: ShapeTable,
    shape_of: Vec<ShapeId>,
    /// The derivatives that the program defines.
    pub(super) pullbacks: CustomPullbacks,
    /// Effect nodes in the written bodies of pullbacks. They are removed at the end: only a derivative runs a pullback.
    pub(super) silent: BTreeSet<NodeId>,
    /// The node that is being differentiated.
    pub(super) deriving: Option<NodeId>,
}

impl Graph {
    /// Returns the node of an operation: an existing equal node, or a new one. An operation with an effect always gets
    /// a new node. A shared node keeps the first spot.
    pub(super) fn add(&mut self, op: Op, operands: &[NodeId], spot: Option<Spot>) -> NodeId {
        if op.is_effect() {
            return self.push(&op, operands, spot);
        }
        let key = (op, operands.to_vec());
        if let Some(known) = self.known.get(&key) {
            let node = &mut self.nodes[known.index()];
            if node.spot.is_none() {
                node.spot = spot;
            }
            return *known;
        }
        let id = self.push(&key.0, operands, spot);
        self.known.insert(key, id);
        id
    }

    /// Adds a node even if an equal one exists.
    pub(super) fn add_alone(&mut self, op: Op, operands: &[NodeId]) -> NodeId {
        self.push(&op, operands, None)
    }

    fn push(&mut self, op: &Op, operands: &[NodeId], spot: Option<Spot>) -> NodeId {
        let of_operands: Vec<_> = operands.iter().map(|operand| self.shape(*operand)).collect();
        self.shape_of.push(self.shapes.of(op, &of_operands));
        let id = NodeId::new(self.nodes.len());
        self.nodes.push(RawNode {
            op: op.clone(),
            operands: operands.to_vec(),
            spot,
            derives: self.deriving,
        });
        id
    }

    /// Adds a node that is not written, as differentiation does.
    pub(super) fn derive(&mut self, op: Op, operands: &[NodeId]) -> NodeId {
        self.add(op, operands, None)
    }

    /// The shape of a node. Nodes with equal ids have equal shapes for all types of the leaves.
    pub(super) fn shape(&self, node: NodeId) -> ShapeId {
        self.shape_of[node.index()]
    }

    /// Returns the positions in `others` of the nodes whose shapes the shape of a node is broadcast from, for all types
    /// of the leaves; empty if other shapes take part.
    pub(super) fn broadcast_from(&self, node: NodeId, others: &[NodeId]) -> Vec<usize> {
        let others: Vec<_> = others.iter().map(|other| self.shape(*other)).collect();
        self.shapes.broadcast_from(self.shape(node), &others)
    }

    /// Sets the extents of a leaf.
    pub(super) fn set_shape(&mut self, leaf: NodeId, extents: &[i64]) {
        self.shape_of[leaf.index()] = self.shapes.known(extents);
    }

    /// Records that a node has the shape of another.
    pub(super) fn assume_shape(&mut self, node: NodeId, like: NodeId) {
        if !self.shape(node).is_scalar() {
            self.shape_of[node.index()] = self.shape(like);
        }
    }

    /// Records that a node is a scalar.
    pub(super) fn assume_scalar(&mut self, node: NodeId) {
        self.shape_of[node.index()] = SCALAR;
    }

    pub(super) fn node(&self, id: NodeId) -> &RawNode {
        &self.nodes[id.index()]
    }
}
