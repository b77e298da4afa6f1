//! The typed IR of Knossos programs: functions of blocks of instructions, flat, each value made once.
//!
//! A [`Body`] is two arenas, of values and of blocks. A block lists instructions in the order they run; an instruction
//! has operands, which are values made before it in its block or in one around it, and makes one value. What a program
//! nests (branches, the bodies of loops) is a block of its own that the instruction names. So a pass is a loop over
//! instructions with a call for each nested block, and blocks nest no deeper than the text they come from.
//!
//! There are four loops ([`Loop`]), all over a counter from 0; `map`, `sum`, `constVec`, `deltaVec`, `diag` and others
//! of the language are written in these when a program is read, so that what is known of loops is known of them.
//!
//! Nothing is written to, with one exception that only derivatives have: an accumulator is made, added to, and read
//! once. Adding commutes, so the order in which the turns of a loop add is free.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use super::{
    scalars::Scalar,
    types::{TypeId, Types},
};
use crate::diag::Site;

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

            /// The id of a position.
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

/// A place in a text, both counted from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// The line.
    pub line: u32,
    /// The column in characters.
    pub column: u32,
}

impl Position {
    /// The place in a whole of a place in a part that begins here.
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

/// Every function of a file with its rules, and what they share.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// Every type that is used.
    pub types: Types,
    /// In the order of their first mention; derivatives follow as they are asked for.
    pub functions: Vec<Function>,
    /// The rules, whose sides are functions of their parameters.
    pub rules: Vec<Rule>,
    /// What tapes hold.
    pub layouts: Vec<Layout>,
    /// What is known by name and argument, and which derivative belongs to which function.
    pub(super) names: Names,
    /// How many of the functions, from the first, have been looked through for derivatives to make.
    pub(super) completed: usize,
    /// How many instructions the derivatives that were made have.
    pub(super) derived: usize,
}

/// The functions of a program by their names, and the derivatives of each.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    /// The overloads of each name that the program defines or declares.
    pub(super) overloads: HashMap<Arc<str>, Vec<FunctionId>>,
    /// Functions of the prelude and primitives as functions, made where a derivative of one is asked for.
    pub(super) builtins: HashMap<(Arc<str>, TypeId), FunctionId>,
    pub(super) derivatives: HashMap<(Derivative, FunctionId), FunctionId>,
    /// The derivatives that the program wrote.
    pub(super) written: HashSet<FunctionId>,
    /// Functions that the program declares, or writes a derivative of, and leaves to the prelude.
    pub(super) left: HashSet<FunctionId>,
}

/// The types of the values of a tape, in order.
pub type Layout = Box<[TypeId]>;

/// `(rule "name" params left right)`.
#[derive(Clone, Debug)]
pub struct Rule {
    /// The name.
    pub name: String,
    /// Where it begins.
    pub place: Position,
    /// The pattern as a function of the parameters.
    pub left: FunctionId,
    /// What it may be replaced by, as a function of the same parameters.
    pub right: FunctionId,
}

/// A function.
#[derive(Clone, Debug)]
pub struct Function {
    /// As a program writes it: `f`, `[rev f]`.
    pub name: Arc<str>,
    /// The types of the parameters. A call gives as many operands.
    pub parameters: Box<[TypeId]>,
    /// The one argument: the parameter, or the tuple of several or of none.
    pub argument: TypeId,
    /// The result.
    pub result: TypeId,
    /// Where it was first mentioned.
    pub place: Position,
    /// What it does.
    pub definition: Definition,
}

/// What a function does.
#[derive(Clone, Debug)]
pub enum Definition {
    /// `edef`: it is somewhere else.
    Declared,
    /// It is the Rust function of the binding at this position.
    Bound(usize),
    /// A derivative that nobody has written, to be made when it is needed.
    Pending(Derivative, FunctionId),
    /// Its body is known.
    Defined(Body),
    /// Its mistake was reported.
    Wrong,
}

/// A function made of another, `f : S → T`; `dS` and `dT` are tangents.
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
    /// `(S, dS) → (T, dT)`, so that calls need not run twice.
    Dual,
    /// `S → (T, Tape)`, for [`Derivative::Pullback`].
    Taped,
    /// `(Tape, dT, accumulators of dS) → (Tuple)`: adds into what the caller gives it, so that a call costs what it
    /// touches and not the size of its arguments.
    Pullback,
}

