//! What generated code does with the results of kernels while they are still in cache.

/// A block of elements of a matrix that a kernel has just computed.
#[derive(Clone, Copy, Debug)]
pub struct Block<'a, T> {
    /// The row of the matrix that the block begins in.
    pub row: usize,
    /// The column of the matrix that the block begins in.
    pub column: usize,
    /// How many rows it has.
    pub rows: usize,
    /// How many columns it has.
    pub columns: usize,
    /// Element `[r, c]` of the block is `sums[r * stride + c]`.
    pub sums: &'a [T],
    /// From one row of the block to the next, at least `columns`.
    pub stride: usize,
}

/// What becomes of the elements of a product or convolution: bias, activation, mask, update, and the store itself.
///
/// The result is a matrix whose rows are those of every matrix of the batch, or every pixel, one below the other. Every
/// element is handed over exactly once, in an order that is not told. Kernels call [`block`](Self::block) through a
/// reference to the trait, so that they are compiled once and not for each program; an implementation enters
/// [`dispatch`](crate::dispatch) for its loops.
pub trait Epilogue<T>: Send {
    /// The parts that take the rows before `row` and those from it on. Rows keep their numbers.
    fn split(self, row: usize) -> (Self, Self)
    where
        Self: Sized;

    /// Takes a block.
    fn block(&mut self, block: Block<'_, T>);
}
