//! The open program: leaves, nodes, element-type classes, checks.

use std::fmt;

use proc_macro2::TokenStream;

use super::ShapeId;
pub use crate::ir::{Convolution, Padding, Reduction, Slice};
pub use crate::reduce::Reduce;
use crate::{
    data::TensorData,
    diag::{Code, Site},
    dim::Dim,
    ir::{self, Form},
    surface::{ast::TransformKind, lower},
    ty::{DType, Type},
};

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u32);

        impl $name {
            /// The one at this position.
            ///
            /// # Panics
            /// If the position exceeds 32 bits, which no program that fits in memory reaches.
            pub fn new(position: usize) -> Self {
                Self(u32::try_from(position).expect("a program has fewer than 2^32 parts"))
            }

            /// Its position.
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    )+};
}

ids! {
    /// A node, by its position in [`Program::nodes`].
    NodeId
    /// A leaf, by its position in [`Program::leaves`].
    LeafId
    /// An element-type class, by its position in [`Program::classes`].
    ClassId
}

/// A program whose inputs have no types so far.
#[derive(Clone, Debug)]
pub struct Program {
    /// What it reads, in the order of first mention.
    pub leaves: Vec<Leaf>,
    /// Leaves first, in their order; then each node after its operands. Every node that is written is here, needed or
    /// not, since its rule is checked; of those that differentiation adds only the needed ones are.
    pub nodes: Vec<Node>,
    /// The element types.
    pub classes: Vec<Class>,
    /// What must hold beside the rules of the nodes. Each is told as soon as the types of its nodes are known: the rules
    /// of the nodes that differentiation added behind them hold only if it does.
    pub checks: Vec<Check>,
    /// The value.
    pub result: Structure,
    /// For each result in order the leaves from whose shapes its own is broadcast, whatever they are; none where others
    /// have a say.
    pub broadcast: Vec<Vec<LeafId>>,
    /// The type that is written behind the expression.
    pub annotation: Option<Annotation>,
    /// Whether it begins with `late:`: types depend on generic parameters of the caller.
    pub late: bool,
    /// The whole expression.
    pub site: Site,
}

/// A Rust place or expression that a program reads.
#[derive(Clone, Debug)]
pub struct Leaf {
    /// The Rust expression: `x`, `self.w`, or what stands inside the braces.
    pub tokens: TokenStream,
    /// As messages name it: `x`, `self.w`, `{ … }`.
    pub text: String,
    /// Whether it is a place, `x` or `self.w`, rather than an expression in braces.
    pub is_place: bool,
    /// The type that `(x: f32[2, 3])` gives it, every extent known.
    pub annotation: Option<(Type, Site)>,
    /// Where it is first mentioned.
    pub site: Site,
}

/// A value: an operation on earlier values.
#[derive(Clone, Debug)]
pub struct Node {
    /// The operation.
    pub op: Op,
    /// Earlier nodes.
    pub operands: Vec<NodeId>,
    /// Its element type.
    pub class: ClassId,
    /// Its shape, as far as it is known to be that of others.
    pub shape: ShapeId,
    /// What messages need where its rule is broken; nothing for a node that differentiation added, whose rule holds if
    /// those of the written nodes and the checks do.
    pub spot: Option<Spot>,
}

/// What messages about a node need.
#[derive(Clone, Debug)]
pub struct Spot {
    /// The operation as it is written: `@`, `matmul`, `index`.
    pub label: &'static str,
    /// The operator sign, at which every mistake of an operator is told; or the whole expression.
    pub site: Site,
    /// Whether `site` is an operator sign: then mistakes of operands and attributes are told there too.
    pub is_operator: bool,
    /// The operands as they are written.
    pub operands: Vec<Operand>,
    /// Where the attributes stand, by the names the rules have for them: `axes`, `shape`, `permutation`, `starts`, `ends`,
    /// `steps`, `strides`, `padding`; for each subscript in order `subscript`; for a constant itself `constant`.
    pub attributes: Vec<(&'static str, Site)>,
}

/// An operand as it is written.
#[derive(Clone, Debug)]
pub struct Operand {
    /// As messages name it: a variable or place bare, anything else in backquotes.
    pub text: String,
    /// As the operand of a postfix form in a help: in parentheses where they are needed.
    pub operand_text: String,
    /// Its tokens.
    pub site: Site,
}

/// The value of a program or of a part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Structure {
    /// A tensor.
    Node(NodeId),
    /// A tuple.
    Tuple(Vec<Structure>),
}

