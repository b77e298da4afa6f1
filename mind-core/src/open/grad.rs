//! Reverse-mode autodiff of open programs. Each node has one cotangent, and contributions are summed in the order in
//! which they are made.
//!
//! The rules are those of [`crate::grad`]. An operation that needs a shape takes it from a witness here. A contribution
//! whose shape always equals that of the operand is not summed back.

use std::convert::Infallible;

use crate::dim::Dim;
use crate::grad::magnitude::{self, Magnitudes};
use crate::grad::rules::{Factor, Reverse, pass, product, spread, step};
use crate::ir::{Arrange, Part};
use crate::map::{Calculus, Map, formula};
use crate::ty::MAX_RANK;
use crate::written::Permutation;

use super::graph::{Graph, MAX_NODES, RawNode};
use super::{Constant, Extents, NodeId, Op, Own, Reduction, Subscript, Written};

/// Why an expression has no gradient, as far as that is known without types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// The program has grown beyond the limit.
    TooLarge,
}

/// The cotangents of `targets`, given each output with its cotangent; `None` for a target that no cotangent reaches.
pub(super) fn differentiate(
    graph: &mut Graph,
    outputs: &[(NodeId, NodeId)],
    targets: &[NodeId],
) -> Result<Vec<Option<NodeId>>, Fault> {
    let count = graph.nodes.len();
    let active = active(graph, targets);
    let mut cotangents = vec![None; count];
    let mut magnitudes = Magnitudes::default();
    for (output, seed) in outputs.iter().filter(|(output, _)| active[output.index()]) {
        contribute(graph, &mut cotangents, *output, *seed);
    }
    for node in (0..count).rev().map(NodeId::new) {
        // A finished program does not contain the nodes that pass on the results of pullbacks.
        graph.deriving = Some(match graph.pullbacks.of(node) {
            Some(_) => graph.node(node).operands[0],
            None => node,
        });
        if let Some(pullback) = graph.pullbacks.of_first(node).cloned() {
            let given: Vec<_> = pullback.results.iter().map(|result| cotangents[result.index()]).collect();
            if given.iter().any(Option::is_some) {
                for (parameter, value) in graph.pull_back(&pullback, &given) {
                    if active[parameter.index()] {
                        contribute(graph, &mut cotangents, parameter, value);
                    }
                }
            }
            if graph.nodes.len() > MAX_NODES {
                return Err(Fault::TooLarge);
            }
        }
        // The pullback of several results is applied at the first of them.
        if graph.pullbacks.of(node).is_some() {
            continue;
        }
        let Some(cotangent) = cotangents[node.index()] else { continue };
        let RawNode { op, operands, .. } = graph.node(node).clone();
        let (active, cotangents, operands) = (&active[..], &mut cotangents[..], &operands[..]);
        let magnitudes = &mut magnitudes;
        let mut pullback = Pullback { graph, magnitudes, active, cotangents, node, operands, cotangent };
        let Ok(()) = step(&mut pullback, &op);
        if graph.nodes.len() > MAX_NODES {
            return Err(Fault::TooLarge);
        }
    }
    graph.deriving = None;
    Ok(targets.iter().map(|target| cotangents[target.index()]).collect())
}

/// Whether a leaf reaches an output if the path may pass through piecewise constant functions. A leaf that reaches an
/// output only in this way has the derivative 0.
pub(super) fn is_flat(graph: &Graph, leaf: NodeId, outputs: &[NodeId]) -> bool {
    let mut reached = vec![false; graph.nodes.len()];
    reached[leaf.index()] = true;
    for (position, node) in graph.nodes.iter().enumerate() {
        let flat = matches!(&node.op, Op::Map(map) if map.row().flat)
            || graph.pullbacks.of(NodeId::new(position)).is_some();
        let mut operands = node.operands.iter().enumerate();
        reached[position] |=
            operands.any(|(at, operand)| reached[operand.index()] && (flat || node.op.flows(at)));
    }
    outputs.iter().any(|output| reached[output.index()])
}

