//! How many axes results have, as types: what the Rust type of an ndarray asks for.

use std::collections::{BTreeMap, BTreeSet};

use mind_core::map::Shapes;
use mind_core::open::{Extents, Node, NodeId, Op, Own, Program, Reduction, ShapeId, Subscript};
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use crate::emit::parse;

/// The statements that bind the axes of these nodes, from `axes_0`, … of the leaves. Nodes of one shape share a binding.
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
            if !matches!(node.op, Op::Input { .. }) {
                let of = |position: usize| names[&program.node(node.operands[position]).shape].to_string();
                let value = parse(&axes(node, of));
                statements.extend(quote! { let #name = #value; });
            }
            names.insert(node.shape, name);
        }
        Self { statements, names }
    }

    /// Those of a node.
    pub(super) fn of(&self, program: &Program, node: NodeId) -> &Ident {
        &self.names[&program.node(node).shape]
    }
}

/// These nodes and those that their axes depend on.
fn needed(program: &Program, nodes: &[NodeId]) -> BTreeSet<NodeId> {
    let mut needed: BTreeSet<NodeId> = nodes.iter().copied().collect();
    for index in (0..program.nodes.len()).rev().map(NodeId::new) {
        if needed.contains(&index) {
            let node = program.node(index);
            needed.extend(operands(&node.op).map(|position| node.operands[position]));
        }
    }
    needed
}

/// The operands that the axes of a result depend on.
fn operands(op: &Op) -> std::ops::Range<usize> {
    if let Some(like) = op.like() {
        return like..like + 1;
    }
    match op {
        Op::Input { .. }
        | Op::Const(_)
        | Op::Own(Own::CountReduced { .. })
        | Op::Reduce(_, Reduction { axes: None, keepdims: false })
        | Op::Reshape { .. }
        | Op::Squeeze { axes: None }
        | Op::BroadcastTo { .. } => 0..0,
        Op::Reduce(..)
        | Op::Transpose { .. }
        | Op::ExpandDims { .. }
        | Op::Squeeze { axes: Some(_) }
        | Op::Index { .. }
        | Op::Slice(_)
        | Op::Conv2d(_) => 0..1,
        Op::Map(map) => match map.row().shapes {
            Shapes::Broadcast => 0..map.row().arity(),
            Shapes::Equal => 0..1,
        },
        Op::Own(Own::At) | Op::MatMul | Op::Dot | Op::Gather => 0..2,
        _ => unreachable!("every other operation has the shape of an operand"),
    }
}

/// The axes of a node's result from those of its operands.
fn axes(node: &Node, of: impl Fn(usize) -> String) -> String {
    match &node.op {
        Op::Input { .. } => unreachable!("the axes of a leaf are bound"),
        Op::Own(Own::CountReduced { .. }) | Op::Reduce(_, Reduction { axes: None, keepdims: false }) => {
            known(0)
        }
        Op::Const(constant) => known(constant.shape.len()),
        Op::Reshape { shape: Extents::Written(shape) }
        | Op::BroadcastTo { shape: Extents::Written(shape) } => known(shape.len()),
        // Which axes go depends on the extents that the Rust types tell.
        Op::Squeeze { axes: None } => "rt::axes::any()".to_string(),
        Op::Map(_) if operands(&node.op).len() == 2 => format!("rt::axes::broadcast({}, {})", of(0), of(1)),
        Op::Own(Own::At) | Op::MatMul | Op::Dot => format!("rt::axes::at({}, {})", of(0), of(1)),
        Op::Gather => format!("rt::axes::plus(rt::axes::less({}), {})", of(0), of(1)),
        Op::Reduce(_, Reduction { axes: Some(axes), keepdims: false }) | Op::Squeeze { axes: Some(axes) } => {
            repeat("less", axes.len(), of(0))
        }
        Op::ExpandDims { axes } => repeat("more", axes.len(), of(0)),
        Op::Index { indices: parts } => {
            let dropped = parts.iter().filter(|part| matches!(part, Subscript::At(_))).count();
            repeat("less", dropped, of(0))
        }
        // As many as the operand of its shape, or its only one.
        op => of(operands(op).start),
    }
}

/// So many axes.
pub(super) fn known(rank: usize) -> String {
    format!("rt::Known::<rt::axes::Rank{rank}>::default()")
}

fn repeat(function: &str, times: usize, axes: String) -> String {
    (0..times).fold(axes, |axes, _| format!("rt::axes::{function}({axes})"))
}
