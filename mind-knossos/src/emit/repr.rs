//! Representations of values in the generated Rust code.

use super::kinds::{Kind, Tree};
use crate::ir::LayoutId;

/// A value: leaves in nested tuples.
#[derive(Clone, Debug)]
pub(super) enum Repr {
    Tuple(Vec<Repr>),
    Leaf(Leaf),
}

/// A leaf of a value.
#[derive(Clone, Debug)]
pub(super) enum Leaf {
    /// A number or a truth value, as an expression that may be repeated.
    Scalar(Scalar),
    /// A view, a `&str` or a `&Tape`.
    Borrowed(Borrowed),
    /// A part of an accumulator.
    AccumulatorPart(AccumulatorPart),
}

#[derive(Clone, Debug)]
pub(super) struct Scalar {
    /// The expression.
    pub text: String,
    /// The same value as a `usize`, for an Integer that is known to be nonnegative.
    pub count: Option<String>,
}

#[derive(Clone, Debug)]
pub(super) struct Borrowed {
    /// The expression.
    pub text: String,
    /// The kind of the expression. A structure is represented by the value that it was taken from, so this may differ
    /// from the type.
    pub kind: Kind,
    /// The variable that owns it, if it covers the whole variable.
    pub owner: Option<OwnerId>,
    /// The variables that it borrows from.
    pub roots: Vec<OwnerId>,
    /// The nesting depth of the block that it is defined in.
    pub depth: usize,
}

/// A variable that owns memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OwnerId(pub usize);

/// A part of an accumulator, which is looked up at each use.
#[derive(Clone, Debug)]
pub(super) struct AccumulatorPart {
    /// The accumulator: a `ViewMut`, or a place expression.
    pub base: String,
    /// The kind of the whole accumulator.
    pub base_kind: Kind,
    /// The kind of the part after the steps.
    pub kind: Kind,
    pub steps: Vec<PartStep>,
    /// The variable that is read at the end.
    pub owner: Option<OwnerId>,
}

/// A step into an accumulator.
#[derive(Clone, Debug)]
pub(super) enum PartStep {
    /// The element at an index.
    Element(Vec<String>),
    /// A field of a tape, in each variant that has it.
    Taped(Vec<(Variant, usize)>),
}

/// A variant of the tape type: the values of a layout, or their tangents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Variant {
    pub layout: LayoutId,
    pub tangent: bool,
}

impl Repr {
    pub fn unit() -> Self {
        Self::Tuple(Vec::new())
    }

    pub fn leaves(&self) -> Vec<&Leaf> {
        match self {
            Self::Leaf(leaf) => vec![leaf],
            Self::Tuple(members) => members.iter().flat_map(Self::leaves).collect(),
        }
    }

    pub fn member(&self, member: usize) -> &Self {
        match self {
            Self::Tuple(members) => &members[member],
            Self::Leaf(leaf) => unreachable!("{leaf:?} has no members"),
        }
    }

    /// The first leaf. Every tensor has one.
    pub fn first(&self) -> &Leaf {
        self.leaves().first().copied().expect("a tensor has a leaf")
    }

    /// A value of this tree. `leaf` provides the leaves in order.
    pub fn of(tree: &Tree, leaf: &mut impl FnMut(&Kind) -> Leaf) -> Self {
        match tree {
            Tree::Leaf(kind) => Self::Leaf(leaf(kind)),
            Tree::Tuple(members) => {
                Self::Tuple(members.iter().map(|member| Self::of(member, leaf)).collect())
            }
        }
    }

    pub fn scalar(text: impl Into<String>) -> Self {
        Self::Leaf(Leaf::scalar(text))
    }

    /// An Integer that is available as a `usize`.
    pub fn count(text: &str) -> Self {
        Self::Leaf(Leaf::Scalar(Scalar { text: format!("({text} as i64)"), count: Some(text.to_owned()) }))
    }

    pub fn text(&self) -> &str {
        self.first().text()
    }
}

impl Leaf {
    pub fn scalar(text: impl Into<String>) -> Self {
        Self::Scalar(Scalar { text: text.into(), count: None })
    }

    pub fn text(&self) -> &str {
        match self {
            Self::Scalar(scalar) => &scalar.text,
            Self::Borrowed(borrowed) => &borrowed.text,
            Self::AccumulatorPart(place) => &place.base,
        }
    }

    pub fn roots(&self) -> &[OwnerId] {
        match self {
            Self::Borrowed(borrowed) => &borrowed.roots,
            Self::Scalar(_) | Self::AccumulatorPart(_) => &[],
        }
    }
}
