//! Function bodies: statements, expressions and their parts.

use std::ops::{Index, Range};
use std::rc::Rc;
use std::sync::Arc;

use proc_macro2::{Ident, Literal, TokenStream};

use super::{Callee, Derivative, Loop, Template, Transform, TypeExpr};
use crate::diag::Site;
use crate::map::{Gives, Map, Tightness};
use crate::ty::DType;

/// The statements and expressions of a function.
#[derive(Clone, Debug, Default)]
pub struct Body {
    /// In evaluation order.
    pub nodes: Vec<Node>,
    /// The value of the body, if it ends with one.
    pub tail: Option<ExprId>,
}

/// A node of a [`Body`] that is an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExprId(pub u32);

impl ExprId {
    /// Its index in [`Body::nodes`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl Index<ExprId> for Body {
    type Output = Node;
    fn index(&self, id: ExprId) -> &Node {
        &self.nodes[id.index()]
    }
}

/// A statement or expression; an operand is the id of an earlier node and is used once.
#[derive(Clone, Debug)]
pub struct Node {
    /// Its kind.
    pub kind: NodeKind,
    /// From its first to its last token, brackets around it included.
    pub site: Site,
}

/// A string in double quotes.
#[derive(Clone, Debug)]
pub struct WrittenText {
    /// Its value.
    pub value: Arc<str>,
    /// Its token.
    pub literal: Literal,
}

impl WrittenText {
    /// The site of some bytes of the value, as far as the tokens tell it; the whole string if they do not.
    pub fn site(&self, bytes: Range<usize>) -> Site {
        let is_plain = self.literal.to_string() == format!("\"{}\"", self.value);
        let part = bytes.start + 1..bytes.end + 1;
        let span = if is_plain { self.literal.subspan(part) } else { None };
        Site::token(span.unwrap_or_else(|| self.literal.span()))
    }
}

impl Number {
    /// Whether it is a float.
    pub fn is_float(&self) -> bool {
        matches!(self.value, NumberValue::Float(_))
    }
}

