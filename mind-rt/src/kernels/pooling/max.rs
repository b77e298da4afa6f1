//! The largest element of each window, and what goes to its place.

use super::{LANES, Pool};
use crate::kernels::limit::limit;
use crate::kernels::number::Number;

/// The bytes of the rows to which cotangents are added at a time, so that they stay in L1.
const BAND_BYTES: usize = limit(32 << 10, 256);

/// The largest element of each window of some rows of positions.
#[inline(always)]
pub fn max<T: Number>(pool: &Pool, x: &[T], first: usize, y: &mut [T]) {
    pool.rows(first, y.len(), |window, to, lanes| match lanes {
        LANES => largest_to::<T, LANES>(window, x, &mut y[to..]),
        8 => largest_to::<T, 8>(window, x, &mut y[to..]),
        _ => largest_to::<T, 1>(window, x, &mut y[to..]),
    });
}

/// The element of `t` at the place of the largest element of each window of some rows of positions.
#[inline(always)]
pub fn take_first<T: Number>(pool: &Pool, x: &[T], t: &[T], first: usize, y: &mut [T]) {
    pool.rows(first, y.len(), |window, to, lanes| match lanes {
        LANES => take::<T, LANES>(window, x, t, &mut y[to..]),
        8 => take::<T, 8>(window, x, t, &mut y[to..]),
        _ => take::<T, 1>(window, x, t, &mut y[to..]),
    });
}

