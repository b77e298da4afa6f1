//! Emits operations by structure: equality, arithmetic of tangents, printing.

use super::{
    body::{Writer, borrow},
    kinds::{Kind, Tree},
    repr::Repr,
};
use crate::{
    ir::ValueId,
    types::{Type, TypeId},
};

impl Writer<'_> {
    pub(super) fn equal(&mut self, left: ValueId, right: ValueId) -> Repr {
        let tree = self.tree_of(left);
        let [left, right] = [left, right].map(|value| {
            let repr = self.get(value).clone();
            self.read(&repr, &tree)
        });
        let parts: Vec<_> =
            left.iter().zip(&right).map(|(left, right)| format!("{left} == {right}")).collect();
        let all = if parts.is_empty() { "true".to_owned() } else { parts.join(" && ") };
        self.local(&all)
    }

    /// The zero of a type with this structure.
    pub(super) fn zero(&mut self, structure: &Repr, tree: &Tree) -> Repr {
        match (tree, structure) {
            (Tree::Tuple(trees), Repr::Tuple(structures)) => Repr::Tuple(
                trees.iter().zip(structures).map(|(tree, structure)| self.zero(structure, tree)).collect(),
            ),
            (Tree::Tuple(_), _) => Repr::unit(),
            (Tree::Leaf(kind), structure) => {
                let zero = self.zero_text(structure, kind);
                if kind.is_scalar() { Repr::scalar(zero) } else { Repr::Leaf(self.owner(kind, &zero)) }
            }
        }
    }

    pub(super) fn zero_text(&self, structure: &Repr, kind: &Kind) -> String {
        match kind {
            Kind::Float => format!("(0.0_{})", self.kinds.float()),
            Kind::Tape => format!("{}.zeros({})?", structure.text(), self.at()),
            Kind::Tensor(..) => {
                format!("k::zeros::<{}, _>(&{}, {})?", self.kinds.owned(kind), structure.text(), self.at())
            }
            Kind::Integer | Kind::Bool | Kind::String | Kind::Unit => {
                unreachable!("{kind:?} is no part of a tangent")
            }
        }
    }

    pub(super) fn add(&mut self, value: ValueId, tangent: ValueId) -> Repr {
        let trees = [self.tree_of(value), self.tree_of(tangent)];
        let [value, tangent] = [value, tangent].map(|value| self.get(value).clone());
        self.sum(&value, &trees[0], &tangent, &trees[1])
    }

    fn sum(&mut self, value: &Repr, tree: &Tree, by: &Repr, by_tree: &Tree) -> Repr {
        match (value, tree, by, by_tree) {
            (Repr::Tuple(values), Tree::Tuple(trees), Repr::Tuple(bys), Tree::Tuple(by_trees)) => {
                let members = values.iter().zip(trees).zip(bys.iter().zip(by_trees));
                Repr::Tuple(
                    members
                        .map(|((value, tree), (by, by_tree))| self.sum(value, tree, by, by_tree))
                        .collect(),
                )
            }
            (Repr::Leaf(leaf), Tree::Leaf(kind), Repr::Leaf(by), Tree::Leaf(by_kind)) => {
                let (leaf, by) = (self.nominal(leaf, kind), self.nominal(by, by_kind));
                let (x, y) = (leaf.text(), by.text());
                match kind {
                    Kind::Float => self.local(&format!("{x} + {y}")),
                    Kind::Integer => self.local(&format!("i64::wrapping_add({x}, {y})")),
                    Kind::Bool | Kind::String | Kind::Unit => Repr::Leaf(leaf),
                    Kind::Tape => {
                        let sum =
                            format!("{{ let mut tape = {x}.clone(); tape.grow({y}, {})?; tape }}", self.at());
                        Repr::Leaf(self.owner(kind, &sum))
                    }
                    Kind::Tensor(..) => {
                        let owned = self.kinds.owned(kind);
                        let sum = format!("k::sum_of::<{owned}, _>({x}, &{y}, {})?", self.at());
                        Repr::Leaf(self.owner(kind, &sum))
                    }
                }
            }
            // Values without a tangent.
            (value, ..) => value.clone(),
        }
    }

    pub(super) fn negate(&mut self, value: ValueId) -> Repr {
        let float = self.kinds.float();
        self.each_leaf(value, &|kind, owned, text, at| match kind {
            Kind::Float => format!("-{text}"),
            _ => format!("k::negated::<{owned}, {float}>(0.0, {text}, {at})?"),
        })
    }

    pub(super) fn scale(&mut self, factor: ValueId, value: ValueId) -> Repr {
        let factor = self.get(factor).text().to_owned();
        let float = self.kinds.float();
        self.each_leaf(value, &|kind, owned, text, at| match kind {
            Kind::Float => format!("{factor} * {text}"),
            _ => format!("k::scaled::<{owned}, {float}>({factor}, {text}, {at})?"),
        })
    }

    /// A value of the same structure. `expression` computes each leaf.
    fn each_leaf(&mut self, value: ValueId, expression: &dyn Fn(&Kind, &str, &str, &str) -> String) -> Repr {
        let tree = self.tree_of(value);
        let repr = self.get(value).clone();
        let mut texts = self.read(&repr, &tree).into_iter();
        Repr::of(&tree, &mut |kind| {
            let text = texts.next().expect("one for each leaf");
            let expression = expression(kind, &self.kinds.owned(kind), &text, &self.at());
            self.owner(kind, &expression)
        })
    }

    pub(super) fn dot(&mut self, left: ValueId, right: ValueId) -> Repr {
        let tree = self.tree_of(left);
        let [left, right] = [left, right].map(|value| {
            let repr = self.get(value).clone();
            self.read(&repr, &tree)
        });
        let mut sum = format!("(0.0_{})", self.kinds.float());
        for ((kind, x), y) in tree.leaves().into_iter().zip(&left).zip(&right) {
            sum = match kind {
                Kind::Float => format!("({sum} + {x} * {y})"),
                _ => format!("k::dot({x}, {y}, {sum}, {})?", self.at()),
            };
        }
        self.local(&sum)
    }

    pub(super) fn print(&mut self, operands: &[ValueId]) -> Repr {
        let text = self.fresh("t");
        self.line(format!("let {text} = &mut String::new();"));
        for operand in operands {
            let ty = self.body.ty(*operand);
            let tree = self.tree_of(*operand);
            let repr = self.get(*operand).clone();
            let leaves = self.read(&repr, &tree);
            let shown = match self.kinds.program.types.get(ty) {
                Type::String => format!("{text}.push_str({});", leaves[0]),
                _ => self.kinds.show(ty, &leaves, &text, 0),
            };
            self.line(shown);
        }
        self.line(format!("k::print({text});"));
        Repr::scalar(format!("({}_i64)", operands.len()))
    }
}

