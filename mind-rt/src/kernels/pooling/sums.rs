//! Sums of windows, with factors or without, and their derivatives, which are sums over the positions.
//!
//! ```text
//! for rows of the result
//!   for lines of the row
//!     for blocks of columns           their sums stay in registers
//!       for blocks of channels
//!         for taps
//! ```
//!
//! The sum of an element is one chain in the order of its taps, whatever the blocks.

use super::axis::{Direction, Line, Pool, PoolAxis};
use crate::kernels::math::{MultiplyAdd, PlusProduct};
use crate::simd::{SimdLevel, simd_level};

/// The columns that are summed at a time.
const COLUMNS: usize = 4;

/// Sums of an operand.
pub struct Sums<'a, T> {
    pub pool: &'a Pool,
    pub direction: Direction,
    pub operand: &'a [T],
    /// The factors, if elements have any.
    pub filter: Option<&'a [T]>,
}

/// The number of channels of a block: two vectors, at least 8, and at most [`most_lanes`].
#[inline(always)]
pub fn lanes<T: PlusProduct, A: MultiplyAdd>() -> usize {
    let bytes = match simd_level() {
        SimdLevel::Portable => 32,
        SimdLevel::Avx2 => 64,
        SimdLevel::Avx512 => 128,
    };
    (bytes / size_of::<T>()).clamp(8, most_lanes::<T, A>())
}

/// The most channels of a block for which code is compiled: 8 for integers, which programs seldom convolve, and at the
/// portable level, whose operations are not fused.
pub const fn most_lanes<T: PlusProduct, A: MultiplyAdd>() -> usize {
    if A::FUSES { T::MOST_LANES } else { 8 }
}

impl<T: PlusProduct> Sums<'_, T> {
    /// Computes rows of the result, of `row` elements each.
    #[inline(always)]
    pub fn rows<A: MultiplyAdd>(&self, first: usize, row: usize, out: &mut [T]) {
        match self.filter {
            Some(filter) => self.rows_by::<A, _>(first, row, Filter(filter.as_ptr()), out),
            None => self.rows_by::<A, _>(first, row, Ones, out),
        }
    }

    #[inline(always)]
    fn rows_by<A: MultiplyAdd, F: Factors<T>>(&self, first: usize, row: usize, factors: F, out: &mut [T]) {
        let [a, b, _] = self.pool.axes.map(|axis| axis.extents(self.direction)[1]);
        let (mut at, lanes) = ([first / b / a, first / b % a, first % b], lanes::<T, A>());
        for out in out.chunks_exact_mut(row) {
            self.row::<A, F>(at, factors, lanes, out);
            at[2] += 1;
            if at[2] == b {
                at = if at[1] + 1 == a { [at[0] + 1, 0, 0] } else { [at[0], at[1] + 1, 0] };
            }
        }
    }

    #[inline(always)]
    fn row<A: MultiplyAdd, F: Factors<T>>(
        &self,
        [outer, at_a, at_b]: [usize; 3],
        factors: F,
        lanes: usize,
        out: &mut [T],
    ) {
        let Pool { axes: [a, b, c], channels, .. } = *self.pool;
        let [[from_a, to_a], [from_b, to_b], [from_c, to_c]] =
            self.pool.axes.map(|axis| axis.extents(self.direction));
        assert!(outer < self.pool.outer && at_a < to_a && at_b < to_b && out.len() == to_c * channels);
        let line = from_c * channels;
        // The factors of a row of taps and of a plane of them.
        let row = c.size.wrapping_mul(channels);
        let plane = row.wrapping_mul(b.size);
        let (loop_a, x_a, place_a) = self.tap_rows(&a, at_a);
        let (loop_b, x_b, place_b) = self.tap_rows(&b, at_b);
        let loops = [
            Loop {
                count: loop_a.count,
                operand: loop_a.operand * from_b * line,
                factors: loop_a.factors.wrapping_mul(plane as isize),
            },
            Loop {
                count: loop_b.count,
                operand: loop_b.operand * line,
                factors: loop_b.factors.wrapping_mul(row as isize),
            },
        ];
        let operand = self.operand.as_ptr().wrapping_add(((outer * from_a + x_a) * from_b + x_b) * line);
        let factors =
            factors.at(place_a.wrapping_mul(plane).wrapping_add(place_b.wrapping_mul(row)) as isize);
        for first in 0..c.lines(self.direction) {
            let line = c.line(self.direction, first);
            let out = out.as_mut_ptr();
            let row = RowSums { line: &line, loops, channels, operand, factors, out, lanes };
            // SAFETY: the loops have the rows that are inside of the operand. Its length and that of the filter have been
            // checked, and that of the row of the result just now.
            unsafe { row.columns::<A>() };
        }
    }

    /// The rows of the operand that an element of the result sums along an axis: their loop, in rows, then the first row, and
    /// its place in the filter.
    #[inline(always)]
    fn tap_rows(&self, axis: &PoolAxis, at: usize) -> (Loop, usize, usize) {
        let (line, at) = match self.direction {
            Direction::Forward => (axis.line(self.direction, 0), at),
            Direction::Backward => (axis.line(self.direction, at % axis.stride), at / axis.stride),
        };
        let taps = line.taps(at);
        let rows = match taps.len() {
            0 => return (Loop::NONE, 0, 0),
            1 => Loop { count: 1, ..Loop::NONE },
            count => Loop { count, operand: line.tap_step, factors: line.place_step },
        };
        let first = line.origin(at) + (taps.start * line.tap_step) as isize;
        (rows, first.unsigned_abs(), line.place.wrapping_add_signed(taps.start as isize * line.place_step))
    }
}

