//! The state of a body that is being read: its open brackets, innermost last, and their current statements.

use proc_macro2::{Ident, Span};
use syn::buffer::Cursor;

use crate::diag::Site;
use crate::map::Map;
use crate::surface::ast::{
    Argument, BinaryOp, Callee, Derivative, ExprId, FieldValue, GradientKind, LoopKind, LoopOptions, Path,
    Pattern, Subscript, Transform, TypeExpr,
};

/// An expression that has been read.
#[derive(Clone, Copy)]
pub(super) struct ParsedOperand {
    pub(super) id: ExprId,
    /// The site, with the brackets around the operand.
    pub(super) site: Site,
}

/// The next element of the grammar to read.
pub(super) enum State {
    /// A statement, or the end of a block.
    Statement,
    /// An element, or the end of a list.
    Element,
    /// An operand, with the signs before it.
    Operand,
    /// A block of the language if nothing but braces is left, otherwise an operand.
    BlockOrOperand,
    /// A postfix form, an operator, or a token that ends the expression.
    Behind(ParsedOperand),
    /// The end of a loop or of a branch whose block was read, or the tokens after another block.
    AfterBlock(ParsedOperand),
    /// A comma, a closing bracket or another token that may follow a complete expression in the innermost bracket.
    Whole(ParsedOperand),
    /// The end: the body has been read.
    End(Option<ExprId>),
}

/// An open bracket, or the whole body.
pub(super) struct Level<'a> {
    pub(super) kind: LevelKind,
    /// Operators that wait for an operand.
    pub(super) pending: Vec<Pending>,
    pub(super) outside: Option<Outside<'a>>,
}

/// The position after a bracket, at which reading continues.
pub(super) struct Outside<'a> {
    pub(super) open: Span,
    pub(super) close: Span,
    pub(super) after: Cursor<'a>,
    pub(super) closing: &'static str,
}

/// The kind of an open bracket.
pub(super) enum LevelKind {
    /// An expression that another macro passed on, in an invisible bracket.
    Fragment,
    /// `(a, b)`
    Parenthesis { elements: Vec<ExprId>, comma: bool },
    /// `[a, b]`
    Array { elements: Vec<ExprId> },
    /// `f(a, b)`
    Call(OpenCall),
    /// `a[0, 1..3]`
    Subscripts {
        base: ParsedOperand,
        subscripts: Vec<Subscript>,
        current: Option<OpenSubscript>,
        foreign: ForeignSubscripts,
    },
    /// `{ … }`, with the statement that is being read.
    Block { statement: Option<Statement> },
    /// The expression of a closure.
    Closure,
    /// An expression among Rust variables.
    Expression,
    /// `grad(a, wrt = b)` among Rust variables.
    Derivative(OpenDerivative),
    /// The cotangent after `vjp(…)`.
    Cotangent(Derivative),
    /// `Mlp { w1: a, b1, ..p }`
    Struct(OpenStruct),
    /// `scan h = h0 for x in xs { … }`, which has no bracket around it.
    Loop(OpenLoop),
}

/// An operator that waits for an operand.
pub(super) enum Pending {
    Sign(Map, Site),
    Binary { op: BinaryOp, operator: Site, lhs: ParsedOperand },
}

/// A call whose arguments are being read.
pub(super) struct OpenCall {
    pub(super) target: CallTarget,
    /// The first token of the function or of the receiver.
    pub(super) start: Site,
    pub(super) arguments: Vec<Argument>,
    /// `axes`, once `axes =` has been read.
    pub(super) name: Option<Ident>,
}

/// The function or method of a call.
pub(super) enum CallTarget {
    Function(Callee),
    Method(Ident),
    Transformed { transforms: Vec<Transform>, function: Callee },
}

/// A subscript of which a part is being read.
pub(super) struct OpenSubscript {
    pub(super) first: Site,
    pub(super) part: SubscriptPart,
}

/// The part of a subscript that is being read, with the parts before it.
#[derive(Clone, Copy)]
pub(super) enum SubscriptPart {
    /// An index, or the start of a range.
    Start,
    End {
        start: Option<ExprId>,
    },
    Step {
        start: Option<ExprId>,
        end: Option<ExprId>,
    },
    /// The `n` of `a ..+ n`.
    Count {
        start: ExprId,
    },
}

/// Subscripts that are written as in other libraries: the token to report, and their meaning in this language.
#[derive(Default)]
pub(super) struct ForeignSubscripts {
    /// The site and the text of the first token that is not of the language.
    pub(super) found: Option<(Site, &'static str)>,
    /// The positions of the ranges that include their end.
    pub(super) inclusive: Vec<usize>,
    /// Whether the current subscript has a `:`.
    pub(super) colon: bool,
}

/// A transform whose expression is being read.
pub(super) struct OpenDerivative {
    pub(super) kind: GradientKind,
    pub(super) start: Site,
}

/// A statement whose expression is being read.
pub(super) struct Statement {
    /// The index of its first node.
    pub(super) start: usize,
    /// Its first token.
    pub(super) first: Site,
    pub(super) kind: StatementKind,
}

pub(super) enum StatementKind {
    Let { pattern: Pattern, ty: Option<TypeExpr> },
    Assign { target: Path, part: Option<ExprId>, op: Option<BinaryOp>, operator: Site },
    Expression,
}

/// A loop or an `if` that is being read.
pub(super) struct OpenLoop {
    /// Its first token.
    pub(super) start: Site,
    pub(super) kind: OpenKind,
    /// The meaning of the next expression or block.
    pub(super) part: LoopPart,
}

pub(super) enum OpenKind {
    Loop { kind: LoopKind, carry: Option<Pattern> },
    While { carry: Option<Pattern> },
    If,
}

pub(super) enum LoopPart {
    /// The first carry.
    First,
    /// The iterated value, or the start of a range.
    Over { first: Option<ExprId>, element: Pattern },
    /// The end of a range.
    End { first: Option<ExprId>, element: Pattern, over: ExprId },
    /// A condition, after the node of the `while`; none for an `if`.
    Test { head: Option<ExprId> },
    /// The most steps.
    Most { head: ExprId, test: ExprId },
    /// The steps between two kept carries, after the head of a loop so far.
    Checkpoint { head: Box<LoopHead> },
    /// The same of a `while`.
    CheckpointOfWhile { head: ExprId, test: ExprId, most: ExprId },
    /// The body, after the node of the loop.
    Body { head: ExprId },
    /// The first branch, after the node of the `if`.
    FirstBranch { head: ExprId },
    /// The other branch, after the node of the `else`.
    Else { head: ExprId },
}

/// The head of a loop so far.
pub(super) struct LoopHead {
    pub(super) first: Option<ExprId>,
    pub(super) element: Pattern,
    pub(super) over: ExprId,
    pub(super) end: Option<ExprId>,
    pub(super) options: LoopOptions,
}

/// A struct expression whose fields are being read.
pub(super) struct OpenStruct {
    pub(super) name: Callee,
    pub(super) fields: Vec<FieldValue>,
    /// The meaning of the next expression.
    pub(super) part: FieldPart,
    pub(super) base: Option<ExprId>,
}

pub(super) enum FieldPart {
    Field(Ident),
    Base,
}
