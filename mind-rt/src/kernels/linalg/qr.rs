//! QR decompositions by Householder reflections.
//!
//! Panels of columns are decomposed, and their reflections applied to the other columns as products. Source: G. H. Golub
//! and C. F. Van Loan, *Matrix Computations*, 4th edition, sections 5.1 and 5.2; signs as in LAPACK's `geqrf`.

use super::batch::Matrices;
use super::householder::Reflection;
use super::lanes::axpy;
use super::products::{self, Mat, product, subtract_product};
use super::real::Real;
use crate::kernels::limit::limit;
use crate::kernels::math::MultiplyAdd;
use crate::simd::{Kernel, dispatch};
use crate::workspace::{carve, slot_bytes};

/// The columns of a panel of a matrix with many columns.
const WIDEST: usize = limit(32, 8);

/// The matrices of a batch.
pub(super) struct Qr {
    pub(super) rows: usize,
    pub(super) columns: usize,
}

impl Qr {
    fn rank(&self) -> usize {
        self.rows.min(self.columns)
    }

    /// The columns of a panel, including those that are only padding.
    fn width(&self) -> usize {
        self.rank().next_power_of_two().clamp(4, WIDEST)
    }

    /// The elements of each scratch slice: the matrix, the panels, their triangular factors, two products, and the
    /// scratch memory of products.
    fn slices<T: Real>(&self) -> [usize; 5] {
        let (&Self { rows, columns }, width) = (self, self.width());
        let panels = self.rank().div_ceil(width);
        let product = if panels > 1 || columns > rows { width * columns } else { 0 };
        let scratch = if product > 0 { products::scratch::<T>(rows, width.max(rows), columns) } else { 0 };
        [rows * columns, panels * rows * width, panels * width * width, product, scratch]
    }

    /// As [`Matrices::scratch`].
    pub(super) fn bytes<T: Real>(&self) -> usize {
        let [matrix, panels, factors, product, scratch] = self.slices::<T>().map(slot_bytes::<T>);
        matrix + panels + factors + 2 * product + scratch
    }

    /// Writes Q, and below it the transpose of R.
    pub(super) fn write<T: Real>(&self, a: &[T], out: &mut [T], memory: &mut [u8]) {
        let mut largest = T::ZERO;
        for x in a {
            if !x.is_number() {
                return out.fill(T::NAN);
            }
            largest = if x.magnitude() > largest { x.magnitude() } else { largest };
        }
        let [matrix, panels, factors, product, scratch] = self.slices::<T>();
        let (matrix, memory) = carve::<T>(memory, matrix);
        let (panels, memory) = carve::<T>(memory, panels);
        let (factors, memory) = carve::<T>(memory, factors);
        let (dots, memory) = carve::<T>(memory, product);
        let (scaled, memory) = carve::<T>(memory, product);
        let (scratch, _) = carve::<T>(memory, scratch);
        matrix.copy_from_slice(a);
        let scale = if largest > T::LARGE {
            largest.scale_to_one() * T::LARGE
        } else if largest > T::ZERO && largest < T::ONE / T::LARGE {
            largest.scale_to_one()
        } else {
            T::ONE
        };
        if scale != T::ONE {
            matrix.iter_mut().for_each(|x| *x *= scale);
        }
        let mut task =
            Task { extents: [self.rows, self.columns], matrix, panels, factors, dots, scaled, scratch };
        match self.width() {
            4 => task.run::<4>(out),
            8 => task.run::<8>(out),
            16 => task.run::<16>(out),
            _ => task.run::<32>(out),
        }
        if scale != T::ONE {
            out[self.rows * self.rank()..].iter_mut().for_each(|x| *x = *x / scale);
        }
    }
}

impl<T: Real> Matrices<T> for Qr {
    fn lens(&self) -> [usize; 2] {
        [self.rows * self.columns, (self.rows + self.columns) * self.rank()]
    }

    fn cost(&self) -> usize {
        4 * self.rank()
    }

    fn scratch(&self) -> usize {
        self.bytes::<T>()
    }

    fn compute(&self, a: &[T], out: &mut [T], memory: &mut [u8]) {
        self.write(a, out, memory);
    }
}

struct Task<'a, T> {
    /// The rows and columns of the matrix.
    extents: [usize; 2],
    matrix: &'a mut [T],
    panels: &'a mut [T],
    factors: &'a mut [T],
    dots: &'a mut [T],
    scaled: &'a mut [T],
    scratch: &'a mut [T],
}

