//! Eigenvalues and eigenvectors of symmetric matrices.
//!
//! Householder reflections make the matrix tridiagonal, and the implicitly shifted QR algorithm makes that diagonal.
//! Source: G. H. Golub and C. F. Van Loan, *Matrix Computations*, 4th edition, section 8.3.

use super::batch::Matrices;
use super::householder::{self, Order, Reflection, Reflections, squares};
use super::lanes::{add_products, axpy, rows_of, some_rows, sum};
use super::real::Real;
use super::rotations::{Iteration, Rotations, Sweeps, Vectors, rotation};
use crate::kernels::math::MultiplyAdd;
use crate::simd::{Kernel, dispatch};
use crate::workspace::{carve, slot_bytes};

/// The largest number of sweeps for each eigenvalue. About 2 are needed.
const MOST_SWEEPS: usize = 30;

/// The matrices of a batch, each `n` by `n`, in chunks of `L` elements.
pub(super) struct Eigh<const L: usize> {
    pub(super) n: usize,
}

impl<T: Real, const L: usize> Matrices<T> for Eigh<L> {
    fn lens(&self) -> [usize; 2] {
        [self.n * self.n, (self.n + 1) * self.n]
    }

    fn cost(&self) -> usize {
        20 * self.n
    }

    fn scratch(&self) -> usize {
        Lens::of::<T, L>(self.n).bytes::<T>()
    }

    fn compute(&self, a: &[T], out: &mut [T], memory: &mut [u8]) {
        if eigh::<T, L>(a, self.n, out, memory).is_none() {
            out.fill(T::NAN);
        }
    }
}

/// The elements of each scratch slice.
struct Lens {
    matrix: usize,
    other: usize,
    row: usize,
    n: usize,
    rotations: usize,
    form: usize,
}

impl Lens {
    fn of<T: Real, const L: usize>(n: usize) -> Self {
        let row = n.next_multiple_of(L);
        Self {
            matrix: (n + 1) * row,
            other: n * row,
            row,
            n,
            rotations: Rotations::<T>::room(n),
            form: householder::form_scratch::<T>(n, n, n),
        }
    }

    fn bytes<T>(&self) -> usize {
        let of = slot_bytes::<T>;
        of(self.matrix)
            + 2 * of(self.other)
            + 2 * of(self.row)
            + 4 * of(self.n)
            + of(self.rotations)
            + of(self.form)
            + slot_bytes::<i64>(self.n)
    }
}

/// Returns `None` if the matrix has an element that is no number, or the iteration does not converge.
fn eigh<T: Real, const L: usize>(a: &[T], n: usize, out: &mut [T], memory: &mut [u8]) -> Option<()> {
    let lens = Lens::of::<T, L>(n);
    let stride = lens.row;
    let (matrix, memory) = carve::<T>(memory, lens.matrix);
    let (other, memory) = carve::<T>(memory, lens.other);
    let (vectors, memory) = carve::<T>(memory, lens.other);
    let (w, memory) = carve::<T>(memory, stride);
    let (y, memory) = carve::<T>(memory, stride);
    let (diagonal, memory) = carve::<T>(memory, n);
    let (beside, memory) = carve::<T>(memory, n);
    let (taus, memory) = carve::<T>(memory, n);
    let (signs, memory) = carve::<T>(memory, n);
    let (rotations, memory) = carve::<T>(memory, lens.rotations);
    let (form, memory) = carve::<T>(memory, lens.form);
    let (order, _) = carve::<i64>(memory, n);
    let scale = copy::<T, L>(a, n, matrix)?;
    dispatch(Tridiagonal::<T, L> { matrix, n, w, y, diagonal, beside, taus });
    let reflections = Reflections { vectors: matrix, stride, taus, order: Order::Ascending };
    reflections.form::<L>([n, n], other, stride, form);
    let mut vectors = Vectors::of_columns::<L>(other, stride, [n, n], vectors);
    let mut iteration = TridiagonalQr {
        diagonal,
        beside,
        block: [n, 0],
        is_reversed: false,
        hi: n.saturating_sub(1),
        rotations: Rotations::new(rotations),
    };
    let mut left = MOST_SWEEPS * n;
    while dispatch(Sweeps { iteration: &mut iteration, left: &mut left }) {
        iteration.rotations.apply::<L>(&mut vectors);
    }
    if iteration.hi > 0 {
        return None;
    }
    iteration.rotations.apply::<L>(&mut vectors);
    order.iter_mut().zip(0..).for_each(|(order, j)| *order = j);
    let value = |j: &i64| iteration.diagonal[*j as usize];
    order.sort_unstable_by(|i, j| value(i).partial_cmp(&value(j)).expect("no NaN").then(i.cmp(j)));
    for ((sign, to), j) in signs.iter_mut().zip(&mut *out).zip(&*order) {
        *sign = if vectors.is_negative::<L>(*j as usize) { -T::ONE } else { T::ONE };
        *to = value(j) / scale;
    }
    vectors.write_columns::<L>(order, signs, &mut out[n..]);
    Some(())
}