/// The labels of the functions between a leaf and the outputs that stop the derivative, in program order; empty if the
/// leaf leads to no output.
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
    let pullback = |position: usize| graph.pullbacks.of(NodeId::new(position)).is_some();
    let leading =
        graph.nodes.iter().enumerate().filter(|(position, _)| leads[*position] && !pullback(*position));
    for (_, node) in leading {
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

/// The label of a node that stops the derivative, as its author would name it.
fn label(node: &RawNode) -> &'static str {
    match (&node.spot, &node.op) {
        (Some(spot), _) => spot.label,
        // A node of a derivative is named after the differentiated function.
        (None, Op::Map(map)) => map.row().label.trim_end_matches("_grad"),
        // Among the other unwritten operations only a gather has an operand without a derivative: see `Op::flows`.
        (None, _) => "gather",
    }
}

/// The nodes that depend on one of `targets` in a differentiable way.
fn active(graph: &Graph, targets: &[NodeId]) -> Vec<bool> {
    let mut active = vec![false; graph.nodes.len()];
    targets.iter().for_each(|target| active[target.index()] = true);
    for (position, node) in graph.nodes.iter().enumerate() {
        if let Some(pullback) = graph.pullbacks.of(NodeId::new(position)) {
            active[position] = pullback.flows.iter().any(|(parameter, _)| active[parameter.index()]);
            continue;
        }
        let mut operands = node.operands.iter().enumerate();
        active[position] |= operands.any(|(at, operand)| active[operand.index()] && node.op.flows(at));
    }
    active
}

/// The state of the rule of one node.
struct Pullback<'a> {
    graph: &'a mut Graph,
    /// The magnitudes of the nodes.
    magnitudes: &'a mut Magnitudes,
    /// Whether a cotangent of a node leads to a target.
    active: &'a [bool],
    cotangents: &'a mut [Option<NodeId>],
    node: NodeId,
    operands: &'a [NodeId],
    cotangent: NodeId,
}

type Emitted<T = NodeId> = Result<T, Infallible>;

