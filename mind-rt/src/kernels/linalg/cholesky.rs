//! The Cholesky factor of the symmetric part of a single matrix, in blocks of columns.

use super::BLOCK;
use super::batch::Matrices;
use super::products::{self, Mat, subtract_product};
use super::real::{Real, mean};
use crate::kernels::math::MultiplyAdd;
use crate::kernels::transpose::Transpose;
use crate::simd::{Kernel, dispatch};
use crate::workspace::{carve, slot_bytes};

/// The matrices of a batch, each `n` by `n`. The lower triangle of a result is NaN if its matrix is not positive
/// definite.
pub(super) struct Cholesky {
    pub(super) n: usize,
}

impl Cholesky {
    /// The elements of each scratch slice: a block of columns, and the scratch memory of products.
    fn slices<T: Real>(&self) -> [usize; 2] {
        let n = self.n;
        [BLOCK.min(n) * n, if n > BLOCK { products::scratch::<T>(BLOCK, n, n) } else { 0 }]
    }
}

impl<T: Real> Matrices<T> for Cholesky {
    fn lens(&self) -> [usize; 2] {
        [self.n * self.n; 2]
    }

    fn cost(&self) -> usize {
        self.n.div_ceil(3)
    }

    fn scratch(&self) -> usize {
        self.slices::<T>().map(slot_bytes::<T>).iter().sum()
    }

    /// For each block of columns, the product of the columns before it is subtracted. The rest is factored with rows
    /// and columns exchanged, so that each row of the block is contiguous.
    fn compute(&self, a: &[T], l: &mut [T], memory: &mut [u8]) {
        let n = self.n;
        let [panel, scratch] = self.slices::<T>();
        let (panel, memory) = carve::<T>(memory, panel);
        let (scratch, _) = carve::<T>(memory, scratch);
        for first in (0..n).step_by(BLOCK) {
            let (width, rest) = (BLOCK.min(n - first), n - first);
            let panel = &mut panel[..width * rest];
            let diagonal = first * n + first;
            Transpose { rows: rest, columns: width, from: n, to: rest }.run(&a[diagonal..], panel);
            for (row, own) in panel.chunks_exact_mut(rest).enumerate() {
                let a = &a[diagonal + row * n..][..rest];
                own.iter_mut().zip(a).for_each(|(own, a)| *own = mean(*own, *a));
            }
            if first > 0 {
                let rows = Mat::new(&l[first * n..], n);
                subtract_product([width, first, rest], rows, rows.transposed(), panel, rest, scratch);
            }
            dispatch(Panel { width, rest, panel: &mut *panel });
            Transpose { rows: width, columns: rest, from: rest, to: n }.run(panel, &mut l[diagonal..]);
            for row in first..first + width {
                l[row * n..][row + 1..n].fill(T::ZERO);
            }
        }
        if l[n * n - 1].is_nan() {
            for (row, l) in l.chunks_exact_mut(n).enumerate() {
                l[..=row].fill(T::NAN);
            }
        }
    }
}

/// The factorization of a block of columns. A pivot that is not above 0 becomes NaN, and with it every later one.
struct Panel<'a, T> {
    width: usize,
    rest: usize,
    /// The columns of the block as rows of `rest` elements. Elements before the diagonal are not read.
    panel: &'a mut [T],
}

impl<T: Real> Kernel for Panel<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run_by<A: MultiplyAdd>(self) {
        let Self { width, rest, panel } = self;
        for column in 0..width {
            let (done, own) = panel.split_at_mut(column * rest);
            let own = &mut own[column..rest];
            subtract_rows::<A, T>(done, rest, column, own);
            let pivot = own[0];
            let root = if pivot > T::ZERO { pivot.root() } else { T::NAN };
            own[0] = root;
            own[1..].iter_mut().for_each(|element| *element = *element / root);
        }
    }
}

/// The number of elements that are kept in registers.
const CHUNK: usize = 32;

/// Subtracts from `own`, the elements of row `column` from the diagonal on, the multiples of the rows before it.
#[inline(always)]
fn subtract_rows<A: MultiplyAdd, T: Real>(done: &[T], rest: usize, column: usize, own: &mut [T]) {
    let mut at = column;
    let (chunks, last) = own.as_chunks_mut::<CHUNK>();
    for own in chunks {
        let mut sums = *own;
        for row in 0..column {
            let of = &done[row * rest..][..rest];
            let factor = -of[column];
            let of: &[T; CHUNK] = of[at..].first_chunk().expect("the rows have the same length");
            for (sum, of) in sums.iter_mut().zip(of) {
                *sum = A::multiply_add(factor, *of, *sum);
            }
        }
        *own = sums;
        at += CHUNK;
    }
    for row in 0..column {
        let of = &done[row * rest..][..rest];
        let factor = -of[column];
        for (own, of) in last.iter_mut().zip(&of[at..]) {
            *own = A::multiply_add(factor, *of, *own);
        }
    }
}
