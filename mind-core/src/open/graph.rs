//! Nodes as they are made: equal ones are one, and of each it is known what shape it shares.

use std::collections::{BTreeSet, HashMap};

use super::{
    NodeId, Op, Spot,
    pullbacks::CustomPullbacks,
    shapes::{SCALAR, ShapeId, Shapes},
};

/// The most nodes a program may come to.
pub(super) const MAX_NODES: usize = 1 << 16;

/// A node before its element type is known.
#[derive(Clone, Debug)]
pub(super) struct RawNode {
    pub(super) op: Op,
    pub(super) operands: Vec<NodeId>,
    pub(super) spot: Option<Spot>,
    /// The node whose derivative it was first made for, if it was made for one.
    pub(super) derives: Option<NodeId>,
}

/// Nodes, operands first.
#[derive(Default)]
pub(super) struct Graph {
    pub(super) nodes: Vec<RawNode>,
    /// Looked up only, so that its order reaches nothing.
    known: HashMap<(Op, Vec<NodeId>), NodeId>,
    shapes: Shapes,
    shape_of: Vec<ShapeId>,
    /// What nodes tell of their derivatives.
    pub(super) pullbacks: CustomPullbacks,
    /// Nodes with an effect that stand in a pullback as it is written, which only a derivative has.
    pub(super) silent: BTreeSet<NodeId>,
    /// The node that is being differentiated.
    pub(super) deriving: Option<NodeId>,
}

impl Graph {
    /// The node of an operation, new or as it was made before; of one with an effect always new. A spot is that of the first who wrote it.
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

    /// A node that is no other, whatever others are equal to it.
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

    /// A node that differentiation adds.
    pub(super) fn derive(&mut self, op: Op, operands: &[NodeId]) -> NodeId {
        self.add(op, operands, None)
    }

    /// What shape a node has; nodes of equal ones have equal shapes whatever the leaves are.
    pub(super) fn shape(&self, node: NodeId) -> ShapeId {
        self.shape_of[node.index()]
    }

    /// Those of these nodes from whose shapes that of a node is broadcast, whatever they are; none where there are others.
    pub(super) fn broadcast_from(&self, node: NodeId, others: &[NodeId]) -> Vec<usize> {
        let others: Vec<_> = others.iter().map(|other| self.shape(*other)).collect();
        self.shapes.broadcast_from(self.shape(node), &others)
    }

    /// Gives a leaf the shape with these extents.
    pub(super) fn set_shape(&mut self, leaf: NodeId, extents: &[i64]) {
        self.shape_of[leaf.index()] = self.shapes.known(extents);
    }

    /// Notes that a node has the shape of another.
    pub(super) fn assume_shape(&mut self, node: NodeId, like: NodeId) {
        if !self.shape(node).is_scalar() {
            self.shape_of[node.index()] = self.shape(like);
        }
    }

    /// Notes that a node is a single number.
    pub(super) fn assume_scalar(&mut self, node: NodeId) {
        self.shape_of[node.index()] = SCALAR;
    }

    pub(super) fn node(&self, id: NodeId) -> &RawNode {
        &self.nodes[id.index()]
    }
}
