//! Windows that slide over the axes before the last, and what they reduce to: the largest element, or the sum, in which
//! elements may have factors. With factors it is a depthwise convolution.
//!
//! Elements outside of the tensor are left out, so padding is never read. A window without elements has the maximum
//! [`Number::LEAST`](super::number::Number::LEAST) and the sum 0.

mod axis;
mod filter;
mod max;
mod sums;
#[cfg(test)]
mod tests;

use mind_shape::threads::COST_OF_COPY;

pub use axis::{Pool, PoolAxis};

use super::check;
use super::compiled::SumKernels;
use super::math::{MultiplyAdd, PlusProduct, Separate};
use crate::parallel::{self, Split};
use crate::simd::Kernel;
use axis::Direction;
use filter::FilterGrad;
use sums::Sums;

/// What to compute, with the operands.
#[derive(Clone, Copy, Debug)]
pub enum PoolOf<'a, T> {
    /// The largest element of each window: the first of equal ones, or the first NaN.
    Max {
        /// The tensor.
        x: &'a [T],
    },
    /// Zeros, to which `dy` is added at the largest element of its window.
    MaxGrad {
        /// The tensor.
        x: &'a [T],
        /// The cotangent of the maxima.
        dy: &'a [T],
    },
    /// The element of `t` at the place of the largest element of each window.
    MaxTake {
        /// The tensor.
        x: &'a [T],
        /// The elements that are taken.
        t: &'a [T],
    },
    /// The sum of each window.
    Sum {
        /// The tensor.
        x: &'a [T],
    },
    /// Zeros, to which `dy` is added at each element of its window.
    SumGrad {
        /// The cotangent of the sums.
        dy: &'a [T],
    },
    /// The sum of each window, in which elements are multiplied by the filter.
    Depthwise {
        /// The tensor.
        x: &'a [T],
        /// A factor for each element of a window and each channel.
        f: &'a [T],
    },
    /// Zeros, to which `dy`, multiplied by the filter, is added at each element of its window.
    DepthwiseGradInput {
        /// The cotangent of the sums.
        dy: &'a [T],
        /// The filter.
        f: &'a [T],
    },
    /// For each element of a window, the sum over all positions of the element multiplied by `dy`.
    DepthwiseGradFilter {
        /// The tensor.
        x: &'a [T],
        /// The cotangent of the sums.
        dy: &'a [T],
    },
}

/// Computes a pool on several threads. Sums are added in row-major order, of the window or of the positions. A sum over all
/// positions adds those of each row, then the rows.
///
/// # Panics
/// As an internal error, if a slice has the wrong length.
pub fn pool<T: SumKernels>(pool: &Pool, of: PoolOf<'_, T>, out: &mut [T]) {
    T::pool(pool, of, out);
}

pub(super) fn run<T: PlusProduct>(pool: &Pool, of: PoolOf<'_, T>, out: &mut [T]) {
    let pool = &pool.bounded();
    // Windows may be larger than any tensor.
    let product = |each: fn(&PoolAxis) -> usize| pool.axes.iter().map(each).fold(1, usize::saturating_mul);
    let (whole, result, taps) =
        (product(|axis| axis.extent), product(|axis| axis.positions), product(|axis| axis.size));
    let [whole, result] = [whole, result].map(|each| pool.outer * each * pool.channels);
    let filter = taps.saturating_mul(pool.channels);
    let (operands, needed, direction) = match of {
        PoolOf::Max { x } | PoolOf::Sum { x } => {
            ([x.len(), out.len(), 0], [whole, result, 0], Direction::Forward)
        }
        PoolOf::MaxTake { x, t } => {
            ([x.len(), out.len(), t.len()], [whole, result, whole], Direction::Forward)
        }
        PoolOf::Depthwise { x, f } => {
            ([x.len(), out.len(), f.len()], [whole, result, filter], Direction::Forward)
        }
        PoolOf::MaxGrad { x, dy } => {
            ([out.len(), dy.len(), x.len()], [whole, result, whole], Direction::Backward)
        }
        PoolOf::SumGrad { dy } => ([out.len(), dy.len(), 0], [whole, result, 0], Direction::Backward),
        PoolOf::DepthwiseGradInput { dy, f } => {
            ([out.len(), dy.len(), f.len()], [whole, result, filter], Direction::Backward)
        }
        PoolOf::DepthwiseGradFilter { x, dy } => {
            check([x.len(), dy.len(), out.len()] == [whole, result, filter], "pool: wrong length");
            return FilterGrad::new(pool, x, dy, out).run();
        }
    };
    check(operands == needed, "pool: wrong length");
    if !out.is_empty() {
        let (rows, steps) = PoolRows::new(pool, of, direction, out);
        let elements = rows.row.saturating_mul(taps);
        parallel::run(rows, steps, elements, COST_OF_COPY);
    }
}

/// Some rows of a result. A row has the elements along the last axis of windows.
struct PoolRows<'a, T> {
    pool: Pool,
    of: PoolOf<'a, T>,
    /// The number of the first row.
    first: usize,
    /// The number of elements of a row.
    row: usize,
    out: &'a mut [T],
}

impl<'a, T> PoolRows<'a, T> {
    /// All rows, and their number.
    fn new(pool: &Pool, of: PoolOf<'a, T>, direction: Direction, out: &'a mut [T]) -> (Self, usize) {
        let [a, b, c] = pool.axes.map(|axis| axis.extents(direction)[1]);
        (Self { pool: *pool, of, first: 0, row: c * pool.channels, out }, pool.outer * a * b)
    }
}

impl<T: PlusProduct> Split for PoolRows<'_, T> {
    fn split(self, at: usize) -> (Self, Self) {
        let (out, later) = self.out.split_at_mut(at * self.row);
        (Self { out, ..self }, Self { first: self.first + at, out: later, ..self })
    }
}

impl<T: PlusProduct> Kernel for PoolRows<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.run_by::<Separate>();
    }

    #[inline(always)]
    fn run_by<A: MultiplyAdd>(self) {
        let Self { pool, of, first, row, out } = self;
        // One call, so that the code of sums is compiled for each kind of factor, and not for each direction too.
        let (direction, operand, filter) = match of {
            PoolOf::Max { x } => return max::max(&pool, x, first, out),
            PoolOf::MaxGrad { x, dy } => return max::add_to_first::<T, A>(&pool, x, dy, first, row, out),
            PoolOf::MaxTake { x, t } => return max::take_first(&pool, x, t, first, out),
            PoolOf::Sum { x } => (Direction::Forward, x, None),
            PoolOf::SumGrad { dy } => (Direction::Backward, dy, None),
            PoolOf::Depthwise { x, f } => (Direction::Forward, x, Some(f)),
            PoolOf::DepthwiseGradInput { dy, f } => (Direction::Backward, dy, Some(f)),
            PoolOf::DepthwiseGradFilter { .. } => unreachable!("its result has no rows of positions"),
        };
        Sums { pool: &pool, direction, operand, filter }.rows::<A>(first, row, out);
    }
}
