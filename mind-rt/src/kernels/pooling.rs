//! Windows that slide over the axes before the last, and what they reduce to: the largest element or the sum.
//!
//! Elements outside of the tensor are left out, so padding is never read. A window without elements has the maximum
//! [`Number::LEAST`] and the sum 0.

use mind_shape::threads::COST_OF_COPY;

use super::check;
use super::compiled::SumKernels;
use super::number::Number;
use crate::parallel::{self, Split};
use crate::simd::Kernel;

/// The extents of a tensor, and the windows that slide over three of its axes.
#[derive(Clone, Copy, Debug)]
pub struct Pool {
    /// The number of tensors.
    pub outer: usize,
    /// The axes over which the windows slide.
    pub axes: [PoolAxis; 3],
    /// The elements at each position.
    pub channels: usize,
}

/// An axis over which a window slides.
#[derive(Clone, Copy, Debug)]
pub struct PoolAxis {
    /// The extent of the tensor.
    pub extent: usize,
    /// The number of positions of the window.
    pub positions: usize,
    /// The number of elements of the window.
    pub size: usize,
    /// The distance between positions.
    pub stride: usize,
    /// The distance between the elements of the window.
    pub dilation: usize,
    /// The elements before the tensor that the first window covers.
    pub before: usize,
}

impl PoolAxis {
    /// An axis of one element.
    pub const ONE: Self = Self { extent: 1, positions: 1, size: 1, stride: 1, dilation: 1, before: 0 };

    /// The first element of the tensor that the window at a position has, and the number of them.
    #[inline(always)]
    fn taps(&self, at: usize) -> (usize, usize) {
        let start = at * self.stride;
        // Most windows lie inside, and need no division.
        if start >= self.before && start - self.before + (self.size - 1) * self.dilation < self.extent {
            return (start - self.before, self.size);
        }
        let skipped = self.before.saturating_sub(start).div_ceil(self.dilation);
        let first = start + skipped * self.dilation - self.before;
        if skipped >= self.size || first >= self.extent {
            return (0, 0);
        }
        (first, (self.size - skipped).min((self.extent - first).div_ceil(self.dilation)))
    }
}

/// What to compute, with the operands and the result.
#[derive(Debug)]
pub enum PoolWork<'a, T> {
    /// The largest element of each window: the first of equal ones, or the first NaN.
    Max {
        /// The tensor.
        x: &'a [T],
        /// The result.
        y: &'a mut [T],
    },
    /// The sum of each window.
    Sum {
        /// The tensor.
        x: &'a [T],
        /// The result.
        y: &'a mut [T],
    },
    /// Zeros, to which `dy` is added at each element of its window.
    SumGrad {
        /// The cotangent of the sums.
        dy: &'a [T],
        /// The result.
        dx: &'a mut [T],
    },
    /// Zeros, to which `dy` is added at the largest element of its window.
    MaxGrad {
        /// The tensor.
        x: &'a [T],
        /// The cotangent of the maxima.
        dy: &'a [T],
        /// The result.
        dx: &'a mut [T],
    },
    /// The element of `t` at the place of the largest element of each window.
    MaxTake {
        /// The tensor.
        x: &'a [T],
        /// The elements that are taken.
        t: &'a [T],
        /// The result.
        y: &'a mut [T],
    },
}

/// Computes a pool, and splits the tensors over threads.
///
/// # Panics
/// As an internal error, if a slice has the wrong length.
pub fn pool<T: SumKernels>(pool: &Pool, work: PoolWork<'_, T>) {
    T::pool(pool, work);
}

