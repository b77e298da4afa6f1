//! The syntax tree of the surface language.
//!
//! A body is a flat list in evaluation order ([`Body::nodes`]): operands stand before what uses them, statements
//! between the expressions before and after them. A pass over a body is a loop and dropping one frees a list, so
//! no chain of operators, however long, costs stack. Only brackets nest, and [`super::nesting`] bounds those.

use std::ops::Index;

use proc_macro2::{Ident, TokenStream};

use crate::diag::Site;
use crate::ty::DType;

/// What one `mind!` holds.
#[derive(Clone, Debug)]
pub enum Program {
    /// `fn`, `const` and `struct` items.
    Block(Block),
    /// `|x: f32[2, 3]| relu(x)`.
    Closure(Closure),
    /// `relu(x @ w)`, among Rust variables.
    Expression(Expression),
}

impl Program {
    /// The functions of other blocks that it calls.
    pub fn imports(&self) -> &[Import] {
        match self {
            Self::Block(block) => &block.imports,
            Self::Closure(closure) => &closure.imports,
            Self::Expression(_) => &[],
        }
    }
}

/// The items of a block, in source order.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// `use crate::layers::dense;`
    pub imports: Vec<Import>,
    /// `const H: dim = 256;`
    pub constants: Vec<Constant>,
    /// The structs whose fields could be read.
    pub structs: Vec<Struct>,
    /// The functions whose signature could be read.
    pub functions: Vec<Function>,
    /// The functions that are declared and elsewhere.
    pub externs: Vec<Extern>,
    /// The names of items that could not be read, so that uses of them are not reported again.
    pub unread: Vec<Ident>,
}

/// `extern fn cells::cell(x: f64[8]) -> f64[8];`: a function that no block has, of a Knossos program.
#[derive(Clone, Debug)]
pub struct Extern {
    /// `cells::cell`, without spaces.
    pub path: String,
    /// What is declared; the name is the last segment of the path, and there is no body.
    pub function: Function,
}

/// `use crate::layers::dense as layer;`: a function of another block.
#[derive(Clone, Debug)]
pub struct Import {
    /// `crate::layers::dense`
    pub path: TokenStream,
    /// What it is called here: `layer`, or the last segment of the path.
    pub name: Ident,
    /// The path from its first segment outside the braces around it, and the renaming.
    pub site: Site,
}

/// `pub const H: dim = 256;`
#[derive(Clone, Debug)]
pub struct Constant {
    /// Doc comments and other attributes, as written.
    pub attributes: TokenStream,
    /// `pub`, `pub(crate)`, … or nothing.
    pub visibility: TokenStream,
    /// `H`
    pub name: Ident,
    /// `256`
    pub value: DimExpr,
}

/// `pub struct Dense<I, O> { w: f32[I, O], b: f32[O] }`
#[derive(Clone, Debug)]
pub struct Struct {
    /// Doc comments and other attributes, as written.
    pub attributes: TokenStream,
    /// `pub`, `pub(crate)`, … or nothing.
    pub visibility: TokenStream,
    /// `Dense`
    pub name: Ident,
    /// The dimensions declared in `<I, O>`.
    pub symbols: Vec<Ident>,
    /// The fields in order; never empty.
    pub fields: Vec<Field>,
    /// From `struct` to the end of the fields, as written.
    pub source: TokenStream,
}

/// A field of a struct.
#[derive(Clone, Debug)]
pub struct Field {
    /// Doc comments and other attributes, as written.
    pub attributes: TokenStream,
    /// `pub`, `pub(crate)`, … or nothing.
    pub visibility: TokenStream,
    /// `w`
    pub name: Ident,
    /// `f32[I, O]`; nothing where a mistake in it has been reported.
    pub ty: Option<TypeExpr>,
    /// Name and type.
    pub site: Site,
}

/// A function of a block.
#[derive(Clone, Debug)]
pub struct Function {
    /// Doc comments and other attributes to be passed on, as written; `#[grad(…)]` is not among them.
    pub attributes: TokenStream,
    /// `#[grad(w, b)]`: the gradient function asked for.
    pub gradient: Option<Wrt>,
    /// `pub`, `pub(crate)`, … or nothing.
    pub visibility: TokenStream,
    /// `f`
    pub name: Ident,
    /// The dimensions declared in `<N, M>`.
    pub symbols: Vec<Ident>,
    /// The parameters in order.
    pub parameters: Vec<Parameter>,
    /// The type after `->`; nothing means `()`.
    pub result: Option<TypeExpr>,
    /// The body; nothing where an error in it, already reported, hides which names it binds.
    pub body: Option<Body>,
    /// From `fn` to the end of the signature.
    pub site: Site,
    /// From `fn` to the end of the body, as written; without a body where there is none.
    pub source: TokenStream,
}

