//! Products of a matrix and vectors. No element of the matrix is read twice, so the speed depends on reading memory in
//! long contiguous stretches.

use super::{LINE, Vector, unroll};
use crate::kernels::limit::limit;
use crate::kernels::number::Number;
use crate::kernels::prefetch::prefetch;

/// `to[i * to.stride + j] = Σ_l rows[j * stride + l] · vector i[l]` for each vector, `len` rows and `k` products. The
/// vectors are contiguous, and as many as the function is for.
///
/// # Safety
/// The processor must have the level's instructions. All factors must be readable and all sums writable, and also
/// readable if they are added to.
pub type DotsFn<T> =
    unsafe fn(rows: *const T, stride: usize, len: usize, vectors: &Vectors<T>, k: usize, to: Dots<T>);

/// `to[i * to_stride + j] = Σ_l rows[l * stride + j] · vector i[l]` for each vector, `len` columns and `k` rows, in the
/// order of `l`.
///
/// # Safety
/// The processor must have the level's instructions. There must be one to [`MOST_VECTORS`] vectors. All factors must be
/// readable and all sums writable.
pub type CombineFn<T> = unsafe fn(
    rows: *const T,
    stride: usize,
    len: usize,
    vectors: Vectors<T>,
    k: usize,
    to: *mut T,
    to_stride: usize,
);

/// The vectors by which rows are multiplied.
#[derive(Clone, Copy)]
pub struct Vectors<T> {
    /// The first element of the first vector.
    pub first: *const T,
    /// The distance from one element of a vector to the next.
    pub step: usize,
    /// The distance from one vector to the next.
    pub stride: usize,
    pub count: usize,
}

impl<T> Vectors<T> {
    /// A single vector, whose elements are `step` apart.
    pub fn one(first: *const T, step: usize) -> Self {
        Self { first, step, stride: 0, count: 1 }
    }
}

/// The destination of inner products.
#[derive(Clone, Copy)]
pub struct Dots<T> {
    /// The place of the inner product of the first row and vector.
    pub first: *mut T,
    /// The distance from the inner products of one vector to those of the next.
    pub stride: usize,
    /// Whether the inner products are added to the present values.
    pub adds: bool,
}

impl<T> Dots<T> {
    /// The destination of the inner products from a row on.
    #[inline(always)]
    fn at_row(self, row: usize) -> Self {
        Self { first: self.first.wrapping_add(row), ..self }
    }
}

/// The most vectors by which rows are combined at once.
pub const MOST_VECTORS: usize = 4;

/// Computes inner products with `M` vectors, `R` rows at a time.
///
/// # Safety
/// As for [`DotsFn`], with `M` vectors.
#[inline(always)]
pub unsafe fn dots<V: Vector, const M: usize, const R: usize>(
    rows: *const V::Element,
    stride: usize,
    len: usize,
    vectors: &Vectors<V::Element>,
    k: usize,
    to: Dots<V::Element>,
) {
    /// Rows of this many bytes in all, or more, come from beyond L2.
    const FROM_AFAR: usize = limit(512 << 10, 512);
    /// The prefetch distance for such rows, in bytes: the processor's own prefetcher does not run far enough ahead.
    const AHEAD: usize = 8 << 10;
    // Several rows at a time share the loads of the vectors, and do not wait for each other's sums. One row after the
    // other is a single stretch of memory. That is faster from beyond L2 if the sums of a single row keep up with it,
    // as they do if vectors are as long as a cache line.
    assert!(vectors.count == M, "one function for each number of vectors");
    let by_rows = size_of::<V>() < LINE || len * k * size_of::<V::Element>() < FROM_AFAR;
    let ahead = (!by_rows).then_some(AHEAD / size_of::<V::Element>());
    let mut i = 0;
    // SAFETY: the caller's contract covers every row.
    unsafe {
        while by_rows && i + R <= len {
            some_dots::<V, M, R>(rows.add(i * stride), stride, vectors, k, to.at_row(i), None);
            i += R;
        }
        while i < len {
            some_dots::<V, M, 1>(rows.add(i * stride), stride, vectors, k, to.at_row(i), ahead);
            i += 1;
        }
    }
}

