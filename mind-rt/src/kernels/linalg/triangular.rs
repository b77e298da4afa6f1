//! The solution of a single triangular system, in blocks of rows.

use std::ops::Range;

use super::batch::Matrices;
use super::lanes::{add_products, sum};
use super::products::{self, Mat, product};
use super::real::Real;
use super::{BLOCK, Triangle};
use crate::kernels::math::MultiplyAdd;
use crate::simd::{Kernel, dispatch};
use crate::workspace::{carve, slot_bytes};

/// The matrices of a batch, each `n` by `n`. The results are the right-hand sides, the columns of `x`, before.
/// A solution is NaN if an element of the diagonal that is read is 0.
pub(super) struct System {
    pub(super) of: Triangle,
    pub(super) n: usize,
    pub(super) columns: usize,
}

impl System {
    /// The elements of each scratch slice: sums of products, and the scratch memory of products.
    fn slices<T: Real>(&self) -> [usize; 2] {
        let &Self { n, columns, .. } = self;
        if columns == 1 {
            return [0; 2];
        }
        [BLOCK.min(n) * columns, if n > BLOCK { products::scratch::<T>(BLOCK, n, columns) } else { 0 }]
    }
}

impl<T: Real> Matrices<T> for System {
    fn lens(&self) -> [usize; 2] {
        [self.n * self.n, self.n * self.columns]
    }

    fn cost(&self) -> usize {
        self.columns
    }

    fn scratch(&self) -> usize {
        self.slices::<T>().map(slot_bytes::<T>).iter().sum()
    }

    fn compute(&self, a: &[T], x: &mut [T], memory: &mut [u8]) {
        let &Self { of: Triangle { lower, transposed, unit_diagonal }, n, columns } = self;
        if !unit_diagonal && (0..n).any(|row| a[row * n + row] == T::ZERO) {
            return x.fill(T::NAN);
        }
        let strides = if transposed { [1, n] } else { [n, 1] };
        let is_lower = lower != transposed;
        if columns == 1 {
            return dispatch(Vector { transposed, is_lower, unit_diagonal, a, x });
        }
        let [sums, scratch] = self.slices::<T>();
        let (sums, memory) = carve::<T>(memory, sums);
        let (scratch, _) = carve::<T>(memory, scratch);
        for turn in 0..n.div_ceil(BLOCK) {
            let rows = if is_lower {
                turn * BLOCK..n.min((turn + 1) * BLOCK)
            } else {
                n.saturating_sub((turn + 1) * BLOCK)..n - turn * BLOCK
            };
            let known = if is_lower { 0..rows.start } else { rows.end..n };
            let sums = &mut sums[..rows.len() * columns];
            if known.is_empty() {
                sums.fill(T::ZERO);
            } else {
                let lhs = Mat::new(&a[rows.start * strides[0] + known.start * strides[1]..], n);
                let lhs = if transposed { lhs.transposed() } else { lhs };
                let rhs = Mat::new(&x[known.start * columns..], columns);
                product([rows.len(), known.len(), columns], lhs, rhs, sums, scratch);
            }
            dispatch(Rows { strides, is_lower, unit_diagonal, columns, rows, a, sums, x: &mut *x });
        }
    }
}

/// The solution for a single right-hand side. Rows of the matrix are contiguous: each is multiplied with the known
/// elements, or with `transposed` subtracted from those that are not known yet.
struct Vector<'a, T> {
    transposed: bool,
    is_lower: bool,
    unit_diagonal: bool,
    a: &'a [T],
    x: &'a mut [T],
}

impl<T: Real> Kernel for Vector<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run_by<A: MultiplyAdd>(self) {
        let Self { transposed, is_lower, unit_diagonal, a, x } = self;
        let n = x.len();
        for turn in 0..n {
            let at = if is_lower { turn } else { n - 1 - turn };
            let (row, diagonal) = (&a[at * n..][..n], a[at * n + at]);
            let (before, own) = x.split_at_mut(at);
            let (own, after) = own.split_first_mut().expect("there is a row");
            if !transposed {
                let (row, known) = if is_lower { (&row[..at], before) } else { (&row[at + 1..], after) };
                *own -= dot::<A, T>(row, known);
                *own = if unit_diagonal { *own } else { *own / diagonal };
                continue;
            }
            *own = if unit_diagonal { *own } else { *own / diagonal };
            let factor = -*own;
            let (row, rest) = if is_lower { (&row[at + 1..], after) } else { (&row[..at], before) };
            for (rest, of) in rest.iter_mut().zip(row) {
                *rest = A::multiply_add(factor, *of, *rest);
            }
        }
    }
}

/// The number of products that are added up side by side.
const LANES: usize = 32;

#[inline(always)]
fn dot<A: MultiplyAdd, T: Real>(a: &[T], b: &[T]) -> T {
    let (a_chunks, a_rest) = a.as_chunks::<LANES>();
    let (b_chunks, b_rest) = b.as_chunks::<LANES>();
    let mut sums = [T::ZERO; LANES];
    for (a, b) in a_chunks.iter().zip(b_chunks) {
        sums = add_products::<A, T, LANES>(a, b, sums);
    }
    let mut total = if a_chunks.is_empty() { T::ZERO } else { sum(sums) };
    for (a, b) in a_rest.iter().zip(b_rest) {
        total = A::multiply_add(*a, *b, total);
    }
    total
}

/// The solution for a block of rows, after `sums` is subtracted from the right-hand sides.
struct Rows<'a, T> {
    strides: [usize; 2],
    is_lower: bool,
    unit_diagonal: bool,
    columns: usize,
    rows: Range<usize>,
    a: &'a [T],
    sums: &'a [T],
    x: &'a mut [T],
}

impl<T: Real> Kernel for Rows<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run_by<A: MultiplyAdd>(self) {
        let Self { strides, is_lower, unit_diagonal, columns, rows, a, sums, x } = self;
        let x = &mut x[rows.start * columns..rows.end * columns];
        x.iter_mut().zip(sums).for_each(|(x, sum)| *x -= *sum);
        let at =
            |row: usize, column: usize| (rows.start + row) * strides[0] + (rows.start + column) * strides[1];
        for turn in 0..rows.len() {
            let row = if is_lower { turn } else { rows.len() - 1 - turn };
            let (before, own) = x.split_at_mut(row * columns);
            let (own, after) = own.split_at_mut(columns);
            let known = if is_lower { 0..row } else { row + 1..rows.len() };
            for other in known {
                let factor = -a[at(row, other)];
                let of =
                    if is_lower { &before[other * columns..] } else { &after[(other - row - 1) * columns..] };
                for (own, of) in own.iter_mut().zip(&of[..columns]) {
                    *own = A::multiply_add(factor, *of, *own);
                }
            }
            if !unit_diagonal {
                let diagonal = a[at(row, row)];
                own.iter_mut().for_each(|own| *own = *own / diagonal);
            }
        }
    }
}
