//! Reverse-mode autodiff of open programs: one cotangent a node, contributions summed in the order they are made.
//!
//! It is [`crate::grad`] without types. Where a rule there asks a shape, the rule here adds an operation that takes it from
//! a witness; where shapes are the same whatever they are, nothing is summed back.

use crate::map::{Calculus, Given, Map, formula, play};
use std::convert::Infallible;

use super::graph::{Graph, MAX_NODES, RawNode};
use super::{Constant, NodeId, Op};

/// Why an expression has no gradient that can be told before types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// The program has grown beyond the limit.
    TooLarge,
}

/// The cotangents of `targets` where each output has the cotangent beside it; nothing for a target that no cotangent
/// reaches.
pub(super) fn differentiate(
    graph: &mut Graph,
    outputs: &[(NodeId, NodeId)],
    targets: &[NodeId],
) -> Result<Vec<Option<NodeId>>, Fault> {
    let count = graph.nodes.len();
    let active = active(graph, targets);
    let mut pullback = Pullback { graph, active, cotangents: vec![None; count] };
    for (output, seed) in outputs {
        pullback.contribute(*output, *seed);
    }
    for position in (0..count).rev() {
        let node = NodeId::new(position);
        if let Some(cotangent) = pullback.cotangents[position] {
            pullback.step(node, cotangent);
        }
        if pullback.graph.nodes.len() > MAX_NODES {
            return Err(Fault::TooLarge);
        }
    }
    Ok(targets.iter().map(|target| pullback.cotangents[target.index()]).collect())
}

/// What stands between a leaf and the outputs: the functions through which no derivative flows, in the order of the
/// program; none where the leaf leads to no output at all.
pub(super) fn blocks(graph: &Graph, leaf: NodeId, outputs: &[NodeId]) -> Vec<&'static str> {
    let active = active(graph, &[leaf]);
    let mut leads = vec![false; graph.nodes.len()];
    outputs.iter().for_each(|output| leads[output.index()] = true);
    for (position, node) in graph.nodes.iter().enumerate().rev() {
        if leads[position] {
            node.operands.iter().for_each(|operand| leads[operand.index()] = true);
        }
    }
    let mut labels = Vec::new();
    for node in graph.nodes.iter().enumerate().filter(|(position, _)| leads[*position]).map(|(_, node)| node)
    {
        let stops = |(position, operand): (usize, &NodeId)| {
            active[operand.index()] && node.op.reads(position) && !node.op.flows(position)
        };
        if node.operands.iter().enumerate().any(stops) {
            let label = label(node);
            if !labels.contains(&label) {
                labels.push(label);
            }
        }
    }
    labels
}

/// A node through which no derivative flows, as its author would name it.
fn label(node: &RawNode) -> &'static str {
    match (&node.spot, &node.op) {
        (Some(spot), _) => spot.label,
        // Of a derivative, which is named as what was differentiated.
        (None, Op::Map(map)) => map.row().label.trim_end_matches("_grad"),
        (None, _) => "gather",
    }
}

/// The nodes that depend on one of `targets` in a differentiable way.
fn active(graph: &Graph, targets: &[NodeId]) -> Vec<bool> {
    let mut active = vec![false; graph.nodes.len()];
    targets.iter().for_each(|target| active[target.index()] = true);
    for (position, node) in graph.nodes.iter().enumerate() {
        let mut operands = node.operands.iter().enumerate();
        active[position] |= operands.any(|(at, operand)| active[operand.index()] && node.op.flows(at));
    }
    active
}

/// Nodes on the way back.
struct Pullback<'a> {
    graph: &'a mut Graph,
    /// Whether a cotangent of a node leads to a target.
    active: Vec<bool>,
    cotangents: Vec<Option<NodeId>>,
}

