//! The derivative of sums of windows by their factors.
//!
//! ```text
//! for rows of positions
//!   for blocks of channels
//!     for rows of taps
//!       for up to three taps          their sums stay in registers
//!         for columns
//! ```
//!
//! A factor's sum is that of one row of positions after the other. The sum of a row is one chain.

use std::array;
use std::ops::Range;

use super::axis::{Direction, Line, Pool};
use super::sums::{lanes, load, most_lanes};
use crate::kernels::limit::limit;
use crate::kernels::math::{MultiplyAdd, PlusProduct, Separate};
use crate::parallel::{self, Split};
use crate::simd::Kernel;

/// The taps of a row that are summed at a time.
const TAPS: usize = 3;

/// The channels of a part.
const PART: usize = limit(64, 16);

/// The derivative by a filter, or some parts of it. A part has some channels of a row of taps.
pub struct FilterGrad<'a, T> {
    pool: &'a Pool,
    x: &'a [T],
    dy: &'a [T],
    df: Factors<T>,
    first: usize,
    parts: usize,
}

/// The factors of a filter.
#[derive(Clone, Copy)]
struct Factors<T>(*mut T);

// SAFETY: threads share a pointer to numbers, and each uses it only for its own parts.
unsafe impl<T: Send> Send for Factors<T> {}

impl<'a, T: PlusProduct> FilterGrad<'a, T> {
    /// The slices must have the lengths that the pool needs.
    pub fn new(pool: &'a Pool, x: &'a [T], dy: &'a [T], df: &'a mut [T]) -> Self {
        let [a, b, _] = pool.axes;
        let parts = pool.channels.div_ceil(PART) * a.size * b.size;
        Self { pool, x, dy, df: Factors(df.as_mut_ptr()), first: 0, parts }
    }

    #[cfg(test)]
    pub fn parts(&self) -> usize {
        self.parts
    }

    /// Computes the parts on several threads.
    pub fn run(self) {
        let (pool, parts) = (self.pool, self.parts);
        let sums = pool.axes[2].size * pool.channels.min(PART);
        let positions = pool.axes.iter().map(|axis| axis.positions).product::<usize>() * pool.outer;
        parallel::run(self, parts, positions.saturating_mul(sums), 1);
    }
}

impl<T: PlusProduct> Split for FilterGrad<'_, T> {
    fn split(self, at: usize) -> (Self, Self) {
        (Self { parts: at, ..self }, Self { first: self.first + at, parts: self.parts - at, ..self })
    }
}

impl<T: PlusProduct> Kernel for FilterGrad<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.run_by::<Separate>();
    }

    #[inline(always)]
    fn run_by<A: MultiplyAdd>(self) {
        let Pool { outer, axes: [a, b, c], channels } = *self.pool;
        let [down, along, across] = [a, b, c].map(|axis| axis.line(Direction::Forward, 0));
        let lines = a.size * b.size;
        let (end, line, lanes) = (self.first + self.parts, c.size * channels, lanes::<T, A>());
        // The channels and the rows of taps of each part that is begun.
        let groups = || {
            (self.first / lines..end.div_ceil(lines)).map(|group| {
                let from = |part: usize| part.clamp(self.first, end) - group * lines;
                let rows = from(group * lines)..from((group + 1) * lines);
                (group * PART..channels.min((group + 1) * PART), rows)
            })
        };
        for (channels_of, rows) in groups() {
            for tap in rows.start * c.size..rows.end * c.size {
                // SAFETY: the factors belong to the parts.
                unsafe {
                    self.df.0.add(tap * channels + channels_of.start).write_bytes(0, channels_of.len())
                };
            }
        }
        for row in 0..outer * a.positions * b.positions {
            let (image, at) =
                (row / (a.positions * b.positions), [row / b.positions % a.positions, row % b.positions]);
            let dy = self.dy.as_ptr().wrapping_add(row * c.positions * channels);
            let taps = [down.taps(at[0]), along.taps(at[1])];
            let of = |line: &Line, at: usize, tap: usize| {
                (line.origin(at) + (tap * line.tap_step) as isize).unsigned_abs()
            };
            for (channels_of, rows) in groups() {
                for row in rows {
                    let (tap_a, tap_b) = (row / b.size, row % b.size);
                    if !taps[0].contains(&tap_a) || !taps[1].contains(&tap_b) {
                        continue;
                    }
                    let source =
                        (image * a.extent + of(&down, at[0], tap_a)) * b.extent + of(&along, at[1], tap_b);
                    let sums = RowSums {
                        line: &across,
                        x: self.x.as_ptr().wrapping_add(source * c.extent * channels),
                        dy,
                        df: self.df.0.wrapping_add(row * line),
                        stride: channels,
                    };
                    // SAFETY: the row of the tensor is inside, and the lengths have been checked. The factors belong to the
                    // parts.
                    unsafe { sums.taps::<A>(channels_of.clone(), lanes) };
                }
            }
        }
    }
}

/// The positions for which taps are inside of the row: all of `R`, and each.
struct Inside<const R: usize> {
    all: Range<usize>,
    each: [Range<usize>; R],
}

