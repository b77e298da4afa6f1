//! Products without packing, for every element type: those of integers, and small ones.

use super::MatRef;
use crate::element::Element;
use crate::kernels::blocks::{for_each_block, multiply_add};
use crate::simd::Kernel;

/// Without packing: each element of `out` is summed in the order of `k`, some of a row at a time.
pub struct Loops<'a, T> {
    pub dims: [usize; 3],
    pub lhs: MatRef<'a, T>,
    pub rhs: MatRef<'a, T>,
    pub out: &'a mut [T],
}

impl<T: Element> Kernel for Loops<'_, T> {
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

impl<T: Element> Loops<'_, T> {
    /// `W` columns from `start` on of row `i`, `rhs` having contiguous rows.
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