/// Some rows of the cotangent of the tensor, of `row` elements each: the cotangent of each window at its largest element.
/// Windows that reach several parts are computed for each of them.
#[inline(always)]
pub fn add_to_first<T: Number>(pool: &Pool, x: &[T], dy: &[T], first: usize, row: usize, dx: &mut [T]) {
    let stride = pool.axes[1].stride;
    let rows = (BAND_BYTES / (row * size_of::<T>())).next_multiple_of(stride).max(stride);
    for (band, dx) in dx.chunks_mut(rows * row).enumerate() {
        let start = first + band * rows;
        dx.fill(T::ZERO);
        pool.reaching(start, dx.len() / row, |window, from, lanes| match lanes {
            LANES => add::<T, LANES>(window, x, &dy[from..], start * row, dx),
            8 => add::<T, 8>(window, x, &dy[from..], start * row, dx),
            _ => add::<T, 1>(window, x, &dy[from..], start * row, dx),
        });
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
    /// Calls `visit` with the windows of some rows of positions, of `len` elements in all. Their offsets are counted from the
    /// first row.
    #[inline(always)]
    fn rows(&self, first: usize, len: usize, mut visit: impl FnMut(Taps, usize, usize)) {
        let [a, b, c] = self.axes.map(|axis| axis.positions);
        let row = c * self.channels;
        for at in 0..len / row {
            let place = [(first + at) / (a * b), (first + at) / b % a, (first + at) % b];
            self.row(place, at * row, &mut visit);
        }
    }

    /// Calls `visit` with the windows that have elements in `rows` rows of the tensor, from the row `first` on.
    #[inline(always)]
    fn reaching(&self, first: usize, rows: usize, mut visit: impl FnMut(Taps, usize, usize)) {
        let [a, b, c] = self.axes;
        let last = first + rows - 1;
        let place = |row: usize| [row / (a.extent * b.extent), row / b.extent % a.extent, row % b.extent];
        let (start, end) = (place(first), place(last));
        let row = c.positions * self.channels;
        for outer in start[0]..=end[0] {
            let planes = if start[0] == end[0] { start[1]..end[1] + 1 } else { 0..a.extent };
            let lines = if start[..2] == end[..2] { start[2]..end[2] + 1 } else { 0..b.extent };
            for at_a in a.reaching(&planes) {
                for at_b in b.reaching(&lines) {
                    let from = ((outer * a.positions + at_a) * b.positions + at_b) * row;
                    self.row([outer, at_a, at_b], from, &mut visit);
                }
            }
        }
    }

    /// Calls `visit` with each window of a row of positions for some channels, with their offset, counted from `to`, and
    /// their number: [`LANES`], 8 or 1.
    #[inline(always)]
    fn row(&self, [outer, at_a, at_b]: [usize; 3], to: usize, visit: &mut impl FnMut(Taps, usize, usize)) {
        let Self { axes: [a, b, c], channels, .. } = *self;
        let steps = [b.extent * c.extent * channels, c.extent * channels, channels];
        let ((first_a, count_a), (first_b, count_b)) = (a.taps(at_a), b.taps(at_b));
        let first = (outer * a.extent + first_a) * steps[0] + first_b * steps[1];
        let taps = |first_c: usize, count_c: usize| Taps {
            first: first + first_c * steps[2],
            counts: [count_a, count_b, count_c],
            steps: [steps[0] * a.dilation, steps[1] * b.dilation, steps[2] * c.dilation],
        };
        for at_c in 0..c.positions {
            let (first_c, count_c) = c.taps(at_c);
            let taps = taps(first_c, count_c);
            let mut channel = 0;
            for lanes in [LANES, 8, 1] {
                while channel + lanes <= channels {
                    let taps = Taps { first: taps.first + channel, ..taps };
                    visit(taps, to + at_c * channels + channel, lanes);
                    channel += lanes;
                }
            }
        }
    }
}

#[inline(always)]
fn block<T: Copy, const N: usize>(from: &[T], at: usize) -> [T; N] {
    from[at..][..N].try_into().expect("a slice of N elements")
}

#[inline(always)]
#[allow(clippy::eq_op, reason = "only a NaN differs from itself")]
fn is_nan<T: Number>(number: T) -> bool {
    number != number
}

/// The largest element of a window for each channel, or a NaN.
#[inline(always)]
fn largest<T: Number, const N: usize>(taps: Taps, x: &[T]) -> [T; N] {
    if taps.is_empty() {
        return [T::LEAST; N];
    }
    let mut largest = block(x, taps.first);
    taps.each(|at| {
        let new = block::<T, N>(x, at);
        for lane in 0..N {
            // A later NaN may take the place of the first: both are NaN.
            let is_better = (new[lane] > largest[lane]) | is_nan(new[lane]);
            largest[lane] = if is_better { new[lane] } else { largest[lane] };
        }
    });
    largest
}

#[inline(always)]
fn largest_to<T: Number, const N: usize>(taps: Taps, x: &[T], y: &mut [T]) {
    y[..N].copy_from_slice(&largest::<T, N>(taps, x));
}

/// Calls `visit` with the offset of each element of a window, and whether it is the first of the largest ones, or the first
/// NaN, for each channel.
#[inline(always)]
fn each_first<T: Number, const N: usize>(taps: Taps, x: &[T], mut visit: impl FnMut(usize, [bool; N])) {
    let (largest, mut is_open) = (largest::<T, N>(taps, x), [true; N]);
    taps.each(|at| {
        let (new, mut is_first) = (block::<T, N>(x, at), [false; N]);
        for lane in 0..N {
            // The largest element is NaN if one is.
            is_first[lane] = is_open[lane] & ((new[lane] == largest[lane]) | is_nan(new[lane]));
            is_open[lane] &= !is_first[lane];
        }
        visit(at, is_first);
    });
}

#[inline(always)]
fn take<T: Number, const N: usize>(taps: Taps, x: &[T], t: &[T], y: &mut [T]) {
    let mut taken = [T::ZERO; N];
    each_first::<T, N>(taps, x, |at, is_first| {
        let new = block::<T, N>(t, at);
        for lane in 0..N {
            taken[lane] = if is_first[lane] { new[lane] } else { taken[lane] };
        }
    });
    y[..N].copy_from_slice(&taken);
}

/// Adds the cotangent of a window to its largest element, if that is in `dx`, which begins at an offset of the tensor.
#[inline(always)]
fn add<T: Number, const N: usize>(taps: Taps, x: &[T], dy: &[T], start: usize, dx: &mut [T]) {
    let dy = block::<T, N>(dy, 0);
    each_first::<T, N>(taps, x, |at, is_first| {
        // Rows before `dx` have offsets beyond its end.
        let Some(to) = dx.get_mut(at.wrapping_sub(start)..) else { return };
        let Some(to) = to.get_mut(..N) else { return };
        for lane in 0..N {
            // The sums begin at 0.0, so adding 0.0 changes none.
            to[lane] = to[lane].plus(if is_first[lane] { dy[lane] } else { T::ZERO });
        }
    });
}