impl Function {
    /// Every name that it calls, built-in ones too, with the call.
    pub fn callees(&self) -> impl Iterator<Item = (&Ident, Site)> {
        let nodes = self.body.iter().flat_map(|body| &body.nodes);
        nodes.filter_map(|node| Some((node.kind.callee()?, node.site)))
    }
}

/// A closure.
#[derive(Clone, Debug)]
pub struct Closure {
    /// `use crate::layers::dense;` before it.
    pub imports: Vec<Import>,
    /// The parameters in order.
    pub parameters: Vec<Parameter>,
    /// The type after `->`; nothing means that it is inferred.
    pub result: Option<TypeExpr>,
    /// As for [`Function::body`].
    pub body: Option<Body>,
    /// From `|` to `|` or the result type.
    pub site: Site,
}

/// An expression among Rust variables: `late: relu(x @ self.w) : f32[32, 256]`.
#[derive(Clone, Debug)]
pub struct Expression {
    /// Whether it begins with `late:`.
    pub late: bool,
    /// Its tail is the expression.
    pub body: Body,
    /// The type behind the expression.
    pub ty: Option<TypeExpr>,
    /// From the first to the last token.
    pub site: Site,
}

/// `w: &mut f32[64, 32]`
#[derive(Clone, Debug)]
pub struct Parameter {
    /// `w`
    pub name: Ident,
    /// Whether it is `&mut`: read as it was, written in place.
    pub update: bool,
    /// `f32[64, 32]`
    pub ty: TypeExpr,
    /// The whole declaration.
    pub site: Site,
}

/// A written type.
#[derive(Clone, Debug)]
pub struct TypeExpr {
    /// What it is.
    pub kind: TypeKind,
    /// Its tokens.
    pub site: Site,
}

/// The kinds of types.
#[derive(Clone, Debug)]
pub enum TypeKind {
    /// `f32[N, 784]`; `f32[]` and `f32` have no dims.
    Tensor {
        /// `f32`
        dtype: DType,
        /// `N`, `784`
        dims: Vec<DimExpr>,
    },
    /// `(f32, (f32[3], f32))`, `()`
    Tuple(Vec<TypeExpr>),
    /// `Mlp`, `Dense<64, N>`
    Struct {
        /// `Dense`
        name: Ident,
        /// `64`, `N`
        dims: Vec<DimExpr>,
    },
}

/// An extent in a type or a constant, in postfix order: each operator follows its two operands.
#[derive(Clone, Debug)]
pub struct DimExpr {
    /// Never empty; evaluates on a stack to one value.
    pub steps: Vec<DimStep>,
    /// Its tokens.
    pub site: Site,
}

/// A step of a [`DimExpr`].
#[derive(Clone, Debug)]
pub struct DimStep {
    /// What it does.
    pub kind: DimStepKind,
    /// The integer, the name or the operator itself.
    pub site: Site,
}

/// What a step of a [`DimExpr`] does.
#[derive(Clone, Debug)]
pub enum DimStepKind {
    /// An integer, never negative.
    Integer(i64),
    /// A symbol or a constant.
    Name(Ident),
    /// Replaces the two operands before it.
    Operator(DimOperator),
}

/// The operators of dims.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DimOperator {
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
    /// `/`, rounded down
    Div,
}

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
    /// Where it stands in [`Body::nodes`].
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
    /// What it is.
    pub kind: NodeKind,
    /// From its first to its last token, brackets around it included.
    pub site: Site,
}

/// The kinds of statements and expressions.
#[derive(Clone, Debug)]
pub enum NodeKind {
    /// An expression that could not be read and has been reported.
    Unread,
    /// `2`, `-1.5_f64`
    Number(Number),
    /// `true`, `false`: the value of a named argument.
    Bool(bool),
    /// A variable, a symbol, a constant, or a word such as `same`.
    Name(Ident),
    /// `-a`
    Neg {
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
        callee: Ident,
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
        function: Ident,
        /// `x`
        arguments: Vec<Argument>,
    },
    /// `a.T`
    Transpose(ExprId),
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
        /// What stands in the braces.
        tokens: TokenStream,
        /// The whole in one line.
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
        /// `Mlp`
        name: Ident,
        /// `w1: a`, `b1`
        fields: Vec<FieldValue>,
        /// `p`: what gives the fields that are not written.
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
    /// `w = value;`, `w -= value;`, `p.w -= value;`
    Assign {
        /// `w`, `p.w`
        target: Path,
        /// The `-` of `-=`.
        op: Option<BinaryOp>,
        /// The operator itself.
        operator: Site,
        /// `value`
        value: ExprId,
    },
    /// `value;`
    Discard(ExprId),
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

