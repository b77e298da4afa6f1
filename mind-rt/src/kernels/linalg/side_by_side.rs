//! Small matrices side by side: element `[i, j]` of several matrices in the lanes of a vector.

use super::Triangle;
use super::real::{Real, mean};
use crate::kernels::math::MultiplyAdd;
use crate::parallel::{Split, run as run_on_threads};
use crate::simd::{Kernel, dispatch};
use crate::workspace::{carve, slot_bytes, with_workspace};

/// A computation of matrices in lanes.
pub trait Job<T: Real>: Sync {
    /// The number of elements of each operand, and of the result. The result follows the operands in the vectors.
    fn lens(&self) -> (&[usize], usize);

    /// The number of operations for an element of the first operand.
    fn cost(&self) -> usize;

    /// Computes the result from the operands, which it may overwrite.
    fn compute<A: MultiplyAdd, const W: usize>(&self, vectors: &mut [[T; W]]);
}

/// Computes the results of `count` matrices, `W` at a time. The last lanes repeat the last matrix.
pub(super) fn run<T: Real, J: Job<T>, const W: usize>(job: &J, count: usize, inputs: &[&[T]], out: &mut [T]) {
    let (lens, result) = job.lens();
    let of_matrix = lens[0];
    run_on_threads(
        SideBySide::<T, J, W> { job, inputs, first: 0, count, result, out },
        count.div_ceil(W),
        of_matrix * W,
        job.cost(),
    );
}

struct SideBySide<'a, T, J, const W: usize> {
    job: &'a J,
    inputs: &'a [&'a [T]],
    /// The first matrix.
    first: usize,
    /// The number of matrices.
    count: usize,
    /// The number of elements of a result.
    result: usize,
    /// The results from the first matrix on.
    out: &'a mut [T],
}

impl<T: Real, J: Job<T>, const W: usize> Split for SideBySide<'_, T, J, W> {
    fn split(self, at: usize) -> (Self, Self) {
        let Self { job, inputs, first, count, result, out } = self;
        let (out, later) = out.split_at_mut(at * W * result);
        (
            Self { job, inputs, first, count: at * W, result, out },
            Self { job, inputs, first: first + at * W, count: count - at * W, result, out: later },
        )
    }
}

impl<T: Real, J: Job<T>, const W: usize> Kernel for SideBySide<'_, T, J, W> {
    type Output = ();

    /// Not compiled for a level, as the closure is not: the loop over groups is.
    #[inline(never)]
    fn run(self) {
        let (lens, result) = self.job.lens();
        let len = (lens.iter().sum::<usize>() + result) * W;
        with_workspace(slot_bytes::<T>(len), |workspace| {
            let (vectors, _) = carve::<T>(workspace.memory(), len);
            dispatch(Groups { matrices: self, vectors: vectors.as_chunks_mut().0 });
        });
    }
}

/// Computes groups of `W` matrices.
struct Groups<'a, 'v, T, J, const W: usize> {
    matrices: SideBySide<'a, T, J, W>,
    vectors: &'v mut [[T; W]],
}

impl<T: Real, J: Job<T>, const W: usize> Kernel for Groups<'_, '_, T, J, W> {
    type Output = ();

    #[inline(always)]
    fn run_by<A: MultiplyAdd>(self) {
        let Self { matrices: SideBySide { job, inputs, first, count, result, out }, vectors } = self;
        let (lens, _) = job.lens();
        for (group, out) in out.chunks_mut(W * result).enumerate() {
            let mut start = 0;
            for (input, len) in inputs.iter().zip(lens) {
                let vectors = &mut vectors[start..start + len];
                for lane in 0..W {
                    let matrix = (group * W + lane).min(count - 1) + first;
                    let elements = &input[matrix * len..][..*len];
                    for (vector, element) in vectors.iter_mut().zip(elements) {
                        vector[lane] = *element;
                    }
                }
                start += len;
            }
            job.compute::<A, W>(vectors);
            for (lane, out) in out.chunks_exact_mut(result).enumerate() {
                for (out, vector) in out.iter_mut().zip(&vectors[start..]) {
                    *out = vector[lane];
                }
            }
        }
    }
}

/// `own - factor * of` in each lane.
#[inline(always)]
fn subtract_product<A: MultiplyAdd, T: Real, const W: usize>(own: &mut [T; W], factor: &[T; W], of: &[T; W]) {
    for lane in 0..W {
        own[lane] = A::multiply_add(-factor[lane], of[lane], own[lane]);
    }
}

/// Cholesky factors of symmetric parts.
pub(super) struct Cholesky {
    pub(super) lens: [usize; 1],
    pub(super) n: usize,
}

impl<T: Real> Job<T> for Cholesky {
    fn lens(&self) -> (&[usize], usize) {
        (&self.lens, self.lens[0])
    }

    fn cost(&self) -> usize {
        self.n.div_ceil(3)
    }

