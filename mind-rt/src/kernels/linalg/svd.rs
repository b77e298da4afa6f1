//! Singular value decompositions.
//!
//! Householder reflections make the matrix bidiagonal, and the implicit QR algorithm makes that diagonal: with a zero
//! shift where a shift would lose digits of small singular values. Sources: G. H. Golub and C. F. Van Loan, *Matrix
//! Computations*, 4th edition, section 8.6; J. Demmel and W. Kahan, *Accurate singular values of bidiagonal matrices*,
//! 1990, as in LAPACK's `bdsqr`.

use super::batch::Matrices;
use super::householder::{self, Order, Reflection, Reflections, squares};
use super::lanes::{add_products, axpy, chunks, rows_of, some_rows, sum};
use super::products::{self, Mat, product};
use super::qr::Qr;
use super::real::Real;
use super::rotations::{Iteration, Rotations, Sweeps, Vectors, rotation};
use crate::kernels::math::MultiplyAdd;
use crate::simd::{Kernel, dispatch};
use crate::workspace::{carve, slot_bytes};

/// The largest number of sweeps for each singular value. About 2 are needed.
const MOST_SWEEPS: usize = 30;

/// A matrix with more rows than this multiple of its columns is decomposed as Q and R first.
const TALL: usize = 2;

/// The matrices of a batch, in chunks of `L` elements.
pub(super) struct Svd<const L: usize> {
    pub(super) rows: usize,
    pub(super) columns: usize,
}

impl<const L: usize> Svd<L> {
    /// The longer and the shorter of the extents.
    fn extents(&self) -> [usize; 2] {
        [self.rows.max(self.columns), self.rows.min(self.columns)]
    }

    /// The decomposition into Q and R of the matrix or its transpose, if it is tall.
    fn tall(&self) -> Option<Qr> {
        let [rows, columns] = self.extents();
        (rows > TALL * columns).then_some(Qr { rows, columns })
    }
}

impl<T: Real, const L: usize> Matrices<T> for Svd<L> {
    fn lens(&self) -> [usize; 2] {
        let [long, short] = self.extents();
        [long * short, (1 + long + short) * short]
    }

    fn cost(&self) -> usize {
        40 * self.rows.min(self.columns)
    }

    fn scratch(&self) -> usize {
        let [long, short] = self.extents();
        let Some(qr) = self.tall() else { return Lens::of::<T, L>([long, short]).bytes::<T>() };
        slot_bytes::<T>(long * short)
            + slot_bytes::<T>((long + short) * short)
            + slot_bytes::<T>((1 + 2 * short) * short)
            + qr.bytes::<T>().max(Lens::of::<T, L>([short, short]).bytes::<T>()).max(
                slot_bytes::<T>(products::scratch::<T>(long, short, short)).max(2 * slot_bytes::<T>(short)),
            )
    }

    fn compute(&self, a: &[T], out: &mut [T], memory: &mut [u8]) {
        let is_transposed = self.rows < self.columns;
        let [long, short] = self.extents();
        let (values, rest) = out.split_at_mut(short);
        let (left, right) = rest.split_at_mut(self.rows * short);
        let [left, right] = if is_transposed { [right, left] } else { [left, right] };
        let is_found = match self.tall() {
            None => svd::<T, L>([long, short], a, is_transposed, [values, left, right], memory),
            Some(qr) => tall::<T, L>(&qr, a, is_transposed, [values, left, right], memory),
        };
        if is_found.is_none() {
            out.fill(T::NAN);
        }
    }
}