/// The kinds of statements and expressions.
#[derive(Clone, Debug)]
pub enum NodeKind {
    /// An expression that could not be parsed; the error has been reported.
    Unread,
    /// `2`, `-1.5_f64`
    Number(Number),
    /// `true`, `false`: the value of a named argument.
    Bool(bool),
    /// `"h"`: an argument of `inspect`, `einsum` or `pad`.
    Text(WrittenText),
    /// A variable, a symbol, a constant, or a word such as `same`.
    Name(Ident),
    /// `layers::EPS`: a constant of another block.
    Path(Callee),
    /// `..B` in a list: the leading dimensions that a template names `B`.
    Pack(Ident),
    /// `-a`, `!a`
    Prefix {
        /// `-`, or `!`.
        map: Map,
        /// `a`
        operand: ExprId,
        /// The sign itself.
        operator: Site,
    },
    /// `a + b`
    Binary {
        /// `+`
        op: BinaryOp,
        /// The operator itself.
        operator: Site,
        /// `a`
        lhs: ExprId,
        /// `b`
        rhs: ExprId,
    },
    /// `f(a, b, axes = [0])`
    Call {
        /// `f`
        callee: Callee,
        /// `a`, `b`, `axes = [0]`; the receiver first in the method form.
        arguments: Vec<Argument>,
        /// Whether it is `a.f(b)`.
        method: bool,
    },
    /// `grad(f, wrt = a)(x)`
    Transformed {
        /// `grad(·, wrt = a)`, innermost first; never empty.
        transforms: Vec<Transform>,
        /// `f`
        function: Callee,
        /// `x`
        arguments: Vec<Argument>,
    },
    /// `a.T`, `a.mT`
    Transpose {
        /// `a`
        base: ExprId,
        /// Which axes are reversed.
        axes: Transposed,
    },
    /// `a.0`
    Field {
        /// `a`
        base: ExprId,
        /// `0`
        index: usize,
        /// The index itself.
        field: Site,
    },
    /// `p.w`: a field of a struct, or of a Rust value.
    Member {
        /// `p`
        base: ExprId,
        /// `w`
        name: Ident,
    },
    /// `{ … }` among Rust variables: the Rust expression inside.
    Rust {
        /// The tokens in the braces.
        tokens: TokenStream,
        /// The whole expression on one line.
        text: String,
    },
    /// `(x: f32[2, 3])`
    Typed {
        /// `x`
        operand: ExprId,
        /// `f32[2, 3]`
        ty: TypeExpr,
    },
    /// `grad(a * self.b, wrt = (a, self.b))`
    Derivative(Derivative),
    /// `Mlp { w1: a, b1, ..p }`
    Struct {
        /// `Mlp`, `layers::Mlp`
        name: Callee,
        /// `w1: a`, `b1`
        fields: Vec<FieldValue>,
        /// `p`: supplies the fields that are not listed.
        base: Option<ExprId>,
    },
    /// `a[0, 1..3, ..]`
    Subscript {
        /// `a`
        base: ExprId,
        /// `0`, `1..3`, `..`
        subscripts: Vec<Subscript>,
    },
    /// `[a, b]`
    Array(Vec<ExprId>),
    /// `(a, b)`, `()`
    Tuple(Vec<ExprId>),
    /// `{`: a scope begins.
    Open,
    /// `}`: the scope's names end; the block's value is `tail`.
    Close {
        /// The last expression, if it has no `;`.
        tail: Option<ExprId>,
    },
    /// `let (a, b): (f32, f32) = value;`
    Let {
        /// `(a, b)`
        pattern: Pattern,
        /// `(f32, f32)`
        ty: Option<TypeExpr>,
        /// `value`
        value: ExprId,
    },
    /// `w = value;`, `w -= value;`, `p.w -= value;`, `w[i] = value;`
    Assign {
        /// `w`, `p.w`
        target: Path,
        /// `w[i]`, if only a part of the target is assigned to.
        part: Option<ExprId>,
        /// The `-` of `-=`.
        op: Option<BinaryOp>,
        /// The operator itself.
        operator: Site,
        /// `value`
        value: ExprId,
    },
    /// `value;`
    Discard(ExprId),
    /// Begins the pullback of a function: `pullback(y, dy) {`. The parameters stay visible inside; other names bound
    /// before it do not.
    Pullback {
        /// `y`: the result.
        value: Pattern,
        /// `dy`: the cotangent of the result.
        cotangent: Pattern,
        /// The value of the body, which is the result of the function.
        of: Option<ExprId>,
    },
    /// Ends a pullback. Its value is the value of the body again, with this derivative.
    PulledBack {
        /// The cotangents of the parameters.
        tail: Option<ExprId>,
    },
    /// Begins a loop: `scan h = h0 for x in xs`. Its body is the block that follows.
    Loop(Loop),
    /// Begins a loop with a condition: `while n = n0`. The condition follows.
    While {
        /// `n`
        carry: Pattern,
        /// `n0`
        first: ExprId,
    },
    /// Ends the condition of a loop. Its body is the block that follows.
    Tested {
        /// The node of its `While`.
        head: ExprId,
        /// The condition.
        test: ExprId,
        /// The most steps: `at most = 100`.
        most: Option<ExprId>,
        /// The steps between two kept carries: `checkpoint = 16`.
        checkpoint: Option<ExprId>,
    },
    /// Begins an `if`. Its first branch is the block that follows.
    If {
        /// The condition.
        test: ExprId,
    },
    /// Ends the first branch of an `if`. The other branch follows: a block or another `if`.
    Else {
        /// The node of its `If`.
        head: ExprId,
        /// The block.
        tail: ExprId,
    },
    /// Ends an `if`.
    Branched {
        /// The node of its `Else`.
        head: ExprId,
        /// The other branch.
        tail: ExprId,
    },
    /// Ends a loop.
    Looped {
        /// The node of its [`Loop`], or its `Tested`.
        head: ExprId,
        /// The block.
        tail: ExprId,
    },
    /// Begins the body of a template that is called here. The names inside have the meaning that they have in the
    /// template.
    Enter {
        /// The called template.
        template: Rc<Template>,
        /// The argument of each parameter; empty while the template is checked without a call.
        arguments: Vec<Option<ExprId>>,
    },
    /// Ends the body of a template. The value of the call is `tail`.
    Leave {
        /// The callee, as written at the call.
        callee: Callee,
        /// The arguments, as written at the call.
        arguments: Vec<Argument>,
        /// Whether it is `a.f(b)`.
        method: bool,
        /// The value of the body.
        tail: Option<ExprId>,
    },
}

/// `p`, `p.first.w`: a parameter, or a field of one.
#[derive(Clone, Debug)]
pub struct Path {
    /// `p`
    pub name: Ident,
    /// `first`, `w`
    pub fields: Vec<Ident>,
}

