//! The work of generated code on the results of kernels while these are still in the cache.

use std::hint::black_box;

use crate::kernels::compiled::Compiled;
use crate::kernels::math::MultiplyAdd;
use crate::kernels::number::Number;
use crate::simd::{Kernel, dispatch};

/// A block of elements of a matrix that a kernel has just computed.
#[derive(Clone, Copy, Debug)]
pub struct Block<'a, T> {
    /// The row of the matrix in which the block begins.
    pub row: usize,
    /// The column of the matrix in which the block begins.
    pub column: usize,
    /// The number of rows of the block.
    pub rows: usize,
    /// The number of columns of the block.
    pub columns: usize,
    /// Element `[r, c]` of the block is `sums[r * stride + c]`.
    pub sums: &'a [T],
    /// The distance from one row of the block to the next in `sums`, at least `columns`.
    pub stride: usize,
}

impl<T> Block<'_, T> {
    /// The block as a single row, if it has all `columns` of each row and its rows are contiguous.
    fn joined(self, columns: usize) -> Self {
        if self.columns != columns || self.stride != columns {
            return self;
        }
        let all = self.rows * columns;
        Self { rows: 1, columns: all, stride: all, ..self }
    }
}

/// The memory that an epilogue will read and write for some elements. A kernel may prefetch it.
#[derive(Clone, Copy, Debug)]
pub struct Destination<T> {
    /// The address of the first of these elements.
    pub first: *const T,
    /// The distance from one of their rows to the next.
    pub stride: usize,
}

impl<T> Destination<T> {
    /// The place at `index` in the memory of `rows`, whose rows are `stride` apart. It may lie outside.
    #[inline]
    pub fn new(rows: &[T], index: usize, stride: usize) -> Self {
        Self { first: rows.as_ptr().wrapping_add(index), stride }
    }

    /// The destination of the elements `rows` rows below.
    #[inline(always)]
    #[must_use]
    pub fn below(self, rows: usize) -> Self {
        Self { first: self.first.wrapping_add(rows.wrapping_mul(self.stride)), ..self }
    }
}

/// The work on the elements of a product or convolution: bias, activation, mask, update, and the store itself.
///
/// The result is a matrix whose rows are those of every matrix of the batch, or every pixel, one below the other. Every
/// element is passed exactly once, in an unspecified order. Kernels call [`block`](Self::block) through a reference to
/// the trait, so that they are compiled once and not for each program. An implementation calls `dispatch` for its
/// loops.
pub trait Epilogue<T>: Send {
    /// Splits into the part that takes the rows before `row` and the part that takes the others. Rows keep their
    /// numbers.
    fn split(self, row: usize) -> (Self, Self)
    where
        Self: Sized;

    /// Takes a block.
    fn block(&mut self, block: Block<'_, T>);

    /// Where the elements from this one on are stored, if that is known. Kernels prefetch it while they sum.
    fn destination(&self, row: usize, column: usize) -> Option<Destination<T>> {
        let _ = (row, column);
        None
    }
}

/// Stores results unchanged.
pub struct Stored<'a, T> {
    out: &'a mut [T],
    columns: usize,
    first: usize,
}

impl<'a, T> Stored<'a, T> {
    /// Rows of `columns` elements, one below the other.
    pub fn new(out: &'a mut [T], columns: usize) -> Self {
        Self { out, columns, first: 0 }
    }
}

impl<T: Number + Compiled> Epilogue<T> for Stored<'_, T> {
    fn split(self, row: usize) -> (Self, Self) {
        let Self { out, columns, first } = self;
        let (before, after) = out.split_at_mut((row - first) * columns);
        (Self { out: before, columns, first }, Self { out: after, columns, first: row })
    }

    fn block(&mut self, block: Block<'_, T>) {
        let Block { row, column, rows, columns, sums, stride } = block;
        if rows == 0 || columns == 0 {
            return;
        }
        let to = &mut self.out[(row - self.first) * self.columns + column..];
        if columns == self.columns && columns == stride {
            let len = rows * columns;
            return to[..len].copy_from_slice(&sums[..len]);
        }
        T::copy_rows(to, sums, [self.columns, stride], rows, columns);
    }

    fn destination(&self, row: usize, column: usize) -> Option<Destination<T>> {
        Some(Destination::new(self.out, (row - self.first) * self.columns + column, self.columns))
    }
}

/// An [`Epilogue`] as generated code implements it.
pub trait Finish<T>: Send + Sized {
    /// Whether all operands have the layout of the result. A block of whole rows is then passed as one row, which is
    /// faster if rows are short.
    const JOINS_ROWS: bool;

    /// As [`Epilogue::split`].
    fn split(self, row: usize) -> (Self, Self);

