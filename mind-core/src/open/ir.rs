//! The open program: leaves, nodes, element-type classes, checks.

use std::rc::Rc;

use mind_shape::Written;
use proc_macro2::TokenStream;

use super::{LeafId, Op, ShapeId};
use crate::{
    diag::Site,
    surface::{
        ast::TransformKind,
        lower::{self, values::demand::Demand},
    },
    ty::{DType, Type},
    written::{Kind, ids},
};

ids! {
    /// A node, by its position in [`Program::nodes`].
    NodeId
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
    /// The private fields of structs that it names, of which Rust is to say whether it may.
    pub seen: Vec<lower::Seen>,
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
    /// What is read of it where it is a struct.
    pub part: Option<PartOf>,
    /// The type that `(x: f32[2, 3])` gives it, every extent known.
    pub annotation: Option<(Type, Site)>,
    /// Where it is first mentioned.
    pub site: Site,
}

/// A tensor or number of a struct.
#[derive(Clone, Debug)]
pub struct PartOf {
    /// The struct.
    pub of: Rc<lower::StructType>,
    /// Which of those in it.
    pub position: usize,
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
    /// Of a node that differentiation added the one whose derivative it was made for, where that is known.
    pub derives: Option<NodeId>,
}

/// What messages about a node need.
#[derive(Clone, Debug)]
pub struct Spot {
    /// The operation as it is written: `@`, `matmul`, `index`.
    pub label: &'static str,
    /// The templates in which it stands, `nn::softmax`; empty outside of any.
    pub within: String,
    /// The operator sign, at which every mistake of an operator is told; or the whole expression.
    pub site: Site,
    /// Whether `site` is an operator sign: then mistakes of operands and attributes are told there too.
    pub is_operator: bool,
    /// The operands as they are written.
    pub operands: Vec<Operand>,
    /// Where the attributes stand, by the names the rules have for them: `axes`, `shape`, `permutation`, `starts`, `ends`,
    /// `steps`, `strides`, `padding`; for a constant itself `constant`; and the subscripts.
    pub attributes: Vec<(Written<'static>, Site)>,
}

impl Spot {
    /// The operation as messages name it: within backquotes, which may end in between.
    pub fn said(&self) -> String {
        match self.within.as_str() {
            "" => self.label.to_owned(),
            within => format!("{}` in `{within}", self.label),
        }
    }

    /// Where else than at [`Spot::site`] mistakes are told: at what they are about, or of an operator at a constant beside it.
    pub fn places(&self) -> impl Iterator<Item = (Written<'static>, Site)> {
        let told = |(written, _): &(Written<'static>, Site)| {
            !self.is_operator || *written == Written::Attribute("constant")
        };
        self.attributes.iter().filter(move |place| told(place)).cloned()
    }

    /// Where a mistake about one of these is told.
    pub(super) fn site_of(&self, is_about: impl Fn(Written<'static>) -> bool) -> Site {
        self.places().find(|(written, _)| is_about(*written)).map_or(self.site, |(_, site)| site)
    }
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
    /// A struct.
    Struct {
        /// Which, by what it is called in Rust.
        ty: lower::StructType,
        /// Its tensors and numbers, those of structs in it too.
        parts: Vec<(NodeId, Field)>,
    },
}

/// What a tensor or number in a struct is in Rust.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// A number.
    Number,
    /// A tensor whose type decides all extents.
    Decided,
    /// A tensor of which run time knows some extents.
    Open,
}

impl Structure {
    /// The nodes in it, in order.
    pub fn nodes(&self) -> Vec<NodeId> {
        let (mut nodes, mut rest) = (Vec::new(), vec![self]);
        while let Some(structure) = rest.pop() {
            match structure {
                Self::Node(node) => nodes.push(*node),
                Self::Tuple(elements) => rest.extend(elements.iter().rev()),
                Self::Struct { parts, .. } => nodes.extend(parts.iter().map(|(node, _)| *node)),
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
    /// That of this leaf, which an operation says is one of numbers.
    NumbersOf(LeafId),
    /// This one: what has it consists of literals alone, or an operation gives it. Of truth values it is always told.
    Fixed(DType),
}

impl Class {
    /// Of truth values.
    pub const TRUTHS: Self = Self::Fixed(DType::Bool);
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
            CheckKind::Scalar(_) | CheckKind::Differentiable | CheckKind::Is(_) | CheckKind::Axis(_) => {
                self.node
            }
            CheckKind::Argument(ref contract) => {
                contract.others.iter().map(|(other, _)| *other).fold(self.node, NodeId::max)
            }
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
    /// Of a rank that has this axis, of which a negative one counts from the end: else E3004.
    Axis(i64),
    /// What the parameter of a template demands of its argument: else E2001.
    Argument(Box<Contract>),
}

/// What the parameter of a template demands of its argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contract {
    /// ``argument `x` of `nn::softmax` ``
    pub label: String,
    /// `float[.., N]`, as it is written.
    pub pattern: String,
    /// What it demands.
    pub demand: Demand,
    /// The arguments that the demand is in terms of, each as messages name it.
    pub others: Vec<(NodeId, String)>,
}

impl Program {
    /// A node.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    /// The class of a node.
    pub fn class(&self, id: NodeId) -> Class {
        self.classes[self.node(id).class.index()]
    }

    /// Whether a node is of truth values.
    pub fn is_of_truths(&self, id: NodeId) -> bool {
        self.class(id) == Class::TRUTHS
    }

    /// What kind of work a node is: a conversion from or to truth values stands in loops, which have one type of numbers each.
    pub(crate) fn kind(&self, id: NodeId) -> Kind {
        let node = self.node(id);
        match &node.op {
            Op::Map(map)
                if map.is_conversion() && (self.is_of_truths(id) || self.is_of_truths(node.operands[0])) =>
            {
                Kind::Cheap
            }
            op => op.kind(),
        }
    }

    /// Every node with its id, in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (NodeId, &Node)> + ExactSizeIterator {
        self.nodes.iter().enumerate().map(|(position, node)| (NodeId::new(position), node))
    }
}
