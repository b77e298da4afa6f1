//! Loops as data: what a nest of a plan, or what becomes of the elements of a product, is as loops over memory.
//!
//! A [`Plan`](crate::plan::Plan) says what is computed at each index; a [`Loops`] says in which order, in how many lanes, in
//! which chains sums are settled, what stands in which array, and what is computed of a block that is filled up. All of
//! this is decided by [`nest`] and [`product`]; who prints loops as Rust, lists them or executes them decides nothing.
//!
//! The language is small and first-order. A [`Variable`] is defined once, by the statement that names it. Memory is reached
//! by [`Part`]s of what is captured and of arrays; an array has a length that is known. Rows are slices as long as their
//! loops, so that no bound is checked within a row.

mod listing;
mod lower;
mod ranges;
mod size;

pub use listing::listing;
pub use lower::{
    Done, Epilogue, Finished, OfStep, Product, Whole, epilogue, is_tiny, nest, of_step, product, scratch,
};
pub use ranges::{CheckedLoop, Ranges};
pub use size::Size;

use crate::{
    data::TensorData,
    dim::Dim,
    ir::ValueId,
    map::Map,
    plan::{BufferId, Scalar},
    reduce::{Monoid, Neutral},
    ty::DType,
};

/// Loops, what they capture and what they give.
#[derive(Clone, Debug, PartialEq)]
pub struct Loops {
    /// What is there before the first statement.
    pub captures: Vec<Capture>,
    /// Every variable: those of [`captures`](Self::captures) come first.
    pub variables: Vec<Variable>,
    /// What is done, in order.
    pub body: Vec<Statement>,
    /// Folds over everything, in order: what the loops give.
    pub totals: Vec<Total>,
    /// How they are called.
    pub run: Run,
    /// Whether a function among them is told how the SIMD level computes products and sums.
    pub tells_how: bool,
}

/// A variable: its position in [`Loops::variables`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Var(pub usize);

/// What is known of a variable.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// The value that it is, or holds elements of.
    pub value: Option<ValueId>,
    /// What it is of that value, or its name if there is none: `row`, `i0`.
    pub what: String,
    /// What it holds.
    pub holds: Holds,
}

/// What a variable holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// A number of elements, steps or rows, or a position.
    Size,
    /// A truth value: whether a lane counts.
    Mask,
    /// One element.
    Number(DType),
    /// An array of so many elements.
    Array(DType, usize),
    /// Elements that are elsewhere.
    Borrowed(DType),
    /// Blocks, of so many elements each, that are elsewhere.
    Chunks(DType, usize),
}

/// Something that loops are given.
#[derive(Clone, Debug, PartialEq)]
pub struct Capture {
    /// What it is called.
    pub var: Var,
    /// What it is.
    pub source: Captured,
    /// So many elements are between one step of the axis along which the loops are cut and the next.
    pub stride: Dim,
}

/// What something that loops are given is outside of them.
#[derive(Clone, Debug, PartialEq)]
pub enum Captured {
    /// A buffer that is only read.
    Read(BufferId),
    /// A buffer that is written, and may be read where it is.
    Written(BufferId),
    /// Scratch memory of as many elements as the buffer has.
    Scratch(BufferId),
    /// A single number.
    Number(Scalar),
    /// The steps of the axis along which the loops are cut, of which there are so many in all.
    Steps(Dim),
    /// A part of what a product's kernel gives.
    Block(OfBlock),
}

/// What a product's kernel says of a block of sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OfBlock {
    /// The row at which what is written begins.
    First,
    /// The first row.
    Row,
    /// The first column.
    Column,
    /// How many rows.
    Rows,
    /// How many columns.
    Columns,
    /// The sums.
    Sums,
    /// Elements from a row of the sums to the next.
    Stride,
}

/// A fold over everything.
#[derive(Clone, Debug, PartialEq)]
pub struct Total {
    /// The value that later steps read.
    pub value: ValueId,
    /// What puts the totals of parts together.
    pub monoid: &'static Monoid,
    /// The element type.
    pub dtype: DType,
    /// For a mean, the number of elements.
    pub count: Option<Dim>,
    /// What the loops give for it.
    pub part: Expr,
}

/// How loops are called.
#[derive(Clone, Debug, PartialEq)]
pub enum Run {
    /// Where they stand: there is too little to do for choosing a SIMD level.
    Here,
    /// By the SIMD level of the machine.
    Dispatched,
    /// The same, and cut along an axis for threads and for the tree of totals.
    Cut(Cut),
}

