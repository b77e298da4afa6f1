//! Maps types to trees of kinds, and to Rust types.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use super::Options;
use crate::{
    interp::Precision,
    ir::{Position, Program},
    types::{Type, TypeId},
};

/// The kind of a leaf.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Float,
    Integer,
    Bool,
    String,
    Tape,
    /// The empty tuple; it occurs only as an element of tensors.
    Unit,
    Tensor(usize, Box<Kind>),
}

/// The leaves of a type. A tensor of tuples is represented as a tuple of tensors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Tree {
    Tuple(Vec<Tree>),
    Leaf(Kind),
}

impl Kind {
    /// Whether values are copied on every use.
    pub fn is_scalar(&self) -> bool {
        matches!(self, Self::Float | Self::Integer | Self::Bool)
    }

    /// Whether values contain tapes, which nest as deep as calls do.
    pub fn holds_tapes(&self) -> bool {
        match self {
            Self::Tape => true,
            Self::Tensor(_, element) => element.holds_tapes(),
            Self::Float | Self::Integer | Self::Bool | Self::String | Self::Unit => false,
        }
    }

    /// Whether addition has no effect on values: truth values, strings, units, and tensors of these.
    pub fn is_still(&self) -> bool {
        match self {
            Self::Bool | Self::String | Self::Unit => true,
            Self::Tensor(_, element) => element.is_still(),
            Self::Float | Self::Integer | Self::Tape => false,
        }
    }

    /// Whether it is a tensor of numbers, which is stored in a `Tensor`.
    pub fn is_numeric_tensor(&self) -> bool {
        matches!(self, Self::Tensor(_, element) if matches!(**element, Self::Float | Self::Integer))
    }
}

impl Tree {
    /// Every leaf, in order.
    pub fn leaves(&self) -> Vec<&Kind> {
        match self {
            Self::Leaf(kind) => vec![kind],
            Self::Tuple(members) => members.iter().flat_map(Self::leaves).collect(),
        }
    }
}

/// The kinds of a program's types.
pub(super) struct Kinds<'p> {
    pub program: &'p Program,
    pub options: &'p Options,
    trees: RefCell<HashMap<TypeId, Rc<Tree>>>,
}

impl<'p> Kinds<'p> {
    pub fn new(program: &'p Program, options: &'p Options) -> Self {
        Self { program, options, trees: RefCell::default() }
    }

    /// The leaves of a type. The leaves of an accumulator are those of the type that it holds.
    pub fn tree(&self, ty: TypeId) -> Rc<Tree> {
        if let Some(tree) = self.trees.borrow().get(&ty) {
            return tree.clone();
        }
        let tree = Rc::new(match self.program.types.get(ty) {
            Type::Float => Tree::Leaf(Kind::Float),
            Type::Integer => Tree::Leaf(Kind::Integer),
            Type::Bool => Tree::Leaf(Kind::Bool),
            Type::String => Tree::Leaf(Kind::String),
            Type::Tape => Tree::Leaf(Kind::Tape),
            Type::Tuple(members) => {
                Tree::Tuple(members.iter().map(|member| (*self.tree(*member)).clone()).collect())
            }
            Type::Tensor(rank, element) => tensor_of(*rank as usize, &self.tree(*element)),
            Type::Accumulator(ty) => (*self.tree(*ty)).clone(),
            Type::Lambda(..) | Type::LinearMap(..) => Tree::Tuple(Vec::new()),
        });
        self.trees.borrow_mut().insert(ty, tree.clone());
        tree
    }

    /// A position of the program in its file, as a Rust expression.
    pub fn at(&self, function: &str, place: Position) -> String {
        // Functions of the prelude have no position.
        let known = place.line > 0;
        let Position { line, column } = if known { self.options.start.of(place) } else { place };
        format!("k::At(&({function:?}, {line}, {column}))")
    }

    /// The Rust type of a Float: `f64` or `f32`.
    pub fn float(&self) -> &'static str {
        match self.options.precision {
            Precision::F64 => "f64",
            Precision::F32 => "f32",
        }
    }

    /// The Rust type that owns a leaf.
    pub fn owned(&self, kind: &Kind) -> String {
        match kind {
            Kind::Float => self.float().into(),
            Kind::Integer => "i64".into(),
            Kind::Bool => "bool".into(),
            Kind::String => "String".into(),
            Kind::Tape => "Tape".into(),
            Kind::Unit => "()".into(),
            Kind::Tensor(rank, element) if kind.is_numeric_tensor() => {
                format!("Tensor<{}, ({})>", self.owned(element), "usize, ".repeat(*rank))
            }
            Kind::Tensor(1, element) => format!("Vec<{}>", self.owned(element)),
            Kind::Tensor(rank, element) => format!("k::Nested<{}, {rank}>", self.owned(element)),
        }
    }

    /// The Rust type of a leaf in a tape.
    pub fn taped(&self, kind: &Kind) -> String {
        let owned = self.owned(kind);
        if kind.holds_tapes() { format!("k::Deep<{owned}>") } else { owned }
    }

    /// The Rust type of a borrowed leaf.
    pub fn borrowed(&self, kind: &Kind) -> String {
        match kind {
            Kind::Float | Kind::Integer | Kind::Bool | Kind::Unit => self.owned(kind),
            Kind::String => "&str".into(),
            Kind::Tape => "&Tape".into(),
            Kind::Tensor(rank, element) => format!("k::View<'_, {}, [usize; {rank}]>", self.owned(element)),
        }
    }

    /// The Rust type of a leaf that is added to.
    pub fn added_to(&self, kind: &Kind) -> String {
        match kind {
            Kind::Tensor(rank, element) => {
                format!("k::ViewMut<'_, {}, [usize; {rank}]>", self.owned(element))
            }
            _ => format!("&mut {}", self.owned(kind)),
        }
    }

    /// The Rust type that owns the leaves of a value: the type of a single leaf, or a tuple.
    pub fn owned_leaves(&self, tree: &Tree) -> String {
        let types: Vec<_> = tree.leaves().into_iter().map(|kind| self.owned(kind)).collect();
        tuple(&types)
    }
}

fn tensor_of(rank: usize, element: &Tree) -> Tree {
    match element {
        Tree::Leaf(kind) => Tree::Leaf(Kind::Tensor(rank, Box::new(kind.clone()))),
        Tree::Tuple(members) if members.is_empty() => Tree::Leaf(Kind::Tensor(rank, Box::new(Kind::Unit))),
        Tree::Tuple(members) => Tree::Tuple(members.iter().map(|member| tensor_of(rank, member)).collect()),
    }
}

/// Combines expressions, patterns or types to a tuple. A single one is not wrapped.
pub(super) fn tuple(parts: &[impl AsRef<str>]) -> String {
    match parts {
        [one] => one.as_ref().to_owned(),
        several => {
            let parts: String = several.iter().map(|part| format!("{}, ", part.as_ref())).collect();
            format!("({parts})")
        }
    }
}
