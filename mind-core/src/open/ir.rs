//! The open program: leaves, nodes, element-type classes, checks.

use std::rc::Rc;

use mind_shape::Written;
use proc_macro2::TokenStream;

use super::{LeafId, Op, ShapeId};
use crate::{
    diag::Site,
    surface::{
        ast::GradientKind,
        lower::{self, values::demand::Demand},
    },
    ty::{DType, Type},
    written::{WorkKind, ids},
};

ids! {
    /// A node, by its position in [`Program::nodes`].
    NodeId
    /// An element-type class, by its position in [`Program::classes`].
    ClassId
}

/// A program whose inputs have no types yet.
#[derive(Clone, Debug)]
pub struct Program {
    /// The leaves, in the order of first mention.
    pub leaves: Vec<Leaf>,
    /// Leaves first, in their order, then each node after its operands. Every written node is listed, needed or not,
    /// since its rule is checked. Nodes that differentiation adds are listed only if needed.
    pub nodes: Vec<Node>,
    /// The element types.
    pub classes: Vec<Class>,
    /// The conditions beyond the rules of the nodes. Each is checked as soon as the types of its nodes are known: the
    /// rules of later nodes that differentiation added hold only if it does.
    pub checks: Vec<Check>,
    /// The value of the program.
    pub result: Structure,
    /// For each result in order, the leaves whose shapes its shape is broadcast from, for all types of the leaves;
    /// empty if other shapes take part.
    pub broadcast: Vec<Vec<LeafId>>,
    /// The type annotation after the expression.
    pub annotation: Option<Annotation>,
    /// The private struct fields that the program names. Rust checks whether it may access them.
    pub seen: Vec<lower::Seen>,
    /// Whether the program begins with `late:`, which means that types depend on generic parameters of the caller.
    pub late: bool,
    /// The whole expression.
    pub site: Site,
}

/// A Rust place or expression that a program reads.
#[derive(Clone, Debug)]
pub struct Leaf {
    /// The Rust expression: `x`, `self.w`, or the content of the braces.
    pub tokens: TokenStream,
    /// Its text in messages: `x`, `self.w`, `{ … }`.
    pub text: String,
    /// Whether it is a place, `x` or `self.w`, rather than an expression in braces.
    pub is_place: bool,
    /// The part that is read, if the leaf is a struct.
    pub part: Option<PartOf>,
    /// Its annotated type, as in `(x: f32[2, 3])`. Every extent is known.
    pub annotation: Option<(Type, Site)>,
    /// The site of its first mention.
    pub site: Site,
}

/// A tensor or number in a struct.
#[derive(Clone, Debug)]
pub struct PartOf {
    /// The struct.
    pub of: Rc<lower::StructType>,
    /// The position among the tensors and numbers of the struct.
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
    /// Its shape, as far as it is known to equal the shapes of other nodes.
    pub shape: ShapeId,
    /// The data for messages about a broken rule. It is `None` for a node that differentiation added: its rule holds if
    /// the rules of the written nodes and the checks do.
    pub spot: Option<Spot>,
    /// For a node that differentiation added, the node whose derivative it was made for, if known.
    pub derives: Option<NodeId>,
}

/// The data for messages about a node.
#[derive(Clone, Debug)]
pub struct Spot {
    /// The operation as written: `@`, `matmul`, `index`.
    pub label: &'static str,
    /// The templates around the operation, such as `nn::softmax`; empty outside of templates.
    pub within: String,
    /// The operator sign, where all mistakes of an operator are reported; or the whole expression.
    pub site: Site,
    /// Whether `site` is an operator sign. Mistakes of operands and attributes are then reported there too.
    pub is_operator: bool,
    /// The operands as written.
    pub operands: Vec<Operand>,
    /// The sites of the attributes, by their names in the rules: `axes`, `shape`, `permutation`, `starts`, `ends`,
    /// `steps`, `strides`, `padding`; `constant` for a constant; and the sites of the subscripts.
    pub attributes: Vec<(Written<'static>, Site)>,
}

impl Spot {
    /// The name of the operation in messages, to be put in backquotes. It may contain backquotes that close and open
    /// again.
    pub fn message_name(&self) -> String {
        match self.within.as_str() {
            "" => self.label.to_owned(),
            within => format!("{}` in `{within}", self.label),
        }
    }