impl<T: Real> Task<'_, T> {
    /// Decomposes panels of `W` columns.
    fn run<const W: usize>(&mut self, out: &mut [T]) {
        let [rows, columns] = self.extents;
        let rank = rows.min(columns);
        for first in (0..rank).step_by(W) {
            self.panel::<W>(first, rank);
        }
        let (q, r) = out.split_at_mut(rows * rank);
        for (j, r) in r.chunks_exact_mut(rank.max(1)).enumerate() {
            for (i, r) in r.iter_mut().enumerate() {
                *r = if i <= j { self.matrix[i * columns + j] } else { T::ZERO };
            }
        }
        if rank <= W {
            let (panel, factor) = (&self.panels[..rows * W], &self.factors[..W * W]);
            return dispatch(Explicit::<T, W> {
                panel: panel.as_chunks().0,
                factor: factor.as_chunks().0,
                rank,
                q,
            });
        }
        q.fill(T::ZERO);
        for i in 0..rank {
            q[i * rank + i] = T::ONE;
        }
        for first in (0..rank).step_by(W).rev() {
            self.apply::<W>(first, rank, q);
        }
    }

    /// Decomposes the panel that begins at the column `first`, and applies it to the columns after it.
    fn panel<const W: usize>(&mut self, first: usize, rank: usize) {
        let [rows, columns] = self.extents;
        let (panel, factor) = (first / W * rows * W, first / W * W * W);
        let panel = &mut self.panels[panel..][..(rows - first) * W];
        let factor = &mut self.factors[factor..][..W * W];
        let count = W.min(rank - first);
        let from = &mut self.matrix[first * columns + first..];
        for (i, row) in panel.as_chunks_mut::<W>().0.iter_mut().enumerate() {
            row[..count].copy_from_slice(&from[i * columns..][..count]);
            row[count..].fill(T::ZERO);
        }
        let rows_of_panel = panel.as_chunks_mut().0;
        dispatch(Panel::<T, W> { rows: rows_of_panel, count, factor: factor.as_chunks_mut().0 });
        for (i, row) in panel.as_chunks_mut::<W>().0[..count].iter_mut().enumerate() {
            from[i * columns..][i..count].copy_from_slice(&row[i..count]);
            row[i] = T::ONE;
            row[i + 1..].fill(T::ZERO);
        }
        let (len, others) = (rows - first, columns - first - count);
        if others == 0 {
            return;
        }
        let vectors = Mat::new(panel, W);
        let (dots, scaled) = (&mut self.dots[..count * others], &mut self.scaled[..count * others]);
        let others_of = &mut from[count..];
        product([count, len, others], vectors.transposed(), Mat::new(others_of, columns), dots, self.scratch);
        product([count, count, others], Mat::new(factor, W), Mat::new(dots, others), scaled, self.scratch);
        subtract_product(
            [len, count, others],
            vectors,
            Mat::new(scaled, others),
            others_of,
            columns,
            self.scratch,
        );
    }

    /// Applies the reflections of a panel to `q`.
    fn apply<const W: usize>(&mut self, first: usize, rank: usize, q: &mut [T]) {
        let rows = self.extents[0];
        let count = W.min(rank - first);
        let vectors = Mat::new(&self.panels[first / W * rows * W..], W);
        let factor = Mat::new(&self.factors[first / W * W * W..], W).transposed();
        let (len, width) = (rows - first, rank - first);
        let (dots, scaled) = (&mut self.dots[..count * width], &mut self.scaled[..count * width]);
        let q = &mut q[first * rank + first..];
        product([count, len, width], vectors.transposed(), Mat::new(q, rank), dots, self.scratch);
        product([count, count, width], factor, Mat::new(dots, width), scaled, self.scratch);
        subtract_product([len, count, width], vectors, Mat::new(scaled, width), q, rank, self.scratch);
    }
}

/// Decomposes the first `count` columns of a panel. Row `i` becomes the row of `R`, from its diagonal on, and the row of
/// the reflections' vectors before it. `factor` becomes the transpose of the upper triangular matrix `F` for which the
/// product of the reflections is `I - V F Vᵀ`.
struct Panel<'a, T, const W: usize> {
    rows: &'a mut [[T; W]],
    count: usize,
    factor: &'a mut [[T; W]],
}

