//! Products without packing, for every element type: products of integers, and small ones.

use super::operands::MatRef;
use super::product::{InBounds, MultiplyColumns, Product, Sink};
use crate::kernels::blocks::{for_each_block, multiply_add};
use crate::kernels::epilogue::Block;
use crate::kernels::limit::limit;
use crate::kernels::matvec;
use crate::kernels::number::Number;
use crate::kernels::reduce::Reduce;
use crate::simd::{Kernel, dispatch};

/// The number of columns of a row that an epilogue takes at once.
const WIDTH: usize = limit(128, 8);

/// Computes one product.
pub fn multiply<T: Reduce>(product: &InBounds<'_, T>, _: &mut [T], sink: Sink<'_, T>) {
    let Product { dims: &[m, k, n], lhs: &lhs, rhs: &rhs, .. } = **product;
    match sink {
        Sink::Store(out) => {
            let by_vector = n == 1 && matvec::matvec([m, k], lhs, rhs.column(), out)
                || m == 1 && matvec::matvec([n, k], rhs.transposed(), lhs.transposed().column(), out);
            if !by_vector {
                dispatch(Loops { dims: [m, k, n], lhs, rhs, out });
            }
        }
        Sink::Epilogue { epilogue, row } => {
            let mut sums = [T::ZERO; WIDTH];
            for i in 0..m {
                let lhs = MatRef { offset: lhs.index(i, 0), ..lhs };
                for column in (0..n).step_by(WIDTH) {
                    let columns = WIDTH.min(n - column);
                    let rhs = MatRef { offset: rhs.index(0, column), ..rhs };
                    dispatch(Loops { dims: [1, k, columns], lhs, rhs, out: &mut sums[..columns] });
                    epilogue.block(Block {
                        row: row + i,
                        column,
                        rows: 1,
                        columns,
                        sums: &sums,
                        stride: WIDTH,
                    });
                }
            }
        }
    }
}

/// Splitting products of integers by columns does not pay.
pub fn by_columns<T>() -> Option<MultiplyColumns<T>> {
    None
}

/// A product without packing: each element of `out` is summed in the order of `k`, some elements of a row at a time.
struct Loops<'a, T> {
    dims: [usize; 3],
    lhs: MatRef<'a, T>,
    rhs: MatRef<'a, T>,
    out: &'a mut [T],
}

impl<T: Number> Kernel for Loops<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(mut self) {
        let [m, k, n] = self.dims;
        for i in 0..m {
            if self.rhs.col_stride == 1 {
                for_each_block!(n, |start, W| self.block::<W>(i, start));
                continue;
            }
            for j in 0..n {
                let column = &self.rhs.data[self.rhs.offset + j * self.rhs.col_stride..];
                let products = (0..k).map(|l| self.factor(i, l).times(column[l * self.rhs.row_stride]));
                self.out[i * n + j] = products.fold(T::ZERO, T::plus);
            }
        }
    }
}

impl<T: Number> Loops<'_, T> {
    /// Computes `W` columns of row `i`, from `start` on. `rhs` must have contiguous rows.
    #[inline(always)]
    fn block<const W: usize>(&mut self, i: usize, start: usize) {
        let [_, k, n] = self.dims;
        let mut sums = [T::ZERO; W];
        for l in 0..k {
            let row = &self.rhs.data[self.rhs.offset + l * self.rhs.row_stride + start..];
            multiply_add(&mut sums, self.factor(i, l), row.first_chunk().expect("a row has W columns left"));
        }
        self.out[i * n + start..][..W].copy_from_slice(&sums);
    }

    #[inline(always)]
    fn factor(&self, i: usize, l: usize) -> T {
        self.lhs.data[self.lhs.offset + i * self.lhs.row_stride + l * self.lhs.col_stride]
    }
}
