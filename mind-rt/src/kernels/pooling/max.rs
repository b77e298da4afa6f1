//! The largest element of each window, and what goes to its place.

use std::marker::PhantomData;

use super::axis::{Pool, PoolAxis};
use super::sums::{load, most_lanes};
use crate::kernels::math::{MultiplyAdd, PlusProduct};
use crate::kernels::number::Number;

/// The channels that are processed at a time, so that they stay in registers.
const LANES: usize = 32;

/// The channels that are processed at a time if all elements of their window stay in registers.
const LANES_OF_WINDOW: usize = 16;

/// A loop over the offsets of the elements of a window, in row-major order or from the last to the first. It is not a
/// function of a closure, because that might not be inlined into code for a SIMD level.
macro_rules! each {
    ($taps:expr, |$at:ident| $body:block) => { each!($taps, |$at| $body by std::convert::identity) };
    ($taps:expr, from last |$at:ident| $body:block) => { each!($taps, |$at| $body by Iterator::rev) };
    ($taps:expr, |$at:ident| $body:block by $order:expr) => {{
        let Taps { first, counts: [a, b, c], steps, .. } = $taps;
        for i in $order(0..a) {
            for j in $order(0..b) {
                let row = first + i * steps[0] + j * steps[1];
                for k in $order(0..c) {
                    let $at = row + k * steps[2];
                    $body
                }
            }
        }
    }};
}

/// The largest element of each window of some rows of positions.
#[inline(always)]
pub fn max<T: Number>(pool: &Pool, x: &[T], first: usize, y: &mut [T]) {
    pool.rows(x, first, y.len(), &mut Largest { x, y });
}

/// The element of `t` at the place of the largest element of each window of some rows of positions.
#[inline(always)]
pub fn take_first<T: Number>(pool: &Pool, x: &[T], t: &[T], first: usize, y: &mut [T]) {
    pool.rows(x, first, y.len(), &mut Taken { x, t, y });
}

/// Some rows of the cotangent of the tensor, of `row` elements each: the cotangent of each window at its largest element.
/// Windows that reach several parts are computed for each of them.
#[inline(always)]
pub fn add_to_first<T: PlusProduct, A: MultiplyAdd>(
    pool: &Pool,
    x: &[T],
    dy: &[T],
    first: usize,
    row: usize,
    dx: &mut [T],
) {
    let rows = dx.len() / row;
    let mut added = Added { x, dy, start: first * row, dx, zeroed: 0, by: PhantomData::<A> };
    pool.reaching(x, first, rows, &mut added);
    added.zero_to(rows * row);
}

/// A function of windows. Its method must be inlined into code that is compiled for a SIMD level, which closures are not.
trait Visit {
    /// Prepares for windows whose elements are before an offset of the tensor.
    #[inline(always)]
    fn reach(&mut self, _: usize) {}

    /// Computes a window for `N` channels, with its offset in the result.
    fn window<const N: usize>(&mut self, taps: Taps, at: usize);
}

struct Largest<'a, T> {
    x: &'a [T],
    y: &'a mut [T],
}

impl<T: Number> Visit for Largest<'_, T> {
    #[inline(always)]
    fn window<const N: usize>(&mut self, taps: Taps, at: usize) {
        let Self { x, y } = self;
        let largest =
            if taps.has_nan { largest::<T, N, true>(taps, x) } else { largest::<T, N, false>(taps, x) };
        y[at..][..N].copy_from_slice(&largest);
    }
}

struct Taken<'a, T> {
    x: &'a [T],
    t: &'a [T],
    y: &'a mut [T],
}

impl<T: Number> Visit for Taken<'_, T> {
    #[inline(always)]
    fn window<const N: usize>(&mut self, taps: Taps, at: usize) {
        let Self { x, t, y } = self;
        let taken =
            if taps.has_nan { taken::<T, N, true>(taps, x, t) } else { taken::<T, N, false>(taps, x, t) };
        y[at..][..N].copy_from_slice(&taken);
    }
}