impl Path {
    /// Its tokens.
    pub fn site(&self) -> Site {
        let last = self.fields.last().unwrap_or(&self.name);
        Site::token(self.name.span()).to(Site::token(last.span()))
    }

    /// Whether one path equals the other or is a prefix of it.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.name == other.name && self.fields.iter().zip(&other.fields).all(|(a, b)| a == b)
    }
}

/// `w1: a`, or `b1` for `b1: b1`, in a struct expression.
#[derive(Clone, Debug)]
pub struct FieldValue {
    /// `w1`
    pub name: Ident,
    /// `a`
    pub value: ExprId,
}

impl Body {
    /// The site of the function's own pullback, if it has one.
    pub(crate) fn pullback(&self) -> Option<Site> {
        let end = &self[self.tail?];
        matches!(end.kind, NodeKind::PulledBack { .. }).then_some(end.site)
    }

    /// Appends a pullback to the body of a function. `site` is the site of `pullback(y, dy)`.
    pub(crate) fn with_pullback(self, [value, cotangent]: [Pattern; 2], site: Site, pullback: Self) -> Self {
        let id = |index: usize| u32::try_from(index).map(ExprId).expect("bodies are bounded");
        let Self { mut nodes, tail } = self;
        nodes.push(Node { kind: NodeKind::Pullback { value, cotangent, of: tail }, site });
        let shift = id(nodes.len()).0;
        nodes.extend(pullback.nodes.into_iter().map(|mut node| {
            node.kind.operands_mut().into_iter().for_each(|operand| operand.0 += shift);
            node
        }));
        let tail = pullback.tail.map(|tail| ExprId(tail.0 + shift));
        nodes.push(Node { kind: NodeKind::PulledBack { tail }, site });
        let tail = Some(id(nodes.len() - 1));
        Self { nodes, tail }
    }

    /// The expression that messages show for an expression in the body of a template: the outermost call around it of a
    /// function of the library, whose text no program contains, or the call of a template with a pullback that ends
    /// there. `end` is the number of nodes that have been lowered; a call that has not ended is not shown.
    pub(crate) fn as_reported(&self, expr: ExprId, end: usize) -> ExprId {
        let (mut shown, mut inner) = (expr, 0usize);
        for (index, node) in self.nodes.iter().enumerate().take(end).skip(expr.index() + 1) {
            match &node.kind {
                NodeKind::Enter { .. } => inner += 1,
                NodeKind::Leave { .. } if inner > 0 => inner -= 1,
                NodeKind::Leave { callee, .. }
                    if callee.of_library || matches!(self[shown].kind, NodeKind::PulledBack { .. }) =>
                {
                    shown = ExprId(u32::try_from(index).expect("bodies are bounded"));
                }
                _ => {}
            }
        }
        shown
    }

    /// The path that an expression consists of: a name, or a field of one.
    pub fn path(&self, mut expr: ExprId) -> Option<Path> {
        let mut fields = Vec::new();
        loop {
            match &self[expr].kind {
                NodeKind::Name(name) => {
                    fields.reverse();
                    return Some(Path { name: name.clone(), fields });
                }
                NodeKind::Member { base, name } => {
                    fields.push(name.clone());
                    expr = *base;
                }
                _ => return None,
            }
        }
    }

    /// The node that uses an expression as an operand.
    pub(crate) fn user(&self, expr: ExprId) -> Option<ExprId> {
        let behind = expr.index() + 1;
        let user = self.nodes.get(behind..)?.iter().position(|node| node.kind.uses(expr))?;
        u32::try_from(behind + user).ok().map(ExprId)
    }
}

/// The axes that a postfix transposition reverses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transposed {
    /// `.T`: all.
    All,
    /// `.mT`: the last two.
    Matrices,
}

impl Transposed {
    /// The transposition with this field name.
    pub fn of(name: &str) -> Option<Self> {
        [Self::All, Self::Matrices].into_iter().find(|axes| axes.symbol()[1..] == *name)
    }

    /// As written in programs.
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::All => ".T",
            Self::Matrices => ".mT",
        }
    }
}

/// The binary operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryOp {
    /// `+`, `<`, `&&`: an elementwise function.
    Map(Map),
    /// `@`, binds like `*`
    At,
}

