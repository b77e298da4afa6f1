//! Givens rotations, which are recorded by sweeps and applied to the vectors later.
//!
//! Applying several sweeps to a part of the vectors that stays in the cache is the idea of F. G. Van Zee, R. A. van de
//! Geijn and G. Quintana-Ortí, *Restructuring the tridiagonal and bidiagonal QR algorithms for performance*, 2014.

use std::ops::Range;

use super::lanes::rows_of;
use super::real::Real;
use crate::kernels::epilogue::one_by_one;
use crate::kernels::math::MultiplyAdd;
use crate::parallel::{self, Split};
use crate::simd::Kernel;

/// The largest number of sweeps that are recorded before they are applied.
pub(super) const SWEEPS: usize = crate::kernels::limit::limit(32, 3);

/// The chunks of a wide panel.
const WIDE: usize = 4;

/// The cosine and sine `c`, `s` and the length `r` with `c f + s g = r` and `c g - s f = 0`. Both numbers are scaled as
/// [`Reflection::of_scaled`](super::householder::Reflection::of_scaled) expects.
#[inline(always)]
pub(super) fn rotation<T: Real>(f: T, g: T) -> (T, T, T) {
    let squares = f * f + g * g;
    if squares < T::SMALL_SQUARES {
        return rotation_of_small(f, g);
    }
    let r = squares.root().with_sign_of(f);
    (f / r, g / r, r)
}

#[cold]
fn rotation_of_small<T: Real>(f: T, g: T) -> (T, T, T) {
    let largest = if f.magnitude() < g.magnitude() { g.magnitude() } else { f.magnitude() };
    if largest == T::ZERO {
        return (T::ONE, T::ZERO, T::ZERO);
    }
    let scale = largest.scale_to_one();
    let (f, g) = (f * scale, g * scale);
    let r = (f * f + g * g).root().with_sign_of(f);
    (f / r, g / r, r / scale)
}

/// Rotations of a sweep, each of which turns two neighbouring vectors.
#[derive(Clone, Copy)]
struct Sweep {
    /// The first vector of the first rotation.
    first: usize,
    len: usize,
    /// Whether each rotation turns the vectors before those of the last one.
    is_reversed: bool,
}

/// An iteration that makes a matrix diagonal, by sweeps whose rotations it records.
pub(super) trait Iteration {
    /// Whether there is no more room for rotations.
    fn is_full(&self) -> bool;

    /// Does a sweep over the next block, or returns `None` if the matrix is diagonal.
    fn sweep(&mut self) -> Option<()>;
}

/// Sweeps until there is no more room for rotations, the matrix is diagonal, or none are left.
pub(super) struct Sweeps<'a, I> {
    pub(super) iteration: &'a mut I,
    /// The number of sweeps that may follow.
    pub(super) left: &'a mut usize,
}

impl<I: Iteration> Kernel for Sweeps<'_, I> {
    /// Whether there was no more room.
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        let Self { iteration, left } = self;
        while *left > 0 {
            if iteration.is_full() {
                return true;
            }
            if iteration.sweep().is_none() {
                return false;
            }
            *left -= 1;
        }
        false
    }
}

/// Recorded sweeps.
pub(super) struct Rotations<'a, T> {
    turns: &'a mut [[T; 2]],
    used: usize,
    sweeps: [Sweep; SWEEPS],
    count: usize,
}

impl<'a, T: Real> Rotations<'a, T> {
    /// The number of elements that sweeps over `n` vectors need.
    pub(super) fn room(n: usize) -> usize {
        2 * SWEEPS * n
    }

    /// No sweeps, with [`room`](Self::room) for some.
    pub(super) fn new(room: &'a mut [T]) -> Self {
        let none = Sweep { first: 0, len: 0, is_reversed: false };
        Self { turns: room.as_chunks_mut().0, used: 0, sweeps: [none; SWEEPS], count: 0 }
    }

    /// Begins a sweep over the vectors `lo..=hi`, which has `hi - lo` rotations. Fewer than [`SWEEPS`] sweeps are
    /// recorded.
    #[inline(always)]
    pub(super) fn begin(&mut self, [lo, hi]: [usize; 2], is_reversed: bool) {
        self.sweeps[self.count] =
            Sweep { first: if is_reversed { hi } else { lo }, len: hi - lo, is_reversed };
        self.count += 1;
    }

