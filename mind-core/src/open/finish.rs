//! Builds a program from the nodes of a graph: puts leaves first, removes unused nodes, and assigns element type
//! classes.

use super::classes::classes;
use super::graph::{Graph, RawNode};
use super::{Annotation, Check, CheckKind, Leaf, LeafId, Node, NodeId, Op, Program, ShapeId, Structure};
use crate::diag::Site;
use crate::map::Map;
use crate::surface::lower::Seen;

/// The parts that a program is built from.
pub(super) struct Parts {
    pub(super) leaves: Vec<Leaf>,
    pub(super) graph: Graph,
    pub(super) checks: Vec<Check>,
    pub(super) result: Structure,
    pub(super) annotation: Option<Annotation>,
    pub(super) seen: Vec<Seen>,
}

impl Parts {
    /// Builds the program.
    pub(super) fn finish(self, late: bool, site: Site) -> Program {
        let Self { leaves, mut graph, mut checks, mut result, annotation, seen } = self;
        for node in std::mem::take(&mut graph.silent) {
            graph.nodes[node.index()].op = Op::Map(Map::COPY);
        }
        let passed_on = |graph: &Graph, node: NodeId| match graph.pullbacks.of(node) {
            Some(_) => graph.node(node).operands[0],
            None => node,
        };
        for position in 0..graph.nodes.len() {
            // The operands of earlier nodes have been replaced already, so one lookup suffices.
            let operands: Vec<_> =
                graph.nodes[position].operands.iter().map(|operand| passed_on(&graph, *operand)).collect();
            graph.nodes[position].operands = operands;
        }
        result = renumbered(&result, &|node| passed_on(&graph, node));
        for check in &mut checks {
            check.node = passed_on(&graph, check.node);
            match &mut check.kind {
                CheckKind::CotangentOf(node) => *node = passed_on(&graph, *node),
                CheckKind::Argument(contract) => {
                    contract.others.iter_mut().for_each(|(other, _)| *other = passed_on(&graph, *other));
                }
                CheckKind::Scalar(_) | CheckKind::Differentiable | CheckKind::Is(_) | CheckKind::Axis(_) => {}
            }
        }
        let needed = needed(&graph.nodes, &checks, &result);
        let new_ids = numbered(&graph.nodes, &needed);
        let new = |id: NodeId| new_ids[id.index()].expect("needed nodes have numbers");
        let leaf_nodes: Vec<NodeId> = leaf_nodes(&graph.nodes, leaves.len());
        let broadcast = result
            .nodes()
            .into_iter()
            .map(|node| graph.broadcast_from(node, &leaf_nodes).into_iter().map(LeafId::new).collect());
        let broadcast = broadcast.collect();
        let shapes: Vec<_> = (0..graph.nodes.len()).map(|node| graph.shape(NodeId::new(node))).collect();
        let mut kept: Vec<(NodeId, ShapeId, RawNode)> = Vec::new();
        for ((node, shape), id) in graph.nodes.into_iter().zip(shapes).zip(&new_ids) {
            if let Some(id) = id {
                let operands = node.operands.iter().copied().map(new).collect();
                // The node that it was made for has no number if it has been removed.
                let derives = node.derives.and_then(|of| new_ids[of.index()]);
                kept.push((*id, shape, RawNode { operands, derives, ..node }));
            }
        }
        kept.sort_unstable_by_key(|(id, ..)| *id);
        let (raw, shapes): (Vec<_>, Vec<_>) = kept.into_iter().map(|(_, shape, node)| (node, shape)).unzip();
        let (class_of, classes) = classes(&raw);
        let node = |((raw, class), shape)| {
            let RawNode { op, operands, spot, derives } = raw;
            Node { op, operands, class, shape, spot, derives }
        };
        let checks = checks.into_iter().map(|check| {
            let kind = match check.kind {
                CheckKind::CotangentOf(node) => CheckKind::CotangentOf(new(node)),
                CheckKind::Argument(mut contract) => {
                    contract.others.iter_mut().for_each(|(other, _)| *other = new(*other));
                    CheckKind::Argument(contract)
                }
                CheckKind::Scalar(_) | CheckKind::Differentiable | CheckKind::Is(_) | CheckKind::Axis(_) => {
                    check.kind
                }
            };
            Check { kind, node: new(check.node), ..check }
        });
        Program {
            leaves,
            nodes: raw.into_iter().zip(class_of).zip(shapes).map(node).collect(),
            classes,
            checks: checks.collect(),
            result: renumbered(&result, &new),
            broadcast,
            annotation,
            seen,
            late,
            site,
        }
    }
}

/// The node of each leaf.
fn leaf_nodes(nodes: &[RawNode], count: usize) -> Vec<NodeId> {
    let mut leaves = vec![NodeId::new(0); count];
    for (position, node) in nodes.iter().enumerate() {
        if let Some(leaf) = node.op.input_name() {
            leaves[leaf.index()] = NodeId::new(position);
        }
    }
    leaves
}

/// Whether each node is needed: leaves, written nodes, effects, results, checked nodes, and their operands.
fn needed(nodes: &[RawNode], checks: &[Check], result: &Structure) -> Vec<bool> {
    let mut needed: Vec<bool> =
        nodes.iter().map(|node| node.spot.is_some() || node.op.is_input() || node.op.is_effect()).collect();
    let mut need = |node: NodeId| needed[node.index()] = true;
    result.nodes().into_iter().for_each(&mut need);
    for check in checks {
        need(check.node);
        match &check.kind {
            CheckKind::CotangentOf(node) => need(*node),
            CheckKind::Argument(contract) => contract.others.iter().for_each(|(other, _)| need(*other)),
            CheckKind::Scalar(_) | CheckKind::Differentiable | CheckKind::Is(_) | CheckKind::Axis(_) => {}
        }
    }
    for (position, node) in nodes.iter().enumerate().rev() {
        if needed[position] {
            node.operands.iter().for_each(|operand| needed[operand.index()] = true);
        }
    }
    needed
}

/// The new ids of the needed nodes: leaves in their order, then the other nodes in theirs.
fn numbered(nodes: &[RawNode], needed: &[bool]) -> Vec<Option<NodeId>> {
    let mut next = nodes.iter().filter(|node| node.op.is_input()).count();
    let number = |(node, needed): (&RawNode, &bool)| {
        if let Some(leaf) = node.op.input_name() {
            return Some(NodeId::new(leaf.index()));
        }
        needed.then(|| {
            next += 1;
            NodeId::new(next - 1)
        })
    };
    nodes.iter().zip(needed).map(number).collect()
}

fn renumbered(structure: &Structure, new: &impl Fn(NodeId) -> NodeId) -> Structure {
    match structure {
        Structure::Node(node) => Structure::Node(new(*node)),
        Structure::Tuple(elements) => {
            Structure::Tuple(elements.iter().map(|element| renumbered(element, new)).collect())
        }
        Structure::Struct { ty, parts } => Structure::Struct {
            ty: ty.clone(),
            parts: parts.iter().map(|(node, field)| (new(*node), *field)).collect(),
        },
    }
}