/// How loops are cut along an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Cut {
    /// The axis: the outermost one, unless all that is written are sums over that.
    pub axis: usize,
    /// Steps of the axis.
    pub steps: Dim,
    /// Elements of a step.
    pub elements: Dim,
    /// What an element costs, in additions.
    pub cost: usize,
}

/// A part of an array or of what is elsewhere.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Of what.
    pub of: Var,
    /// Where it begins; at the start if nothing is said.
    pub at: Option<Size>,
    /// How long it is; up to the end if nothing is said.
    pub len: Option<Size>,
}

/// An element of an array or of what is elsewhere.
#[derive(Clone, Debug, PartialEq)]
pub struct ElementRef {
    /// Of what.
    pub of: Var,
    /// Which.
    pub index: Size,
}

/// One element.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// A variable's.
    Number(Var),
    /// A known number.
    Constant(TensorData),
    /// What is at a place.
    Element(ElementRef),
    /// A function of elements.
    Apply {
        /// The function.
        op: Map,
        /// What it takes.
        operands: Vec<Expr>,
        /// The element type of the result.
        dtype: DType,
    },
    /// A sum divided by the number of its elements.
    Mean {
        /// The sum.
        sum: Box<Expr>,
        /// The number.
        count: Size,
        /// The element type.
        dtype: DType,
    },
    /// All lanes as one.
    Lanes {
        /// What puts them together.
        monoid: &'static Monoid,
        /// The lanes.
        lanes: Lanes,
        /// Whether the lanes come out of a loop, in whose registers they stay.
        looped: bool,
    },
}

/// The lanes of a fold when all is added.
#[derive(Clone, Debug, PartialEq)]
pub enum Lanes {
    /// An array.
    Array(Var),
    /// Chains that were settled, with the last one, which need not be.
    Settled {
        /// What chains were settled to.
        sums: Var,
        /// What that lost.
        lost: Var,
        /// The last chain.
        last: Var,
    },
}

/// What is done.
#[derive(Clone, Debug, PartialEq)]
pub enum Statement {
    /// A number of elements or a position.
    Size(Var, Size),
    /// An element.
    Number(Var, Expr),
    /// Whether an index is below a size.
    Mask {
        /// What it is called.
        var: Var,
        /// The index.
        index: Var,
        /// The size.
        below: Size,
    },
    /// An array that holds the same everywhere.
    Array(Var, Neutral),
    /// An array that begins as another is.
    Copy {
        /// The new one.
        var: Var,
        /// The other.
        of: Var,
    },
    /// An array is what another is.
    Assign {
        /// The first, which changes.
        to: Var,
        /// The other.
        from: Var,
    },
    /// A part of memory under a name.
    Borrow {
        /// The name.
        var: Var,
        /// The part.
        part: Part,
        /// Whether it may be written.
        written: bool,
    },
    /// A row of a product that is computed whole.
    ProductRow {
        /// The row.
        var: Var,
        /// Which one.
        row: Size,
    },
    /// A slice in blocks, and what is left after the last whole one.
    Chunks {
        /// The blocks.
        var: Var,
        /// What is left.
        rest: Var,
        /// The slice.
        of: Var,
        /// Whether they may be written.
        written: bool,
    },
    /// A block that is read.
    Chunk {
        /// The block.
        var: Var,
        /// Of which.
        of: Var,
        /// Which one.
        index: Var,
    },
    /// A block in an array of its own, until [`Statement::PutBack`].
    TakeOut {
        /// The array.
        var: Var,
        /// Where it goes.
        home: Var,
        /// Of which.
        of: Var,
        /// Which one.
        index: Var,
    },
    /// A block as it has become.
    PutBack {
        /// Where it goes.
        home: Var,
        /// The array.
        from: Var,
    },
    /// A slice that is shorter than an array, filled up with its last element.
    Padded {
        /// The array.
        var: Var,
        /// The slice.
        of: Var,
        /// Whether the array is written.
        written: bool,
    },
    /// Elements that are moved.
    CopyInto {
        /// To where.
        to: Part,
        /// From where, as many.
        from: Part,
    },
    /// The same everywhere.
    Fill(Part, Neutral),
    /// Every element divided by a number of elements.
    Divide(Part, Size),
    /// An element that is stored.
    Store(ElementRef, Expr),
    /// An element combined with one more.
    Combine {
        /// The element.
        place: ElementRef,
        /// What combines them.
        monoid: &'static Monoid,
        /// The other.
        value: Expr,
        /// Unless this says that it does not count.
        mask: Option<Var>,
    },
    /// Chains are added to sums, and what that lost to rounding is kept.
    Settle {
        /// Of what.
        monoid: &'static Monoid,
        /// The sums.
        sums: Part,
        /// What they lost.
        lost: Part,
        /// The chains.
        chain: Part,
        /// Whether chains and losses are arrays that a loop has in registers.
        lanes: bool,
    },
    /// Sums of columns from lanes of several rows.
    Columns {
        /// The sums.
        to: Part,
        /// Of what.
        monoid: &'static Monoid,
        /// The lanes: rows of columns.
        lanes: Lanes,
        /// How many columns.
        columns: usize,
    },
    /// Sums of short rows, many at a time.
    SumRows {
        /// The sums.
        sums: Part,
        /// The first row, and what follows.
        of: Part,
        /// The elements of a row.
        len: Size,
        /// Elements from a row to the next.
        stride: Size,
    },
    /// Sums of columns, several rows at a time.
    SumColumns {
        /// The sums.
        sums: Part,
        /// What they lose.
        lost: Part,
        /// A chain of each.
        chain: Part,
        /// The first row, and what follows.
        of: Part,
        /// Elements from a row to the next.
        stride: Size,
        /// How many rows.
        rows: Size,
    },
    /// The compiler is not to put iterations of the next loop together.
    OneByOne,
    /// What a head says of it.
    Do(Head, Vec<Statement>),
}

