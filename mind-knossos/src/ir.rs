//! The typed IR of Knossos programs: functions as flat blocks of instructions, in which each value is defined once.
//!
//! A [`Body`] is two arenas: values and blocks. A block lists its instructions in execution order. An instruction
//! defines one value. Its operands are values defined before it in its block or in an enclosing block. Nested code
//! (branches, loop bodies) is a separate block that the instruction refers to. A pass is therefore a loop over
//! instructions with a call for each nested block, and blocks nest no deeper than the text.
//!
//! The four loops ([`Loop`]) all run over a counter from 0. `map`, `sum`, `constVec`, `deltaVec`, `diag` and other
//! constructs are translated to these when a program is read, so a pass needs to know only the four loops.
//!
//! Values are immutable, except for accumulators, which occur only in derivatives. An accumulator is created, added to,
//! and read once. Addition commutes, so the iterations of a loop can add in any order.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use mind_core::diag::Site;

use crate::{
    scalars::Scalar,
    types::{TypeId, Types},
};

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub(super) u32);

        impl $name {
            /// The position in its arena.
            pub fn index(self) -> usize {
                self.0 as usize
            }

            /// The id with this position.
            pub fn new(index: usize) -> Self {
                Self(u32::try_from(index).expect("texts are shorter than 2^32 bytes"))
            }
        }
    )+};
}

ids! {
    /// A value of a body.
    ValueId
    /// A block of a body.
    BlockId
    /// A function of a program.
    FunctionId
    /// A layout of a program.
    LayoutId
}

/// A position in a text; both parts are counted from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// The line.
    pub line: u32,
    /// The column in characters.
    pub column: u32,
}

impl Position {
    /// Translates a position within a part to a position in the whole text. The part starts at `self`.
    #[must_use]
    pub fn of(self, part: Self) -> Self {
        let column = if part.line == 1 { self.column + part.column - 1 } else { part.column };
        Self { line: self.line + part.line - 1, column }
    }
}

impl From<Position> for Site {
    fn from(place: Position) -> Self {
        Self::Text { line: place.line, column: place.column }
    }
}

/// The functions of a file, its rules, and the data that they share.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// The types in use.
    pub types: Types,
    /// In the order of their first mention. Derivatives are appended when they are requested.
    pub functions: Vec<Function>,
    /// The rules. Each side is a function of the rule's parameters.
    pub rules: Vec<Rule>,
    /// The types of the values that tapes hold.
    pub layouts: Vec<Layout>,
    /// Functions by name and argument type, and the derivatives of each function.
    pub(super) names: Names,
    /// The number of functions, from the first, that have been searched for needed derivatives.
    pub(super) completed: usize,
    /// The number of instructions in all generated derivatives.
    pub(super) derived: usize,
}

/// The functions of a program by their names, and the derivatives of each.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    /// The overloads of each name that the program defines or declares.
    pub(super) overloads: HashMap<Arc<str>, Vec<FunctionId>>,
    /// Functions of the prelude and primitives as functions, created when a derivative of one is requested.
    pub(super) builtins: HashMap<(Arc<str>, TypeId), FunctionId>,
    pub(super) derivatives: HashMap<(Derivative, FunctionId), FunctionId>,
    /// The derivatives that the program defines or declares.
    pub(super) written: HashSet<FunctionId>,
    /// Functions that the program declares, or defines a derivative of, without defining them. The prelude defines
    /// them.
    pub(super) left: HashSet<FunctionId>,
}

/// The types of the values of a tape, in order.
pub type Layout = Box<[TypeId]>;

/// A rewrite rule: `(rule "name" params left right)`.
#[derive(Clone, Debug)]
pub struct Rule {
    /// The name.
    pub name: String,
    /// The position of its start.
    pub place: Position,
    /// The pattern as a function of the parameters.
    pub left: FunctionId,
    /// The replacement as a function of the same parameters.
    pub right: FunctionId,
}

/// A function.
#[derive(Clone, Debug)]
pub struct Function {
    /// The name as a program writes it: `f`, `[rev f]`.
    pub name: Arc<str>,
    /// The types of the parameters. A call has one operand per parameter.
    pub parameters: Box<[TypeId]>,
    /// The type of the argument: the type of the only parameter, or the tuple of all parameter types.
    pub argument: TypeId,
    /// The type of the result.
    pub result: TypeId,
    /// The position of its first mention.
    pub place: Position,
    /// The definition.
    pub definition: Definition,
}

/// The definition of a function.
#[derive(Clone, Debug)]
pub enum Definition {
    /// Declared with `edef`, without a definition in the program.
    Declared,
    /// Defined by the Rust function of the binding with this index.
    Bound(usize),
    /// A derivative that the program does not define. It is generated when it is needed.
    Pending(Derivative, FunctionId),
    /// Defined by a body.
    Defined(Body),
    /// Has an error, which was reported.
    Wrong,
}

/// A function derived from another, `f : S → T`; `dS` and `dT` are tangent types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Derivative {
    /// `[fwd f] : (S, dS) → dT`.
    Fwd,
    /// `[rev f]` and `[sufrev f] : (S, dT) → dS`.
    Rev,
    /// `[suffwdpass f] : S → (T, Tape)`.
    SufFwdPass,
    /// `[sufrevpass f] : (dT, Tape) → dS`.
    SufRevPass,
    /// `[shape f] : S → shape of T`.
    Shape,
    /// `(S, dS) → (T, dT)`. It computes both results, so that a call need not run twice.
    Dual,
    /// `S → (T, Tape)`, for [`Derivative::Pullback`].
    Taped,
    /// `(Tape, dT, accumulators of dS) → (Tuple)`. It adds into accumulators of the caller, so that the cost of a call
    /// depends on the elements it touches and not on the size of its arguments.
    Pullback,
    /// `(S, dT, accumulators of dS) → T`. It computes the value and adds into the accumulators, for functions that are
    /// linear in the results of their calls.
    Direct,
}

