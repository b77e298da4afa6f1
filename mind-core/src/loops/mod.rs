//! Loops as data: the nests of a plan, and the epilogues of its products, as loops over memory.
//!
//! A [`Plan`](crate::plan::Plan) says what is computed at each index. A [`Loops`] also gives the order of the indices
//! and the number of lanes. It splits sums into chains, declares arrays, and pads blocks that are not full. [`nest`]
//! and [`product`] make all of these decisions. Code that prints loops as Rust, lists them or executes them decides
//! nothing.
//!
//! The language is small and first-order. A [`Variable`] is defined once, by the statement that names it. Memory is
//! accessed through [`Subslice`]s of captures and of arrays; an array has a known length. Rows are slices as long as
//! their loops, so that no bound is checked within a row.

mod listing;
mod lower;
mod ranges;
mod size;

pub use listing::listing;
pub use lower::{
    Epilogue, Finished, LoweredNest, LoweredStep, Product, Whole, epilogue, is_tiny, nest, of_step, product,
    scratch,
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

/// Loops, with their captures and results.
#[derive(Clone, Debug, PartialEq)]
pub struct Loops {
    /// The variables that are defined before the first statement.
    pub captures: Vec<Capture>,
    /// Every variable: those of [`captures`](Self::captures) come first.
    pub variables: Vec<Variable>,
    /// The statements, in order.
    pub body: Vec<Statement>,
    /// Folds over all elements, in order: the results of the loops.
    pub totals: Vec<Total>,
    /// How the loops are called.
    pub run: Execution,
    /// Whether the bits of a function in the loops depend on whether the SIMD level fuses multiplication and addition.
    pub depends_on_fusing: bool,
}

/// A variable: its position in [`Loops::variables`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Var(pub usize);

/// The description of a variable.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// The value that the variable is, or whose elements it holds.
    pub value: Option<ValueId>,
    /// Its role for that value, or its name if it has no value: `row`, `i0`.
    pub what: String,
    /// Its content.
    pub holds: Holds,
}

/// The content of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// A number of elements, steps or rows, or a position.
    Size,
    /// A truth value: whether a lane counts.
    Mask,
    /// One element.
    Number(DType),
    /// An array of this many elements.
    Array(DType, usize),
    /// A borrowed slice of elements.
    Borrowed(DType),
    /// A borrowed slice of blocks, with this many elements each.
    Chunks(DType, usize),
    /// Random bits that are drawn ahead.
    Draws,
}

/// A variable that loops capture.
#[derive(Clone, Debug, PartialEq)]
pub struct Capture {
    /// The variable.
    pub var: Var,
    /// Its source.
    pub source: Captured,
    /// The stride, in elements, between steps of the axis along which the loops are cut.
    pub stride: Dim,
}

/// The source of a capture.
#[derive(Clone, Debug, PartialEq)]
pub enum Captured {
    /// A buffer that is only read.
    Read(BufferId),
    /// A buffer that is written, and may be read too.
    Written(BufferId),
    /// Scratch memory of as many elements as the buffer has.
    Scratch(BufferId),
    /// A scalar.
    Number(Scalar),
    /// The position at which the part begins, of a load that counts positions.
    Position,
    /// The number of steps that the loops process along the axis on which they are cut. The whole axis has the given
    /// number of steps.
    Steps(Dim),
    /// A property of a block that a product's kernel passes.
    Block(OfBlock),
}

/// A property of a block of sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OfBlock {
    /// The row at which the written memory begins.
    First,
    /// The first row.
    Row,
    /// The first column.
    Column,
    /// The number of rows.
    Rows,
    /// The number of columns.
    Columns,
    /// The sums.
    Sums,
    /// The stride, in elements, between rows of the sums.
    Stride,
}

/// A fold over all elements.
#[derive(Clone, Debug, PartialEq)]
pub struct Total {
    /// The value that later steps read.
    pub value: ValueId,
    /// The monoid that combines the totals of parts.
    pub monoid: &'static Monoid,
    /// The element type.
    pub dtype: DType,
    /// For a mean, the number of elements.
    pub count: Option<Dim>,
    /// The result of the loops.
    pub part: Expr,
}

/// How loops are called.
#[derive(Clone, Debug, PartialEq)]
pub enum Execution {
    /// There is too little work to choose a SIMD level for.
    Inline,
    /// By the SIMD level of the machine.
    Dispatched,
    /// By the SIMD level, and cut along an axis for threads and for the tree of totals.
    Cut(Cut),
}

/// How loops are cut along an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Cut {
    /// The axis: the outermost one, unless all targets are sums over it.
    pub axis: usize,
    /// The number of steps of the axis.
    pub steps: Dim,
    /// The number of elements of a step.
    pub elements: Dim,
    /// The cost of an element in additions.
    pub cost: usize,
}

/// A part of an array or slice.
#[derive(Clone, Debug, PartialEq)]
pub struct Subslice {
    /// The array or slice.
    pub of: Var,
    /// The start; 0 if `None`.
    pub at: Option<Size>,
    /// The length; up to the end if `None`.
    pub len: Option<Size>,
}