pub(super) fn run<T: Number>(pool: &Pool, work: PoolWork<'_, T>) {
    let (whole, result) = (pool.outer * pool.whole(), pool.outer * pool.result());
    let lengths = match &work {
        PoolWork::Max { x, y } | PoolWork::Sum { x, y } => [x.len(), y.len(), whole],
        PoolWork::SumGrad { dy, dx } => [dx.len(), dy.len(), whole],
        PoolWork::MaxGrad { x, dy, dx } => [x.len(), dy.len(), dx.len()],
        PoolWork::MaxTake { x, t, y } => [x.len(), y.len(), t.len()],
    };
    check(lengths == [whole, result, whole], "pool: wrong length");
    let taps: usize = pool.axes.iter().map(|axis| axis.size).product();
    let split = SplitPool { pool: *pool, work };
    parallel::run(split, pool.outer, pool.result().saturating_mul(taps), COST_OF_COPY);
}

impl Pool {
    /// The number of elements of a tensor.
    fn whole(&self) -> usize {
        self.axes.iter().map(|axis| axis.extent).product::<usize>() * self.channels
    }

    /// The number of elements of a tensor's result.
    fn result(&self) -> usize {
        self.axes.iter().map(|axis| axis.positions).product::<usize>() * self.channels
    }
}

struct SplitPool<'a, T> {
    pool: Pool,
    work: PoolWork<'a, T>,
}

impl<T: Number> Split for SplitPool<'_, T> {
    fn split(self, at: usize) -> (Self, Self) {
        let Self { pool, work } = self;
        let [before, after] = [at, pool.outer - at].map(|outer| Pool { outer, ..pool });
        let (whole, result) = (at * pool.whole(), at * pool.result());
        let (first, second) = match work {
            PoolWork::Max { x, y } => {
                let ((x, x2), (y, y2)) = (x.split_at(whole), y.split_at_mut(result));
                (PoolWork::Max { x, y }, PoolWork::Max { x: x2, y: y2 })
            }
            PoolWork::Sum { x, y } => {
                let ((x, x2), (y, y2)) = (x.split_at(whole), y.split_at_mut(result));
                (PoolWork::Sum { x, y }, PoolWork::Sum { x: x2, y: y2 })
            }
            PoolWork::SumGrad { dy, dx } => {
                let ((dy, dy2), (dx, dx2)) = (dy.split_at(result), dx.split_at_mut(whole));
                (PoolWork::SumGrad { dy, dx }, PoolWork::SumGrad { dy: dy2, dx: dx2 })
            }
            PoolWork::MaxGrad { x, dy, dx } => {
                let ((x, x2), (dy, dy2)) = (x.split_at(whole), dy.split_at(result));
                let (dx, dx2) = dx.split_at_mut(whole);
                (PoolWork::MaxGrad { x, dy, dx }, PoolWork::MaxGrad { x: x2, dy: dy2, dx: dx2 })
            }
            PoolWork::MaxTake { x, t, y } => {
                let ((x, x2), (t, t2)) = (x.split_at(whole), t.split_at(whole));
                let (y, y2) = y.split_at_mut(result);
                (PoolWork::MaxTake { x, t, y }, PoolWork::MaxTake { x: x2, t: t2, y: y2 })
            }
        };
        (Self { pool: before, work: first }, Self { pool: after, work: second })
    }
}

/// The channels that are reduced at a time, so that they stay in registers.
const LANES: usize = 32;

