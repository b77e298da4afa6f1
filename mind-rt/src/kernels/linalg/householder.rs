//! Householder reflections `I - tau v vᵀ`, alone and in blocks.
//!
//! Source: G. H. Golub and C. F. Van Loan, *Matrix Computations*, 4th edition, section 5.1; blocks as in R. Schreiber and
//! C. Van Loan, *A storage-efficient WY representation for products of Householder transformations*, 1989.

use super::lanes::{axpy, rows_of, sum};
use super::products::{Mat, product, subtract_product};
use super::real::Real;
use crate::kernels::math::MultiplyAdd;
use crate::simd::{Kernel, dispatch};

/// The reflection that maps a vector to a multiple of the unit vector of its pivot, with the signs of LAPACK: the pivot's
/// sign changes, unless all other elements are 0 already.
#[derive(Clone, Copy)]
pub(super) struct Reflection<T> {
    /// The pivot afterwards.
    pub(super) beta: T,
    pub(super) tau: T,
    /// The factor from the other elements to those of `v`, whose pivot is 1.
    pub(super) inverse: T,
}

impl<T: Real> Reflection<T> {
    /// `squares` is the sum of the squares of all elements but the pivot.
    #[inline(always)]
    pub(super) fn new(pivot: T, squares: T) -> Self {
        if squares == T::ZERO {
            return Self { beta: pivot, tau: T::ZERO, inverse: T::ZERO };
        }
        let norm = (pivot * pivot + squares).root();
        let beta = -norm.with_sign_of(pivot);
        Self { beta, tau: (beta - pivot) / beta, inverse: T::ONE / (pivot - beta) }
    }

    /// As [`new`](Self::new), for elements of a matrix whose largest has a magnitude of about 1. Elements whose squares
    /// underflow count as 0: they are far below the rounding errors of the matrix.
    #[inline(always)]
    pub(super) fn of_scaled(pivot: T, squares: T) -> Self {
        Self::new(pivot, if squares < T::SMALL_SQUARES { T::ZERO } else { squares })
    }
}

/// From this number of reflections on they are applied in blocks.
const BLOCKED: usize = crate::kernels::limit::limit(64, 6);

/// The number of reflections in a block.
const BLOCK: usize = crate::kernels::limit::limit(32, 3);

/// The order of reflections in a product that is applied from the left.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// The reflection with the lowest number is applied first. Reflection `i` changes the elements before `i`.
    Ascending,
    /// The reflection with the highest number is applied first. Reflection `i` changes the elements from `i` on.
    Descending,
}

/// Reflections whose vectors are rows of a matrix.
pub(super) struct Reflections<'a, T> {
    /// The vectors, as rows.
    pub(super) vectors: &'a [T],
    /// The distance from one vector to the next, a multiple of `L`.
    pub(super) stride: usize,
    pub(super) taus: &'a [T],
    pub(super) order: Order,
}

/// The scratch memory of [`Reflections::form`], for `count` reflections of `columns` columns.
pub(super) fn form_scratch<T: Real>(rows: usize, count: usize, columns: usize) -> usize {
    if count < BLOCKED {
        return 0;
    }
    3 * BLOCK * BLOCK + 2 * BLOCK * columns + super::products::scratch::<T>(rows, BLOCK.max(rows), columns)
}

