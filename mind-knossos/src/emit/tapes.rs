//! Emits the type of tapes: an enum over the program's layouts.

use std::fmt::Write;
use std::ops::Range;

use super::{
    calls::Reached,
    kinds::{Kind, Kinds},
    repr::Variant,
};
use crate::{ir::LayoutId, types::TypeId};

impl Variant {
    pub fn name(self) -> String {
        format!("{}{}", if self.tangent { 'D' } else { 'L' }, self.layout.index())
    }
}

impl Kinds<'_> {
    /// The types of the values of a variant.
    fn types_of(&self, variant: Variant) -> Vec<TypeId> {
        let types = self.program.layouts[variant.layout.index()].iter();
        match variant.tangent {
            true => types.map(|ty| self.program.types.tangent(*ty)).collect(),
            false => types.copied().collect(),
        }
    }

    /// The kinds of the fields of a variant.
    pub fn variant(&self, variant: Variant) -> Vec<Kind> {
        let types = self.types_of(variant);
        types.iter().flat_map(|ty| self.tree(*ty).leaves().into_iter().cloned().collect::<Vec<_>>()).collect()
    }

    /// The variants of a layout: its values, and their tangents if the types differ.
    fn variants(&self, layout: LayoutId) -> Vec<Variant> {
        let values = Variant { layout, tangent: false };
        let tangents = Variant { layout, tangent: true };
        if self.types_of(values) == self.types_of(tangents) { vec![values] } else { vec![values, tangents] }
    }

    /// The fields that hold a value of a layout, in each variant where it has this type.
    pub fn fields(&self, layout: LayoutId, member: usize, ty: TypeId) -> Vec<(Variant, Range<usize>)> {
        let mut found = Vec::new();
        for variant in self.variants(layout) {
            let types = self.types_of(variant);
            let count = |ty: &TypeId| self.tree(*ty).leaves().len();
            if types[member] == ty {
                let first = types[..member].iter().map(count).sum();
                found.push((variant, first..first + count(&ty)));
            }
        }
        found
    }
}

/// Emits the type and its trait implementations.
pub(super) fn tapes(kinds: &Kinds, reached: &Reached) -> String {
    let mut text = String::from("#[derive(Clone, Debug, PartialEq)] pub enum Tape {\n");
    let variants: Vec<_> = reached.layouts.iter().flat_map(|layout| kinds.variants(*layout)).collect();
    for variant in &variants {
        let fields: Vec<_> = kinds.variant(*variant).iter().map(|kind| kinds.taped(kind)).collect();
        let _ = writeln!(text, "{}({}),", variant.name(), fields.join(", "));
    }
    text.push_str("}\nimpl Tape { fn zeros(&self, at: k::At) -> Result<Self, k::Fault> { Ok(match self {\n");
    for variant in &variants {
        let zero = *kinds.variants(variant.layout).last().expect("a layout has a variant");
        let names: Vec<_> = (0..kinds.variant(*variant).len()).map(|field| format!("x{field}")).collect();
        let mut zeros = Vec::new();
        let mut used = 0;
        let (types, zero_types) = (kinds.types_of(*variant), kinds.types_of(zero));
        for (ty, zero_ty) in types.iter().zip(&zero_types) {
            zero_leaves(kinds, &kinds.tree(*ty), &kinds.tree(*zero_ty), &mut used, &mut zeros);
        }
        let _ = writeln!(
            text,
            "Tape::{}({}) => Tape::{}({}),",
            variant.name(),
            names.join(", "),
            zero.name(),
            zeros.join(", ")
        );
    }
    text.push_str(
        "_ => return Err(at.failure(\"the tape belongs to another function\")) }) } }\n\
         impl k::Zeros<Tape> for Tape { fn zeros(shape: &Tape, at: k::At) -> Result<Self, k::Fault> { shape.zeros(at) } }\n\
         impl k::Grow<Tape> for Tape { fn grow(&mut self, by: &Tape, at: k::At) -> Result<(), k::Fault> { match (self, by) {\n",
    );
    for variant in &variants {
        let count = kinds.variant(*variant).len();
        let list = |name: &str| (0..count).map(|field| format!("{name}{field}, ")).collect::<String>();
        let _ = write!(text, "(Tape::{0}({1}), Tape::{0}({2})) => {{ ", variant.name(), list("x"), list("y"));
        for (position, kind) in kinds.variant(*variant).iter().enumerate() {
            if !kind.is_still() {
                let _ = write!(text, "x{position}.grow(y{position}, at)?; ");
            }
        }
        text.push_str("}\n");
    }
    text.push_str("_ => return Err(at.failure(\"cannot add tapes of different branches\")) } Ok(()) } }\n");
    text
}

/// Collects the zeros of the leaves of a tangent type, from the leaves of the values.
fn zero_leaves(
    kinds: &Kinds,
    tree: &super::kinds::Tree,
    zero: &super::kinds::Tree,
    used: &mut usize,
    zeros: &mut Vec<String>,
) {
    use super::kinds::Tree;
    match (tree, zero) {
        (Tree::Tuple(trees), Tree::Tuple(zero_trees)) => {
            for (tree, zero) in trees.iter().zip(zero_trees) {
                zero_leaves(kinds, tree, zero, used, zeros);
            }
        }
        (tree, Tree::Leaf(kind)) => {
            let name = format!("x{used}");
            *used += tree.leaves().len();
            zeros.push(format!("k::zeros::<{}, _>({name}, at)?", kinds.taped(kind)));
        }
        (tree, Tree::Tuple(_)) => *used += tree.leaves().len(),
    }
}