/// [`svd`] of a matrix with many more rows than columns.
fn tall<T: Real, const L: usize>(
    qr: &Qr,
    a: &[T],
    is_transposed: bool,
    [values, left, right]: [&mut [T]; 3],
    memory: &mut [u8],
) -> Option<()> {
    let Qr { rows: m, columns: n } = *qr;
    let (matrix, memory) = carve::<T>(memory, m * n);
    let (q, memory) = carve::<T>(memory, (m + n) * n);
    let (of_r, memory) = carve::<T>(memory, (1 + 2 * n) * n);
    for i in 0..m {
        for j in 0..n {
            matrix[i * n + j] = if is_transposed { a[j * m + i] } else { a[i * n + j] };
        }
    }
    qr.write(matrix, q, memory);
    let (q, r) = q.split_at(m * n);
    let u = &mut of_r[..n * n];
    svd::<T, L>([n, n], r, true, [values, u, right], memory)?;
    let (scratch, _) = carve::<T>(memory, products::scratch::<T>(m, n, n));
    product([m, n, n], Mat::new(q, n), Mat::new(u, n), left, scratch);
    let (largest, memory) = carve::<T>(memory, n);
    let (signs, _) = carve::<T>(memory, n);
    choose_signs(left, largest, signs);
    for row in left.chunks_exact_mut(n).chain(right.chunks_exact_mut(n)) {
        row.iter_mut().zip(&*signs).for_each(|(x, sign)| *x *= *sign);
    }
    Some(())
}

/// Finds the factors 1 or -1 that make the first element of each column whose magnitude is at least half the largest
/// positive.
fn choose_signs<T: Real>(columns: &[T], largest: &mut [T], signs: &mut [T]) {
    largest.fill(T::ZERO);
    signs.fill(T::ZERO);
    for row in columns.chunks_exact(signs.len()) {
        for (largest, x) in largest.iter_mut().zip(row) {
            *largest = if x.magnitude() > *largest { x.magnitude() } else { *largest };
        }
    }
    for row in columns.chunks_exact(signs.len()) {
        for ((sign, largest), x) in signs.iter_mut().zip(&*largest).zip(row) {
            if *sign == T::ZERO && x.magnitude() >= T::of(0.5) * *largest {
                *sign = T::ONE.with_sign_of(*x);
            }
        }
    }
}

/// The elements of each scratch slice.
struct Lens {
    m: usize,
    n: usize,
    /// The extents, rounded up to multiples of `L`.
    long: usize,
    short: usize,
    rotations: usize,
    form: usize,
}

impl Lens {
    fn of<T: Real, const L: usize>([m, n]: [usize; 2]) -> Self {
        Self {
            m,
            n,
            long: m.next_multiple_of(L),
            short: n.next_multiple_of(L),
            rotations: Rotations::<T>::room(n),
            form: householder::form_scratch::<T>(m, n, n),
        }
    }

    fn bytes<T>(&self) -> usize {
        let of = slot_bytes::<T>;
        let Self { m, n, long, short, .. } = *self;
        2 * of(m * short)
            + 2 * of(n * long)
            + of((n + 1) * short)
            + of(short * n)
            + of(long)
            + of(short)
            + 5 * of(n)
            + 2 * of(self.rotations)
            + of(self.form)
            + slot_bytes::<i64>(n)
    }
}