/// Adds cotangents to `dx`, which begins at an offset of the tensor. It is zeroed just before windows reach it, so that it
/// is still in the cache when they do.
struct Added<'a, T, A> {
    x: &'a [T],
    dy: &'a [T],
    start: usize,
    dx: &'a mut [T],
    zeroed: usize,
    by: PhantomData<A>,
}

impl<T: PlusProduct, A: MultiplyAdd> Visit for Added<'_, T, A> {
    #[inline(always)]
    fn reach(&mut self, end: usize) {
        self.zero_to(end.saturating_sub(self.start).min(self.dx.len()));
    }

    #[inline(always)]
    fn window<const N: usize>(&mut self, taps: Taps, at: usize) {
        // As for sums, code for many channels is compiled only where it gains, because it takes long to compile.
        if const { N == LANES && most_lanes::<T, A>() > 8 } && !taps.has_nan && self.has(taps) {
            match taps.counts {
                [1, 2, 2] => return self.add_to_window::<2, 2>(taps, at),
                [1, 3, 3] => return self.add_to_window::<3, 3>(taps, at),
                _ => {}
            }
        }
        if taps.has_nan { self.add::<N, true>(taps, at) } else { self.add::<N, false>(taps, at) }
    }
}

impl<T: PlusProduct, A> Added<'_, T, A> {
    #[inline(always)]
    fn zero_to(&mut self, end: usize) {
        if end > self.zeroed {
            self.dx[self.zeroed..end].fill(T::ZERO);
            self.zeroed = end;
        }
    }

    /// Whether [`LANES`] channels of all elements of a window are in both tensors.
    #[inline(always)]
    fn has(&self, taps: Taps) -> bool {
        let [_, rows, columns] = taps.counts.map(|count| count.saturating_sub(1));
        let span = rows * taps.steps[1] + columns * taps.steps[2] + LANES;
        taps.first >= self.start
            && taps.first - self.start + span <= self.dx.len()
            && taps.first + span <= self.x.len()
    }

    /// [`add`](Self::add) for a window of `R` rows and `C` columns, without NaN, that the tensors [have](Self::has).
    #[inline(always)]
    fn add_to_window<const R: usize, const C: usize>(&mut self, taps: Taps, at: usize) {
        const N: usize = LANES_OF_WINDOW;
        let [_, down, across] = taps.steps;
        for (part, dy) in self.dy[at..][..LANES].as_chunks::<N>().0.iter().enumerate() {
            let first = taps.first + part * N;
            let (x, to) =
                (self.x.as_ptr().wrapping_add(first), self.dx.as_mut_ptr().wrapping_add(first - self.start));
            let mut elements = [[[T::ZERO; N]; C]; R];
            for (r, elements) in elements.iter_mut().enumerate() {
                for (c, element) in elements.iter_mut().enumerate() {
                    // SAFETY: the tensors have the elements of the window, as the caller checked.
                    *element = unsafe { load(x.wrapping_add(r * down + c * across)) };
                }
            }
            let mut largest = elements[0][0];
            for element in elements.as_flattened() {
                for lane in 0..N {
                    let is_better = element[lane] > largest[lane];
                    largest[lane] = if is_better { element[lane] } else { largest[lane] };
                }
            }
            let mut left = *dy;
            for (r, elements) in elements.iter().enumerate() {
                for (c, element) in elements.iter().enumerate() {
                    let to = to.wrapping_add(r * down + c * across);
                    // SAFETY: as above.
                    let mut sums: [T; N] = unsafe { load(to) };
                    for lane in 0..N {
                        let is_largest = element[lane] == largest[lane];
                        // Storing only the lanes that change would delay the next window, which loads them all.
                        sums[lane] = sums[lane].plus(if is_largest { left[lane] } else { T::ZERO });
                        left[lane] = if is_largest { T::ZERO } else { left[lane] };
                    }
                    // SAFETY: as above.
                    unsafe { to.cast::<[T; N]>().write_unaligned(sums) };
                }
            }
        }
    }

    #[inline(always)]
    fn add<const N: usize, const NAN: bool>(&mut self, taps: Taps, at: usize) {
        let Self { x, start, .. } = *self;
        let (largest, mut left) = (largest::<T, N, NAN>(taps, x), block::<T, N>(self.dy, at));
        each!(taps, |at| {
            let (element, mut given) = (block::<T, N>(x, at), [T::ZERO; N]);
            for lane in 0..N {
                let is_largest = is_largest::<T, NAN>(element[lane], largest[lane]);
                given[lane] = if is_largest { left[lane] } else { T::ZERO };
                left[lane] = if is_largest { T::ZERO } else { left[lane] };
            }
            // Rows before `dx` have offsets beyond its end.
            if let Some(to) = self.dx.get_mut(at.wrapping_sub(start)..).and_then(|to| to.get_mut(..N)) {
                for lane in 0..N {
                    // The sums begin at 0.0, so adding 0.0 changes none.
                    to[lane] = to[lane].plus(given[lane]);
                }
            }
        });
    }
}