    #[inline(always)]
    fn compute<A: MultiplyAdd, const W: usize>(&self, vectors: &mut [[T; W]]) {
        let n = self.n;
        let (a, l) = vectors.split_at_mut(n * n);
        for row in 0..n {
            let (before, own) = l.split_at_mut(row * n);
            for column in 0..=row {
                let (mut rest, other) = (a[row * n + column], a[column * n + row]);
                for lane in 0..W {
                    rest[lane] = mean(rest[lane], other[lane]);
                }
                for k in 0..column {
                    let factor = own[k];
                    let of = if column < row { before[column * n + k] } else { own[k] };
                    subtract_product::<A, T, W>(&mut rest, &factor, &of);
                }
                if column < row {
                    let pivot = before[column * n + column];
                    for lane in 0..W {
                        rest[lane] = rest[lane] / pivot[lane];
                    }
                } else {
                    for lane in &mut rest {
                        *lane = if *lane > T::ZERO { lane.root() } else { T::NAN };
                    }
                }
                own[column] = rest;
            }
            own[row + 1..n].fill([T::ZERO; W]);
        }
        // A pivot that is NaN makes every later one NaN.
        let last = l[n * n - 1];
        for row in 0..n {
            for element in &mut l[row * n..][..=row] {
                for lane in 0..W {
                    element[lane] = if last[lane].is_nan() { T::NAN } else { element[lane] };
                }
            }
        }
    }
}

/// Factors with exchanged rows.
pub(super) struct Lu {
    pub(super) lens: [usize; 1],
    pub(super) n: usize,
}

impl<T: Real> Job<T> for Lu {
    fn lens(&self) -> (&[usize], usize) {
        (&self.lens, self.lens[0] + 2 * self.n)
    }

    fn cost(&self) -> usize {
        self.n
    }

    #[inline(always)]
    fn compute<A: MultiplyAdd, const W: usize>(&self, vectors: &mut [[T; W]]) {
        let n = self.n;
        let (a, out) = vectors.split_at_mut(n * n);
        let (matrix, ends) = out.split_at_mut(n * n);
        let (from, signs) = ends.split_at_mut(n);
        matrix.copy_from_slice(a);
        from.iter_mut().enumerate().for_each(|(row, from)| *from = [T::of(row as f64); W]);
        signs.fill([T::ONE; W]);
        for step in 0..n {
            let mut largest = matrix[step * n + step].map(T::magnitude);
            let mut pivots = [step; W];
            for row in step + 1..n {
                for lane in 0..W {
                    let size = matrix[row * n + step][lane].magnitude();
                    if size > largest[lane] {
                        (largest[lane], pivots[lane]) = (size, row);
                    }
                }
            }
            for lane in 0..W {
                let pivot = pivots[lane];
                if pivot != step {
                    for column in 0..n {
                        let own = matrix[step * n + column][lane];
                        matrix[step * n + column][lane] = matrix[pivot * n + column][lane];
                        matrix[pivot * n + column][lane] = own;
                    }
                    let own = from[step][lane];
                    from[step][lane] = from[pivot][lane];
                    from[pivot][lane] = own;
                    signs[step][lane] = -T::ONE;
                }
            }
            let (done, rest) = matrix.split_at_mut((step + 1) * n);
            let of = &done[step * n..][..n];
            for row in rest.chunks_exact_mut(n) {
                let mut factor = row[step];
                for lane in 0..W {
                    let is_zero = of[step][lane] == T::ZERO;
                    factor[lane] = factor[lane] / if is_zero { T::ONE } else { of[step][lane] };
                }
                row[step] = factor;
                for lane in 0..W {
                    factor[lane] = if of[step][lane] == T::ZERO { T::ZERO } else { factor[lane] };
                }
                for (own, of) in row[step + 1..].iter_mut().zip(&of[step + 1..]) {
                    subtract_product::<A, T, W>(own, &factor, of);
                }
            }
        }
    }
}

/// Solutions of triangular systems.
pub(super) struct Triangular {
    pub(super) lens: [usize; 2],
    pub(super) of: Triangle,
    pub(super) n: usize,
    pub(super) columns: usize,
}

impl<T: Real> Job<T> for Triangular {
    fn lens(&self) -> (&[usize], usize) {
        (&self.lens, self.lens[1])
    }

    fn cost(&self) -> usize {
        self.columns
    }

    #[inline(always)]
    fn compute<A: MultiplyAdd, const W: usize>(&self, vectors: &mut [[T; W]]) {
        let &Self { of, n, columns, .. } = self;
        let (a, rest) = vectors.split_at_mut(n * n);
        let (b, x) = rest.split_at_mut(n * columns);
        x.copy_from_slice(b);
        let [by_row, by_column] = if of.transposed { [1, n] } else { [n, 1] };
        let is_lower = of.lower != of.transposed;
        let mut is_singular = [false; W];
        for turn in 0..n {
            let row = if is_lower { turn } else { n - 1 - turn };
            let (before, own) = x.split_at_mut(row * columns);
            let (own, after) = own.split_at_mut(columns);
            for other in if is_lower { 0..row } else { row + 1..n } {
                let factor = a[row * by_row + other * by_column];
                let of =
                    if is_lower { &before[other * columns..] } else { &after[(other - row - 1) * columns..] };
                for (own, of) in own.iter_mut().zip(of) {
                    subtract_product::<A, T, W>(own, &factor, of);
                }
            }
            if !of.unit_diagonal {
                let diagonal = a[row * n + row];
                for lane in 0..W {
                    is_singular[lane] |= diagonal[lane] == T::ZERO;
                }
                for own in own {
                    for lane in 0..W {
                        own[lane] = own[lane] / diagonal[lane];
                    }
                }
            }
        }
        if is_singular.contains(&true) {
            for vector in x {
                for lane in 0..W {
                    vector[lane] = if is_singular[lane] { T::NAN } else { vector[lane] };
                }
            }
        }
    }
}
