//! The syntax tree of the surface language.
//!
//! A body is a flat list in evaluation order ([`Body::nodes`]): operands precede the nodes that use them, and
//! statements stand between the expressions before and after them. A pass over a body is a loop, and dropping a body
//! frees a list. A chain of operators therefore costs no stack, however long it is. Only brackets nest, and
//! [`super::nesting`] bounds their depth.

mod body;
mod callee;
mod calls;
mod items;
mod loops;
mod memory;
mod nodes;
mod templates;
mod transforms;

pub(crate) use body::new_axes;
pub use body::{
    Argument, BinaryOp, Body, ExprId, FieldPattern, FieldValue, Node, NodeKind, Number, NumberValue, Path,
    Pattern, Subscript, SubscriptKind, Transposed, WrittenText,
};
pub use callee::Callee;
pub use loops::{Loop, LoopKind, LoopOptions};
pub use memory::MemoryBound;
pub use nodes::Scope;
use proc_macro2::{Ident, TokenStream};
pub use templates::{
    ConstantKind, Declared, DeclaredKind, ElementClass, ElementPattern, Formal, Home, Pack, Template,
    TemplateParameter, TensorPattern,
};
pub use transforms::{Derivative, GradientKind, Transform, TransformKind, Wrt, WrtPlace, WrtTarget};

use crate::diag::Site;
use crate::ty::DType;

/// The contents of one `mind!`.
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
    /// The items of other blocks that it uses.
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
    /// `use crate::layers::dense;`, and items that are used by their path.
    pub imports: Vec<Import>,
    /// `use nn::softmax;`: a call of this name is a call of the library.
    pub library: Vec<Import>,
    /// `const H: dim = 256;`
    pub constants: Vec<Constant>,
    /// The structs whose fields could be parsed.
    pub structs: Vec<Struct>,
    /// The functions whose signature could be parsed.
    pub functions: Vec<Function>,
    /// The templates whose parameters could be parsed.
    pub templates: Vec<Template>,
    /// The functions that are declared here and defined elsewhere.
    pub externs: Vec<Extern>,
    /// The names of items that could not be parsed, so that uses of them are not reported again.
    pub unread: Vec<Ident>,
    /// The structs that occur as stacks in the types of fields, parameters and results, with the number of leading
    /// axes.
    pub stacks: Vec<(Callee, usize)>,
}

/// `extern fn cells::cell(x: f64[8]) -> f64[8];`: a function of a Knossos program, which no block defines.
#[derive(Clone, Debug)]
pub struct Extern {
    /// `cells::cell`, without spaces.
    pub path: String,
    /// The declaration. Its name is the last segment of the path, and it has no body.
    pub function: Function,
}

/// `use crate::layers::dense as layer;`: a function, struct or constant of another block.
#[derive(Clone, Debug)]
pub struct Import {
    /// The kind of the item, as far as its use in the program shows.
    pub kind: ImportKind,
    /// `crate::layers::dense`
    pub path: TokenStream,
    /// Its name here: `layer`, or the last segment of the path. For an item that is used by its path, the path.
    pub name: Callee,
    /// The path and the renaming. Inside the braces of a `use`, only the part within the innermost braces.
    pub site: Site,
}

/// The kind of an imported item.
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
    /// `pub`, `pub(crate)`, … or empty.
    pub visibility: TokenStream,
    /// `H`
    pub name: Ident,
    /// `256`
    pub value: ConstantValue,
}

/// The value of a constant.
#[derive(Clone, Debug)]
pub enum ConstantValue {
    /// `dim = 2 * H`
    Dim(DimExpr),
    /// `float = 1e-5`, `int = -1`, `bool = true`
    Plain(Plain),
}

/// The value of a constant that is not a dimension.
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
    /// `pub`, `pub(crate)`, … or empty.
    pub visibility: TokenStream,
    /// `Dense`
    pub name: Ident,
    /// The dimensions declared in `<I, O>`.
    pub symbols: Vec<Ident>,
    /// `P` of `<P: params>`: the parameters over which a library struct is generic.
    pub over: Option<Ident>,
    /// The fields in order; never empty.
    pub fields: Vec<Field>,
    /// From `struct` to the end of the fields.
    pub site: Site,
    /// The tokens of `site`, as written.
    pub source: TokenStream,
}

/// A field of a struct.
#[derive(Clone, Debug)]
pub struct Field {
    /// Doc comments and other attributes, as written.
    pub attributes: TokenStream,
    /// `pub`, `pub(crate)`, … or empty.
    pub visibility: TokenStream,
    /// `w`
    pub name: Ident,
    /// `f32[I, O]`; `None` where an error in it has been reported.
    pub ty: Option<TypeExpr>,
    /// Name and type.
    pub site: Site,
}

