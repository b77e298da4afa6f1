//! The state of a body that is being read: its open brackets, innermost last, and the current statement.

use proc_macro2::{Ident, Span};
use syn::buffer::Cursor;

use crate::diag::Site;
use crate::map::Map;
use crate::surface::ast::{
    Argument, BinaryOp, Callee, Derivative, ExprId, FieldValue, LoopKind, Path, Pattern, Subscript,
    Transform, TransformKind, TypeExpr,
};

/// An expression that has been read.
#[derive(Clone, Copy)]
pub(super) struct Operand {
    pub(super) id: ExprId,
    /// Brackets around it included.
    pub(super) site: Site,
}

/// What is to be read next.
pub(super) enum State {
    /// A statement, or the end of a block.
    Statement,
    /// An element, or the end of a list.
    Element,
    /// An operand, with the signs before it.
    Operand,
    /// A block of the language if braces are all there is, else an operand.
    BlockOrOperand,
    /// What may follow an operand: a postfix form, an operator, or what ends the expression.
    Behind(Operand),
    /// A comma, a closing bracket or another token that may follow a complete expression in the innermost bracket.
    Whole(Operand),
    /// Nothing: the body has been read.
    Done(Option<ExprId>),
}

/// An open bracket, or the whole body.
pub(super) struct Level<'a> {
    pub(super) kind: LevelKind,
    /// Operators that wait for an operand.
    pub(super) pending: Vec<Pending>,
    pub(super) outside: Option<Outside<'a>>,
}

/// Where to go on behind a bracket.
pub(super) struct Outside<'a> {
    pub(super) open: Span,
    pub(super) close: Span,
    pub(super) after: Cursor<'a>,
    pub(super) closing: &'static str,
}

/// What an open bracket is.
pub(super) enum LevelKind {
    /// An expression that another macro passed on, without a bracket to be seen.
    Fragment,
    /// `(a, b)`
    Parenthesis { elements: Vec<ExprId>, comma: bool },
    /// `[a, b]`
    Array { elements: Vec<ExprId> },
    /// `f(a, b)`
    Call(OpenCall),
    /// `a[0, 1..3]`
    Subscripts {
        base: Operand,
        subscripts: Vec<Subscript>,
        current: Option<OpenSubscript>,
        foreign: ForeignSubscripts,
    },
    /// `{ … }`, with the statement being read.
    Block { statement: Option<Statement> },
    /// The expression of a closure.
    Closure,
    /// An expression among Rust variables.
    Expression,
    /// `grad(a, wrt = b)` among Rust variables.
    Derivative(OpenDerivative),
    /// The cotangent behind `vjp(…)`.
    Cotangent(Derivative),
    /// `Mlp { w1: a, b1, ..p }`
    Struct(OpenStruct),
    /// `scan h = h0 for x in xs { … }`, which no bracket encloses.
    Loop(OpenLoop),
}

/// An operator that waits for an operand.
pub(super) enum Pending {
    Sign(Map, Site),
    Binary { op: BinaryOp, operator: Site, lhs: Operand },
}

/// A call whose arguments are being read.
pub(super) struct OpenCall {
    pub(super) target: Target,
    /// Where the function or the receiver of the call begins.
    pub(super) start: Site,
    pub(super) arguments: Vec<Argument>,
    /// `axes` where `axes =` has been read.
    pub(super) name: Option<Ident>,
}

/// The function or method of a call.
pub(super) enum Target {
    Function(Callee),
    Method(Ident),
    Transformed { transforms: Vec<Transform>, function: Callee },
}

/// A subscript of which a part is being read.
pub(super) struct OpenSubscript {
    pub(super) first: Site,
    pub(super) part: SubscriptPart,
}

/// The part of a subscript being read, with those before it.
#[derive(Clone, Copy)]
pub(super) enum SubscriptPart {
    /// A place, or the start of a range.
    Start,
    End {
        start: Option<ExprId>,
    },
    Step {
        start: Option<ExprId>,
        end: Option<ExprId>,
    },
}

/// Subscripts that have been read as other libraries write them: what is wrong, and what they come to here.
#[derive(Default)]
pub(super) struct ForeignSubscripts {
    /// The first token that is not of the language, and the token itself.
    pub(super) found: Option<(Site, &'static str)>,
    /// Which ranges include their end.
    pub(super) inclusive: Vec<usize>,
    /// Whether the subscript being read has a `:`.
    pub(super) colon: bool,
}

/// A transform whose expression is being read.
pub(super) struct OpenDerivative {
    pub(super) kind: TransformKind,
    pub(super) start: Site,
}

/// A statement whose expression is being read.
pub(super) struct Statement {
    /// The first node that belongs to it.
    pub(super) start: usize,
    /// Its first token.
    pub(super) first: Site,
    pub(super) kind: StatementKind,
}

pub(super) enum StatementKind {
    Let { pattern: Pattern, ty: Option<TypeExpr> },
    Assign { target: Path, op: Option<BinaryOp>, operator: Site },
    Expression,
}

/// A loop that is being read.
pub(super) struct OpenLoop {
    /// Its first token.
    pub(super) start: Site,
    pub(super) kind: LoopKind,
    pub(super) carry: Option<Pattern>,
    /// What the next expression is.
    pub(super) part: LoopPart,
}

pub(super) enum LoopPart {
    /// The first carry.
    First,
    /// What is iterated, or where a range begins.
    Over { first: Option<ExprId>, element: Pattern },
    /// Where a range ends.
    End { first: Option<ExprId>, element: Pattern, over: ExprId },
    /// The body, behind the node of the loop.
    Body { head: ExprId },
}

/// A struct expression whose fields are being read.
pub(super) struct OpenStruct {
    pub(super) name: Callee,
    pub(super) fields: Vec<FieldValue>,
    /// What the next expression is.
    pub(super) part: FieldPart,
    pub(super) base: Option<ExprId>,
}

pub(super) enum FieldPart {
    Field(Ident),
    Base,
}