impl Structure {
    /// The nodes in it, in order.
    pub fn nodes(&self) -> Vec<NodeId> {
        let (mut nodes, mut rest) = (Vec::new(), vec![self]);
        while let Some(structure) = rest.pop() {
            match structure {
                Self::Node(node) => nodes.push(*node),
                Self::Tuple(elements) => rest.extend(elements.iter().rev()),
            }
        }
        nodes
    }
}

/// The type written behind an expression; it has the structure of the result.
#[derive(Clone, Debug)]
pub struct Annotation {
    /// The type; every extent is known.
    pub structure: lower::Structure,
    /// Where it stands.
    pub site: Site,
}

/// Nodes of one element type, as far as that can be told without types: operands of one operation are in one class, and
/// that they are of one type is what rules check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// That of this leaf.
    Of(LeafId),
    /// This one: what has it consists of numbers alone.
    Fixed(DType),
}

/// What must hold of a node beside its own rule.
#[derive(Clone, Debug)]
pub struct Check {
    /// What.
    pub kind: CheckKind,
    /// Of this node.
    pub node: NodeId,
    /// The node as messages name it; of a `let`, the name that it binds.
    pub text: String,
    /// Where a mistake is told.
    pub site: Site,
}

impl Check {
    /// The node behind which it is told.
    pub fn after(&self) -> NodeId {
        match self.kind {
            CheckKind::CotangentOf(output) => output.max(self.node),
            CheckKind::Scalar(_) | CheckKind::Differentiable | CheckKind::Is(_) => self.node,
        }
    }
}

/// What a [`Check`] demands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckKind {
    /// A single float, since it is differentiated: else E5004. The transform as it is written is the label.
    Scalar(TransformKind),
    /// Floats, since it is differentiated by: else E5005.
    Differentiable,
    /// Of the type of this other node, of which it is the cotangent: else E2001.
    CotangentOf(NodeId),
    /// Of this type, which a `let` declares: else E2001.
    Is(Type),
}

/// The form of programs without types: attributes as they are written, and shapes that are those of a witness.
///
/// A *witness* is an operand of which only the type is read, see [`Op::reads`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Written {}

impl Form for Written {
    type Name = LeafId;
    /// Its element type is that of the witness, if it has one, or [`Constant::dtype`].
    type Const = Box<Constant>;
    type Shape = Extents;
    /// Negative ones count from the end; left out they mean every axis, of a squeeze every one of extent 1, of a
    /// transposition all in reverse.
    type Axes = Option<Vec<i64>>;
    type Indices = Vec<Subscript>;
    type Bound = Dim;
    type Own = Own;
}

/// An operation; its operands are those of the node.
pub type Op = ir::Op<Written>;

/// A shape as it is known without types.
#[derive(Clone, PartialEq, Eq, Hash)]
pub enum Extents {
    /// As written; of a reshape one may be -1.
    Written(Vec<Dim>),
    /// That of the last operand, a witness.
    Like,
}

/// `[2, -1]`, or `like`.
impl fmt::Debug for Extents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Written(dims) => literals(dims).fmt(f),
            Self::Like => f.write_str("like"),
        }
    }
}

/// Extents and bounds as numbers: no symbol stands in an expression.
pub fn literals(dims: &[Dim]) -> Vec<i64> {
    dims.iter().map(|dim| dim.as_literal().expect("no symbol stands in an expression")).collect()
}

