//! What nodes tell of their derivatives, by `pullback(y, dy) { … }`.
//!
//! The nodes of the pullback stand in the graph like others, on stand-ins for the cotangents: zeros of the results' types. So
//! their rules are checked where they are written, and nothing reads them. A derivative makes them anew with its cotangents in
//! the place of the stand-ins. A result is passed on by a node of its own, which a finished program has no more.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::graph::{Graph, RawNode};
use super::{NodeId, Op, Own};
use crate::grad::rules::keeping_zeros;
use crate::map::Map;

/// What is told of one call.
#[derive(Clone, Debug)]
pub(super) struct Told {
    /// The nodes that pass the results on.
    pub(super) results: Vec<NodeId>,
    /// What stands for the cotangent of each.
    pub(super) stand_ins: Vec<NodeId>,
    /// Parameters, each with what flows back to it.
    pub(super) flows: Vec<(NodeId, NodeId)>,
    /// Where the nodes on the stand-ins are.
    pub(super) body: Range<usize>,
}

/// All that is told.
#[derive(Default)]
pub(super) struct Tellings {
    /// By the first of the results.
    told: BTreeMap<NodeId, Told>,
    /// For each result the first one.
    first: BTreeMap<NodeId, NodeId>,
}

impl Tellings {
    /// What is told of the results of which this is the first.
    pub(super) fn of_first(&self, result: NodeId) -> Option<&Told> {
        self.told.get(&result)
    }

    /// What is told of the results of which this is one.
    pub(super) fn of(&self, result: NodeId) -> Option<&Told> {
        self.told.get(self.first.get(&result)?)
    }

    pub(super) fn add(&mut self, told: Told) {
        let Some(first) = told.results.first().copied() else { return };
        self.first.extend(told.results.iter().map(|result| (*result, first)));
        self.told.insert(first, told);
    }
}

impl Graph {
    /// Nodes that pass results on, and others that stand for their cotangents.
    pub(super) fn passed_on(&mut self, results: &[NodeId]) -> (Vec<NodeId>, Vec<NodeId>) {
        let results: Vec<_> =
            results.iter().map(|result| self.add_alone(Op::Map(Map::COPY), &[*result])).collect();
        let stand_in = Op::Own(Own::FilledLike { one: false });
        let stand_ins = results.iter().map(|result| self.add_alone(stand_in.clone(), &[*result])).collect();
        (results, stand_ins)
    }

    /// What flows back to the parameters where the results have these cotangents.
    pub(super) fn told_back(&mut self, told: &Told, cotangents: &[Option<NodeId>]) -> Vec<(NodeId, NodeId)> {
        let mut became: BTreeMap<NodeId, NodeId> = BTreeMap::new();
        let mut linear: BTreeSet<NodeId> = told.stand_ins.iter().copied().collect();
        for ((result, stand_in), cotangent) in told.results.iter().zip(&told.stand_ins).zip(cotangents) {
            let zeros = Op::Own(Own::FilledLike { one: false });
            let cotangent = cotangent.unwrap_or_else(|| self.derive(zeros, &[*result]));
            became.insert(*stand_in, cotangent);
        }
        // The pullbacks in it are not run.
        let nodes = told.body.clone().map(NodeId::new);
        let within: Vec<_> = nodes.filter_map(|node| Some(self.told.of_first(node)?.body.clone())).collect();
        for node in told.body.clone().map(NodeId::new) {
            if let Some(inner) = self.told.of_first(node).cloned() {
                self.pass_on_again(&inner, &mut became);
            }
            if became.contains_key(&node) || self.told.of(node).is_some() {
                continue;
            }
            let RawNode { op, operands, .. } = &self.nodes[node.index()];
            // What has an effect has it each time.
            if op.has_effect() || operands.iter().any(|operand| became.contains_key(operand)) {
                let is_linear = |at: usize| op.flows(at) && linear.contains(&operands[at]);
                let (op, depends) = (keeping_zeros(op, is_linear), (0..operands.len()).any(is_linear));
                linear.extend(depends.then_some(node));
                let operands: Vec<_> = operands.iter().map(|of| now(&became, *of)).collect();
                let made = self.derive(op, &operands);
                if within.iter().any(|inner| inner.contains(&node.index())) && self.node(made).op.has_effect()
                {
                    self.silent.insert(made);
                }
                became.insert(node, made);
            }
        }
        let inner = told.body.clone().map(NodeId::new).filter_map(|node| self.told.of_first(node).cloned());
        for inner in inner.filter(|inner| became.contains_key(&inner.results[0])).collect::<Vec<_>>() {
            let all = |nodes: &[NodeId]| nodes.iter().map(|node| now(&became, *node)).collect::<Vec<_>>();
            let flows = inner.flows.iter().map(|(of, value)| (now(&became, *of), now(&became, *value)));
            let (results, stand_ins) = (all(&inner.results), all(&inner.stand_ins));
            let body = stand_ins.iter().map(|node| node.index()).min().unwrap_or_default()..self.nodes.len();
            self.told.add(Told { results, stand_ins, flows: flows.collect(), body });
        }
        told.flows.iter().map(|(parameter, value)| (*parameter, now(&became, *value))).collect()
    }

    /// The results of a call within a pullback, passed on anew where anything of the call is new.
    fn pass_on_again(&mut self, inner: &Told, became: &mut BTreeMap<NodeId, NodeId>) {
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

/// What a node has become.
fn now(became: &BTreeMap<NodeId, NodeId>, node: NodeId) -> NodeId {
    became.get(&node).copied().unwrap_or(node)
}