/// The singular values and vectors of a matrix `a` of `m` rows and at most as many columns, or of its transpose if
/// `a` is that. Returns `None` if it has an element that is no number, or the iteration does not converge.
fn svd<T: Real, const L: usize>(
    [m, n]: [usize; 2],
    a: &[T],
    is_transposed: bool,
    [values, left, right]: [&mut [T]; 3],
    memory: &mut [u8],
) -> Option<()> {
    let lens = Lens::of::<T, L>([m, n]);
    let Lens { long, short, .. } = lens;
    let (matrix, memory) = carve::<T>(memory, m * short);
    let (q, memory) = carve::<T>(memory, m * short);
    let (us, memory) = carve::<T>(memory, n * long);
    let (vs, memory) = carve::<T>(memory, (n + 1) * short);
    let (left_vectors, memory) = carve::<T>(memory, n * long);
    let (right_vectors, memory) = carve::<T>(memory, n * short);
    let (x, memory) = carve::<T>(memory, long);
    let (y, memory) = carve::<T>(memory, short);
    let (diagonal, memory) = carve::<T>(memory, n);
    let (beside, memory) = carve::<T>(memory, n);
    let (left_taus, memory) = carve::<T>(memory, n);
    let (right_taus, memory) = carve::<T>(memory, n);
    let (signs, memory) = carve::<T>(memory, n);
    let (left_rotations, memory) = carve::<T>(memory, lens.rotations);
    let (right_rotations, memory) = carve::<T>(memory, lens.rotations);
    let (form, memory) = carve::<T>(memory, lens.form);
    let (order, _) = carve::<i64>(memory, n);
    let scale = copy(a, [m, n], is_transposed, matrix, short)?;
    dispatch(Bidiagonal::<T, L> {
        extents: [m, n],
        matrix,
        us,
        vs,
        x,
        y,
        diagonal,
        beside,
        taus: [left_taus, right_taus],
    });
    let order_of = Order::Descending;
    let reflections = Reflections { vectors: us, stride: long, taus: left_taus, order: order_of };
    reflections.form::<L>([m, n], q, short, form);
    let mut u = Vectors::of_columns::<L>(q, short, [m, n], left_vectors);
    let reflections = Reflections { vectors: vs, stride: short, taus: right_taus, order: order_of };
    reflections.form::<L>([n, n], q, short, form);
    let mut v = Vectors::of_columns::<L>(q, short, [n, n], right_vectors);
    let mut iteration = BidiagonalQr {
        diagonal,
        beside,
        block: [n, 0],
        is_reversed: false,
        hi: n.saturating_sub(1),
        smallest: T::ZERO,
        rotations: [left_rotations, right_rotations].map(Rotations::new),
    };
    let mut left_sweeps = MOST_SWEEPS * n;
    while dispatch(Sweeps { iteration: &mut iteration, left: &mut left_sweeps }) {
        iteration.rotations[0].apply::<L>(&mut u);
        iteration.rotations[1].apply::<L>(&mut v);
    }
    if iteration.hi > 0 {
        return None;
    }
    iteration.rotations[0].apply::<L>(&mut u);
    iteration.rotations[1].apply::<L>(&mut v);
    let diagonal = iteration.diagonal;
    order.iter_mut().zip(0..).for_each(|(order, j)| *order = j);
    let value = |j: &i64| diagonal[*j as usize].magnitude();
    order.sort_unstable_by(|i, j| value(j).partial_cmp(&value(i)).expect("no NaN").then(i.cmp(j)));
    for ((sign, to), j) in signs.iter_mut().zip(values).zip(&*order) {
        *sign = if u.is_negative::<L>(*j as usize) { -T::ONE } else { T::ONE };
        *to = value(j) / scale;
    }
    u.write_columns::<L>(order, signs, left);
    for (sign, j) in signs.iter_mut().zip(&*order) {
        *sign *= T::ONE.with_sign_of(diagonal[*j as usize]);
    }
    v.write_columns::<L>(order, signs, right);
    Some(())
}

/// Copies a matrix or its transpose, scaled by a power of two so that its largest magnitude is about 1. Rows are padded
/// with zeros. Returns the power of two, or `None` for an element that is no number.
fn copy<T: Real>(a: &[T], [m, n]: [usize; 2], is_transposed: bool, to: &mut [T], stride: usize) -> Option<T> {
    let mut largest = T::ZERO;
    for x in a {
        if !x.is_number() {
            return None;
        }
        largest = if x.magnitude() > largest { x.magnitude() } else { largest };
    }
    let scale = if largest == T::ZERO { T::ONE } else { largest.scale_to_one() };
    let strides = if is_transposed { [1, m] } else { [n, 1] };
    for (i, row) in to.chunks_exact_mut(stride.max(1)).enumerate() {
        for (j, to) in row[..n].iter_mut().enumerate() {
            *to = a[i * strides[0] + j * strides[1]] * scale;
        }
        row[n..].fill(T::ZERO);
    }
    Some(scale)
}