    /// The sites other than [`Spot::site`] where mistakes are reported: those of the attributes, or for an operator
    /// that of a constant operand.
    pub fn places(&self) -> impl Iterator<Item = (Written<'static>, Site)> {
        let is_reported = |(written, _): &(Written<'static>, Site)| {
            !self.is_operator || *written == Written::Attribute("constant")
        };
        self.attributes.iter().filter(move |place| is_reported(place)).cloned()
    }

    /// The site where a mistake about one of these attributes or subscripts is reported.
    pub(super) fn site_of(&self, is_about: impl Fn(Written<'static>) -> bool) -> Site {
        self.places().find(|(written, _)| is_about(*written)).map_or(self.site, |(_, site)| site)
    }
}

/// An operand as written.
#[derive(Clone, Debug)]
pub struct Operand {
    /// Its text in messages: bare for a variable or place, in backquotes for anything else.
    pub text: String,
    /// Its text as the operand of a postfix form in a help message, in parentheses where needed.
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
        /// The struct type, with its name in Rust.
        ty: lower::StructType,
        /// Its tensors and numbers, including those of nested structs.
        parts: Vec<(NodeId, FieldType)>,
    },
}

/// The Rust type of a tensor or number in a struct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldType {
    /// A number.
    Number,
    /// A tensor whose type fixes all extents.
    Decided,
    /// A tensor some of whose extents are known at run time only.
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

/// The type annotation of an expression. It has the structure of the result.
#[derive(Clone, Debug)]
pub struct Annotation {
    /// The type. Every extent is known.
    pub structure: lower::Structure,
    /// The site of the annotation.
    pub site: Site,
}

/// A class of nodes of one element type, as far as that is known without types. Operands of one operation are in one
/// class; the rules check that they have one type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// The element type of this leaf.
    Of(LeafId),
    /// The element type of this leaf, which must be numeric because of an operation.
    NumbersOf(LeafId),
    /// This element type, because all members are literals, or because an operation fixes it. Classes of truth values
    /// always have this form.
    Fixed(DType),
}

impl Class {
    /// The class of truth values.
    pub const TRUTHS: Self = Self::Fixed(DType::Bool);
}

/// A condition on a node beyond its own rule.
#[derive(Clone, Debug)]
pub struct Check {
    /// The condition.
    pub kind: CheckKind,
    /// The node that it is about.
    pub node: NodeId,
    /// The text of the node in messages; for a `let`, the name that it binds.
    pub text: String,
    /// The site where a mistake is reported.
    pub site: Site,
}

impl Check {
    /// The node after which the check is made.
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

/// The condition of a [`Check`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckKind {
    /// The node is a single float, since it is differentiated. Otherwise the error is E5004. Messages name the
    /// transform as written.
    Scalar(GradientKind),
    /// The node is of floats, since the gradient with respect to it is taken. Otherwise the error is E5005.
    Differentiable,
    /// The node has the type of this other node, whose cotangent it is. Otherwise the error is E2001.
    CotangentOf(NodeId),
    /// The node has this type, which a `let` declares. Otherwise the error is E2001.
    Is(Type),
    /// The rank of the node includes this axis, where a negative axis counts from the end. Otherwise the error is
    /// E3004.
    Axis(i64),
    /// The node satisfies the parameter of a template. Otherwise the error is E2001.
    Argument(Box<Contract>),
}

/// The condition of a template parameter on its argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contract {
    /// The label in messages, such as ``argument `x` of `nn::softmax` ``.
    pub label: String,
    /// The pattern as written, such as `float[.., N]`.
    pub pattern: String,
    /// The condition.
    pub demand: Demand,
    /// The arguments that the condition refers to, each with its text in messages.
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

    /// Whether the elements of a node are truth values.
    pub fn is_of_truths(&self, id: NodeId) -> bool {
        self.class(id) == Class::TRUTHS
    }

    /// The kind of work of a node. A loop has one numeric type. A conversion from or to truth values involves one
    /// numeric type only, so it can run in a loop.
    pub(crate) fn kind(&self, id: NodeId) -> WorkKind {
        let node = self.node(id);
        match &node.op {
            Op::Map(map)
                if map.is_conversion() && (self.is_of_truths(id) || self.is_of_truths(node.operands[0])) =>
            {
                WorkKind::Cheap
            }
            op => op.kind(),
        }
    }

    /// Every node with its id, in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (NodeId, &Node)> + ExactSizeIterator {
        self.nodes.iter().enumerate().map(|(position, node)| (NodeId::new(position), node))
    }
}