/// Multiplies `R` rows by `M` vectors. If `ahead` is given, elements of the rows are prefetched this far ahead. The
/// order of a sum depends on none of these.
///
/// # Safety
/// As for [`DotsFn`].
#[inline(always)]
unsafe fn some_dots<V: Vector, const M: usize, const R: usize>(
    rows: *const V::Element,
    stride: usize,
    vectors: &Vectors<V::Element>,
    k: usize,
    to: Dots<V::Element>,
    ahead: Option<usize>,
) {
    /// The number of vectors of partial sums per row.
    const CHAINS: usize = 2;
    // SAFETY: positions are below `k`, and the caller's contract covers these.
    unsafe {
        let mut sums = [[[V::zero(); CHAINS]; M]; R];
        let mut at = 0;
        while at + CHAINS * V::LANES <= k {
            for chain in 0..CHAINS {
                let at = at + chain * V::LANES;
                if let Some(ahead) = ahead {
                    prefetch(rows.wrapping_add(at + ahead));
                }
                let mut factors = [V::zero(); M];
                unroll!(m in M { factors[m] = V::load(vectors.first.add(m * vectors.stride + at)); });
                for (r, sums) in sums.iter_mut().enumerate() {
                    let row = V::load(rows.add(r * stride + at));
                    for (sums, factor) in sums.iter_mut().zip(factors) {
                        sums[chain] = sums[chain].plus_product(factor, row);
                    }
                }
            }
            at += CHAINS * V::LANES;
        }
        while at < k {
            let lanes = V::LANES.min(k - at);
            let mut factors = [V::zero(); M];
            unroll!(m in M { factors[m] = V::load_part(vectors.first.add(m * vectors.stride + at), lanes); });
            for (r, sums) in sums.iter_mut().enumerate() {
                let row = V::load_part(rows.add(r * stride + at), lanes);
                for (sums, factor) in sums.iter_mut().zip(factors) {
                    sums[0] = sums[0].plus_product(factor, row);
                }
            }
            at += lanes;
        }
        for (r, sums) in sums.iter().enumerate() {
            for (m, sums) in sums.iter().enumerate() {
                let place = to.first.add(m * to.stride + r);
                let sum = total(sums);
                *place = if to.adds { (*place).plus(sum) } else { sum };
            }
        }
    }
}

/// The sum of all lanes of all vectors.
///
/// # Safety
/// The caller is compiled for the level's instructions.
#[inline(always)]
unsafe fn total<V: Vector, const CHAINS: usize>(sums: &[V; CHAINS]) -> V::Element {
    // SAFETY: the caller is compiled for the level's instructions.
    unsafe {
        let one = V::splat(V::Element::ONE);
        sums[1..].iter().fold(sums[0], |sum, other| sum.plus_product(*other, one)).sum()
    }
}

/// # Safety
/// As for [`CombineFn`].
#[inline(always)]
pub unsafe fn combine<V: Vector>(
    rows: *const V::Element,
    stride: usize,
    len: usize,
    vectors: Vectors<V::Element>,
    k: usize,
    to: *mut V::Element,
    to_stride: usize,
) {
    // SAFETY: the contract is the same.
    unsafe {
        match vectors.count {
            1 => combine_by::<V, 1, 8>(rows, stride, len, vectors, k, to, to_stride),
            2 => combine_by::<V, 2, 8>(rows, stride, len, vectors, k, to, to_stride),
            3 => combine_by::<V, 3, 4>(rows, stride, len, vectors, k, to, to_stride),
            _ => combine_by::<V, MOST_VECTORS, 4>(rows, stride, len, vectors, k, to, to_stride),
        }
    }
}