/// The arenas of a function.
#[derive(Clone, Debug, Default)]
pub struct Body {
    /// Every value.
    pub values: Vec<ValueDef>,
    /// Every block.
    pub blocks: Vec<Block>,
    /// The block whose parameters are the function's and whose result is.
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
    /// What the program calls it, where it does.
    pub name: Option<Arc<str>>,
}

/// Instructions in the order they run.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// What whoever runs the block gives it.
    pub parameters: Vec<ValueId>,
    /// What runs.
    pub instructions: Vec<Instruction>,
    /// What it leaves.
    pub result: ValueId,
}

/// One operation.
#[derive(Clone, Debug)]
pub struct Instruction {
    /// The value it makes.
    pub result: ValueId,
    /// What it does.
    pub operation: Operation,
    /// What it does it to.
    pub operands: Vec<ValueId>,
    /// Where the program says so.
    pub place: Position,
}

/// Loops over a counter from 0 up to but not including a size; of rank n the counter is a tuple, the last member fastest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loop {
    /// The tensor of what the turns leave. Operands: size. Parameters: counter.
    Build,
    /// Its sum, in order; emitted code adds up long rows in lanes. Operands: size. Parameters: counter. Nothing is summed
    /// to the zero of the type, and is an error where that has tensors.
    Sum,
    /// Carries a value from turn to turn. Operands: size (rank 1), first value. Parameters: counter, value.
    Fold,
    /// As `Fold`; a turn leaves (carried, kept), the loop (last carried, vector of what was kept).
    Scan,
}

/// What is done to the operands, given in order.
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
    /// On numbers and truth values.
    Scalar(Scalar),
    /// The tuple of the operands.
    Tuple,
    /// A member of a tuple, from 0.
    Get(usize),
    /// Whether two values of one type are equal, through and through; sizes count.
    Equal,
    /// The size of a tensor: what it is indexed by, outermost first.
    Size,
    /// Index, tensor: the element.
    Index,
    /// The vector of the operands.
    VecInit,
    /// The first position of the greatest of a vector of floats.
    ArgMax,
    /// The tensor of tuples as a tuple of tensors.
    Unzip,
    /// The structure of a value: the value without its numbers.
    Structure,
    /// Structure: the zero of the result's type that has it.
    Zero,
    /// Value, tangent: their sum.
    Add,
    /// Tangent: its negative.
    Negate,
    /// Float, tangent: the product.
    Scale,
    /// Two tangents: the sum of products.
    Dot,
    /// A loop and its body.
    Loop(Loop, BlockId),
    /// Condition: one of two blocks without parameters.
    If(BlockId, BlockId),
    /// Condition: fails where it is false; makes `(Tuple)`.
    Assert(Check),
    /// Size, and an index or none: fails where an extent is negative, and where the index is none of a tensor of that size;
    /// makes `(Tuple)`. What is left of tensors that are not built.
    Bounds,
    /// Any values: writes them without anything between; makes how many there are.
    Print,
    /// Runs a function.
    Call(FunctionId),
    /// Structure: a new accumulator, at zero.
    Accumulator,
    /// Accumulator, an index for each [`Projection::Element`], value: adds it there; makes `(Tuple)`.
    AddTo(Box<[Projection]>),
    /// Accumulator, an index for each [`Projection::Element`]: the part of it there, as an accumulator.
    Part(Box<[Projection]>),
    /// Accumulator: what was added up. Nothing adds to it or reads it afterwards.
    Read,
    /// The tape of the operands.
    Pack(LayoutId),
    /// Tape: a value of it, from 0.
    Unpack(LayoutId, usize),
}

/// A step into a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Projection {
    /// A member of a tuple, from 0.
    Member(usize),
    /// An element of a tensor; its index is an operand.
    Element,
    /// A value of a tape, from 0.
    Taped(LayoutId, usize),
}

/// What an assertion is about, for its message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// `assert` of the program.
    Written,
    /// Tensors that an operation takes element by element.
    Sizes(&'static str),
}

impl Operation {
    /// The blocks it runs, in order.
    pub fn blocks(&self) -> impl Iterator<Item = BlockId> + use<> {
        let (first, second) = match self {
            Self::Loop(_, body) => (Some(*body), None),
            Self::If(then, otherwise) => (Some(*then), Some(*otherwise)),
            _ => (None, None),
        };
        first.into_iter().chain(second)
    }
}