/// Makes a matrix bidiagonal. Rows of `us` and `vs` become the vectors of the reflections of columns and of rows, each at
/// the index of its first element.
struct Bidiagonal<'a, T, const L: usize> {
    extents: [usize; 2],
    matrix: &'a mut [T],
    us: &'a mut [T],
    vs: &'a mut [T],
    x: &'a mut [T],
    y: &'a mut [T],
    diagonal: &'a mut [T],
    beside: &'a mut [T],
    taus: [&'a mut [T]; 2],
}

impl<T: Real, const L: usize> Kernel for Bidiagonal<'_, T, L> {
    type Output = ();

    #[inline(always)]
    fn run_by<A: MultiplyAdd>(self) {
        let Self { extents: [m, n], matrix, us, vs, x, y, diagonal, beside, taus: [left_taus, right_taus] } =
            self;
        let (matrix, y) = (rows_of::<T, L>(matrix), rows_of::<T, L>(y));
        let (long, width) = (x.len(), y.len());
        us.fill(T::ZERO);
        vs.fill(T::ZERO);
        x.fill(T::ZERO);
        y.fill([T::ZERO; L]);
        if n > 0 {
            right_taus[0] = T::ZERO;
        }
        for k in 0..n {
            // The matrix is A - u yᵀ - x vᵀ, with the vectors of the last reflections.
            let (before, u) = us.split_at_mut(k * long);
            let (before, u) = (&before[k.saturating_sub(1) * long..], &mut u[..long]);
            let (v, next) = vs.split_at_mut((k + 1) * width * L);
            let (v, next) = (&chunks::<T, L>(v)[k * width..], rows_of::<T, L>(&mut next[..width * L]));
            let (chunk, lane) = (k / L, k % L);
            for r in k..m {
                u[r] = matrix[r * width + chunk][lane];
            }
            if k > 0 {
                let (y_k, v_k) = (y[chunk][lane], v[chunk][lane]);
                for r in k..m {
                    u[r] = A::multiply_add(-before[r], y_k, A::multiply_add(-x[r], v_k, u[r]));
                }
            }
            let pivot = std::mem::replace(&mut u[k], T::ZERO);
            let Reflection { beta, tau, inverse } = if k + 1 == m {
                Reflection::new(pivot, T::ZERO)
            } else {
                Reflection::of_scaled(pivot, squares::<A, T, L>(chunks(&u[k / L * L..])))
            };
            for u in &mut u[k + 1..m] {
                *u *= inverse;
            }
            u[k] = T::ONE;
            (diagonal[k], left_taus[k]) = (beta, tau);
            if k + 1 == n {
                break;
            }
            // The sums replace `y` only after the pass, which still reads it: `next` holds them meanwhile.
            let from = (k + 1) / L;
            let mut pass =
                Subtract { matrix: &mut *matrix, width, from, u: before, y: &*y, x: &*x, v, next: &*u };
            next[from..].fill([T::ZERO; L]);
            let mut r = k;
            while r + 4 <= m {
                pass.rows::<A, 4>(r, k > 0, next);
                r += 4;
            }
            while r < m {
                pass.rows::<A, 1>(r, k > 0, next);
                r += 1;
            }
            for c in from..width {
                for l in 0..L {
                    y[c][l] = if c * L + l <= k { T::ZERO } else { tau * next[c][l] };
                }
            }
            // Row `k`, whose pivot is the first element after the diagonal.
            for c in from..width {
                for l in 0..L {
                    next[c][l] = if c * L + l <= k { T::ZERO } else { matrix[k * width + c][l] - y[c][l] };
                }
            }
            let pivot = std::mem::replace(&mut next[from][(k + 1) % L], T::ZERO);
            let Reflection { beta, tau, inverse } = if k + 2 == n {
                Reflection::new(pivot, T::ZERO)
            } else {
                Reflection::of_scaled(pivot, squares::<A, T, L>(&next[from..]))
            };
            for chunk in &mut next[from..] {
                for x in chunk {
                    *x *= inverse;
                }
            }
            next[from][(k + 1) % L] = T::ONE;
            (beside[k], right_taus[k + 1]) = (beta, tau);
            let mut dots = [T::ZERO; L];
            for c in from..width {
                dots = add_products::<A, T, L>(&y[c], &next[c], dots);
            }
            let with_y = sum(dots);
            let next = &next[from..];
            let mut r = k + 1;
            while r + 4 <= m {
                let dots = dot_rows::<A, T, L, 4>(&matrix[r * width..], [from, width], next);
                for (r, dot) in (r..).zip(dots) {
                    x[r] = tau * A::multiply_add(-u[r], with_y, dot);
                }
                r += 4;
            }
            while r < m {
                let [dot] = dot_rows::<A, T, L, 1>(&matrix[r * width..], [from, width], next);
                x[r] = tau * A::multiply_add(-u[r], with_y, dot);
                r += 1;
            }
        }
    }
}