/// Combines rows by `M` vectors, `R` rows at a time.
///
/// # Safety
/// As for [`CombineFn`].
#[inline(always)]
unsafe fn combine_by<V: Vector, const M: usize, const R: usize>(
    rows: *const V::Element,
    stride: usize,
    len: usize,
    mut vectors: Vectors<V::Element>,
    k: usize,
    to: *mut V::Element,
    to_stride: usize,
) {
    /// In rows of up to this many vectors, a partial vector before the whole ones is a noticeable extra cost.
    const FEW_VECTORS: usize = 8;
    // The number of columns at a time. Their sums stay in L1, and each row has some KB of them.
    let columns = if M == 1 { 2048 } else { 1024 };
    let first = vectors.first;
    let mut column = 0;
    // SAFETY: the caller's contract covers every column and row.
    unsafe {
        while column < len {
            let (rows, to, len) = (rows.add(column), to.add(column), columns.min(len - column));
            // Whole vectors begin at multiples of their length from a cache line on, so that none spans two lines: that
            // takes twice as long to read.
            let head = if len > FEW_VECTORS * V::LANES { rows.align_offset(LINE) % V::LANES } else { 0 };
            let len = [head, len];
            let mut l = 0;
            while l + R <= k {
                vectors.first = first.add(l * vectors.step);
                some_rows::<V, M, R>(rows.add(l * stride), stride, len, vectors, to, to_stride, l > 0);
                l += R;
            }
            while l < k {
                vectors.first = first.add(l * vectors.step);
                some_rows::<V, M, 1>(rows.add(l * stride), stride, len, vectors, to, to_stride, l > 0);
                l += 1;
            }
            column += len[1];
        }
    }
}

/// Combines `R` rows of `len` columns by `M` vectors, and adds to the present values if `adds`. The first `head`
/// columns, fewer than a vector has, are processed as a separate part.
///
/// # Safety
/// As for [`CombineFn`].
#[inline(always)]
unsafe fn some_rows<V: Vector, const M: usize, const R: usize>(
    rows: *const V::Element,
    stride: usize,
    [head, len]: [usize; 2],
    vectors: Vectors<V::Element>,
    to: *mut V::Element,
    to_stride: usize,
    adds: bool,
) {
    // SAFETY: positions are below `len`, and the caller's contract covers these.
    unsafe {
        let mut factors = [[V::zero(); R]; M];
        for (m, factors) in factors.iter_mut().enumerate() {
            for (r, factor) in factors.iter_mut().enumerate() {
                *factor = V::splat(*vectors.first.add(m * vectors.stride + r * vectors.step));
            }
        }
        let mut at = 0;
        if head > 0 {
            part_of_rows::<V, M, R>(rows, stride, head, &factors, to, to_stride, adds);
            at = head;
        }
        while at + V::LANES <= len {
            let mut row = [V::zero(); R];
            unroll!(r in R { row[r] = V::load(rows.add(r * stride + at)); });
            unroll!(m in M {
                let to = to.add(m * to_stride + at);
                let mut sum = if adds { V::load(to) } else { V::zero() };
                unroll!(r in R { sum = sum.plus_product(factors[m][r], row[r]); });
                sum.store(to);
            });
            at += V::LANES;
        }
        if at < len {
            part_of_rows::<V, M, R>(rows.add(at), stride, len - at, &factors, to.add(at), to_stride, adds);
        }
    }
}

/// Combines a partial vector of `lanes` columns.
///
/// # Safety
/// As for [`CombineFn`].
#[inline(always)]
unsafe fn part_of_rows<V: Vector, const M: usize, const R: usize>(
    rows: *const V::Element,
    stride: usize,
    lanes: usize,
    factors: &[[V; R]; M],
    to: *mut V::Element,
    to_stride: usize,
    adds: bool,
) {
    // SAFETY: the contract is the same.
    unsafe {
        let mut row = [V::zero(); R];
        unroll!(r in R { row[r] = V::load_part(rows.add(r * stride), lanes); });
        unroll!(m in M {
            let to = to.add(m * to_stride);
            let mut sum = if adds { V::load_part(to, lanes) } else { V::zero() };
            unroll!(r in R { sum = sum.plus_product(factors[m][r], row[r]); });
            sum.store_part(to, lanes);
        });
    }
}