/// Copies the lower triangle, scaled by a power of two so that its largest magnitude is about 1. Blocks of `L` by `L` on
/// the diagonal are copied as whole symmetric matrices. All other elements, and a row after the last, are 0. Returns the
/// power of two, or `None` for an element that is no number.
fn copy<T: Real, const L: usize>(a: &[T], n: usize, matrix: &mut [T]) -> Option<T> {
    let mut largest = T::ZERO;
    for i in 0..n {
        for x in &a[i * n..][..=i] {
            if !x.is_number() {
                return None;
            }
            largest = if x.magnitude() > largest { x.magnitude() } else { largest };
        }
    }
    let scale = if largest == T::ZERO { T::ONE } else { largest.scale_to_one() };
    let stride = n.next_multiple_of(L);
    matrix.fill(T::ZERO);
    for i in 0..n {
        for (to, from) in matrix[i * stride..][..=i].iter_mut().zip(&a[i * n..]) {
            *to = *from * scale;
        }
    }
    for i in 0..n {
        for j in i / L * L..i {
            matrix[j * stride + i] = matrix[i * stride + j];
        }
    }
    Some(scale)
}

/// Makes a matrix tridiagonal, beginning with its last row. Row `i` becomes the vector of reflection `i`.
struct Tridiagonal<'a, T, const L: usize> {
    matrix: &'a mut [T],
    n: usize,
    w: &'a mut [T],
    y: &'a mut [T],
    diagonal: &'a mut [T],
    beside: &'a mut [T],
    taus: &'a mut [T],
}

impl<T: Real, const L: usize> Kernel for Tridiagonal<'_, T, L> {
    type Output = ();

    #[inline(always)]
    fn run_by<A: MultiplyAdd>(self) {
        let Self { matrix, n, w, y, diagonal, beside, taus } = self;
        let (mut w, mut y) = (rows_of::<T, L>(w), rows_of::<T, L>(y));
        let matrix = rows_of::<T, L>(matrix);
        let width = w.len();
        w.fill([T::ZERO; L]);
        for i in (0..n).rev() {
            // The matrix is A - v wᵀ - w vᵀ, with the vector v of the last reflection.
            let (above, rest) = matrix.split_at_mut(i * width);
            let (u, rest) = rest.split_at_mut(width);
            let v = &rest[..width];
            let used = i / L + 1;
            let (v_i, w_i) = (v[i / L][i % L], w[i / L][i % L]);
            for c in 0..used {
                u[c] = axpy::<A, T, L>(-v_i, &w[c], axpy::<A, T, L>(-w_i, &v[c], u[c]));
            }
            let elements = u.as_flattened_mut();
            diagonal[i] = elements[i];
            elements[i..].fill(T::ZERO);
            taus[i] = T::ZERO;
            if i == 0 {
                break;
            }
            let pivot = std::mem::replace(&mut elements[i - 1], T::ZERO);
            let used = i.div_ceil(L);
            let reflection = if i == 1 {
                Reflection::new(pivot, T::ZERO)
            } else {
                Reflection::of_scaled(pivot, squares::<A, T, L>(&u[..used]))
            };
            for chunk in &mut u[..used] {
                for x in chunk {
                    *x *= reflection.inverse;
                }
            }
            u[(i - 1) / L][(i - 1) % L] = T::ONE;
            let tau = reflection.tau;
            (taus[i], beside[i - 1]) = (tau, reflection.beta);
            y[..used].fill([T::ZERO; L]);
            let mut pass = Pass { matrix: above, width, v, w: &*w, u, y: &mut *y };
            let mut r = 0;
            while r + 4 <= i {
                pass.rows::<A, 4>(r);
                r += 4;
            }
            while r < i {
                pass.rows::<A, 1>(r);
                r += 1;
            }
            y.as_flattened_mut()[i..].fill(T::ZERO);
            let mut dots = [T::ZERO; L];
            for c in 0..used {
                dots = add_products::<A, T, L>(&y[c], &u[c], dots);
            }
            let half = -(T::of(0.5) * tau * tau * sum(dots));
            for c in 0..used {
                for l in 0..L {
                    y[c][l] = A::multiply_add(half, u[c][l], tau * y[c][l]);
                }
            }
            std::mem::swap(&mut w, &mut y);
        }
    }
}

/// Subtracts `v wᵀ + w vᵀ` from rows and adds up `A u` in `y`.
struct Pass<'a, T, const L: usize> {
    matrix: &'a mut [[T; L]],
    width: usize,
    v: &'a [[T; L]],
    w: &'a [[T; L]],
    u: &'a [[T; L]],
    y: &'a mut [[T; L]],
}

