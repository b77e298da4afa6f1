//! Partitions the nodes into classes of one element type.

use super::graph::RawNode;
use super::{Class, ClassId, Op};
use crate::map::Takes;
use crate::ty::DType;
use crate::written::{NumberKind, Own, TypedOperands};

/// The kind of elements that an operation requires of an operand, or that its result has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holds {
    /// Elements of any type.
    Anything,
    Numbers,
    Truths,
}

/// The elements that an operation requires of an operand.
pub(super) fn takes(op: &Op, operand: usize) -> Holds {
    match op {
        _ if op.extent_witnesses().contains(&operand) => Holds::Anything,
        Op::Map(map) if operand < map.row().leading() => Holds::Truths,
        Op::Map(map) => match map.row().takes {
            Takes::Numbers | Takes::Floats | Takes::Integers => Holds::Numbers,
            Takes::Truths => Holds::Truths,
            Takes::Bits | Takes::All => Holds::Anything,
        },
        Op::Const(_) | Op::Made(_) | Op::Arrange(_) | Op::Part(_) | Op::Join(_) | Op::Effect(_) => {
            Holds::Anything
        }
        Op::Reorder(reorder) if reorder.compared_axis().is_none() => Holds::Anything,
        Op::Rows(rows) if operand != rows.indices() && !rows.adds() => Holds::Anything,
        Op::Own(Own::ConvertedLike) if operand == 0 => Holds::Anything,
        Op::Own(own) => match own {
            Own::Truths { .. } | Own::Stack { .. } | Own::AsColumns | Own::AsGiven => Holds::Anything,
            Own::At
            | Own::FilledLike { .. }
            | Own::CountReduced { .. }
            | Own::Extent { .. }
            | Own::Indices
            | Own::SumLike
            | Own::ConvertedLike
            | Own::Pad { .. }
            | Own::JoinedPart { .. }
            | Own::JoinedPartGrad { .. }
            | Own::ProductGradLhs
            | Own::ProductGradRhs
            | Own::IndexGrad(_) => Holds::Numbers,
        },
        // All other operations compute with their operands. An input has none.
        _ => Holds::Numbers,
    }
}

/// The elements of a result, as far as they do not follow from the operands of the same element type.
pub(super) fn gives(op: &Op) -> Holds {
    match (op, op.elements()) {
        (Op::Const(constant), _) if constant.kind == NumberKind::Truth => Holds::Truths,
        (Op::Const(_), _) => Holds::Numbers,
        (_, TypedOperands::Own(DType::Bool)) => Holds::Truths,
        (_, TypedOperands::Own(_)) => Holds::Numbers,
        _ => Holds::Anything,
    }
}

/// Returns the class of each node, and the element type of each class: that of its first leaf, else that of its
/// constants.
pub(super) fn classes(nodes: &[RawNode]) -> (Vec<ClassId>, Vec<Class>) {
    let mut sets = Sets((0..nodes.len()).collect());
    for (position, node) in nodes.iter().enumerate() {
        let operands = node.operands.iter().map(|operand| operand.index());
        match node.op.elements() {
            TypedOperands::All => operands.for_each(|operand| sets.unite(position, operand)),
            TypedOperands::Except(indices) => {
                let others = operands.enumerate().filter(|(at, _)| *at != indices);
                others.for_each(|(_, operand)| sets.unite(position, operand));
            }
            TypedOperands::Only(alone) => sets.unite(position, node.operands[alone].index()),
            TypedOperands::From(first) => {
                operands.skip(first).for_each(|operand| sets.unite(position, operand))
            }
            TypedOperands::Own(_) => {
                let read = node.operands.iter().enumerate().filter(|(at, _)| node.op.reads(*at));
                let mut operands = read.map(|(_, operand)| operand.index());
                if let Some(first) = operands.next() {
                    operands.for_each(|operand| sets.unite(first, operand));
                }
            }
        }
    }
    // The first requirement on a class decides. If a later one differs, another check reports the mistake.
    let mut holds = vec![Holds::Anything; nodes.len()];
    for (position, node) in nodes.iter().enumerate() {
        let operands = node.operands.iter().enumerate();
        let operands = operands.map(|(operand, id)| (id.index(), takes(&node.op, operand)));
        for (member, said) in operands.chain([(position, gives(&node.op))]) {
            let root = sets.root(member);
            if holds[root] == Holds::Anything {
                holds[root] = said;
            }
        }
    }
    // Some operations fix the element type of their result, as `argmax` gives integers. Leaves in the class of such a
    // result have that type: a rule checks it, and the kernel writes no other type. The code above handles truth
    // values.
    let mut given: Vec<Option<DType>> = vec![None; nodes.len()];
    for (position, node) in nodes.iter().enumerate() {
        if let TypedOperands::Own(dtype) = node.op.elements()
            && dtype != DType::Bool
        {
            given[sets.root(position)].get_or_insert(dtype);
        }
    }
    let mut of_root: Vec<Option<ClassId>> = vec![None; nodes.len()];
    let mut classes: Vec<Class> = Vec::new();
    let mut class_of = Vec::with_capacity(nodes.len());
    for (position, node) in nodes.iter().enumerate() {
        let root = sets.root(position);
        let source = if let Some(leaf) = node.op.input_name() {
            Some(Class::Of(*leaf))
        } else if let (Op::Const(constant), []) = (&node.op, &node.operands[..]) {
            Some(Class::Fixed(constant.dtype))
        } else if let TypedOperands::Own(dtype) = node.op.elements() {
            Some(Class::Fixed(dtype))
        } else {
            None
        };
        let class = *of_root[root].get_or_insert_with(|| {
            // Operands come first, so the first node of a class is a leaf, a constant without a witness, or a node of a
            // fixed type.
            classes.push(source.expect("the first node of a class has its element type from no other"));
            ClassId::new(classes.len() - 1)
        });
        let known = &mut classes[class.index()];
        *known = match (*known, source, holds[root], given[root]) {
            (_, _, Holds::Truths, _) => Class::TRUTHS,
            (.., Some(dtype)) => Class::Fixed(dtype),
            (Class::Of(leaf), _, Holds::Numbers, None)
            | (Class::Fixed(_), Some(Class::Of(leaf)), Holds::Numbers, None) => Class::NumbersOf(leaf),
            (Class::Fixed(_), Some(Class::Of(leaf)), Holds::Anything, None) => Class::Of(leaf),
            (known, ..) => known,
        };
        class_of.push(class);
    }
    (class_of, classes)
}

/// Disjoint sets: a parent for each member.
struct Sets(Vec<usize>);

impl Sets {
    fn root(&mut self, mut member: usize) -> usize {
        while self.0[member] != member {
            self.0[member] = self.0[self.0[member]];
            member = self.0[member];
        }
        member
    }

    /// The root of the union is the first of its members.
    fn unite(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        let (first, other) = if a < b { (a, b) } else { (b, a) };
        self.0[other] = first;
    }
}