impl<T: Real> Reflections<'_, T> {
    /// Writes the product of the reflections to `q`, of `rows` rows and `columns` columns: the first columns of an
    /// orthogonal matrix. Its rows are `stride` apart, a multiple of `L`. Elements after `columns` become 0.
    pub(super) fn form<const L: usize>(
        &self,
        [rows, columns]: [usize; 2],
        q: &mut [T],
        stride: usize,
        scratch: &mut [T],
    ) {
        q[..rows * stride].fill(T::ZERO);
        for i in 0..rows.min(columns) {
            q[i * stride + i] = T::ONE;
        }
        let count = self.taus.len();
        if count < BLOCKED {
            return dispatch(OneByOne::<T, L> { reflections: self, extents: [rows, columns], q, stride });
        }
        for part in 0..count.div_ceil(BLOCK) {
            let first = match self.order {
                Order::Ascending => part * BLOCK,
                Order::Descending => (count.div_ceil(BLOCK) - 1 - part) * BLOCK,
            };
            self.block([first, BLOCK.min(count - first)], [rows, columns], q, stride, scratch);
        }
    }

    /// Applies the reflections from `first` on to `q`.
    fn block(
        &self,
        [first, count]: [usize; 2],
        [rows, columns]: [usize; 2],
        q: &mut [T],
        stride: usize,
        scratch: &mut [T],
    ) {
        // The part of `q` that changes, and the vectors there.
        let (from, to) = match self.order {
            Order::Ascending => (0, (first + count).min(rows)),
            Order::Descending => (first, rows),
        };
        let columns = match self.order {
            Order::Ascending => from..to.min(columns),
            Order::Descending => from..columns,
        };
        if columns.is_empty() {
            return;
        }
        let (len, width) = (to - from, columns.len());
        let vectors = Mat::new(&self.vectors[first * self.stride + from..], self.stride);
        let (gram, scratch) = scratch.split_at_mut(BLOCK * BLOCK);
        let (factor, scratch) = scratch.split_at_mut(BLOCK * BLOCK);
        let (dots, scratch) = scratch.split_at_mut(BLOCK * width);
        let (scaled, scratch) = scratch.split_at_mut(BLOCK * width);
        product([count, len, count], vectors, vectors.transposed(), &mut gram[..count * count], scratch);
        // H_first … H_last = I - Vᵀ F V with an upper triangular F. Its transpose is the product in the other order.
        let factor = &mut factor[..count * count];
        factor.fill(T::ZERO);
        for j in 0..count {
            let tau = self.taus[first + j];
            for p in 0..j {
                let mut sum = T::ZERO;
                for l in p..j {
                    sum += factor[p * count + l] * gram[l * count + j];
                }
                factor[p * count + j] = -tau * sum;
            }
            factor[j * count + j] = tau;
        }
        let factor = match self.order {
            Order::Ascending => Mat::new(factor, count).transposed(),
            Order::Descending => Mat::new(factor, count),
        };
        let q = &mut q[from * stride + columns.start..];
        let (dots, scaled) = (&mut dots[..count * width], &mut scaled[..count * width]);
        product([count, len, width], vectors, Mat::new(q, stride), dots, scratch);
        product([count, count, width], factor, Mat::new(dots, width), scaled, scratch);
        subtract_product(
            [len, count, width],
            vectors.transposed(),
            Mat::new(scaled, width),
            q,
            stride,
            scratch,
        );
    }
}

struct OneByOne<'a, T, const L: usize> {
    reflections: &'a Reflections<'a, T>,
    extents: [usize; 2],
    q: &'a mut [T],
    stride: usize,
}

impl<T: Real, const L: usize> Kernel for OneByOne<'_, T, L> {
    type Output = ();

    #[inline(always)]
    fn run_by<A: MultiplyAdd>(self) {
        let Self { reflections, extents: [rows, columns], q, stride } = self;
        let Reflections { vectors, stride: apart, taus, order } = *reflections;
        let width = stride / L;
        let q = rows_of::<T, L>(q);
        for step in 0..taus.len() {
            let (i, rows, chunks) = match order {
                Order::Ascending => (step, 0..step, 0..step.div_ceil(L)),
                Order::Descending => {
                    let i = taus.len() - 1 - step;
                    (i, i..rows, i / L..columns.div_ceil(L))
                }
            };
            let (tau, v) = (taus[i], &vectors[i * apart..]);
            if tau == T::ZERO {
                continue;
            }
            for chunk in chunks {
                let mut dots = [T::ZERO; L];
                for r in rows.clone() {
                    dots = axpy::<A, T, L>(v[r], &q[r * width + chunk], dots);
                }
                for dot in &mut dots {
                    *dot *= -tau;
                }
                for r in rows.clone() {
                    q[r * width + chunk] = axpy::<A, T, L>(v[r], &dots, q[r * width + chunk]);
                }
            }
        }
    }
}

/// The sum of the squares of elements whose number is a multiple of `L`.
#[inline(always)]
pub(super) fn squares<A: MultiplyAdd, T: Real, const L: usize>(elements: &[[T; L]]) -> T {
    let mut sums = [T::ZERO; L];
    for chunk in elements {
        for l in 0..L {
            sums[l] = A::multiply_add(chunk[l], chunk[l], sums[l]);
        }
    }
    sum(sums)
}