/// What only programs without types have: where operands or the shape decide, the operation says so.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Own {
    /// `(a, b)`: `a @ b`, a matrix product, or `dot` where an operand has rank 1.
    At,
    /// `(like)`: zeros or ones of the type of the witness.
    FilledLike {
        /// Whether they are ones.
        one: bool,
    },
    /// `(like)`: how many elements of the witness a reduction takes together, as a single number of its element type.
    CountReduced {
        /// As in a reduction.
        axes: Option<Vec<i64>>,
    },
    /// `(v, like)`: `v` summed over the axes that broadcasting the shape of the witness to that of `v` adds or stretches.
    SumLike,
    /// `(dy, a, b)`: what a product passes back to `a`, which is a witness.
    ProductGradLhs,
    /// `(dy, a, b)`: what a product passes back to `b`, which is a witness.
    ProductGradRhs,
    /// `(dy, x)`: zeros of the shape of the witness with `dy` where the subscripts take from.
    IndexGrad(Vec<Subscript>),
}

/// One position of an index expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Subscript {
    /// One place, dropping the axis; a negative one counts from the end.
    At(i64),
    /// `start..end;step`, bounds as written: negative ones count from the end.
    Range {
        /// The first place; that of the axis without.
        start: Option<i64>,
        /// One past the last place; the extent without.
        end: Option<i64>,
        /// The distance between places; 1 without.
        step: Option<i64>,
    },
    /// As many whole axes as are not written.
    Rest,
}

/// A number or an array of numbers as written, arithmetic on them worked out, for each element type it may have.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Constant {
    /// As messages name it.
    pub text: String,
    /// Which numbers it consists of.
    pub kind: NumberKind,
    /// The element type that a suffix gives.
    pub suffix: Option<DType>,
    /// The element type it has without a witness.
    pub dtype: DType,
    /// Its extents.
    pub shape: Vec<i64>,
    /// The elements in each of [`DType::NUMERIC`], in that order, or why it cannot have that element type.
    pub values: [Result<TensorData, Misfit>; 4],
}

impl Constant {
    /// A number of whatever element type its witness has.
    pub(super) fn number(number: f64) -> Self {
        Self {
            text: format!("`{number}`"),
            kind: NumberKind::Any,
            suffix: None,
            dtype: DType::F32,
            shape: Vec::new(),
            values: DType::NUMERIC.map(|dtype| Ok(TensorData::splat(dtype, number))),
        }
    }

    /// The elements in an element type, or why it cannot have it.
    ///
    /// # Panics
    /// If `dtype` is `Bool`, which no program has.
    pub fn values_in(&self, dtype: DType) -> &Result<TensorData, Misfit> {
        let position = DType::NUMERIC.iter().position(|numeric| *numeric == dtype);
        &self.values[position.expect("no value holds truth values")]
    }

    /// What it is, as a message says it: `an integer`, `f64`.
    pub fn describe(&self) -> &'static str {
        self.suffix.map_or(self.kind.name(), DType::name)
    }
}

/// Which numbers a constant consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NumberKind {
    /// Integers.
    Integer,
    /// Floats.
    Float,
    /// Zeros or ones, which are of any element type.
    Any,
}

impl NumberKind {
    /// As a message says it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Integer => "an integer",
            Self::Float => "a float",
            Self::Any => "any number",
        }
    }
}

/// Why a constant cannot have an element type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Misfit {
    /// Its numbers are of another kind: E2004 at the operator, `` `*`: element types differ: `2` is an integer, x is
    /// f32[3] ``, where the label, the constant's text and what it is, and the witness come from the node.
    Kind {
        /// What to write instead.
        help: Option<String>,
    },
    /// Its numbers are of the kind, but one is out of range or the arithmetic is not one of the element type: this code
    /// with this message, told at the constant itself.
    Value {
        /// The code.
        code: Code,
        /// The whole message.
        message: String,
    },
}

impl Program {
    /// A node.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    /// Every node with its id, in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (NodeId, &Node)> + ExactSizeIterator {
        self.nodes.iter().enumerate().map(|(position, node)| (NodeId::new(position), node))
    }
}