/// The elements of a window: the offset of the first, and for each axis the number of elements and their distance.
#[derive(Clone, Copy)]
struct Taps {
    first: usize,
    counts: [usize; 3],
    steps: [usize; 3],
    /// Whether the rows may have a NaN.
    has_nan: bool,
}

impl Taps {
    #[inline(always)]
    fn is_empty(&self) -> bool {
        self.counts.contains(&0)
    }
}

impl Pool {
    /// Calls `visit` with the windows of some rows of positions, of `len` elements in all. Their offsets are counted from the
    /// first row.
    #[inline(always)]
    fn rows<T: Number>(&self, x: &[T], first: usize, len: usize, visit: &mut impl Visit) {
        let [a, b, c] = self.axes.map(|axis| axis.positions);
        let row = c * self.channels;
        for at in 0..len / row {
            let place = [(first + at) / (a * b), (first + at) / b % a, (first + at) % b];
            self.row(x, place, at * row, visit);
        }
    }

    /// Calls `visit` with the windows that have elements in `rows` rows of the tensor, from the row `first` on.
    #[inline(always)]
    fn reaching<T: Number>(&self, x: &[T], first: usize, rows: usize, visit: &mut impl Visit) {
        let [a, b, c] = self.axes;
        let last = first + rows - 1;
        let place = |row: usize| [row / (a.extent * b.extent), row / b.extent % a.extent, row % b.extent];
        let (start, end) = (place(first), place(last));
        let row = c.positions * self.channels;
        for outer in start[0]..=end[0] {
            let (is_first, is_last) = (outer == start[0], outer == end[0]);
            let from = |axis: usize| if is_first { start[axis] } else { 0 };
            let to = |axis: usize, extent: usize| if is_last { end[axis] + 1 } else { extent };
            let planes = from(1)..to(1, a.extent);
            // Rows of several planes are not a range of each of them.
            let lines = if planes.len() == 1 { from(2)..to(2, b.extent) } else { 0..b.extent };
            for at_a in a.reaching(&planes) {
                for at_b in b.reaching(&lines) {
                    let from = ((outer * a.positions + at_a) * b.positions + at_b) * row;
                    self.row(x, [outer, at_a, at_b], from, visit);
                }
            }
        }
    }