impl Pullback<'_> {
    fn wants(&self, node: NodeId) -> bool {
        self.active[node.index()]
    }

    /// Adds `value`, of the shape of `node`, to its cotangent.
    fn contribute(&mut self, node: NodeId, value: NodeId) {
        if !self.wants(node) {
            return;
        }
        self.graph.assume_shape(value, node);
        self.cotangents[node.index()] = Some(match self.cotangents[node.index()] {
            Some(sum) => self.value("sum + more", &[("sum", sum), ("more", value)]),
            None => value,
        });
    }

    /// The same where `node` may have been broadcast to the shape of `value`.
    fn contribute_broadcast(&mut self, node: NodeId, value: NodeId) {
        if !self.wants(node) {
            return;
        }
        let summed = match self.graph.shape(value) == self.graph.shape(node) {
            true => value,
            false => self.graph.derive(Op::SumLike, &[value, node]),
        };
        self.contribute(node, summed);
    }

    /// Adds an operation where its result is wanted, and contributes it.
    fn push(&mut self, to: NodeId, op: Op, operands: &[NodeId]) {
        if self.wants(to) {
            let value = self.graph.derive(op, operands);
            self.contribute(to, value);
        }
    }

    /// What one node passes back.
    fn step(&mut self, node: NodeId, dy: NodeId) {
        let (op, operands) = {
            let raw = self.graph.node(node);
            (raw.op.clone(), raw.operands.clone())
        };
        let operand = |position: usize| operands[position];
        match op {
            Op::Leaf(_) | Op::Constant(_) | Op::FilledLike { .. } | Op::CountReduced { .. } => {}
            Op::Map(map) => self.map(map, node, &operands, dy),
            Op::At | Op::MatMul | Op::Dot => {
                let (a, b) = (operand(0), operand(1));
                self.push(a, Op::ProductGradLhs, &[dy, a, b]);
                self.push(b, Op::ProductGradRhs, &[dy, a, b]);
            }
            Op::Reduce { kind, axes, keepdims } => {
                let x = operand(0);
                let dy = if kind.row().divides {
                    let count = self.graph.derive(Op::CountReduced { axes: axes.clone() }, &[x]);
                    self.value("dy / count", &[("dy", dy), ("count", count)])
                } else {
                    dy
                };
                // With the reduced axes put back it broadcasts; without axes it is a single number.
                let dy = match axes {
                    Some(axes) if !keepdims => self.graph.derive(Op::ExpandDims { axes }, &[dy]),
                    Some(_) | None => dy,
                };
                self.push(x, Op::BroadcastLike, &[dy, x]);
            }
            Op::Reshape { .. } | Op::ExpandDims { .. } | Op::Squeeze { .. } | Op::ReshapeLike => {
                self.push(operand(0), Op::ReshapeLike, &[dy, operand(0)]);
            }
            Op::Transpose { permutation } => {
                let permutation = permutation.map(|permutation| inverse(&permutation));
                self.push(operand(0), Op::Transpose { permutation }, &[dy]);
            }
            Op::Subscript(subscripts) => {
                self.push(operand(0), Op::SubscriptGrad(subscripts), &[dy, operand(0)]);
            }
            Op::Slice { starts, ends, steps } => {
                self.push(operand(0), Op::SliceGrad { starts, ends, steps }, &[dy, operand(0)]);
            }
            Op::Gather => self.push(operand(0), Op::GatherGrad, &[dy, operand(1), operand(0)]),
            Op::Conv2d(convolution) => {
                let (x, f) = (operand(0), operand(1));
                self.push(x, Op::Conv2dGradInput(convolution.clone()), &[dy, x, f]);
                self.push(f, Op::Conv2dGradFilter(convolution), &[dy, x, f]);
            }
            Op::BroadcastTo { .. } | Op::BroadcastLike => self.contribute_broadcast(operand(0), dy),
            Op::SumLike => self.push(operand(0), Op::BroadcastLike, &[dy, operand(0)]),
            // The derivatives of a product are products: `dy` and the operands take turns.
            Op::ProductGradLhs => {
                let (dz, b) = (operand(0), operand(2));
                self.push(dz, Op::At, &[dy, b]);
                self.push(b, Op::ProductGradRhs, &[dz, dy, b]);
            }
            Op::ProductGradRhs => {
                let (dz, a) = (operand(0), operand(1));
                self.push(dz, Op::At, &[a, dy]);
                self.push(a, Op::ProductGradLhs, &[dz, a, dy]);
            }
            Op::SubscriptGrad(subscripts) => self.push(operand(0), Op::Subscript(subscripts), &[dy]),
            Op::SliceGrad { starts, ends, steps } => {
                self.push(operand(0), Op::Slice { starts, ends, steps }, &[dy]);
            }
            Op::GatherGrad => self.push(operand(0), Op::Gather, &[dy, operand(1)]),
            Op::Conv2dGradInput(convolution) => {
                let (dz, f) = (operand(0), operand(2));
                self.push(dz, Op::Conv2d(convolution.clone()), &[dy, f]);
                self.push(f, Op::Conv2dGradFilter(convolution), &[dz, dy, f]);
            }
            Op::Conv2dGradFilter(convolution) => {
                let (dz, x) = (operand(0), operand(1));
                self.push(dz, Op::Conv2d(convolution.clone()), &[x, dy]);
                self.push(x, Op::Conv2dGradInput(convolution), &[dz, x, dy]);
            }
        }
    }

    fn value(&mut self, text: &'static str, names: &[(&str, NodeId)]) -> NodeId {
        let Ok(value) = formula(self, text, names);
        value
    }

    fn map(&mut self, map: Map, y: NodeId, operands: &[NodeId], dy: NodeId) {
        let row = map.row();
        let given = Given { row, operands, y, dy };
        for (position, operand) in operands.iter().enumerate() {
            if self.wants(*operand) && row.flows_to(position) {
                let Ok(value) = play(self, given, position);
                self.contribute_broadcast(*operand, value);
            }
        }
    }
}

impl Calculus for Pullback<'_> {
    type Value = NodeId;
    type Error = Infallible;

    fn apply(&mut self, map: Map, operands: &[NodeId]) -> Result<NodeId, Infallible> {
        Ok(self.graph.derive(Op::Map(map), operands))
    }

    fn number(&mut self, number: f64, like: NodeId) -> Result<NodeId, Infallible> {
        Ok(self.graph.derive(Op::Constant(Box::new(Constant::number(number))), &[like]))
    }
}

/// The permutation that undoes one; of what is none the rule of the transposition tells.
fn inverse(permutation: &[i64]) -> Vec<i64> {
    let rank = permutation.len();
    let mut inverse = vec![0; rank];
    for (to, from) in permutation.iter().enumerate() {
        let count = i64::try_from(rank).expect("a written list is short");
        let from = if *from < 0 { from.saturating_add(count) } else { *from };
        let place = usize::try_from(from).ok().and_then(|from| inverse.get_mut(from));
        if let Some(place) = place {
            *place = i64::try_from(to).expect("a written list is short");
        }
    }
    inverse
}