/// A function of a block.
#[derive(Clone, Debug)]
pub struct Function {
    /// Doc comments and other attributes to be passed on, as written; `#[grad(…)]` and `#[memory(…)]` are not among
    /// them.
    pub attributes: TokenStream,
    /// `#[grad(w, b)]`: the gradient function asked for.
    pub gradient: Option<Wrt>,
    /// `#[memory(max = "64 MiB")]`: the bound on the memory for temporaries.
    pub memory: Option<Box<MemoryBound>>,
    /// `pub`, `pub(crate)`, … or empty.
    pub visibility: TokenStream,
    /// `f`
    pub name: Ident,
    /// The dimensions declared in `<N, M>`.
    pub symbols: Vec<Ident>,
    /// The parameters in order.
    pub parameters: Vec<Parameter>,
    /// The type after `->`; `None` means `()`.
    pub result: Option<TypeExpr>,
    /// The body; `None` where an error in it, already reported, hides which names it binds.
    pub body: Option<Body>,
    /// From `fn` to the end of the signature.
    pub site: Site,
    /// From `fn` to the end of the body, or of the signature if there is no body; as written.
    pub source: TokenStream,
}

impl Function {
    /// Every callee in its body, including built-in functions, with the site of the call.
    pub fn callees(&self) -> impl Iterator<Item = (&Callee, Site)> {
        self.body.iter().flat_map(Body::callees)
    }
}

/// A closure.
#[derive(Clone, Debug)]
pub struct Closure {
    /// `use crate::layers::dense;` before it, and items that are used by their path.
    pub imports: Vec<Import>,
    /// The parameters in order.
    pub parameters: Vec<Parameter>,
    /// The type after `->`; `None` means that it is inferred.
    pub result: Option<TypeExpr>,
    /// As for [`Function::body`].
    pub body: Option<Body>,
    /// From `|` to `|` or the result type.
    pub site: Site,
}

/// An expression among Rust variables: `late: relu(x @ self.w) : f32[32, 256]`.
#[derive(Clone, Debug)]
pub struct Expression {
    /// `use crate::layers::dense;` before it, and items that are used by their path.
    pub imports: Vec<Import>,
    /// Whether it begins with `late:`.
    pub late: bool,
    /// The body; its tail is the expression.
    pub body: Body,
    /// The type after the expression.
    pub ty: Option<TypeExpr>,
    /// From the first to the last token.
    pub site: Site,
}

/// `w: &mut f32[64, 32]`
#[derive(Clone, Debug)]
pub struct Parameter {
    /// `w`
    pub name: Ident,
    /// Whether it is `&mut`: an input that the function updates in place.
    pub update: bool,
    /// `f32[64, 32]`
    pub ty: TypeExpr,
    /// The whole declaration.
    pub site: Site,
}

/// A written type.
#[derive(Clone, Debug)]
pub struct TypeExpr {
    /// Its kind.
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
    /// `Mlp`, `Dense<64, N>`, `Dense<64, N>[12]`, `optim::Adam<Mlp>`
    Struct {
        /// `Dense`, `layers::Dense`
        name: Callee,
        /// `64`, `N`; a single name may also name a struct.
        dims: Vec<DimExpr>,
        /// `Dense<64, N>` of `optim::Adam<Dense<64, N>>`: an argument that cannot be a dimension.
        over: Option<Box<TypeExpr>>,
        /// `12`: the leading axes of a stack of structs.
        stacked: Vec<DimExpr>,
    },
}

/// An extent in a type or a constant, in postfix order: each operator follows its two operands.
#[derive(Clone, Debug)]
pub struct DimExpr {
    /// Never empty; evaluates on a stack to a single value.
    pub steps: Vec<DimStep>,
    /// Its tokens.
    pub site: Site,
}

/// A step of a [`DimExpr`].
#[derive(Clone, Debug)]
pub struct DimStep {
    /// The operand or operator.
    pub kind: DimStepKind,
    /// The integer, the name or the operator itself.
    pub site: Site,
}

/// The operand or operator in a step of a [`DimExpr`].
#[derive(Clone, Debug)]
pub enum DimStepKind {
    /// An integer, never negative.
    Integer(i64),
    /// A symbol or a constant.
    Name(Callee),
    /// Replaces the two operands before it.
    Operator(DimOperator),
}

/// The operators on dimensions.
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