impl Reverse for Pullback<'_> {
    type Form = Written;

    fn operand(&self, position: usize) -> NodeId {
        self.operands[position]
    }

    fn operand_count(&self) -> usize {
        self.operands.len()
    }

    fn result(&self) -> NodeId {
        self.node
    }

    fn cotangent(&self) -> NodeId {
        self.cotangent
    }

    fn wants(&self, position: usize) -> bool {
        self.active[self.operands[position].index()]
    }

    fn contribute(&mut self, position: usize, value: NodeId) -> Emitted<()> {
        if self.wants(position) {
            let node = self.operand(position);
            contribute(self.graph, self.cotangents, node, value);
        }
        Ok(())
    }

    fn contribute_broadcast(&mut self, position: usize, value: NodeId) -> Emitted<()> {
        if !self.wants(position) {
            return Ok(());
        }
        let node = self.operand(position);
        let is_shaped = self.graph.shape(value) == self.graph.shape(node);
        let summed = if is_shaped { value } else { self.graph.derive(Op::Own(Own::SumLike), &[value, node]) };
        self.contribute(position, summed)
    }

    fn emit(&mut self, op: Op, operands: &[NodeId]) -> Emitted {
        Ok(self.graph.derive(op, operands))
    }

    fn emit_like(&mut self, op: impl FnOnce(Extents) -> Op, operands: &[NodeId], like: NodeId) -> Emitted {
        self.emit(op(Extents::Like), &[operands, &[like]].concat())
    }

    fn average(&mut self, value: NodeId, reduction: &Reduced, of: NodeId) -> Emitted {
        let count = self.emit(Op::Own(Own::CountReduced { axes: reduction.axes.clone() }), &[of])?;
        formula(self, "value / count", &[("value", value), ("count", count)])
    }

    fn put_back(&mut self, value: NodeId, reduction: &Reduced, _: NodeId) -> Emitted {
        match &reduction.axes {
            Some(axes) if !reduction.keepdims => {
                self.emit(Op::Arrange(Arrange::ExpandDims { axes: axes.clone() }), &[value])
            }
            // A reduction over all axes gives a scalar, which broadcasts, as do kept axes.
            Some(_) | None => Ok(value),
        }
    }

    fn in_place(&self, value: NodeId) -> Vec<NodeId> {
        let extent_witnesses = self.graph.node(self.node).op.extent_witnesses();
        [&[value], &self.operands[extent_witnesses]].concat()
    }

    fn index_grad(&mut self, value: NodeId, indices: &Vec<Subscript>, of: NodeId) -> Emitted {
        let operands = [&self.in_place(value)[..], &[of]].concat();
        self.emit(Op::Own(Own::IndexGrad(indices.clone())), &operands)
    }

    fn joined_part(&mut self, value: NodeId, axis: i64, part: usize) -> Emitted {
        let operands: Vec<NodeId> =
            [value].into_iter().chain(self.operands[..=part].iter().copied()).collect();
        self.emit(Op::Own(Own::JoinedPart { axis, part }), &operands)
    }

    fn product_grad(&mut self, factor: Factor, dy: NodeId, [a, b]: [NodeId; 2]) -> Emitted {
        let own = if factor == Factor::Lhs { Own::ProductGradLhs } else { Own::ProductGradRhs };
        self.emit(Op::Own(own), &[dy, a, b])
    }

    fn inverse(permutation: &Permutation) -> Permutation {
        match permutation {
            Permutation::Written(axes) => Permutation::Written(inverse(axes)),
            Permutation::Reversed | Permutation::Matrices => permutation.clone(),
            Permutation::Moved { from, to } => Permutation::Moved { from: *to, to: *from },
        }
    }

    fn own(&mut self, own: &Own) -> Emitted<()> {
        let dy = self.cotangent;
        match own {
            Own::FilledLike { .. }
            | Own::CountReduced { .. }
            | Own::Extent { .. }
            | Own::Truths { .. }
            | Own::Indices => Ok(()),
            Own::ConvertedLike => pass(self, 0, |on| on.like(dy, on.operand(0))),
            Own::AsColumns | Own::AsGiven => pass(self, 0, |on| {
                on.emit_like(|shape| Op::Arrange(Arrange::Reshape { shape }), &[dy], on.operand(0))
            }),
            Own::At => product(self, dy),
            Own::SumLike => pass(self, 0, |on| spread(on, dy, on.operand(0))),
            Own::IndexGrad(indices) => {
                let operands = self.in_place(dy);
                pass(self, 0, |on| on.emit(Op::Part(Part::Index { indices: indices.clone() }), &operands))
            }
            Own::Stack { axis } => (0..self.operands.len()).try_for_each(|part| {
                let indices = part_of_stack(*axis, part);
                pass(self, part, |on| on.emit(Op::Part(Part::Index { indices }), &[dy]))
            }),
            Own::Pad { low, high } => pass(self, 0, |on| {
                let from_end = |amount: &i64| (*amount > 0).then(|| Dim::literal(-amount));
                let amounts = low.iter().zip(high);
                let range = |(low, high): (&i64, &i64)| Subscript::Range {
                    start: Some(Dim::literal(*low)),
                    end: from_end(high),
                    step: None,
                };
                on.emit(Op::Part(Part::Index { indices: amounts.map(range).collect() }), &[dy])
            }),
            // The derivative of one operation is the other: the witnesses stay, and the part and the whole are
            // exchanged.
            Own::JoinedPart { axis, part } => pass(self, 0, |on| {
                let before = &on.operands[1..=*part];
                let operands = [&[dy], before, &[on.operand(0)]].concat();
                on.emit(Op::Own(Own::JoinedPartGrad { axis: *axis, part: *part }), &operands)
            }),
            Own::JoinedPartGrad { axis, part } => pass(self, 0, |on| {
                let before = &on.operands[1..=*part];
                let operands = [&[dy], before, &[on.operand(0)]].concat();
                on.emit(Op::Own(Own::JoinedPart { axis: *axis, part: *part }), &operands)
            }),
            // The derivatives of a product are products of `dy` and one of the operands.
            Own::ProductGradLhs => {
                let (dz, b) = (self.operand(0), self.operand(2));
                pass(self, 0, |on| on.emit(Op::Own(Own::At), &[dy, b]))?;
                pass(self, 2, |on| on.product_grad(Factor::Rhs, dz, [dy, b]))
            }
            Own::ProductGradRhs => {
                let (dz, a) = (self.operand(0), self.operand(1));
                pass(self, 0, |on| on.emit(Op::Own(Own::At), &[a, dy]))?;
                pass(self, 1, |on| on.product_grad(Factor::Lhs, dz, [a, dy]))
            }
        }
    }
}