    /// Calls `visit` with each window of a row of positions for some channels, with their offset, counted from `to`, and
    /// their number: [`LANES`], 8 or 1.
    #[inline(always)]
    fn row<T: Number>(&self, x: &[T], [outer, at_a, at_b]: [usize; 3], to: usize, visit: &mut impl Visit) {
        let Self { axes: [a, b, c], channels, .. } = *self;
        let steps = [b.extent * c.extent * channels, c.extent * channels, channels];
        let ((first_a, count_a), (first_b, count_b)) = (a.taps(at_a), b.taps(at_b));
        let first = (outer * a.extent + first_a) * steps[0] + first_b * steps[1];
        // At most one element of a window is inside if these are an extent apart.
        let apart = |axis: PoolAxis| axis.dilation.min(axis.extent);
        let rows = Taps {
            first,
            counts: [count_a, count_b, 1],
            steps: [steps[0] * apart(a), steps[1] * apart(b), steps[2] * apart(c)],
            has_nan: false,
        };
        let mut has_nan = false;
        each!(rows, |row| {
            has_nan |= may_have_nan(&x[row..][..steps[1]]);
        });
        if count_a * count_b > 0 {
            visit.reach(first + (count_a - 1) * rows.steps[0] + (count_b - 1) * rows.steps[1] + steps[1]);
        }
        for at_c in 0..c.positions {
            let (first_c, count_c) = c.taps(at_c);
            let counts = [count_a, count_b, count_c];
            let taps = Taps { first: first + first_c * steps[2], counts, has_nan, ..rows };
            let mut channel = 0;
            for lanes in [LANES, 8, 1] {
                while channel + lanes <= channels {
                    let taps = Taps { first: taps.first + channel, ..taps };
                    let at = to + at_c * channels + channel;
                    match lanes {
                        LANES => visit.window::<LANES>(taps, at),
                        8 => visit.window::<8>(taps, at),
                        _ => visit.window::<1>(taps, at),
                    }
                    channel += lanes;
                }
            }
        }
    }
}

/// Whether the sum of elements is NaN. It is if one of them is, and also for infinities of both signs.
#[inline(always)]
fn may_have_nan<T: Number>(elements: &[T]) -> bool {
    const N: usize = 32;
    let (pairs, rest) = elements.as_chunks::<{ 2 * N }>();
    let mut sums = [[T::ZERO; N]; 2];
    for pair in pairs {
        for (half, sums) in sums.iter_mut().enumerate() {
            let new = block::<T, N>(pair, half * N);
            for lane in 0..N {
                sums[lane] = sums[lane].plus(new[lane]);
            }
        }
    }
    let found = sums.as_flattened().iter().fold(false, |found, sum| found | is_nan(*sum));
    rest.iter().fold(found, |found, x| found | is_nan(*x))
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

/// The largest element of a window for each channel, or a NaN. `NAN` says whether there may be one.
#[inline(always)]
fn largest<T: Number, const N: usize, const NAN: bool>(taps: Taps, x: &[T]) -> [T; N] {
    if taps.is_empty() {
        return [T::LEAST; N];
    }
    let mut largest = block(x, taps.first);
    each!(taps, |at| {
        let new = block::<T, N>(x, at);
        for lane in 0..N {
            // A later NaN may take the place of the first: both are NaN.
            let is_better = (new[lane] > largest[lane]) | (NAN && is_nan(new[lane]));
            largest[lane] = if is_better { new[lane] } else { largest[lane] };
        }
    });
    largest
}

/// Whether an element is equal to the largest, which is NaN if one is.
#[inline(always)]
fn is_largest<T: Number, const NAN: bool>(element: T, largest: T) -> bool {
    (element == largest) | (NAN && is_nan(element))
}

#[inline(always)]
fn taken<T: Number, const N: usize, const NAN: bool>(taps: Taps, x: &[T], t: &[T]) -> [T; N] {
    let (largest, mut taken) = (largest::<T, N, NAN>(taps, x), [T::ZERO; N]);
    // The first of equal elements is the last one in this order.
    each!(taps, from last |at| {
        let (element, new) = (block::<T, N>(x, at), block::<T, N>(t, at));
        for lane in 0..N {
            let is_largest = is_largest::<T, NAN>(element[lane], largest[lane]);
            taken[lane] = if is_largest { new[lane] } else { taken[lane] };
        }
    });
    taken
}