/// A loop over rows of taps, and the distances between these in the operand and in the filter.
#[derive(Clone, Copy)]
struct Loop {
    count: usize,
    operand: usize,
    factors: isize,
}

impl Loop {
    const NONE: Self = Self { count: 0, operand: 0, factors: 0 };
}

/// The factors of elements.
trait Factors<T>: Copy {
    /// The factors from another place on.
    fn at(self, offset: isize) -> Self;

    /// `N` factors.
    ///
    /// # Safety
    /// They must be readable.
    unsafe fn load<const N: usize>(self) -> [T; N];

    /// Adds an element times its factor to a sum.
    fn plus<A: MultiplyAdd>(sum: T, x: T, factor: T) -> T;
}

/// The factors of a filter.
struct Filter<T>(*const T);

impl<T> Clone for Filter<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Filter<T> {}

impl<T: PlusProduct> Factors<T> for Filter<T> {
    #[inline(always)]
    fn at(self, offset: isize) -> Self {
        Self(self.0.wrapping_offset(offset))
    }

    #[inline(always)]
    unsafe fn load<const N: usize>(self) -> [T; N] {
        // SAFETY: the caller vouches for the factors.
        unsafe { load(self.0) }
    }

    #[inline(always)]
    fn plus<A: MultiplyAdd>(sum: T, x: T, factor: T) -> T {
        sum.plus_product::<A>(x, factor)
    }
}

/// All factors are 1.
#[derive(Clone, Copy)]
struct Ones;

impl<T: PlusProduct> Factors<T> for Ones {
    #[inline(always)]
    fn at(self, _: isize) -> Self {
        self
    }

    #[inline(always)]
    unsafe fn load<const N: usize>(self) -> [T; N] {
        [T::ONE; N]
    }

    #[inline(always)]
    fn plus<A: MultiplyAdd>(sum: T, x: T, _: T) -> T {
        sum.plus(x)
    }
}

/// A line of a row of the result.
struct RowSums<'a, T, F> {
    line: &'a Line,
    loops: [Loop; 2],
    channels: usize,
    /// The row of the operand that the first row of taps reads.
    operand: *const T,
    /// The factors of the first row of taps.
    factors: F,
    out: *mut T,
    /// The channels of a block.
    lanes: usize,
}