impl<T: Number> Kernel for SplitPool<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { pool, work } = self;
        match work {
            PoolWork::Max { x, y } => {
                pool.windows(|window, at, channels| match channels {
                    LANES => max::<T, LANES>(window, x, &mut y[at..]),
                    8 => max::<T, 8>(window, x, &mut y[at..]),
                    _ => max::<T, 1>(window, x, &mut y[at..]),
                });
            }
            PoolWork::Sum { x, y } => {
                pool.windows(|window, at, channels| match channels {
                    LANES => sum::<T, LANES>(window, x, &mut y[at..]),
                    8 => sum::<T, 8>(window, x, &mut y[at..]),
                    _ => sum::<T, 1>(window, x, &mut y[at..]),
                });
            }
            PoolWork::SumGrad { dy, dx } => {
                dx.fill(T::ZERO);
                pool.windows(|window, at, channels| match channels {
                    LANES => add::<T, LANES>(window, &dy[at..], dx),
                    8 => add::<T, 8>(window, &dy[at..], dx),
                    _ => add::<T, 1>(window, &dy[at..], dx),
                });
            }
            PoolWork::MaxGrad { x, dy, dx } => {
                dx.fill(T::ZERO);
                pool.windows(|window, at, channels| match channels {
                    LANES => add_first::<T, LANES>(window, x, &dy[at..], dx),
                    8 => add_first::<T, 8>(window, x, &dy[at..], dx),
                    _ => add_first::<T, 1>(window, x, &dy[at..], dx),
                });
            }
            PoolWork::MaxTake { x, t, y } => {
                pool.windows(|window, at, channels| match channels {
                    LANES => take_first::<T, LANES>(window, x, t, &mut y[at..]),
                    8 => take_first::<T, 8>(window, x, t, &mut y[at..]),
                    _ => take_first::<T, 1>(window, x, t, &mut y[at..]),
                });
            }
        }
    }
}

/// The elements of a window: the offset of the first, and for each axis the number of elements and their distance.
#[derive(Clone, Copy)]
struct Taps {
    first: usize,
    counts: [usize; 3],
    steps: [usize; 3],
}

impl Taps {
    /// Calls `visit` with the offset of each element, in row-major order.
    #[inline(always)]
    fn each(&self, mut visit: impl FnMut(usize)) {
        let Self { first, counts: [a, b, c], steps } = *self;
        for i in 0..a {
            for j in 0..b {
                let row = first + i * steps[0] + j * steps[1];
                for k in 0..c {
                    visit(row + k * steps[2]);
                }
            }
        }
    }

    #[inline(always)]
    fn is_empty(&self) -> bool {
        self.counts.contains(&0)
    }
}

impl Pool {
    /// Calls `visit` with the elements of each window for some channels, their offset in the result and their number:
    /// [`LANES`], 8 or 1.
    #[inline(always)]
    fn windows(&self, mut visit: impl FnMut(Taps, usize, usize)) {
        let Self { outer, axes: [a, b, c], channels } = *self;
        let steps = [b.extent * c.extent * channels, c.extent * channels, channels];
        let (whole, mut to) = (self.whole(), 0);
        for outer in 0..outer {
            for at_a in 0..a.positions {
                let (first_a, count_a) = a.taps(at_a);
                for at_b in 0..b.positions {
                    let (first_b, count_b) = b.taps(at_b);
                    for at_c in 0..c.positions {
                        let (first_c, count_c) = c.taps(at_c);
                        let first =
                            outer * whole + first_a * steps[0] + first_b * steps[1] + first_c * steps[2];
                        let taps = Taps {
                            first,
                            counts: [count_a, count_b, count_c],
                            steps: [steps[0] * a.dilation, steps[1] * b.dilation, steps[2] * c.dilation],
                        };
                        let mut channel = 0;
                        for lanes in [LANES, 8, 1] {
                            while channel + lanes <= channels {
                                let taps = Taps { first: taps.first + channel, ..taps };
                                visit(taps, to + channel, lanes);
                                channel += lanes;
                            }
                        }
                        to += channels;
                    }
                }
            }
        }
    }
}

#[inline(always)]
fn block<T: Number, const N: usize>(from: &[T], at: usize) -> [T; N] {
    from[at..][..N].try_into().expect("a slice of N elements")
}

/// Whether an element takes the place of the largest one before it: it is greater, or the first NaN.
#[inline(always)]
fn displaces<T: Number>(new: T, largest: T) -> bool {
    (new > largest) | (is_nan(new) & !is_nan(largest))
}

#[inline(always)]
#[allow(clippy::eq_op, reason = "only a NaN differs from itself")]
fn is_nan<T: Number>(number: T) -> bool {
    number != number
}