/// An element of an array or slice.
#[derive(Clone, Debug, PartialEq)]
pub struct ElementRef {
    /// The array or slice.
    pub of: Var,
    /// The index.
    pub index: Size,
}

/// An expression for one element.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// The value of a variable.
    Number(Var),
    /// A known number.
    Constant(TensorData),
    /// An element in memory.
    Element(ElementRef),
    /// A position as an `i64`.
    Position(Size),
    /// An elementwise function.
    Apply {
        /// The function.
        op: Map,
        /// The operands.
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
    /// All lanes combined into one element.
    Lanes {
        /// The monoid that combines them.
        monoid: &'static Monoid,
        /// The lanes.
        lanes: Lanes,
        /// Where they are combined.
        at: Combined,
    },
}

/// The code that combines the lanes of a fold into one element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combined {
    /// In registers.
    Inline,
    /// From memory, after a loop that keeps the lanes in registers.
    AfterLoop,
    /// As `AfterLoop`, by a function that is compiled once per type: in a loop with many folds, so that it compiles in
    /// reasonable time.
    Apart,
}

/// The lanes of a fold after all elements have been added.
#[derive(Clone, Debug, PartialEq)]
pub enum Lanes {
    /// An array.
    Array(Var),
    /// The sums of earlier chains, and the last chain, which has not been added yet.
    Chained {
        /// The sums of the chains before the last.
        sums: Var,
        /// The rounding errors of the sums.
        lost: Var,
        /// The last chain.
        last: Var,
    },
}

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Statement {
    /// Defines a number of elements or a position.
    Size(Var, Size),
    /// Defines an element.
    Number(Var, Expr),
    /// Defines a mask: whether an index is below a size.
    Mask {
        /// The mask.
        var: Var,
        /// The index.
        index: Var,
        /// The size.
        below: Size,
    },
    /// Defines an array filled with a neutral element.
    Array(Var, Neutral),
    /// Defines an array as a copy of another.
    Copy {
        /// The new array.
        var: Var,
        /// The array that is copied.
        of: Var,
    },
    /// Assigns an array to another.
    Assign {
        /// The array that changes.
        to: Var,
        /// The array that is read.
        from: Var,
    },
    /// Borrows a part of memory.
    Borrow {
        /// The name of the slice.
        var: Var,
        /// The part.
        part: Subslice,
        /// Whether it may be written.
        written: bool,
    },
    /// Computes a row of a product.
    ProductRow {
        /// The row.
        var: Var,
        /// The index of the row.
        row: Size,
    },
    /// Splits a slice into blocks, and the rest after the last whole block.
    Chunks {
        /// The blocks.
        var: Var,
        /// The rest.
        rest: Var,
        /// The slice.
        of: Var,
        /// Whether they may be written.
        written: bool,
    },
    /// Borrows a block to read it.
    Chunk {
        /// The block.
        var: Var,
        /// The blocks.
        of: Var,
        /// The index of the block.
        index: Var,
    },
    /// Copies a block to a separate array, until [`Statement::PutBack`].
    TakeOut {
        /// The array.
        var: Var,
        /// The block in memory.
        home: Var,
        /// The blocks.
        of: Var,
        /// The index of the block.
        index: Var,
    },
    /// Copies an array back to its block.
    PutBack {
        /// The block in memory.
        home: Var,
        /// The array.
        from: Var,
    },
    /// Defines an array as a copy of a shorter slice, filled up with the last element of the slice.
    Padded {
        /// The array.
        var: Var,
        /// The slice.
        of: Var,
        /// Whether the array is written.
        written: bool,
    },
    /// Defines a block whose first elements are those of a short row. The others are arbitrary.
    Whole {
        /// The block.
        var: Var,
        /// The array that is used instead if the slice is shorter than a block.
        spare: Var,
        /// The slice that begins with the row.
        of: Var,
        /// The length of the row.
        len: Size,
    },
    /// Copies elements.
    CopyInto {
        /// The destination.
        to: Subslice,
        /// The source, of the same length.
        from: Subslice,
    },
    /// Fills a part with a neutral element.
    Fill(Subslice, Neutral),
    /// Divides every element by a number of elements.
    Divide(Subslice, Size),
    /// Stores an element.
    Store(ElementRef, Expr),
    /// Combines an element in memory with a value.
    Combine {
        /// The element.
        place: ElementRef,
        /// The monoid that combines them.
        monoid: &'static Monoid,
        /// The value.
        value: Expr,
        /// A mask. If it is false, the value does not count.
        mask: Option<Var>,
    },
    /// Adds chains to sums, and keeps the rounding errors.
    CombineChains {
        /// The monoid of the sums.
        monoid: &'static Monoid,
        /// The sums.
        sums: Subslice,
        /// The rounding errors.
        lost: Subslice,
        /// The chains.
        chain: Subslice,
        /// Whether chains and rounding errors are arrays that a loop keeps in registers.
        lanes: bool,
    },
    /// Combines lanes of several rows into sums of columns.
    Columns {
        /// The sums.
        to: Subslice,
        /// The monoid of the sums.
        monoid: &'static Monoid,
        /// The lanes: rows of columns.
        lanes: Lanes,
        /// The number of columns.
        columns: usize,
    },
    /// Folds short rows, many at a time.
    FoldRows {
        /// The monoid.
        monoid: &'static Monoid,
        /// The folds.
        folds: Subslice,
        /// The first row and the rows after it.
        of: Subslice,
        /// The number of elements of a row.
        len: Size,
        /// The stride, in elements, between rows.
        stride: Size,
    },
    /// Sums columns, several rows at a time.
    SumColumns {
        /// The sums.
        sums: Subslice,
        /// The rounding errors.
        lost: Subslice,
        /// A chain for each sum.
        chain: Subslice,
        /// The first row and the rows after it.
        of: Subslice,
        /// The stride, in elements, between rows.
        stride: Size,
        /// The number of rows.
        rows: Size,
    },
    /// Defines random bits that are drawn ahead. Nothing is drawn yet.
    Draws(Var),
    /// Borrows a block of random bits.
    Draw {
        /// The block.
        var: Var,
        /// The random bits that are drawn ahead.
        of: Var,
        /// The key.
        key: Expr,
        /// The counter of the first bits.
        first: Size,
        /// The number of counters from the first on. At most as many bits are drawn ahead.
        left: Size,
    },
    /// Keeps the compiler from combining iterations of the next loop.
    OneByOne,
    /// Runs statements under the control of a head: a loop or a condition.
    Do(Control, Vec<Statement>),
}