/// The contributions of a row of positions to a row of taps.
struct RowSums<'a, T> {
    line: &'a Line,
    x: *const T,
    dy: *const T,
    df: *mut T,
    /// The channels of an element.
    stride: usize,
}

impl<T: PlusProduct> RowSums<'_, T> {
    /// # Safety
    /// The rows must be readable, and the factors of the channels must be initialised and writable.
    #[inline(always)]
    unsafe fn taps<A: MultiplyAdd>(&self, channels: Range<usize>, lanes: usize) {
        let mut tap = 0;
        // SAFETY: the contract is the same.
        unsafe {
            while const { T::MOST_LANES > 8 } && tap + TAPS <= self.line.taps {
                self.channels::<A, TAPS>(channels.clone(), tap, lanes);
                tap += TAPS;
            }
            while tap < self.line.taps {
                self.channels::<A, 1>(channels.clone(), tap, lanes);
                tap += 1;
            }
        }
    }

    /// # Safety
    /// As for [`taps`](Self::taps).
    #[inline(always)]
    unsafe fn channels<A: MultiplyAdd, const R: usize>(
        &self,
        channels: Range<usize>,
        tap: usize,
        lanes: usize,
    ) {
        let inside = Inside::<R> {
            all: self.line.inside(tap..tap + R),
            each: array::from_fn(|r| self.line.inside(tap + r..tap + r + 1)),
        };
        let mut channel = channels.start;
        for lanes in [lanes, 8, 1] {
            while channel + lanes <= channels.end {
                // SAFETY: the contract is the same.
                unsafe {
                    match lanes {
                        32 if const { most_lanes::<T, A>() >= 32 } => {
                            self.sum::<A, R, 32>(channel, tap, &inside)
                        }
                        16 if const { most_lanes::<T, A>() >= 16 } => {
                            self.sum::<A, R, 16>(channel, tap, &inside)
                        }
                        8 => self.sum::<A, R, 8>(channel, tap, &inside),
                        _ => self.sum::<A, R, 1>(channel, tap, &inside),
                    }
                }
                channel += lanes;
            }
        }
    }

    /// Sums the row for `R` taps and adds these sums to the factors.
    ///
    /// # Safety
    /// As for [`taps`](Self::taps), for `N` channels.
    #[inline(always)]
    unsafe fn sum<A: MultiplyAdd, const R: usize, const N: usize>(
        &self,
        channel: usize,
        tap: usize,
        Inside { all, each }: &Inside<R>,
    ) {
        let mut sums = [[T::ZERO; N]; R];
        // SAFETY: the positions are those whose taps are inside of the row. The caller vouches for the factors.
        unsafe {
            for (r, sums) in sums.iter_mut().enumerate().filter(|_| R > 1) {
                let before = each[r].start..all.start.clamp(each[r].start, each[r].end);
                self.add::<A, 1, N>(channel, tap + r, before, array::from_mut(sums));
            }
            self.add::<A, R, N>(channel, tap, all.clone(), &mut sums);
            for (r, sums) in sums.iter_mut().enumerate() {
                if R > 1 {
                    let after = all.end.clamp(each[r].start, each[r].end)..each[r].end;
                    self.add::<A, 1, N>(channel, tap + r, after, array::from_mut(sums));
                }
                let to = self.df.wrapping_add((tap + r) * self.stride + channel);
                let before = load::<T, N>(to);
                for lane in 0..N {
                    sums[lane] = before[lane].plus(sums[lane]);
                }
                to.cast::<[T; N]>().write_unaligned(*sums);
            }
        }
    }

    /// Adds the products of some positions to the sums of `R` taps.
    ///
    /// # Safety
    /// As for [`taps`](Self::taps), for `N` channels. The taps must be inside of the row.
    #[inline(always)]
    unsafe fn add<A: MultiplyAdd, const R: usize, const N: usize>(
        &self,
        channel: usize,
        tap: usize,
        positions: Range<usize>,
        sums: &mut [[T; N]; R],
    ) {
        // Offsets wrap as pointers do: without positions they may be of any size.
        let [next, apart] =
            [self.line.advance, self.line.tap_step].map(|step| step.wrapping_mul(self.stride));
        let first = self.line.origin(positions.start).wrapping_add((tap * self.line.tap_step) as isize);
        let first = first.wrapping_mul(self.stride as isize);
        let mut x = self.x.wrapping_offset(first).wrapping_add(channel);
        let mut dy = self.dy.wrapping_add(positions.start * self.stride + channel);
        let mut taken = *sums;
        for _ in positions {
            // SAFETY: the caller vouches for these elements.
            unsafe {
                let factor = load::<T, N>(dy);
                for (r, sums) in taken.iter_mut().enumerate() {
                    let x = load::<T, N>(x.wrapping_add(r * apart));
                    for lane in 0..N {
                        sums[lane] = sums[lane].plus_product::<A>(x[lane], factor[lane]);
                    }
                }
            }
            (x, dy) = (x.wrapping_add(next), dy.wrapping_add(self.stride));
        }
        *sums = taken;
    }
}