/// The products of the first `R` rows, from a chunk on, with a vector.
#[inline(always)]
fn dot_rows<A: MultiplyAdd, T: Real, const L: usize, const R: usize>(
    matrix: &[[T; L]],
    [from, width]: [usize; 2],
    vector: &[[T; L]],
) -> [T; R] {
    let rows: [&[[T; L]]; R] = std::array::from_fn(|r| &matrix[r * width..][from..width]);
    let mut sums = [[T::ZERO; L]; R];
    for (c, chunk) in vector.iter().enumerate() {
        for r in 0..R {
            sums[r] = add_products::<A, T, L>(&rows[r][c], chunk, sums[r]);
        }
    }
    let mut dots = [T::ZERO; R];
    for r in 0..R {
        dots[r] = sum(sums[r]);
    }
    dots
}

/// Subtracts `u yᵀ + x vᵀ` from rows, and adds up their products with `next`.
struct Subtract<'a, T, const L: usize> {
    matrix: &'a mut [[T; L]],
    width: usize,
    /// The first chunk of each row that is still used.
    from: usize,
    u: &'a [T],
    y: &'a [[T; L]],
    x: &'a [T],
    v: &'a [[T; L]],
    next: &'a [T],
}

impl<T: Real, const L: usize> Subtract<'_, T, L> {
    #[inline(always)]
    fn rows<A: MultiplyAdd, const R: usize>(&mut self, first: usize, subtracts: bool, sums: &mut [[T; L]]) {
        let of = |x: &[T]| -> [T; R] { std::array::from_fn(|r| -x[first + r]) };
        let none = [T::ZERO; R];
        let (u, x) = if subtracts { (of(self.u), of(self.x)) } else { (none, none) };
        let next = of(self.next).map(|x| -x);
        let (from, width) = (self.from, self.width);
        let rows = some_rows::<T, L, R>(self.matrix, first, width).map(|row| &mut row[from..]);
        let (y, v, sums) = (&self.y[from..width], &self.v[from..width], &mut sums[from..width]);
        for c in 0..width - from {
            let mut sum = sums[c];
            for r in 0..R {
                let row = axpy::<A, T, L>(u[r], &y[c], axpy::<A, T, L>(x[r], &v[c], rows[r][c]));
                rows[r][c] = row;
                sum = axpy::<A, T, L>(next[r], &row, sum);
            }
            sums[c] = sum;
        }
    }
}