impl BinaryOp {
    /// As written in programs.
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::Map(map) => map.row().label,
            Self::At => "@",
        }
    }

    /// How tightly it binds.
    pub fn tightness(self) -> Tightness {
        match self {
            Self::Map(map) => map.row().infix().expect("operators stand between their operands"),
            Self::At => Tightness::Multiplicative,
        }
    }

    /// Whether its result has the element type of its operands, so that it combines literals to a literal.
    pub fn keeps_literals(self) -> bool {
        match self {
            Self::Map(map) => map.row().gives == Gives::Operand,
            Self::At => false,
        }
    }

    /// Every operator.
    pub fn all() -> impl Iterator<Item = Self> {
        Map::operators().map(Self::Map).chain([Self::At])
    }
}

/// A number as written; its dtype comes from the suffix or the context.
#[derive(Clone, Debug, PartialEq)]
pub struct Number {
    /// As written, with its sign.
    pub text: String,
    /// Its value.
    pub value: NumberValue,
    /// `f32` of `2.0_f32`.
    pub suffix: Option<DType>,
}

/// The value of a [`Number`].
#[derive(Clone, Debug, PartialEq)]
pub enum NumberValue {
    /// An integer that fits in 64 bits.
    Integer(i64),
    /// Decimal digits with sign, point and exponent as [`str::parse`] reads them: rounded once the dtype is known.
    Float(String),
}

/// An argument of a call.
#[derive(Clone, Debug)]
pub struct Argument {
    /// `axes` of `axes = [0]`.
    pub name: Option<Ident>,
    /// The value.
    pub value: ExprId,
    /// The whole argument.
    pub site: Site,
}

/// One position of an index expression.
#[derive(Clone, Debug)]
pub struct Subscript {
    /// The elements that it selects.
    pub kind: SubscriptKind,
    /// Its tokens.
    pub site: Site,
}

/// The elements that one position of an index expression selects.
#[derive(Clone, Debug)]
pub enum SubscriptKind {
    /// `3`: selects one index and drops the axis.
    At(ExprId),
    /// `a..b;s`, each part optional; `..` alone is [`Self::Rest`].
    Range {
        /// `a`
        start: Option<ExprId>,
        /// `b`
        end: Option<ExprId>,
        /// `s`
        step: Option<ExprId>,
    },
    /// `a ..+ n`: `n` elements, from `a` on.
    Counted {
        /// `a`
        start: ExprId,
        /// `n`
        count: ExprId,
    },
    /// `..`: all axes that no other position covers.
    Rest,
    /// `_`: a new axis of extent 1.
    New,
}

/// The positions of the new axes in the result. The position of an axis after `..` is negative: it counts from the end.
pub(crate) fn new_axes(subscripts: &[Subscript]) -> Vec<i64> {
    let axes_of = |parts: &[Subscript]| {
        let axes = parts.iter().filter(|part| !matches!(part.kind, SubscriptKind::At(_))).count();
        i64::try_from(axes).expect("a list of subscripts is in memory")
    };
    let rest = subscripts.iter().position(|part| matches!(part.kind, SubscriptKind::Rest));
    let news = subscripts.iter().enumerate().filter(|(_, part)| matches!(part.kind, SubscriptKind::New));
    let place = |at: usize| match rest.is_some_and(|rest| rest < at) {
        true => -axes_of(&subscripts[at..]),
        false => axes_of(&subscripts[..at]),
    };
    news.map(|(at, _)| place(at)).collect()
}

/// The pattern of a `let`.
#[derive(Clone, Debug)]
pub enum Pattern {
    /// `_`
    Wildcard(Site),
    /// `a`
    Name(Ident),
    /// `(a, (b, _))`
    Tuple {
        /// `a`, `(b, _)`
        elements: Vec<Pattern>,
        /// Its tokens.
        site: Site,
    },
    /// `Mlp { w1, b1: b, .. }`
    Struct {
        /// `Mlp`, `layers::Mlp`
        name: Callee,
        /// `w1`, `b1: b`
        fields: Vec<FieldPattern>,
        /// Whether it ends with `..`: other fields are left out.
        rest: bool,
        /// Its tokens.
        site: Site,
    },
}

/// `b1: b`, or `w1` for `w1: w1`, in a struct pattern.
#[derive(Clone, Debug)]
pub struct FieldPattern {
    /// `b1`
    pub name: Ident,
    /// `b`
    pub pattern: Pattern,
}
