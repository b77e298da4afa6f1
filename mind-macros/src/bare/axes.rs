//! The numbers of axes of results, as types. The Rust type of an ndarray contains its rank.

use std::collections::{BTreeMap, BTreeSet};

use mind_core::open::{Node, NodeId, Op, Program, ShapeId};
use mind_core::written::Axes;
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use crate::emit::parse;

/// The statements that compute the axes of nodes from `axes_0`, … of the leaves. Nodes of one shape share a variable.
pub(super) struct Bindings {
    pub(super) statements: TokenStream,
    names: BTreeMap<ShapeId, Ident>,
}

impl Bindings {
    pub(super) fn new(program: &Program, nodes: &[NodeId]) -> Self {
        let needed = needed(program, nodes);
        let mut names: BTreeMap<ShapeId, Ident> = BTreeMap::new();
        let mut statements = TokenStream::new();
        for (id, node) in program.iter() {
            if !needed.contains(&id) || names.contains_key(&node.shape) {
                continue;
            }
            let name = format_ident!("axes_{}", id.index());
            if !node.op.is_input() {
                let of = |position: usize| names[&program.node(node.operands[position]).shape].to_string();
                let value = parse(&axes(node, of));
                statements.extend(quote! { let #name = #value; });
            }
            names.insert(node.shape, name);
        }
        Self { statements, names }
    }

    /// The variable with the axes of a node.
    pub(super) fn of(&self, program: &Program, node: NodeId) -> &Ident {
        &self.names[&program.node(node).shape]
    }
}

/// These nodes, and the nodes that their axes depend on.
fn needed(program: &Program, nodes: &[NodeId]) -> BTreeSet<NodeId> {
    let mut needed: BTreeSet<NodeId> = nodes.iter().copied().collect();
    for index in (0..program.nodes.len()).rev().map(NodeId::new) {
        if needed.contains(&index) {
            let node = program.node(index);
            needed.extend(operands(&node.op).into_iter().map(|position| node.operands[position]));
        }
    }
    needed
}

/// The operands that the axes of a result depend on.
fn operands(op: &Op) -> Vec<usize> {
    match op.axes() {
        None | Some(Axes::Known(_) | Axes::Any) => vec![],
        Some(Axes::Listed(_, packs)) => packs.into_iter().map(|(operand, _)| operand).collect(),
        Some(Axes::Of(operand)) => vec![operand],
        Some(Axes::Less(_) | Axes::More(_) | Axes::AtLeast(_)) => vec![0],
        Some(Axes::Broadcast | Axes::Product | Axes::Picked) => vec![0, 1],
        Some(Axes::BroadcastAll) => vec![0, 1, 2],
    }
}

/// An expression for the axes of a node, from those of its operands.
fn axes(node: &Node, of: impl Fn(usize) -> String) -> String {
    match node.op.axes().expect("the axes of a leaf are bound") {
        Axes::Known(rank) => known(rank),
        Axes::Listed(count, packs) => packs.into_iter().fold(known(count), |axes, (operand, last)| {
            format!("rt::axes::plus({axes}, {})", repeat("less", last, of(operand)))
        }),
        Axes::Of(operand) => of(operand),
        Axes::Less(count) => repeat("less", count, of(0)),
        Axes::More(count) => repeat("more", count, of(0)),
        Axes::AtLeast(rank) => format!("rt::axes::broadcast({}, {})", of(0), known(rank)),
        Axes::Broadcast => format!("rt::axes::broadcast({}, {})", of(0), of(1)),
        Axes::BroadcastAll => {
            format!("rt::axes::broadcast(rt::axes::broadcast({}, {}), {})", of(0), of(1), of(2))
        }
        Axes::Product => format!("rt::axes::at({}, {})", of(0), of(1)),
        Axes::Picked => format!("rt::axes::plus(rt::axes::less({}), {})", of(0), of(1)),
        // The number of remaining axes depends on the extents, which the Rust types determine.
        Axes::Any => "rt::axes::any()".to_string(),
    }
}

/// An expression for `rank` axes.
pub(super) fn known(rank: usize) -> String {
    format!("rt::Known::<rt::axes::Rank{rank}>::default()")
}

fn repeat(function: &str, times: usize, axes: String) -> String {
    (0..times).fold(axes, |axes, _| format!("rt::axes::{function}({axes})"))
}