/// The QR algorithm on an upper bidiagonal matrix.
struct BidiagonalQr<'a, 'r, T> {
    diagonal: &'a mut [T],
    beside: &'a mut [T],
    /// The first and last row of the block of the last sweep.
    block: [usize; 2],
    /// Whether sweeps begin at the last row of the block.
    is_reversed: bool,
    /// All rows after this one are diagonal.
    hi: usize,
    /// A lower bound for the singular values of the block.
    smallest: T,
    /// Those that turn rows, and those that turn columns.
    rotations: [Rotations<'r, T>; 2],
}

/// The places of a block's elements in the order of a sweep.
#[derive(Clone, Copy)]
struct Path {
    lo: usize,
    hi: usize,
    is_reversed: bool,
}

impl Path {
    #[inline(always)]
    fn diagonal(self, k: usize) -> usize {
        if self.is_reversed { self.hi - k } else { self.lo + k }
    }

    #[inline(always)]
    fn beside(self, k: usize) -> usize {
        if self.is_reversed { self.hi - 1 - k } else { self.lo + k }
    }
}

impl<T: Real> BidiagonalQr<'_, '_, T> {
    /// The accuracy of each singular value, relative to itself.
    #[inline(always)]
    fn tolerance() -> T {
        T::of(16.0) * T::EPSILON
    }

    /// The next block that is not diagonal, with its direction and `smallest`.
    #[inline(always)]
    fn next_block(&mut self) -> Option<Path> {
        let negligible = T::SMALLEST.root() / T::EPSILON;
        while self.hi > 0 {
            let hi = self.hi;
            let mut lo = hi;
            while lo > 0 {
                if self.beside[lo - 1].magnitude() <= negligible {
                    self.beside[lo - 1] = T::ZERO;
                    break;
                }
                lo -= 1;
            }
            if lo == hi {
                self.hi -= 1;
                continue;
            }
            if lo > self.block[1] || hi < self.block[0] {
                self.is_reversed = self.diagonal[lo].magnitude() < self.diagonal[hi].magnitude();
            }
            self.block = [lo, hi];
            let path = Path { lo, hi, is_reversed: self.is_reversed };
            if !self.splits(path) {
                return Some(path);
            }
        }
        None
    }

    /// Sets a negligible element beside the diagonal to 0, if there is one, else computes `smallest`.
    #[inline(always)]
    fn splits(&mut self, path: Path) -> bool {
        let len = path.hi - path.lo;
        let d = |k: usize| self.diagonal[path.diagonal(k)].magnitude();
        let last = path.beside(len - 1);
        if self.beside[last].magnitude() <= Self::tolerance() * d(len) {
            self.beside[last] = T::ZERO;
            return true;
        }
        let mut bound = d(0);
        let mut smallest = bound;
        for k in 0..len {
            let at = path.beside(k);
            let beside = self.beside[at].magnitude();
            if beside <= Self::tolerance() * bound {
                self.beside[at] = T::ZERO;
                return true;
            }
            bound = d(k + 1) * (bound / (bound + beside));
            smallest = if bound < smallest { bound } else { smallest };
        }
        self.smallest = smallest;
        false
    }

    /// The shift of a sweep: the singular value of the last two rows that is nearest to the last element, or 0 if that
    /// would lose digits of the smallest singular value.
    #[inline(always)]
    fn shift(&self, path: Path) -> T {
        let len = path.hi - path.lo;
        let d = |k: usize| self.diagonal[path.diagonal(k)].magnitude();
        let mut largest = T::ZERO;
        for k in 0..=len {
            let beside = if k < len { self.beside[path.beside(k)].magnitude() } else { T::ZERO };
            let larger = if beside > d(k) { beside } else { d(k) };
            largest = if larger > largest { larger } else { largest };
        }
        let tolerance = Self::tolerance();
        let ratio = T::of((len + 1) as f64) * tolerance * (self.smallest / largest);
        let least = T::of(0.01) * tolerance;
        if ratio <= if T::EPSILON > least { T::EPSILON } else { least } {
            return T::ZERO;
        }
        let shift = smaller_singular_value(d(len - 1), self.beside[path.beside(len - 1)].magnitude(), d(len));
        let relative = shift / d(0);
        if relative * relative < T::EPSILON { T::ZERO } else { shift }
    }
}

impl<T: Real> Iteration for BidiagonalQr<'_, '_, T> {
    #[inline(always)]
    fn is_full(&self) -> bool {
        self.rotations[0].is_full()
    }

