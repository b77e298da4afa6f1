//! Fused loops: the single form in which elementwise chains, sums, softmax and normalisation patterns are planned.

use crate::{
    dim::Dim,
    ir::ValueId,
    map::Map,
    plan::{Scalar, View},
    reduce::Monoid,
    ty::DType,
};

/// Loops over one index space, computed row by row. A row is processed in as many passes as its numbers need.
///
/// A softmax along the last axis is one nest of two passes: the first sums exponentials to a number of the row, the
/// second divides by it. Elements that a pass reads a second time are still in cache.
#[derive(Clone, Debug, PartialEq)]
pub struct Nest {
    /// The extents, outermost first, at least one. Neighbouring axes that every view traverses alike are already
    /// merged.
    pub extents: Vec<Dim>,
    /// The number of outer axes, which count rows; the others count the elements of a row. With 0 the nest is one row.
    /// It is less than the rank.
    pub row_axes: usize,
    /// The views that are read, each of the rank of `extents`. A view that is constant along the elements is read once
    /// per row.
    pub loads: Vec<View>,
    /// The passes in the order in which they run within a row; at least one.
    pub passes: Vec<Pass>,
}

/// One pass over the elements of a row, and the computations on its sums.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pass {
    /// The nodes that are computed for each element, in order. An element of an earlier pass is computed again, or
    /// loaded if the earlier pass stored it. Nodes, stores and folds are empty if the pass only computes numbers.
    pub elements: Vec<Node>,
    /// The stores of each element.
    pub stores: Vec<Store>,
    /// The folds of elements.
    pub folds: Vec<Fold>,
    /// The nodes that are computed once per row after the pass, in order. They may read [`Operand::Number`] and loads
    /// that are constant along the elements.
    pub numbers: Vec<Node>,
    /// The stores that run once per row after the pass. [`Store::operand`] is a number.
    pub row_stores: Vec<Store>,
    /// The folds over rows, after the pass. [`Fold::operand`] is a number, or a load that is constant along the
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
    /// The element type of its operands, except for a condition.
    pub of: DType,
    /// The value, for names. [`Operand::Number`] refers to a node of [`Pass::numbers`] by its value.
    pub value: ValueId,
}

/// An operand of a node, store or fold.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    /// The element at the current index of the load at this position.
    Load(usize),
    /// The node at this position in the same pass or finish.
    Node(usize),
    /// A number of the row: a fold to [`Target::Number`] or a node of [`Pass::numbers`], in this or an earlier pass.
    Number(ValueId),
    /// The same number at every index.
    Scalar(Scalar),
    /// The element of the product or convolution: in a [`Finish`] only.
    Product,
}

/// An operand stored at each index.
#[derive(Clone, Debug, PartialEq)]
pub struct Store {
    /// The operand that is stored.
    pub operand: Operand,
    /// The target: a view of the rank of the index space, constant along the elements if the store runs once per row. A
    /// load of the same memory (the same [`Location`](crate::plan::Location), whatever the buffer) in the same pass
    /// reads the same element, and no later pass loads the previous content.
    pub target: View,
}

/// A fold of many elements into one: a sum, a maximum.
#[derive(Clone, Debug, PartialEq)]
pub struct Fold {
    /// The monoid that combines elements.
    pub monoid: &'static Monoid,
    /// The operand that is folded.
    pub operand: Operand,
    /// For a mean, the number of elements, by which the sum is divided.
    pub count: Option<Dim>,
    /// The element type.
    pub dtype: DType,
    /// The axes of the fold, and the place of its result.
    pub target: Target,
}

/// The axes of a fold, and the place of its result.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// Over the elements of the row, to a number of the row. Not for [`Pass::row_folds`].
    Number(ValueId),
    /// Over the axes along which the view has stride 0, to memory, which need not hold zeros before. The view has the
    /// nest's rank. These axes count rows or have extent 1, except for [`Pass::row_folds`], whose views are constant
    /// along the elements.
    Memory(View),
    /// Over all elements, to a scalar that later steps may read.
    Total(ValueId),
}

/// The processing of each element of a product or convolution, viewed as a matrix. Its rows are the rows of all
/// matrices of the batch, or the pixels, one below the other.
#[derive(Clone, Debug, PartialEq)]
pub struct Finish {
    /// Rows and columns.
    pub extents: [Dim; 2],
    /// The views of rank 2 that are read besides the product.
    pub loads: Vec<View>,
    /// The nodes that are computed for each element, in order; none if the element itself is stored.
    pub nodes: Vec<Node>,
    /// The stores; at least one. The rows of every target follow each other in memory and do not overlap. A load of the
    /// same memory reads the same element.
    pub stores: Vec<Store>,
}
