//! Fused loops: the one form in which elementwise chains, sums, softmax and normalisation patterns are planned.

use crate::{
    dim::Dim,
    ir::ValueId,
    map::Map,
    plan::{Scalar, View},
    reduce::Monoid,
    ty::DType,
};

/// Loops over one index space, computed row by row; a row is passed over as often as its numbers need.
///
/// A softmax along the last axis is one nest of two passes: the first sums exponentials to a number of the row, the second
/// divides by it. What a pass reads a second time is still in cache.
#[derive(Clone, Debug, PartialEq)]
pub struct Nest {
    /// The extents, outermost first, at least one; neighbours that every view steps through alike are already one.
    pub extents: Vec<Dim>,
    /// So many axes, from the outside, count rows; the others count the elements of a row. With 0 everything is one row.
    /// Less than the rank.
    pub row_axes: usize,
    /// What is read; every view has the rank of `extents`. One that stands still along the elements is read once a row.
    pub loads: Vec<View>,
    /// In the order in which they run within a row; at least one.
    pub passes: Vec<Pass>,
}

/// One pass over the elements of a row, and what follows from its sums.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pass {
    /// Computed for each element, in order. What an earlier pass computed is computed again, or was kept: stored in one and
    /// loaded in the other. Empty, as stores and sums are, where numbers are all that the pass is for.
    pub elements: Vec<Node>,
    /// What is stored for each element.
    pub stores: Vec<Store>,
    /// What is summed.
    pub folds: Vec<Fold>,
    /// Computed once for the row when the pass is over, in order; they may read [`Operand::Number`] and loads that stand
    /// still along the elements.
    pub numbers: Vec<Node>,
    /// What is stored once for the row when the pass is over: [`Store::operand`] is a number.
    pub row_stores: Vec<Store>,
    /// What is summed over rows when the pass is over: [`Fold::operand`] is a number, or a load that stands still along the
    /// elements.
    pub row_folds: Vec<Fold>,
}

/// One elementwise operation.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The operation.
    pub op: Map,
    /// Its operands.
    pub operands: Vec<Operand>,
    /// The element type.
    pub dtype: DType,
    /// That of its operands, but for a condition.
    pub of: DType,
    /// The value, for names. Among [`Pass::numbers`] it is what [`Operand::Number`] calls the number by.
    pub value: ValueId,
}

/// What a node reads.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    /// The element of the load of this position at the current index.
    Load(usize),
    /// The node of this position in the same pass or finish.
    Node(usize),
    /// A number of the row: a fold to [`Target::Number`] or a node of [`Pass::numbers`], in this pass or an earlier one.
    Number(ValueId),
    /// The same number at every index.
    Scalar(Scalar),
    /// The element of the product or convolution: in a [`Finish`] only.
    Product,
}

/// An operand stored at each index.
#[derive(Clone, Debug, PartialEq)]
pub struct Store {
    /// What is stored.
    pub operand: Operand,
    /// Where: a view of the rank of the index space, still along the elements if it is stored once for a row. A load of the
    /// same memory (the same [`Location`](crate::plan::Location), under whatever buffer) in the same pass is of the same element,
    /// and no later pass loads what was there before.
    pub target: View,
}

/// What becomes one of many elements: a sum, a largest one.
#[derive(Clone, Debug, PartialEq)]
pub struct Fold {
    /// What puts elements together.
    pub monoid: &'static Monoid,
    /// What is put together.
    pub operand: Operand,
    /// For a mean, the number of elements, by which the sum is divided.
    pub count: Option<Dim>,
    /// The element type.
    pub dtype: DType,
    /// Over which axes, and where the sum goes.
    pub target: Target,
}

/// Over which axes a sum goes, and what becomes of it.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// Over the elements of the row, to a number of the row. Not for [`Pass::row_folds`].
    Number(ValueId),
    /// Over the axes along which the view, of the nest's rank, has stride 0, to memory, which need not hold zeros before. All
    /// of them count rows or have extent 1, but for [`Pass::row_folds`], whose views stand still along the elements.
    Memory(View),
    /// Over everything, to a single number that later steps may read.
    Total(ValueId),
}

/// What becomes of each element of a product or convolution, seen as a matrix: rows of all matrices of the batch, or
/// pixels, one below the other; columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Finish {
    /// Rows and columns.
    pub extents: [Dim; 2],
    /// What is read beside the product; views of rank 2.
    pub loads: Vec<View>,
    /// Computed for each element, in order; none if the element itself is stored.
    pub nodes: Vec<Node>,
    /// What is stored; at least one. The rows of every target follow each other in memory and do not overlap. A load of the
    /// same memory is of the same element.
    pub stores: Vec<Store>,
}
