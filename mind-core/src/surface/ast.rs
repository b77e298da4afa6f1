//! The syntax tree of the surface language.
//!
//! A body is a flat list in evaluation order ([`Body::nodes`]): operands stand before what uses them, statements
//! between the expressions before and after them. A pass over a body is a loop and dropping one frees a list, so
//! no chain of operators, however long, costs stack. Only brackets nest, and [`super::nesting`] bounds those.

mod body;
mod callee;
mod calls;
mod items;
mod loops;
mod templates;

pub(crate) use body::new_axes;
pub use body::{
    Argument, BinaryOp, Body, Derivative, ExprId, FieldPattern, FieldValue, Node, NodeKind, Number,
    NumberValue, Path, Pattern, Subscript, SubscriptKind, Transform, TransformKind, Transposed, Wrt,
    WrtPlace, WrtTarget,
};
pub use callee::Callee;
pub use loops::{Loop, LoopKind};
use proc_macro2::{Ident, TokenStream};
pub use templates::{
    ConstantKind, Declared, DeclaredKind, ElementClass, ElementPattern, Formal, Home, Pack, Template,
    TemplateParameter, TensorPattern,
};

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
    /// What it names of other blocks.
    pub fn imports(&self) -> &[Import] {
        match self {
            Self::Block(block) => &block.imports,
            Self::Closure(closure) => &closure.imports,
            Self::Expression(expression) => &expression.imports,
        }
    }
}

/// The items of a block, in source order.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// `use crate::layers::dense;`, and paths.
    pub imports: Vec<Import>,
    /// `use nn::softmax;`: what calls it is a call of the library.
    pub library: Vec<Import>,
    /// `const H: dim = 256;`
    pub constants: Vec<Constant>,
    /// The structs whose fields could be read.
    pub structs: Vec<Struct>,
    /// The functions whose signature could be read.
    pub functions: Vec<Function>,
    /// The templates whose parameters could be read.
    pub templates: Vec<Template>,
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

/// `use crate::layers::dense as layer;`: a function, struct or constant of another block.
#[derive(Clone, Debug)]
pub struct Import {
    /// What it is, by how the program uses it.
    pub kind: ImportKind,
    /// `crate::layers::dense`
    pub path: TokenStream,
    /// What it is called here: `layer`, or the last segment of the path; where it is named by a path, that.
    pub name: Callee,
    /// The path from its first segment outside the braces around it, and the renaming.
    pub site: Site,
}

/// What a program imports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImportKind {
    /// A function or template.
    Function,
    /// A struct or constant.
    Item,
}

/// `pub const H: dim = 256;`, `const EPS: float = 1e-5;`
#[derive(Clone, Debug)]
pub struct Constant {
    /// Doc comments and other attributes, as written.
    pub attributes: TokenStream,
    /// `pub`, `pub(crate)`, … or nothing.
    pub visibility: TokenStream,
    /// `H`
    pub name: Ident,
    /// `256`
    pub value: ConstantValue,
}

/// What a constant is.
#[derive(Clone, Debug)]
pub enum ConstantValue {
    /// `dim = 2 * H`
    Dim(DimExpr),
    /// `float = 1e-5`, `int = -1`, `bool = true`
    Plain(Plain),
}

/// The value of a constant that is no dimension.
#[derive(Clone, Debug)]
pub enum Plain {
    /// `1e-5`: a float or an integer.
    Number(Number),
    /// `true`
    Truth(bool),
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
    /// `P` of `<P: params>`: what a struct of the library is over.
    pub over: Option<Ident>,
    /// The fields in order; never empty.
    pub fields: Vec<Field>,
    /// From `struct` to the end of the fields.
    pub site: Site,
    /// The same, as written.
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
    pub fn callees(&self) -> impl Iterator<Item = (&Callee, Site)> {
        self.body.iter().flat_map(Body::callees)
    }
}

/// A closure.
#[derive(Clone, Debug)]
pub struct Closure {
    /// `use crate::layers::dense;` before it, and paths.
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
    /// `use crate::layers::dense;` before it, and paths.
    pub imports: Vec<Import>,
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
    /// `Mlp`, `Dense<64, N>`, `optim::Adam<Mlp>`
    Struct {
        /// `Dense`, `layers::Dense`
        name: Callee,
        /// `64`, `N`; a name alone may be that of a struct.
        dims: Vec<DimExpr>,
        /// `Dense<64, N>` of `optim::Adam<Dense<64, N>>`, which no dimension is written as.
        over: Option<Box<TypeExpr>>,
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
    Name(Callee),
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

impl DimOperator {
    /// The operator of this sign.
    pub fn of(sign: &str) -> Option<Self> {
        match sign {
            "+" => Some(Self::Add),
            "-" => Some(Self::Sub),
            "*" => Some(Self::Mul),
            "/" => Some(Self::Div),
            _ => None,
        }
    }
}