    #[inline(always)]
    fn sweep(&mut self) -> Option<()> {
        let path = self.next_block()?;
        let shift = self.shift(path);
        let [rows, columns] = &mut self.rotations;
        rows.begin([path.lo, path.hi], path.is_reversed);
        columns.begin([path.lo, path.hi], path.is_reversed);
        // In the other direction the matrix is lower bidiagonal: the transpose of an upper one.
        let [first, second] = if path.is_reversed { [rows, columns] } else { [columns, rows] };
        let len = path.hi - path.lo;
        let (d, e) = (&mut *self.diagonal, &mut *self.beside);
        if shift == T::ZERO {
            let (mut c, mut old_c, mut old_s) = (T::ONE, T::ONE, T::ZERO);
            for k in 0..len {
                let (here, next) = (path.diagonal(k), path.diagonal(k + 1));
                let (cos, sin, r) = rotation(d[here] * c, e[path.beside(k)]);
                if k > 0 {
                    e[path.beside(k - 1)] = old_s * r;
                }
                let (old_cos, old_sin, turned) = rotation(old_c * r, d[next] * sin);
                d[here] = turned;
                first.push(cos, sin);
                second.push(old_cos, old_sin);
                (c, old_c, old_s) = (cos, old_cos, old_sin);
            }
            let last = d[path.diagonal(len)] * c;
            d[path.diagonal(len)] = last * old_c;
            e[path.beside(len - 1)] = last * old_s;
            return Some(());
        }
        let start = d[path.diagonal(0)];
        let mut f = (start.magnitude() - shift) * (T::ONE.with_sign_of(start) + shift / start);
        let mut g = e[path.beside(0)];
        for k in 0..len {
            let (here, next, at) = (path.diagonal(k), path.diagonal(k + 1), path.beside(k));
            let (c, s, r) = rotation(f, g);
            if k > 0 {
                e[path.beside(k - 1)] = r;
            }
            let diagonal = c * d[here] + s * e[at];
            let beside = c * e[at] - s * d[here];
            let (bulge, below) = (s * d[next], c * d[next]);
            first.push(c, s);
            let (c, s, r) = rotation(diagonal, bulge);
            d[here] = r;
            f = c * beside + s * below;
            d[next] = c * below - s * beside;
            if k + 1 < len {
                let after = path.beside(k + 1);
                g = s * e[after];
                e[after] = c * e[after];
            }
            second.push(c, s);
        }
        e[path.beside(len - 1)] = f;
        Some(())
    }
}

/// The smaller singular value of an upper triangular matrix of two rows `f g` and `0 h`, none of which is negative.
/// As LAPACK's `las2`.
#[inline(always)]
fn smaller_singular_value<T: Real>(f: T, g: T, h: T) -> T {
    let (small, large) = if f < h { (f, h) } else { (h, f) };
    if small == T::ZERO {
        return T::ZERO;
    }
    let (sum, difference) = (T::ONE + small / large, (large - small) / large);
    if g < large {
        let ratio = g / large;
        let square = ratio * ratio;
        let c = T::of(2.0) / ((sum * sum + square).root() + (difference * difference + square).root());
        return small * c;
    }
    let ratio = large / g;
    if ratio == T::ZERO {
        return small * large / g;
    }
    let (sum, difference) = (sum * ratio, (difference * ratio));
    let c = T::ONE / ((T::ONE + sum * sum).root() + (T::ONE + difference * difference).root());
    let half = (small * c) * ratio;
    half + half
}