    /// Records the next rotation: vectors `a` and `b` become `c a + s b` and `c b - s a`.
    #[inline(always)]
    pub(super) fn push(&mut self, c: T, s: T) {
        self.turns[self.used] = [c, s];
        self.used += 1;
    }

    pub(super) fn is_full(&self) -> bool {
        self.count == SWEEPS
    }

    /// Applies all sweeps to vectors and forgets them.
    pub(super) fn apply<const L: usize>(&mut self, vectors: &mut Vectors<'_, T>) {
        if self.count == 0 {
            return;
        }
        let panels = vectors.len.div_ceil(L);
        let (turns, sweeps) = (&self.turns[..self.used], &self.sweeps[..self.count]);
        let turn = Turn::<T, L> { turns, sweeps, panels: vectors.data, count: vectors.count };
        parallel::run(turn, panels.div_ceil(WIDE), WIDE * L * self.used, 4);
        (self.used, self.count) = (0, 0);
    }
}

/// Vectors in panels: each has some elements of all vectors, one vector after the other. Panels have `WIDE * L`
/// elements of each vector, the last ones `L`.
pub(super) struct Vectors<'a, T> {
    data: &'a mut [T],
    count: usize,
    len: usize,
}

impl<'a, T: Real> Vectors<'a, T> {
    /// The columns of a matrix with `len` rows that are `stride` apart, copied to `data`, which has `len` elements of
    /// each, rounded up to a multiple of `L`.
    pub(super) fn of_columns<const L: usize>(
        matrix: &[T],
        stride: usize,
        [len, count]: [usize; 2],
        data: &'a mut [T],
    ) -> Self {
        let vectors = Self { data, count, len };
        for panel in vectors.panels::<L>() {
            let (start, width) = (panel.start, panel.len());
            let to = &mut vectors.data[start * count..][..width * count];
            for l in 0..width {
                for (j, to) in to.chunks_exact_mut(width).enumerate() {
                    to[l] = if start + l < len { matrix[(start + l) * stride + j] } else { T::ZERO };
                }
            }
        }
        vectors
    }

    /// The elements of each panel.
    fn panels<const L: usize>(&self) -> impl Iterator<Item = Range<usize>> + use<T, L> {
        let len = self.len.next_multiple_of(L);
        let mut start = 0;
        std::iter::from_fn(move || {
            let width = if len - start < WIDE * L { L } else { WIDE * L };
            let panel = start..start + width;
            start = panel.end;
            (panel.end <= len).then_some(panel)
        })
    }

    /// Calls `f` with each part of the vector `j` and the position of its first element.
    #[inline(always)]
    pub(super) fn parts<const L: usize>(&self, j: usize, mut f: impl FnMut(usize, &[T])) {
        for panel in self.panels::<L>() {
            let (start, width) = (panel.start, panel.len());
            let part = &self.data[start * self.count + j * width..][..width];
            f(start, &part[..width.min(self.len - start)]);
        }
    }

    /// Whether the first element of the vector `j` whose magnitude is at least half the largest is negative.
    pub(super) fn is_negative<const L: usize>(&self, j: usize) -> bool {
        let mut largest = T::ZERO;
        self.parts::<L>(j, |_, part| {
            for x in part {
                largest = if x.magnitude() > largest { x.magnitude() } else { largest };
            }
        });
        let half = largest * T::of(0.5);
        let mut first = T::ZERO;
        self.parts::<L>(j, |_, part| {
            if first == T::ZERO {
                first = part.iter().copied().find(|x| x.magnitude() >= half).unwrap_or(T::ZERO);
            }
        });
        first < T::ZERO
    }

    /// Writes the vectors in a given order, each multiplied by 1 or -1, as columns of a matrix with rows of `count`
    /// elements.
    pub(super) fn write_columns<const L: usize>(&self, order: &[i64], signs: &[T], out: &mut [T]) {
        let count = self.count;
        for panel in self.panels::<L>() {
            let (start, width) = (panel.start, panel.len());
            let part = &self.data[start * count..][..width * count];
            for l in 0..width.min(self.len - start) {
                let row = &mut out[(start + l) * count..][..count];
                for ((to, from), sign) in row.iter_mut().zip(order).zip(signs) {
                    *to = part[*from as usize * width + l] * *sign;
                }
            }
        }
    }
}

/// Applies sweeps to panels.
struct Turn<'a, T, const L: usize> {
    turns: &'a [[T; 2]],
    sweeps: &'a [Sweep],
    panels: &'a mut [T],
    count: usize,
}