impl<T: PlusProduct, F: Factors<T>> RowSums<'_, T, F> {
    /// # Safety
    /// All taps of the loops must be readable where they are inside of the operand, and the elements of the line writable.
    #[inline(always)]
    unsafe fn columns<A: MultiplyAdd>(&self) {
        let inside = self.line.inside(0..self.line.taps);
        // SAFETY: the contract is the same. All taps of the elements inside are inside.
        unsafe {
            for at in (0..inside.start).chain(inside.end..self.line.count) {
                let taps = self.line.taps(at);
                self.columns_at::<A, 1>(at, taps.start, taps.len());
            }
            let mut at = inside.start;
            while const { T::MOST_LANES > 8 } && at + COLUMNS <= inside.end {
                self.columns_at::<A, COLUMNS>(at, 0, self.line.taps);
                at += COLUMNS;
            }
            if const { T::MOST_LANES > 8 } && at < inside.end && inside.len() >= COLUMNS {
                // The last columns are summed once more, which is faster than one at a time.
                self.columns_at::<A, COLUMNS>(inside.end - COLUMNS, 0, self.line.taps);
                at = inside.end;
            }
            while at < inside.end {
                self.columns_at::<A, 1>(at, 0, self.line.taps);
                at += 1;
            }
        }
    }

    /// Sums `W` elements of the line for all channels.
    ///
    /// # Safety
    /// The taps must be inside of the operand for these elements, which must be writable.
    #[inline(always)]
    unsafe fn columns_at<A: MultiplyAdd, const W: usize>(&self, at: usize, tap: usize, taps: usize) {
        let mut channel = 0;
        for lanes in [self.lanes, 8, 1] {
            while channel + lanes <= self.channels {
                // SAFETY: the contract is the same.
                unsafe {
                    match lanes {
                        32 if const { most_lanes::<T, A>() >= 32 } => {
                            self.block::<A, W, 32>(at, tap, taps, channel)
                        }
                        16 if const { most_lanes::<T, A>() >= 16 } => {
                            self.block::<A, W, 16>(at, tap, taps, channel)
                        }
                        8 => self.block::<A, W, 8>(at, tap, taps, channel),
                        _ => self.block::<A, W, 1>(at, tap, taps, channel),
                    }
                }
                channel += lanes;
            }
        }
    }

    /// Sums `W` elements of the line for `N` channels.
    ///
    /// # Safety
    /// As for [`columns_at`](Self::columns_at).
    #[inline(always)]
    unsafe fn block<A: MultiplyAdd, const W: usize, const N: usize>(
        &self,
        at: usize,
        tap: usize,
        taps: usize,
        channel: usize,
    ) {
        let Self { line, loops: [outer, inner], channels, .. } = *self;
        // Offsets wrap as pointers do: elements without taps may be far out in the padding, and sums without factors may
        // have windows of any size.
        let next = line.advance.wrapping_mul(channels);
        let first = (line.origin(at) + (tap * line.tap_step) as isize).wrapping_mul(channels as isize);
        let operand = self.operand.wrapping_offset(first).wrapping_add(channel);
        let place = (line.place as isize).wrapping_add((tap as isize).wrapping_mul(line.place_step));
        let next_factors = line.place_step.wrapping_mul(channels as isize);
        let factors = self.factors.at(place.wrapping_mul(channels as isize).wrapping_add(channel as isize));
        let mut sums = [[T::ZERO; N]; W];
        for i in 0..outer.count {
            for j in 0..inner.count {
                let mut x = operand.wrapping_add(i * outer.operand + j * inner.operand);
                let mut factors = factors.at(i as isize * outer.factors + j as isize * inner.factors);
                // SAFETY: the caller vouches for the taps.
                unsafe {
                    if W > 1 && taps == 3 && line.advance == line.tap_step {
                        let factors: [[T; N]; 3] = [0, 1, 2].map(|tap| factors.at(tap * next_factors).load());
                        share::<T, A, F, W, N>(&mut sums, x, next, &factors);
                        continue;
                    }
                    for _ in 0..taps {
                        let factor = factors.load::<N>();
                        for (w, sums) in sums.iter_mut().enumerate() {
                            let x = load::<T, N>(x.wrapping_add(w * next));
                            for lane in 0..N {
                                sums[lane] = F::plus::<A>(sums[lane], x[lane], factor[lane]);
                            }
                        }
                        x = x.wrapping_add(line.tap_step.wrapping_mul(channels));
                        factors = factors.at(next_factors);
                    }
                }
            }
        }
        for (w, sums) in sums.into_iter().enumerate() {
            let to = self.out.wrapping_add((line.first + (at + w) * line.step) * channels + channel);
            // SAFETY: the caller vouches for the elements of the line.
            unsafe { to.cast::<[T; N]>().write_unaligned(sums) };
        }
    }
}

/// Adds three taps to each of `W` sums. Neighbouring sums read the same elements, so each is loaded once.
///
/// # Safety
/// `W + 2` elements must be readable.
#[inline(always)]
unsafe fn share<T: PlusProduct, A: MultiplyAdd, F: Factors<T>, const W: usize, const N: usize>(
    sums: &mut [[T; N]; W],
    x: *const T,
    next: usize,
    factors: &[[T; N]; 3],
) {
    for at in 0..W + 2 {
        // SAFETY: the contract is the same.
        let x = unsafe { load::<T, N>(x.wrapping_add(at * next)) };
        for (tap, factor) in factors.iter().enumerate() {
            if tap <= at && at - tap < W {
                let sums = &mut sums[at - tap];
                for lane in 0..N {
                    sums[lane] = F::plus::<A>(sums[lane], x[lane], factor[lane]);
                }
            }
        }
    }
}

/// # Safety
/// The elements must be readable.
#[inline(always)]
pub unsafe fn load<T: Copy, const N: usize>(from: *const T) -> [T; N] {
    // SAFETY: the contract is the same.
    unsafe { from.cast::<[T; N]>().read_unaligned() }
}