#[inline(always)]
fn max<T: Number, const N: usize>(taps: Taps, x: &[T], y: &mut [T]) {
    let mut largest = [T::LEAST; N];
    if !taps.is_empty() {
        largest = block(x, taps.first);
        taps.each(|at| {
            let new = block::<T, N>(x, at);
            for lane in 0..N {
                // A later NaN may take the place of the first: both are NaN.
                let is_better = (new[lane] > largest[lane]) | is_nan(new[lane]);
                largest[lane] = if is_better { new[lane] } else { largest[lane] };
            }
        });
    }
    y[..N].copy_from_slice(&largest);
}

#[inline(always)]
fn sum<T: Number, const N: usize>(taps: Taps, x: &[T], y: &mut [T]) {
    let mut sum = [T::ZERO; N];
    taps.each(|at| {
        let new = block::<T, N>(x, at);
        for lane in 0..N {
            sum[lane] = sum[lane].plus(new[lane]);
        }
    });
    y[..N].copy_from_slice(&sum);
}

#[inline(always)]
fn add<T: Number, const N: usize>(taps: Taps, dy: &[T], dx: &mut [T]) {
    let dy = block::<T, N>(dy, 0);
    taps.each(|at| {
        let to = &mut dx[at..][..N];
        for lane in 0..N {
            to[lane] = to[lane].plus(dy[lane]);
        }
    });
}

/// The number of the largest element of a window, for each channel.
#[inline(always)]
fn first<T: Number, const N: usize>(taps: Taps, x: &[T]) -> [u32; N] {
    let (mut largest, mut chosen, mut tap) = (block::<T, N>(x, taps.first), [0; N], 0);
    taps.each(|at| {
        let new = block::<T, N>(x, at);
        for lane in 0..N {
            let is_better = displaces(new[lane], largest[lane]);
            largest[lane] = if is_better { new[lane] } else { largest[lane] };
            chosen[lane] = if is_better { tap } else { chosen[lane] };
        }
        tap += 1;
    });
    chosen
}

#[inline(always)]
fn add_first<T: Number, const N: usize>(taps: Taps, x: &[T], dy: &[T], dx: &mut [T]) {
    if taps.is_empty() {
        return;
    }
    let (chosen, dy, mut tap) = (first::<T, N>(taps, x), block::<T, N>(dy, 0), 0);
    taps.each(|at| {
        let to = &mut dx[at..][..N];
        for lane in 0..N {
            // The sums begin at 0.0, so adding 0.0 changes none.
            to[lane] = to[lane].plus(if chosen[lane] == tap { dy[lane] } else { T::ZERO });
        }
        tap += 1;
    });
}

#[inline(always)]
fn take_first<T: Number, const N: usize>(taps: Taps, x: &[T], t: &[T], y: &mut [T]) {
    let mut taken = [T::ZERO; N];
    if !taps.is_empty() {
        let (chosen, mut tap) = (first::<T, N>(taps, x), 0);
        taps.each(|at| {
            let new = block::<T, N>(t, at);
            for lane in 0..N {
                taken[lane] = if chosen[lane] == tap { new[lane] } else { taken[lane] };
            }
            tap += 1;
        });
    }
    y[..N].copy_from_slice(&taken);
}

#[cfg(test)]
mod tests {
    use super::*;

    const AXES: [PoolAxis; 5] = [
        PoolAxis { extent: 6, positions: 3, size: 2, stride: 2, dilation: 1, before: 0 },
        PoolAxis { extent: 7, positions: 4, size: 3, stride: 2, dilation: 1, before: 1 },
        PoolAxis { extent: 5, positions: 7, size: 2, stride: 1, dilation: 3, before: 3 },
        PoolAxis { extent: 4, positions: 2, size: 1, stride: 3, dilation: 1, before: 0 },
        // Windows that lie outside.
        PoolAxis { extent: 2, positions: 6, size: 2, stride: 1, dilation: 1, before: 3 },
    ];

