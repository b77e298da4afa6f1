//! Which nodes have one element type.

use super::graph::RawNode;
use super::{Class, ClassId, Op};
use crate::written::Elements;

/// The class of each node, and what each class is of: the first leaf in it, else what its constants have.
pub(super) fn classes(nodes: &[RawNode]) -> (Vec<ClassId>, Vec<Class>) {
    let mut sets = Sets((0..nodes.len()).collect());
    for (position, node) in nodes.iter().enumerate() {
        let operands = node.operands.iter().map(|operand| operand.index());
        match node.op.elements() {
            Elements::All => operands.for_each(|operand| sets.unite(position, operand)),
            Elements::Only(alone) => sets.unite(position, node.operands[alone].index()),
            Elements::From(first) => operands.skip(first).for_each(|operand| sets.unite(position, operand)),
            Elements::Own(_) => {
                let first = node.operands[0].index();
                operands.skip(1).for_each(|operand| sets.unite(first, operand));
            }
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
        } else if let Elements::Own(dtype) = node.op.elements() {
            Some(Class::Fixed(dtype))
        } else {
            None
        };
        let class = *of_root[root].get_or_insert_with(|| {
            // Operands come first, so the first of a class is a leaf, a constant without a witness, or what has a type of its own.
            classes.push(source.expect("the first node of a class has its element type from no other"));
            ClassId::new(classes.len() - 1)
        });
        if let (Class::Fixed(_), Some(Class::Of(leaf))) = (classes[class.index()], source) {
            classes[class.index()] = Class::Of(leaf);
        }
        class_of.push(class);
    }
    (class_of, classes)
}

/// Sets that are united.
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