/// The subscripts of `dy[.., part]`, which select one part along the axis of the stack. The rule of the stack checks
/// the axis.
fn part_of_stack(axis: i64, part: usize) -> Vec<Subscript> {
    let most = MAX_RANK as i64;
    let whole = |_| Subscript::Range { start: Some(Dim::ZERO), end: None, step: None };
    let at = Subscript::At(Dim::literal(i64::try_from(part).expect("a list of operands is short")));
    match axis.clamp(-most, most) {
        axis @ 0.. => (0..axis).map(whole).chain([at]).collect(),
        axis => [Subscript::Rest, at].into_iter().chain((axis + 1..0).map(whole)).collect(),
    }
}

/// A reduction as written.
type Reduced = Reduction<Option<Vec<i64>>>;

/// Adds `value`, which has the shape of `node`, to the cotangent of `node`.
fn contribute(graph: &mut Graph, cotangents: &mut [Option<NodeId>], node: NodeId, value: NodeId) {
    graph.assume_shape(value, node);
    let cotangent = &mut cotangents[node.index()];
    *cotangent = Some(match *cotangent {
        Some(sum) => {
            let Ok(sum) = formula(graph, "sum + more", &[("sum", sum), ("more", value)]);
            sum
        }
        None => value,
    });
}

impl Calculus for Pullback<'_> {
    type Value = NodeId;
    type Error = Infallible;

    fn apply(&mut self, map: Map, operands: &[NodeId]) -> Emitted {
        self.graph.apply(map, operands)
    }

    fn number(&mut self, number: f64, like: NodeId) -> Emitted {
        self.graph.number(number, like)
    }

    fn is_finite_nonzero(&mut self, value: NodeId) -> bool {
        let nodes = &self.graph.nodes;
        self.magnitudes.is_finite_nonzero(value.index(), |position, before| {
            let node = &nodes[position];
            match &node.op {
                Op::Const(constant) => magnitude::of_number(constant.as_number()?),
                Op::Own(Own::CountReduced { .. }) => magnitude::COUNT,
                Op::Own(Own::FilledLike { one: true }) => magnitude::of_number(1.0),
                op => magnitude::of_operation(op, |operand| before[node.operands[operand].index()]),
            }
        })
    }

    fn like(&mut self, value: NodeId, other: NodeId) -> Emitted {
        self.graph.like(value, other)
    }
}

impl Calculus for Graph {
    type Value = NodeId;
    type Error = Infallible;

    fn apply(&mut self, map: Map, operands: &[NodeId]) -> Emitted {
        Ok(self.derive(Op::Map(map), operands))
    }

    fn number(&mut self, number: f64, like: NodeId) -> Emitted {
        Ok(self.derive(Op::Const(Box::new(Constant::number(number))), &[like]))
    }

    /// Only the rules of nodes evaluate formulas that keep zeros, and these do not use this calculus.
    fn is_finite_nonzero(&mut self, _: NodeId) -> bool {
        false
    }

    fn like(&mut self, value: NodeId, other: NodeId) -> Emitted {
        Ok(self.derive(Op::Own(Own::ConvertedLike), &[value, other]))
    }
}

/// The inverse of a permutation. The rule of the transposition reports a list that is none.
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