    /// The places along an axis that a window reads.
    fn places(axis: &PoolAxis, at: usize) -> Vec<usize> {
        let of = |k: usize| (at * axis.stride + k * axis.dilation).checked_sub(axis.before);
        (0..axis.size).filter_map(of).filter(|place| *place < axis.extent).collect()
    }

    #[test]
    fn a_window_has_the_elements_inside_of_the_tensor() {
        for axis in AXES {
            for at in 0..axis.positions {
                let (first, count) = axis.taps(at);
                let taps: Vec<usize> = (0..count).map(|k| first + k * axis.dilation).collect();
                assert_eq!(taps, places(&axis, at), "{axis:?} at {at}");
            }
        }
    }

    #[test]
    fn pools_agree_with_naive_loops() {
        for (first, second) in AXES.iter().flat_map(|a| AXES.map(|b| (*a, b))) {
            for channels in [1, 9, 43] {
                agrees(&Pool { outer: 2, axes: [PoolAxis::ONE, first, second], channels });
            }
        }
    }

    fn agrees(pool: &Pool) {
        let [_, a, b] = pool.axes;
        let whole = a.extent * b.extent * pool.channels;
        let result = a.positions * b.positions * pool.channels;
        // Few values, so that elements are equal, and some NaN.
        let value = |i: usize| if i % 31 == 7 { f32::NAN } else { ((i * i) % 5) as f32 };
        let x: Vec<f32> = (0..2 * whole).map(value).collect();
        let t: Vec<f32> = (0..2 * whole).map(|i| i as f32).collect();
        let dy: Vec<f32> = (0..2 * result).map(|i| (i % 7) as f32 - 3.0).collect();
        let [mut max, mut sums, mut taken] = [(); 3].map(|()| vec![0.0; 2 * result]);
        let [mut dx, mut spread] = [(); 2].map(|()| vec![0.0; 2 * whole]);
        for (to, dy) in dy.iter().enumerate() {
            let (place, channel) = (to / pool.channels, to % pool.channels);
            let (place, at_b) = (place / b.positions, place % b.positions);
            let (outer, at_a) = (place / a.positions, place % a.positions);
            let (mut sum, mut chosen) = (0.0, None);
            for row in places(&a, at_a) {
                for column in places(&b, at_b) {
                    let from = outer * whole + (row * b.extent + column) * pool.channels + channel;
                    sum += x[from];
                    spread[from] += dy;
                    let largest = chosen.map(|at: usize| x[at]);
                    if largest
                        .is_none_or(|largest| x[from] > largest || (x[from].is_nan() && !largest.is_nan()))
                    {
                        chosen = Some(from);
                    }
                }
            }
            sums[to] = sum;
            max[to] = chosen.map_or(f32::NEG_INFINITY, |from| x[from]);
            if let Some(from) = chosen {
                taken[to] = t[from];
                dx[from] += dy;
            }
        }
        let same = |found: &[f32], expected: &[f32]| {
            let is_same = |(a, b): (&f32, &f32)| a == b || (a.is_nan() && b.is_nan());
            assert!(found.iter().zip(expected).all(is_same), "{pool:?}: {found:?}, expected {expected:?}");
        };
        let (mut small, mut large) = (vec![9.0; 2 * result], vec![9.0; 2 * whole]);
        super::pool(pool, PoolWork::Max { x: &x, y: &mut small });
        same(&small, &max);
        super::pool(pool, PoolWork::Sum { x: &x, y: &mut small });
        same(&small, &sums);
        super::pool(pool, PoolWork::MaxTake { x: &x, t: &t, y: &mut small });
        same(&small, &taken);
        super::pool(pool, PoolWork::SumGrad { dy: &dy, dx: &mut large });
        same(&large, &spread);
        super::pool(pool, PoolWork::MaxGrad { x: &x, dy: &dy, dx: &mut large });
        same(&large, &dx);
    }
}
