//! Derivatives that a program defines, by `pullback(y, dy) { … }`.
//!
//! The nodes of a pullback are in the graph like others. Placeholders, zeros of the types of the results, stand for
//! their cotangents. This way the rules of the nodes are checked, although no result depends on them. Differentiation
//! copies the nodes with its cotangents in place of the placeholders. Separate nodes pass on the results of the call;
//! `finish` removes them.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::graph::{Graph, RawNode};
use super::{NodeId, Op, Own};
use crate::grad::rules::keeping_zeros;
use crate::map::Map;

/// The pullback of one call.
#[derive(Clone, Debug)]
pub(super) struct CustomPullback {
    /// The nodes that pass on the results.
    pub(super) results: Vec<NodeId>,
    /// The placeholder for the cotangent of each result.
    pub(super) stand_ins: Vec<NodeId>,
    /// Each parameter with the contribution to it.
    pub(super) flows: Vec<(NodeId, NodeId)>,
    /// The positions of the nodes of the pullback's body.
    pub(super) body: Range<usize>,
}

/// All pullbacks of a graph.
#[derive(Default)]
pub(super) struct CustomPullbacks {
    /// The pullbacks, by their first results.
    pullbacks: BTreeMap<NodeId, CustomPullback>,
    /// The first result of the pullback that each result belongs to.
    first: BTreeMap<NodeId, NodeId>,
}

impl CustomPullbacks {
    /// The pullback that has this node as its first result.
    pub(super) fn of_first(&self, result: NodeId) -> Option<&CustomPullback> {
        self.pullbacks.get(&result)
    }

    /// The pullback that has this node as one of its results.
    pub(super) fn of(&self, result: NodeId) -> Option<&CustomPullback> {
        self.pullbacks.get(self.first.get(&result)?)
    }

    pub(super) fn add(&mut self, pullback: CustomPullback) {
        let Some(first) = pullback.results.first().copied() else { return };
        self.first.extend(pullback.results.iter().map(|result| (*result, first)));
        self.pullbacks.insert(first, pullback);
    }
}

impl Graph {
    /// Adds nodes that pass on the results, and placeholders for their cotangents.
    pub(super) fn passed_on(&mut self, results: &[NodeId]) -> (Vec<NodeId>, Vec<NodeId>) {
        let results: Vec<_> =
            results.iter().map(|result| self.add_alone(Op::Map(Map::COPY), &[*result])).collect();
        let stand_in = Op::Own(Own::FilledLike { one: false });
        let stand_ins = results.iter().map(|result| self.add_alone(stand_in.clone(), &[*result])).collect();
        (results, stand_ins)
    }

    /// Returns the contribution to each parameter, given the cotangents of the results.
    pub(super) fn pull_back(
        &mut self,
        pullback: &CustomPullback,
        cotangents: &[Option<NodeId>],
    ) -> Vec<(NodeId, NodeId)> {
        let mut became: BTreeMap<NodeId, NodeId> = BTreeMap::new();
        let mut linear: BTreeSet<NodeId> = pullback.stand_ins.iter().copied().collect();
        for ((result, stand_in), cotangent) in
            pullback.results.iter().zip(&pullback.stand_ins).zip(cotangents)
        {
            let zeros = Op::Own(Own::FilledLike { one: false });
            let cotangent = cotangent.unwrap_or_else(|| self.derive(zeros, &[*result]));
            became.insert(*stand_in, cotangent);
        }
        // Nested pullbacks are copied, but not run.
        let nodes = pullback.body.clone().map(NodeId::new);
        let within: Vec<_> =
            nodes.filter_map(|node| Some(self.pullbacks.of_first(node)?.body.clone())).collect();
        for node in pullback.body.clone().map(NodeId::new) {
            if let Some(inner) = self.pullbacks.of_first(node).cloned() {
                self.pass_on_again(&inner, &mut became);
            }
            if became.contains_key(&node) || self.pullbacks.of(node).is_some() {
                continue;
            }
            let RawNode { op, operands, .. } = &self.nodes[node.index()];
            // An effect happens in each copy.
            if op.is_effect() || operands.iter().any(|operand| became.contains_key(operand)) {
                let is_linear = |at: usize| op.flows(at) && linear.contains(&operands[at]);
                let (op, depends) = (keeping_zeros(op, is_linear), (0..operands.len()).any(is_linear));
                linear.extend(depends.then_some(node));
                let operands: Vec<_> = operands.iter().map(|of| now(&became, *of)).collect();
                let made = self.derive(op, &operands);
                if within.iter().any(|inner| inner.contains(&node.index())) && self.node(made).op.is_effect()
                {
                    self.silent.insert(made);
                }
                became.insert(node, made);
            }
        }
        let inner =
            pullback.body.clone().map(NodeId::new).filter_map(|node| self.pullbacks.of_first(node).cloned());
        for inner in inner.filter(|inner| became.contains_key(&inner.results[0])).collect::<Vec<_>>() {
            let all = |nodes: &[NodeId]| nodes.iter().map(|node| now(&became, *node)).collect::<Vec<_>>();
            let flows = inner.flows.iter().map(|(of, value)| (now(&became, *of), now(&became, *value)));
            let (results, stand_ins) = (all(&inner.results), all(&inner.stand_ins));
            let body = stand_ins.iter().map(|node| node.index()).min().unwrap_or_default()..self.nodes.len();
            self.pullbacks.add(CustomPullback { results, stand_ins, flows: flows.collect(), body });
        }
        pullback.flows.iter().map(|(parameter, value)| (*parameter, now(&became, *value))).collect()
    }

    /// Adds new nodes that pass on the results of a call within a pullback, if a result or a parameter of the call was
    /// copied.
    fn pass_on_again(&mut self, inner: &CustomPullback, became: &mut BTreeMap<NodeId, NodeId>) {
        let given: Vec<NodeId> =
            inner.results.iter().map(|result| self.nodes[result.index()].operands[0]).collect();
        let parameters = inner.flows.iter().map(|(parameter, _)| parameter);
        if !given.iter().chain(parameters).any(|node| became.contains_key(node)) {
            return;
        }
        let given: Vec<NodeId> = given.into_iter().map(|node| now(became, node)).collect();
        let (results, stand_ins) = self.passed_on(&given);
        became.extend(inner.results.iter().copied().zip(results));
        became.extend(inner.stand_ins.iter().copied().zip(stand_ins));
    }
}

/// The copy of a node, or the node if there is none.
fn now(became: &BTreeMap<NodeId, NodeId>, node: NodeId) -> NodeId {
    became.get(&node).copied().unwrap_or(node)
}