    /// As [`Epilogue::block`], but `#[inline(always)]` and run at the SIMD level in use.
    fn block(&mut self, block: Block<'_, T>);

    /// As [`block`](Self::block), with the products and sums of the SIMD level, see [`Kernel::run_by`]. A finish
    /// without functions such as `exp` implements only `block`.
    #[inline(always)]
    fn block_by<A: MultiplyAdd>(&mut self, block: Block<'_, T>) {
        self.block(block);
    }

    /// As [`Epilogue::destination`]: the memory that the finish writes, and reads if it reads its output.
    fn destination(&self, row: usize, column: usize) -> Destination<T>;
}

/// The [`Epilogue`] made from a [`Finish`].
pub struct Finished<F>(pub F);

impl<T, F: Finish<T>> Epilogue<T> for Finished<F> {
    fn split(self, row: usize) -> (Self, Self) {
        let (before, after) = self.0.split(row);
        (Self(before), Self(after))
    }

    fn block(&mut self, mut block: Block<'_, T>) {
        if F::JOINS_ROWS {
            let columns = self.0.destination(block.row, block.column).stride;
            block = block.joined(columns);
        }
        dispatch(AtLevel(&mut self.0, block));
    }

    fn destination(&self, row: usize, column: usize) -> Option<Destination<T>> {
        Some(self.0.destination(row, column))
    }
}

/// Makes the compiler process the vectors of a row one by one, if their loop calls it. The compiler unrolls the lanes
/// of each vector first. Without the call, it may then combine the same lane of several vectors by gathers and
/// scatters, which takes some ten times as long. The call compiles to no code.
#[inline(always)]
pub fn one_by_one() {
    black_box(());
}

struct AtLevel<'a, F, T>(&'a mut F, Block<'a, T>);

impl<T, F: Finish<T>> Kernel for AtLevel<'_, F, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.0.block(self.1);
    }

    #[inline(always)]
    fn run_by<A: MultiplyAdd>(self) {
        self.0.block_by::<A>(self.1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::{SimdLevel, run_at_most};

    /// Records whether products and sums are fused.
    struct Noted(Option<bool>);

    impl Finish<f32> for Noted {
        const JOINS_ROWS: bool = false;

        fn split(self, _: usize) -> (Self, Self) {
            (Self(None), self)
        }

        fn block(&mut self, _: Block<'_, f32>) {
            self.0 = None;
        }

        fn block_by<A: MultiplyAdd>(&mut self, _: Block<'_, f32>) {
            self.0 = Some(A::FUSES);
        }

        fn destination(&self, _: usize, _: usize) -> Destination<f32> {
            Destination::new(&[], 0, 0)
        }
    }

    #[test]
    fn blocks_are_finished_by_the_products_and_sums_of_each_level() {
        struct Fuses;

        impl Kernel for Fuses {
            type Output = bool;

            fn run(self) -> bool {
                unreachable!("a level says how")
            }

            fn run_by<A: MultiplyAdd>(self) -> bool {
                A::FUSES
            }
        }

        let block = Block { row: 0, column: 0, rows: 0, columns: 0, sums: &[], stride: 0 };
        for level in SimdLevel::ALL {
            let mut noted = Noted(None);
            run_at_most(level, AtLevel(&mut noted, block));
            assert_eq!(noted.0, Some(run_at_most(level, Fuses)), "{level:?}");
        }
    }

    #[test]
    fn whole_rows_that_follow_each_other_are_one() {
        let block = Block { row: 3, column: 0, rows: 2, columns: 3, sums: &[1, 2, 3, 4, 5, 6], stride: 3 };
        let shape =
            |block: Block<'_, i32>| [block.row, block.column, block.rows, block.columns, block.stride];
        assert_eq!(shape(block.joined(3)), [3, 0, 1, 6, 6]);
        assert_eq!(shape(block.joined(4)), shape(block), "columns are missing");
        let apart = Block { columns: 2, ..block };
        assert_eq!(shape(apart.joined(2)), shape(apart), "rows are apart");
        let none = Block { rows: 0, sums: &[], ..block };
        assert_eq!(shape(none.joined(3)), [3, 0, 1, 0, 0]);
    }

    #[test]
    fn parts_store_blocks_where_the_whole_would() {
        let mut out = [0; 12];
        let (mut before, after) = Stored::new(&mut out, 3).split(1);
        let (mut middle, mut last) = after.split(3);
        let block = |row, column, sums| Block { row, column, rows: 1, columns: 2, sums, stride: 5 };
        before.block(block(0, 0, &[1, 2]));
        middle.block(Block { rows: 2, ..block(1, 1, &[3, 4, 0, 0, 0, 5, 6]) });
        last.block(block(3, 1, &[7, 8]));
        assert_eq!(out, [1, 2, 0, 0, 3, 4, 0, 5, 6, 0, 7, 8]);
    }

    #[test]
    fn parts_know_where_elements_go() {
        let mut out = [0; 12];
        let places = out.as_ptr_range();
        let (before, after) = Stored::new(&mut out, 3).split(1);
        let (middle, last) = after.split(3);
        for (part, row) in [(before, 0), (middle, 2), (last, 3)] {
            let destination = part.destination(row, 1).expect("it is stored");
            assert_eq!((destination.first, destination.stride), (places.start.wrapping_add(row * 3 + 1), 3));
        }
        let below = Destination { first: places.start, stride: 3 }.below(2);
        assert_eq!((below.first, below.stride), (places.start.wrapping_add(6), 3));
    }
}