impl super::Kinds<'_> {
    /// Statements that append a value, given by its leaves, to a `&mut String` in the format of `print`. `depth` is the
    /// number of enclosing tensors.
    pub fn show(&self, ty: TypeId, leaves: &[String], text: &str, depth: usize) -> String {
        match self.program.types.get(ty) {
            Type::Tuple(members) => {
                let mut leaves = leaves;
                let mut shown = format!("{text}.push_str(\"(tuple\");");
                for member in members {
                    let (own, rest) = leaves.split_at(self.tree(*member).leaves().len());
                    leaves = rest;
                    shown += &format!(" {text}.push(' '); {}", self.show(*member, own, text, depth));
                }
                shown + &format!(" {text}.push(')');")
            }
            Type::Tensor(_, element) => {
                let mut elements = Vec::new();
                let at = format!(".data[p{depth}]");
                elements_at(&self.tree(*element), &mut leaves.iter(), &at, &mut elements);
                let shown = self.show(*element, &elements, "text", depth + 1);
                format!(
                    "k::show_elements(&{}.size, &mut *{text}, &mut |p{depth}, text| {{ {shown} }});",
                    leaves[0]
                )
            }
            Type::Tape => format!("{text}.push_str(\"<tape>\");"),
            _ => format!("({}).show(&mut *{text});", leaves[0]),
        }
    }
}

/// The leaves of an element at a position, from the leaves of its tensor. A tensor of units has a leaf, a unit has
/// none.
fn elements_at<'a>(
    element: &Tree,
    leaves: &mut impl Iterator<Item = &'a String>,
    at: &str,
    elements: &mut Vec<String>,
) {
    match element {
        Tree::Tuple(members) if members.is_empty() => _ = leaves.next(),
        Tree::Tuple(members) => members.iter().for_each(|member| elements_at(member, leaves, at, elements)),
        Tree::Leaf(kind) => elements.extend(leaves.next().map(|leaf| borrow(kind, &format!("{leaf}{at}")))),
    }
}