/// How often statements are done.
#[derive(Clone, Debug, PartialEq)]
pub enum Head {
    /// For each index of a range.
    For {
        /// The index.
        index: Var,
        /// The first.
        from: Size,
        /// The end.
        to: Size,
    },
    /// For each chain of turns.
    Chains {
        /// The first turn of a chain.
        first: Var,
        /// Its end.
        end: Var,
        /// How many turns there are in all.
        turns: Size,
        /// The most of a chain.
        most: usize,
    },
    /// For each block of rows.
    Blocks {
        /// The first row of a block.
        first: Var,
        /// How many there are.
        rows: Var,
        /// The first row of all.
        from: Size,
        /// The end of all.
        to: Size,
        /// The most of a block.
        most: Var,
    },
    /// For each element of a row, from the first on.
    Elements {
        /// The index.
        index: Var,
        /// How many.
        count: Size,
    },
    /// If one size is below another.
    If {
        /// The one.
        less: Size,
        /// The other.
        than: Size,
    },
}

impl Loops {
    /// What is known of a variable.
    pub fn variable(&self, var: Var) -> &Variable {
        &self.variables[var.0]
    }

    /// The elements that a variable holds, or is one of.
    ///
    /// # Panics
    /// If it holds none.
    pub fn dtype(&self, var: Var) -> DType {
        self.variable(var).holds.dtype().expect("a variable that holds elements")
    }
}

impl Holds {
    /// The element type, of what has elements.
    pub fn dtype(self) -> Option<DType> {
        match self {
            Self::Size | Self::Mask => None,
            Self::Number(dtype) | Self::Array(dtype, _) | Self::Borrowed(dtype) | Self::Chunks(dtype, _) => {
                Some(dtype)
            }
        }
    }

    /// How many elements an array or a block has.
    pub fn count(self) -> Option<usize> {
        match self {
            Self::Array(_, len) | Self::Chunks(_, len) => Some(len),
            Self::Size | Self::Mask | Self::Number(_) | Self::Borrowed(_) => None,
        }
    }
}

impl Lanes {
    /// The array of the lanes, or what chains were settled to.
    pub fn sums(&self) -> Var {
        match self {
            Self::Array(sums) | Self::Settled { sums, .. } => *sums,
        }
    }
}

impl Expr {
    /// Where it is, if that is all that it is.
    fn place(&self) -> Option<&ElementRef> {
        if let Self::Element(place) = self { Some(place) } else { None }
    }
}

impl Part {
    /// All of an array or slice.
    pub fn whole(of: Var) -> Self {
        Self { of, at: None, len: None }
    }
}