impl<T: Real, const L: usize> Split for Turn<'_, T, L> {
    fn split(self, at: usize) -> (Self, Self) {
        let Self { turns, sweeps, panels, count } = self;
        let (before, after) = panels.split_at_mut(at * WIDE * L * count);
        (Self { turns, sweeps, panels: before, count }, Self { turns, sweeps, panels: after, count })
    }
}

impl<T: Real, const L: usize> Kernel for Turn<'_, T, L> {
    type Output = ();

    #[inline(always)]
    fn run_by<A: MultiplyAdd>(self) {
        let Self { turns, sweeps, panels, count } = self;
        let mut wide = panels.chunks_exact_mut(WIDE * L * count);
        for panel in &mut wide {
            turn::<A, T, L, WIDE>(turns, sweeps, panel);
        }
        for panel in wide.into_remainder().chunks_exact_mut(L * count) {
            turn::<A, T, L, 1>(turns, sweeps, panel);
        }
    }
}

/// Applies sweeps to a panel, two at a time where both begin at the same vector.
#[inline(always)]
fn turn<A: MultiplyAdd, T: Real, const L: usize, const W: usize>(
    turns: &[[T; 2]],
    sweeps: &[Sweep],
    panel: &mut [T],
) {
    let vectors = rows_of::<T, L>(panel).as_chunks_mut::<W>().0;
    let (mut turns, mut sweeps) = (turns, sweeps);
    while let [sweep, others @ ..] = sweeps {
        let (first, rest) = turns.split_at(sweep.len);
        (turns, sweeps) = (rest, others);
        let mut second = &rest[..0];
        if let [next, others @ ..] = sweeps
            && (next.first, next.is_reversed) == (sweep.first, sweep.is_reversed)
            && next.len <= sweep.len
        {
            (second, turns) = rest.split_at(next.len);
            sweeps = others;
        }
        if sweep.is_reversed {
            turn_twice::<A, T, L, W>(vectors, |k| sweep.first - k, first, second);
        } else {
            turn_twice::<A, T, L, W>(vectors, |k| sweep.first + k, first, second);
        }
    }
}

/// Applies two sweeps over the vectors `at(0)`, `at(1)` and so on, the second of which is no longer than the first and
/// may be empty. Each vector is read and written once: a rotation of the second sweep follows two rotations behind the
/// first.
#[inline(always)]
fn turn_twice<A: MultiplyAdd, T: Real, const L: usize, const W: usize>(
    vectors: &mut [[[T; L]; W]],
    at: impl Fn(usize) -> usize,
    first: &[[T; 2]],
    second: &[[T; 2]],
) {
    let mut leading = vectors[at(0)];
    let together = second.len().min(first.len() - 1);
    if !second.is_empty() {
        let mut following;
        (following, leading) = turned::<A, T, L, W>(first[0], &leading, &vectors[at(1)]);
        for k in 0..together {
            let (between, next) = turned::<A, T, L, W>(first[k + 1], &leading, &vectors[at(k + 2)]);
            (vectors[at(k)], following) = turned::<A, T, L, W>(second[k], &following, &between);
            leading = next;
        }
        if together < second.len() {
            (vectors[at(together)], vectors[at(together + 1)]) =
                turned::<A, T, L, W>(second[together], &following, &leading);
            return;
        }
        vectors[at(together)] = following;
    }
    let done = if second.is_empty() { 0 } else { together + 1 };
    for k in done..first.len() {
        (vectors[at(k)], leading) = turned::<A, T, L, W>(first[k], &leading, &vectors[at(k + 1)]);
    }
    vectors[at(first.len())] = leading;
}

/// The vectors `c a + s b` and `c b - s a`.
#[inline(always)]
fn turned<A: MultiplyAdd, T: Real, const L: usize, const W: usize>(
    [c, s]: [T; 2],
    a: &[[T; L]; W],
    b: &[[T; L]; W],
) -> ([[T; L]; W], [[T; L]; W]) {
    let (mut first, mut second) = (*a, *b);
    for w in 0..W {
        one_by_one();
        for l in 0..L {
            first[w][l] = A::multiply_add(c, a[w][l], s * b[w][l]);
            second[w][l] = A::multiply_add(c, b[w][l], -(s * a[w][l]));
        }
    }
    (first, second)
}
