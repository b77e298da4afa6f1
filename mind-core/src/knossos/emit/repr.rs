//! What values are in the Rust that is being written.

use super::kinds::{Kind, Tree};
use crate::knossos::ir::LayoutId;

/// A value: leaves in tuples.
#[derive(Clone, Debug)]
pub(super) enum Repr {
    Tuple(Vec<Repr>),
    Leaf(Leaf),
}

/// A leaf of a value.
#[derive(Clone, Debug)]
pub(super) enum Leaf {
    /// A number or a truth value, as an expression that may be written often.
    Scalar(Scalar),
    /// A view, a `&str` or a `&Tape`.
    Borrowed(Borrowed),
    /// What an accumulator adds up.
    AccumulatorPart(AccumulatorPart),
}

#[derive(Clone, Debug)]
pub(super) struct Scalar {
    /// The expression.
    pub text: String,
    /// The same as a `usize`, of an Integer known not to be negative.
    pub count: Option<String>,
}

#[derive(Clone, Debug)]
pub(super) struct Borrowed {
    /// The expression.
    pub text: String,
    /// What it is. A structure is read off the value itself, so this may be other than the type says.
    pub kind: Kind,
    /// The variable that owns it, if it is all of that.
    pub owner: Option<OwnerId>,
    /// What it borrows from.
    pub roots: Vec<OwnerId>,
    /// How many blocks are around that.
    pub depth: usize,
}

/// A variable that owns memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OwnerId(pub usize);

/// A part of an accumulator, which is looked up where it is used.
#[derive(Clone, Debug)]
pub(super) struct AccumulatorPart {
    /// The accumulator: a `ViewMut`, or what can be assigned to.
    pub base: String,
    /// What the accumulator adds up.
    pub base_kind: Kind,
    /// What is there behind the steps.
    pub kind: Kind,
    pub steps: Vec<PartStep>,
    /// The variable that is read in the end.
    pub owner: Option<OwnerId>,
}

/// A step into what an accumulator adds up.
#[derive(Clone, Debug)]
pub(super) enum PartStep {
    /// The element at an index.
    Element(Vec<String>),
    /// A field of the variants of a tape that have it.
    Taped(Vec<(Variant, usize)>),
}

/// A variant of the type of tapes: a layout's values, or their tangents.
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

    /// The first leaf, which a tensor has.
    pub fn first(&self) -> &Leaf {
        self.leaves().first().copied().expect("a tensor has a leaf")
    }

    /// A value with this structure, whose leaves come from `leaf` in order.
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

    /// An Integer that is known as a `usize`.
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