/// The body of a function.
#[derive(Clone, Debug, Default)]
pub struct Body {
    /// Every value.
    pub values: Vec<ValueDef>,
    /// Every block.
    pub blocks: Vec<Block>,
    /// The outermost block. Its parameters and result are those of the function.
    pub entry: BlockId,
}

impl Body {
    /// The type of a value.
    pub fn ty(&self, value: ValueId) -> TypeId {
        self.values[value.index()].ty
    }

    /// A block.
    pub fn block(&self, block: BlockId) -> &Block {
        &self.blocks[block.index()]
    }
}

/// A value.
#[derive(Clone, Debug)]
pub struct ValueDef {
    /// Its type.
    pub ty: TypeId,
    /// The name in the program, if it has one.
    pub name: Option<Arc<str>>,
}

/// Instructions in execution order.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// The parameters, set by the instruction that runs the block.
    pub parameters: Vec<ValueId>,
    /// The instructions.
    pub instructions: Vec<Instruction>,
    /// The result of the block.
    pub result: ValueId,
}

/// One operation.
#[derive(Clone, Debug)]
pub struct Instruction {
    /// The value that it defines.
    pub result: ValueId,
    /// The operation.
    pub operation: Operation,
    /// The operands.
    pub operands: Vec<ValueId>,
    /// The position in the program.
    pub place: Position,
}

/// Loops over a counter from 0 up to but excluding a size. At rank n the counter is a tuple whose last member varies
/// fastest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loop {
    /// A tensor of the results of all iterations. Operands: size. Parameters: counter.
    Build,
    /// The sum of the results of all iterations, in order; emitted code sums long rows in lanes. Operands: size.
    /// Parameters: counter. An empty sum is the zero of the type, or an error if the type contains tensors.
    Sum,
    /// Carries a value from iteration to iteration. Operands: size (rank 1), first value. Parameters: counter, value.
    Fold,
    /// Like `Fold`, but an iteration results in (carried, kept) and the loop in (last carried, vector of kept values).
    Scan,
}

/// An operation. The comment on each names its operands in order.
#[derive(Clone, Debug, PartialEq)]
pub enum Operation {
    /// A literal.
    Integer(i64),
    /// A literal.
    Float(f64),
    /// A literal.
    Bool(bool),
    /// A literal.
    String(Arc<str>),
    /// An operation on numbers and truth values.
    Scalar(Scalar),
    /// A tuple of the operands.
    Tuple,
    /// A member of a tuple, from 0.
    Get(usize),
    /// Whether two values of one type are equal in all their parts, including sizes.
    Equal,
    /// The size of a tensor: its extents, outermost first.
    Size,
    /// Index, tensor: the element.
    Index,
    /// A vector of the operands.
    VecInit,
    /// The first position of the maximum of a vector of floats.
    ArgMax,
    /// Converts a tensor of tuples to a tuple of tensors.
    Unzip,
    /// The structure of a value: the value without its numbers.
    Structure,
    /// Structure: the zero of the result's type that has this structure.
    Zero,
    /// Value, tangent: their sum.
    Add,
    /// Tangent: its negative.
    Negate,
    /// Float, tangent: the product.
    Scale,
    /// Two tangents: the sum of the products of their numbers.
    Dot,
    /// A loop and its body.
    Loop(Loop, BlockId),
    /// Condition: runs one of two blocks without parameters.
    If(BlockId, BlockId),
    /// Condition: fails if it is false; the result is `(Tuple)`.
    Assert(Check),
    /// Size, and an optional index: fails if an extent is negative, or if the index is outside a tensor of that size;
    /// the result is `(Tuple)`. It remains in place of a tensor that the optimiser does not build.
    Bounds,
    /// Any values: prints them without separators; the result is their number.
    Print,
    /// Calls a function.
    Call(FunctionId),
    /// Structure: a new accumulator, initially zero.
    Accumulator,
    /// Accumulator, an index for each [`Projection::Element`], value: adds the value to that part; the result is
    /// `(Tuple)`.
    AddTo(Box<[Projection]>),
    /// Accumulator, an index for each [`Projection::Element`]: that part of it, as an accumulator.
    Part(Box<[Projection]>),
    /// Accumulator: its sum. It must not be added to or read afterwards.
    Read,
    /// A tape of the operands.
    Pack(LayoutId),
    /// Tape: one of its values, counted from 0.
    Unpack(LayoutId, usize),
}

/// A step into a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Projection {
    /// A member of a tuple, from 0.
    Member(usize),
    /// An element of a tensor; its index is an operand.
    Element,
    /// A value of a tape, counted from 0.
    Taped(LayoutId, usize),
}

/// The source of an assertion, for its message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// An `assert` in the program.
    Written,
    /// An elementwise operation whose tensors must have equal sizes.
    Sizes(&'static str),
}

impl Operation {
    /// The blocks that it runs, in order.
    pub fn blocks(&self) -> impl Iterator<Item = BlockId> + use<> {
        let (first, second) = match self {
            Self::Loop(_, body) => (Some(*body), None),
            Self::If(then, otherwise) => (Some(*then), Some(*otherwise)),
            _ => (None, None),
        };
        first.into_iter().chain(second)
    }
}