impl<T: Real, const W: usize> Kernel for Panel<'_, T, W> {
    type Output = ();

    #[inline(always)]
    fn run_by<A: MultiplyAdd>(self) {
        let Self { rows, count, factor } = self;
        factor.fill([T::ZERO; W]);
        // The products of column `j` and every column, in the rows after `j`.
        let mut dots = products_with::<A, T, W>(rows, 0);
        for j in 0..count {
            let mut scale = T::ONE;
            if dots[j] < T::SMALL_SQUARES && j + 1 < rows.len() {
                scale = scale_of_small(rows, j);
                dots = products_with::<A, T, W>(rows, j);
            }
            let (pivots, below) = rows[j..].split_at_mut(1);
            let pivot = &mut pivots[0];
            let Reflection { beta, tau, inverse } = Reflection::new(pivot[j], dots[j]);
            let mut with_v = [T::ZERO; W];
            for c in 0..W {
                with_v[c] = A::multiply_add(inverse, dots[c], pivot[c]);
            }
            let mut sums = [T::ZERO; W];
            for p in 0..j {
                sums = axpy::<A, T, W>(with_v[p], &factor[p], sums);
            }
            for p in 0..j {
                factor[j][p] = -tau * sums[p];
            }
            factor[j][j] = tau;
            // Row `r` becomes `keep * r - gain * x`, where `x` is its element in column `j`.
            let (mut keep, mut gain) = ([T::ONE; W], [T::ZERO; W]);
            for c in j + 1..W {
                gain[c] = tau * with_v[c];
                pivot[c] -= gain[c];
                gain[c] *= inverse;
            }
            pivot[j] = beta / scale;
            (keep[j], gain[j]) = (T::ZERO, -inverse);
            dots = [T::ZERO; W];
            let next = (j + 1).min(W - 1);
            for (i, row) in below.iter_mut().enumerate() {
                let x = -row[j];
                for c in 0..W {
                    row[c] = A::multiply_add(x, gain[c], keep[c] * row[c]);
                }
                if i > 0 {
                    dots = axpy::<A, T, W>(row[next], row, dots);
                }
            }
        }
    }
}

/// The products of column `j` and every column, in the rows after `j`.
#[inline(always)]
fn products_with<A: MultiplyAdd, T: Real, const W: usize>(rows: &[[T; W]], j: usize) -> [T; W] {
    // A closure would not be compiled for the level.
    let mut dots = [T::ZERO; W];
    for row in &rows[j + 1..] {
        dots = axpy::<A, T, W>(row[j], row, dots);
    }
    dots
}

/// Scales a column from its pivot on, if the squares below the pivot would lose digits. Returns the power of two.
#[cold]
fn scale_of_small<T: Real, const W: usize>(rows: &mut [[T; W]], j: usize) -> T {
    let largest = rows[j..].iter().fold(T::ZERO, |largest, row| {
        if row[j].magnitude() > largest { row[j].magnitude() } else { largest }
    });
    if largest == T::ZERO {
        return T::ONE;
    }
    let scale = largest.scale_to_one();
    for row in &mut rows[j..] {
        row[j] *= scale;
    }
    scale
}

/// Writes the first `rank` columns of `I - V F Vᵀ`.
struct Explicit<'a, T, const W: usize> {
    panel: &'a [[T; W]],
    factor: &'a [[T; W]],
    rank: usize,
    q: &'a mut [T],
}

impl<T: Real, const W: usize> Kernel for Explicit<'_, T, W> {
    type Output = ();

    #[inline(always)]
    fn run_by<A: MultiplyAdd>(self) {
        let Self { panel, factor, rank, q } = self;
        // The product of F and the first rows of V, transposed.
        let mut product = [[T::ZERO; W]; W];
        for c in 0..rank {
            let mut sums = [T::ZERO; W];
            for p in 0..=c {
                sums = axpy::<A, T, W>(panel[c][p], &factor[p], sums);
            }
            for p in 0..W {
                product[p][c] = -sums[p];
            }
        }
        for (i, (row, q)) in panel.iter().zip(q.chunks_exact_mut(rank.max(1))).enumerate() {
            let mut sums = [T::ZERO; W];
            for p in 0..rank.min(i + 1) {
                sums = axpy::<A, T, W>(row[p], &product[p], sums);
            }
            if i < rank {
                sums[i] += T::ONE;
            }
            q.copy_from_slice(&sums[..rank]);
        }
    }
}