/// The control of statements.
#[derive(Clone, Debug, PartialEq)]
pub enum Control {
    /// For each index of a range.
    For {
        /// The index.
        index: Var,
        /// The first index.
        from: Size,
        /// The end of the range.
        to: Size,
    },
    /// For each chain of iterations.
    Chains {
        /// The first iteration of a chain.
        first: Var,
        /// The end of a chain.
        end: Var,
        /// The total number of iterations.
        turns: Size,
        /// The most iterations of a chain.
        most: usize,
    },
    /// For each block of rows.
    Blocks {
        /// The first row of a block.
        first: Var,
        /// The number of rows of a block.
        rows: Var,
        /// The first of all rows.
        from: Size,
        /// The end of all rows.
        to: Size,
        /// The most rows of a block.
        most: Var,
    },
    /// For each index of a block, of at most 64, whose element is not 0, ascending.
    Nonzero {
        /// The index.
        index: Var,
        /// The first index of the block.
        first: Var,
        /// A slice of the elements of the block.
        of: Var,
    },
    /// For each of two parts of a row: all registers that fit, and if elements remain, the register at the end of the row,
    /// which overlaps the first part. A row that is shorter than a register is a single part.
    Registers {
        /// The first element of a part.
        first: Var,
        /// The number of elements of a part.
        count: Var,
        /// The number of elements of the row.
        len: Size,
        /// The number of elements of a register.
        width: usize,
    },
    /// For each element of a row, from the first on.
    Elements {
        /// The index.
        index: Var,
        /// The number of elements.
        count: Size,
    },
    /// If one size is below another.
    If {
        /// The size that is less.
        less: Size,
        /// The size that is greater.
        than: Size,
    },
}

impl Loops {
    /// The description of a variable.
    pub fn variable(&self, var: Var) -> &Variable {
        &self.variables[var.0]
    }

    /// The element type of a variable.
    ///
    /// # Panics
    /// If the variable holds no elements.
    pub fn dtype(&self, var: Var) -> DType {
        self.variable(var).holds.dtype().expect("a variable that holds elements")
    }
}

impl Holds {
    /// The element type, if there are elements.
    pub fn dtype(self) -> Option<DType> {
        match self {
            Self::Size | Self::Mask | Self::Draws => None,
            Self::Number(dtype) | Self::Array(dtype, _) | Self::Borrowed(dtype) | Self::Chunks(dtype, _) => {
                Some(dtype)
            }
        }
    }

    /// The number of elements of an array or a block.
    pub fn count(self) -> Option<usize> {
        match self {
            Self::Array(_, len) | Self::Chunks(_, len) => Some(len),
            Self::Size | Self::Mask | Self::Number(_) | Self::Borrowed(_) | Self::Draws => None,
        }
    }
}

impl Lanes {
    /// The array of the lanes, or of the sums of chains.
    pub fn sums(&self) -> Var {
        match self {
            Self::Array(sums) | Self::Chained { sums, .. } => *sums,
        }
    }
}

impl Expr {
    /// The place in memory, if the expression is an element in memory.
    fn place(&self) -> Option<&ElementRef> {
        if let Self::Element(place) = self { Some(place) } else { None }
    }
}

impl Subslice {
    /// A whole array or slice.
    pub fn whole(of: Var) -> Self {
        Self { of, at: None, len: None }
    }
}