impl<T: Real, const L: usize> Pass<'_, T, L> {
    /// The rows `first..first + R`, which are in the same block of the diagonal.
    #[inline(always)]
    fn rows<A: MultiplyAdd, const R: usize>(&mut self, first: usize) {
        let (block, lane) = (first / L, first % L);
        let of = |x: &[[T; L]]| -> [T; R] { std::array::from_fn(|r| x[block][lane + r]) };
        let (v_of, w_of, u_of) = (of(self.v), of(self.w), of(self.u));
        let rows = some_rows::<T, L, R>(self.matrix, first, self.width).map(|row| &mut row[..=block]);
        let (v, w, u, y) = (&self.v[..=block], &self.w[..=block], &self.u[..=block], &mut self.y[..=block]);
        let mut dots = [[T::ZERO; L]; R];
        for c in 0..block {
            let mut sums = y[c];
            for r in 0..R {
                let x = axpy::<A, T, L>(-v_of[r], &w[c], axpy::<A, T, L>(-w_of[r], &v[c], rows[r][c]));
                rows[r][c] = x;
                dots[r] = add_products::<A, T, L>(&x, &u[c], dots[r]);
                sums = axpy::<A, T, L>(u_of[r], &x, sums);
            }
            y[c] = sums;
        }
        let mut sums = y[block];
        for r in 0..R {
            let x = &mut rows[r][block];
            *x = axpy::<A, T, L>(-v_of[r], &w[block], axpy::<A, T, L>(-w_of[r], &v[block], *x));
            sums = axpy::<A, T, L>(u_of[r], x, sums);
        }
        if block > 0 {
            for r in 0..R {
                sums[lane + r] += sum(dots[r]);
            }
        }
        y[block] = sums;
    }
}

/// The QR algorithm on a tridiagonal matrix.
struct TridiagonalQr<'a, 'r, T> {
    diagonal: &'a mut [T],
    beside: &'a mut [T],
    /// The first and last row of the block of the last sweep.
    block: [usize; 2],
    /// Whether sweeps begin at the last row of the block, which then becomes the block with the larger numbers.
    is_reversed: bool,
    /// All rows after this one are diagonal.
    hi: usize,
    rotations: Rotations<'r, T>,
}

impl<T: Real> TridiagonalQr<'_, '_, T> {
    /// The next block that is not diagonal.
    #[inline(always)]
    fn next_block(&mut self) -> Option<[usize; 2]> {
        while self.hi > 0 {
            let mut lo = self.hi;
            while lo > 0 {
                let (beside, d, other) =
                    (self.beside[lo - 1].magnitude(), self.diagonal[lo].magnitude(), self.diagonal[lo - 1]);
                // For |d| ≥ |e| this bound is at most ε √|d e|, but without a root.
                let (d, other) = (d, other.magnitude());
                let small = if d < other { d } else { other };
                if beside <= T::EPSILON * small
                    || beside * beside <= T::EPSILON * d * (T::EPSILON * other)
                    || beside <= T::SMALLEST.root() / T::EPSILON
                {
                    self.beside[lo - 1] = T::ZERO;
                    break;
                }
                lo -= 1;
            }
            if lo < self.hi {
                return Some([lo, self.hi]);
            }
            self.hi -= 1;
        }
        None
    }

    /// A sweep over rows and columns whose positions are given by functions, with Wilkinson's shift.
    #[inline(always)]
    fn chase(&mut self, len: usize, d_at: impl Fn(usize) -> usize, e_at: impl Fn(usize) -> usize) {
        let (d, e) = (&mut *self.diagonal, &mut *self.beside);
        let (before, last, beside) = (d[d_at(len - 1)], d[d_at(len)], e[e_at(len - 1)]);
        let half = (before - last) * T::of(0.5);
        let (_, _, root) = rotation(half, beside);
        let shift = last - beside * (beside / (half + root));
        let (mut f, mut g) = (d[d_at(0)] - shift, e[e_at(0)]);
        let mut here = d[d_at(0)];
        let mut next_beside = g;
        for k in 0..len {
            let (c, s, r) = rotation(f, g);
            if k > 0 {
                e[e_at(k - 1)] = r;
            }
            let (beside, below) = (next_beside, d[d_at(k + 1)]);
            let turned = (below - here) * s + (beside + beside) * c;
            let p = s * turned;
            d[d_at(k)] = here + p;
            here = below - p;
            f = c * turned - beside;
            if k + 1 < len {
                let after = e[e_at(k + 1)];
                g = s * after;
                next_beside = c * after;
            }
            self.rotations.push(c, s);
        }
        d[d_at(len)] = here;
        e[e_at(len - 1)] = f;
    }
}

impl<T: Real> Iteration for TridiagonalQr<'_, '_, T> {
    #[inline(always)]
    fn is_full(&self) -> bool {
        self.rotations.is_full()
    }

    #[inline(always)]
    fn sweep(&mut self) -> Option<()> {
        let [lo, hi] = self.next_block()?;
        if lo > self.block[1] || hi < self.block[0] {
            self.is_reversed = self.diagonal[hi].magnitude() > self.diagonal[lo].magnitude();
        }
        self.block = [lo, hi];
        self.rotations.begin([lo, hi], self.is_reversed);
        if self.is_reversed {
            self.chase(hi - lo, |k| hi - k, |k| hi - 1 - k);
        } else {
            self.chase(hi - lo, |k| lo + k, |k| lo + k);
        }
        Some(())
    }
}