    /// Whether one of the two is the other or holds it.
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

impl NodeKind {
    /// What it calls, if it is a call.
    pub fn callee(&self) -> Option<&Ident> {
        match self {
            Self::Call { callee, .. } => Some(callee),
            Self::Transformed { function, .. } => Some(function),
            Self::Unread
            | Self::Number(_)
            | Self::Bool(_)
            | Self::Name(_)
            | Self::Neg { .. }
            | Self::Binary { .. }
            | Self::Transpose(_)
            | Self::Member { .. }
            | Self::Struct { .. }
            | Self::Rust { .. }
            | Self::Typed { .. }
            | Self::Derivative(_)
            | Self::Field { .. }
            | Self::Subscript { .. }
            | Self::Array(_)
            | Self::Tuple(_)
            | Self::Open
            | Self::Close { .. }
            | Self::Let { .. }
            | Self::Assign { .. }
            | Self::Discard(_) => None,
        }
    }
}

/// The binary operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryOp {
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
    /// `/`
    Div,
    /// `@`, binds like `*`
    MatMul,
}

impl BinaryOp {
    /// As written.
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Sub => "-",
            Self::Mul => "*",
            Self::Div => "/",
            Self::MatMul => "@",
        }
    }
}

/// A number as written; its dtype comes from the suffix or the context.
#[derive(Clone, Debug, PartialEq)]
pub struct Number {
    /// As written, with its sign.
    pub text: String,
    /// What it is.
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

/// `grad(·, wrt = a)`
#[derive(Clone, Debug)]
pub struct Transform {
    /// Which one.
    pub kind: TransformKind,
    /// The parameters to differentiate by.
    pub wrt: Wrt,
    /// From its name to its closing parenthesis.
    pub site: Site,
}

/// The derivative of an expression among Rust variables.
#[derive(Clone, Debug)]
pub struct Derivative {
    /// Which one.
    pub kind: TransformKind,
    /// What is differentiated.
    pub value: ExprId,
    /// The places to differentiate by, in the order of the gradients; never empty.
    pub wrt: Vec<WrtPlace>,
    /// Whether the gradients come as a tuple even where there is one.
    pub tuple: bool,
    /// The whole list.
    pub wrt_site: Site,
    /// What `vjp` pulls back.
    pub cotangent: Option<ExprId>,
    /// From its name to the closing parenthesis behind the list.
    pub site: Site,
}

/// A place to differentiate by.
#[derive(Clone, Copy, Debug)]
pub struct WrtPlace {
    /// `self.w`: a name and its fields.
    pub place: ExprId,
    /// As [`WrtTarget::zero_ok`].
    pub zero_ok: bool,
}

/// The transforms of functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransformKind {
    /// The gradient of a scalar.
    Grad,
    /// The value and the gradient.
    ValueAndGrad,
    /// A cotangent, given as the last argument, pulled back.
    Vjp,
}

impl TransformKind {
    /// Every transform.
    pub const ALL: [Self; 3] = [Self::Grad, Self::ValueAndGrad, Self::Vjp];

    /// As written.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Grad => "grad",
            Self::ValueAndGrad => "value_and_grad",
            Self::Vjp => "vjp",
        }
    }
}

/// The parameters to differentiate by: `a`, or `(a, zero_ok b)`.
#[derive(Clone, Debug)]
pub struct Wrt {
    /// In the order of the gradients; never empty.
    pub targets: Vec<WrtTarget>,
    /// Whether the gradients come as a tuple even where there is one.
    pub tuple: bool,
    /// The whole list.
    pub site: Site,
}

/// A parameter to differentiate by, or a field of one.
#[derive(Clone, Debug)]
pub struct WrtTarget {
    /// The parameter or field.
    pub path: Path,
    /// Whether a parameter that does not reach the output has a gradient of zeros rather than being an error.
    pub zero_ok: bool,
}

/// One position of an index expression.
#[derive(Clone, Debug)]
pub struct Subscript {
    /// What it takes.
    pub kind: SubscriptKind,
    /// Its tokens.
    pub site: Site,
}

/// What a position of an index expression takes.
#[derive(Clone, Debug)]
pub enum SubscriptKind {
    /// `3`: one place, dropping the axis.
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
    /// `..`: as many whole axes as are not written.
    Rest,
}

/// What a `let` binds.
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
        /// `Mlp`
        name: Ident,
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
