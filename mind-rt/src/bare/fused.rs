//! Elementwise loops, for shapes that are values, not types.
//!
//! Nothing here is instantiated per shape. An expansion provides a [`Row`], a chain of operations along slices of one
//! length. Broadcasting is done outside of the row, with a dynamic call per row or tile. Threads take parts of the
//! elements, which may begin anywhere in a row.

use mind_shape::Type;

use super::{Argument, count, extent, number::Datum};
use crate::{
    kernels::{limit::limit, math::MultiplyAdd},
    parallel::{self, Split},
    shape::MAX_RANK,
    simd::{Kernel, dispatch},
};

/// A chain of elementwise operations, from `N` inputs to `M` outputs of one element type, and from `K` inputs to `L`
/// outputs of type `bool`.
pub trait Row<T, const N: usize, const M: usize, const K: usize, const L: usize>: Copy + Sync {
    /// The cost of an element, in additions.
    const COST: usize;

    /// Computes `len` elements of each output from `len` elements of each input. `A` computes the products and sums
    /// inside `exp` and `ln`. Implementations must be `#[inline(always)]`.
    fn row<A: MultiplyAdd>(
        self,
        len: usize,
        inputs: [&[T]; N],
        outputs: [&mut [T]; M],
        truths: [&[bool]; K],
        masks: [&mut [bool]; L],
    );
}

/// The number of elements to which a repeated input is expanded at a time.
const TILE: usize = limit(256, 16);
/// The same for shapes of at most that many elements.
const SMALL: usize = limit(32, 4);
/// The length from which rows are processed one by one. Inputs that do not repeat along them are then read in place.
const LONG: usize = limit(64, 8);

/// Computes outputs of the shape of `ty` from inputs that broadcast to it.
pub fn fused<
    T: Datum,
    R: Row<T, N, M, K, L>,
    const N: usize,
    const M: usize,
    const K: usize,
    const L: usize,
>(
    row: R,
    ty: &Type,
    inputs: [Argument<'_, T>; N],
    outputs: [&mut [T]; M],
    truths: [Argument<'_, bool>; K],
    masks: [&mut [bool]; L],
) {
    // Only one loop per SIMD level is instantiated for the row.
    walk(ty, (inputs, truths), (outputs, masks), R::COST, &|len, (inputs, truths), (outputs, masks)| {
        dispatch(RowKernel { row, len, inputs, outputs, truths, masks });
    });
}

struct RowKernel<'a, T, R, const N: usize, const M: usize, const K: usize, const L: usize> {
    row: R,
    len: usize,
    inputs: [&'a [T]; N],
    outputs: [&'a mut [T]; M],
    truths: [&'a [bool]; K],
    masks: [&'a mut [bool]; L],
}

impl<T: Datum, R: Row<T, N, M, K, L>, const N: usize, const M: usize, const K: usize, const L: usize> Kernel
    for RowKernel<'_, T, R, N, M, K, L>
{
    type Output = ();

    #[inline(always)]
    fn run_by<A: MultiplyAdd>(self) {
        self.row.row::<A>(self.len, self.inputs, self.outputs, self.truths, self.masks);
    }
}

/// The operands of a row: inputs, and boolean inputs.
type RowOperands<'a, T, const N: usize, const K: usize> = ([&'a [T]; N], [&'a [bool]; K]);
/// The results of a row: outputs, and boolean outputs.
type Written<'a, T, const M: usize, const L: usize> = ([&'a mut [T]; M], [&'a mut [bool]; L]);
type Each<'f, T, const N: usize, const M: usize, const K: usize, const L: usize> =
    &'f (dyn Fn(usize, RowOperands<'_, T, N, K>, Written<'_, T, M, L>) + Sync);

/// Neighbouring axes that no input distinguishes, merged into one.
#[derive(Clone, Copy)]
struct MergedAxis<const N: usize, const K: usize> {
    extent: usize,
    /// The stride in each input; 0 where the input repeats.
    strides: ([usize; N], [usize; K]),
}

impl<const N: usize, const K: usize> MergedAxis<N, K> {
    const NONE: Self = Self { extent: 1, strides: ([0; N], [0; K]) };
}

/// Calls `each` with the rows of a shape, or with its tiles.
#[inline(never)]
fn walk<T: Datum, const N: usize, const M: usize, const K: usize, const L: usize>(
    ty: &Type,
    inputs: ([Argument<'_, T>; N], [Argument<'_, bool>; K]),
    outputs: Written<'_, T, M, L>,
    cost: usize,
    each: Each<'_, T, N, M, K, L>,
) {
    let len = count(ty);
    let outputs = (outputs.0.map(|output| &mut output[..len]), outputs.1.map(|output| &mut output[..len]));
    let elements = (inputs.0.map(|input| input.elements), inputs.1.map(|input| input.elements));
    // An input with as many elements has the same shape, except for axes of extent 1.
    let have_equal_lengths = elements.0.iter().all(|input| input.len() == len)
        && elements.1.iter().all(|input| input.len() == len);
    let (axes, rank) =
        if have_equal_lengths { ([MergedAxis::NONE; MAX_RANK], 0) } else { collapse(ty, &inputs) };
    let part = ElementRun { axes: &axes[..rank], total: len, start: 0, len, inputs: elements, outputs, each };
    parallel::run(part, len, 1, cost);
}

/// The elements of a shape from `start` on.
struct ElementRun<'a, 'e, T, const N: usize, const M: usize, const K: usize, const L: usize> {
    /// The axes of the shape; none if no input repeats.
    axes: &'a [MergedAxis<N, K>],
    /// The number of elements of the shape.
    total: usize,
    start: usize,
    len: usize,
    inputs: RowOperands<'a, T, N, K>,
    /// The outputs of this part.
    outputs: Written<'a, T, M, L>,
    each: Each<'e, T, N, M, K, L>,
}

impl<T: Datum, const N: usize, const M: usize, const K: usize, const L: usize> Kernel
    for ElementRun<'_, '_, T, N, M, K, L>
{
    type Output = ();

    #[inline(always)]
    fn run(self) {
        // The loops over elements are dispatched separately.
        self.walk();
    }
}

impl<T: Datum, const N: usize, const M: usize, const K: usize, const L: usize> Split
    for ElementRun<'_, '_, T, N, M, K, L>
{
    fn split(self, at: usize) -> (Self, Self) {
        let (first, later) = (halves(self.outputs.0, at), halves(self.outputs.1, at));
        let (start, len) = (self.start + at, self.len - at);
        (
            Self { len: at, outputs: (first.0, later.0), ..self },
            Self { start, len, outputs: (first.1, later.1), ..self },
        )
    }
}

/// Both parts of each output.
pub(super) fn halves<T, const M: usize>(
    mut outputs: [&mut [T]; M],
    at: usize,
) -> ([&mut [T]; M], [&mut [T]; M]) {
    let first = outputs.each_mut().map(|output| first_of(output, at));
    (first, outputs)
}

/// Splits off the first `len` elements.
pub(super) fn first_of<'a, T>(elements: &mut &'a mut [T], len: usize) -> &'a mut [T] {
    elements.split_off_mut(..len).expect("a part ends within what it is cut from")
}

impl<T: Datum, const N: usize, const M: usize, const K: usize, const L: usize>
    ElementRun<'_, '_, T, N, M, K, L>
{
    #[inline(never)]
    fn walk(self) {
        match self.axes {
            [] => {
                let Self { start, len, inputs, outputs, .. } = self;
                let read = (
                    inputs.0.map(|input| &input[start..][..len]),
                    inputs.1.map(|input| &input[start..][..len]),
                );
                (self.each)(len, read, outputs);
            }
            [outer @ .., inner] if inner.extent >= LONG => self.rows(outer, inner),
            // Clearing memory that is not used would take longer than the loop itself.
            [outer @ .., inner] if self.total <= SMALL => self.tiles::<SMALL>(outer, inner),
            [outer @ .., inner] => self.tiles::<TILE>(outer, inner),
        }
    }

    /// Processes the elements row by row. Inputs that repeat along rows are read from tiles filled with one element.
    fn rows(self, outer: &[MergedAxis<N, K>], inner: &MergedAxis<N, K>) {
        if inner.strides.0.contains(&0) || inner.strides.1.contains(&0) {
            self.pieces::<TILE>(outer, inner, TILE);
        } else {
            self.pieces::<0>(outer, inner, inner.extent);
        }
    }

    /// Processes pieces of rows of at most `longest` elements. Inputs that repeat are read from tiles.
    fn pieces<const TILE: usize>(
        mut self,
        outer: &[MergedAxis<N, K>],
        inner: &MergedAxis<N, K>,
        longest: usize,
    ) {
        let mut tiles = ([[T::default(); TILE]; N], [[false; TILE]; K]);
        let mut odometer = Odometer::new(outer, self.start / inner.extent);
        // The number of elements of the current row that precede the part, or have been processed.
        let (mut done, mut to) = (self.start % inner.extent, 0);
        while to < self.len {
            let (at, inputs) = (odometer.at, self.inputs);
            let end = inner.extent.min(done + self.len - to);
            repeat(&mut tiles.0, inputs.0, at.0, inner.strides.0, longest.min(end - done));
            repeat(&mut tiles.1, inputs.1, at.1, inner.strides.1, longest.min(end - done));
            while done < end {
                let len = longest.min(end - done);
                let read = (
                    piece(&tiles.0, inputs.0, at.0, inner.strides.0, done, len),
                    piece(&tiles.1, inputs.1, at.1, inner.strides.1, done, len),
                );
                let written = (part(&mut self.outputs.0, to, len), part(&mut self.outputs.1, to, len));
                (self.each)(len, read, written);
                (done, to) = (done + len, to + len);
            }
            done = 0;
            odometer.advance();
        }
    }

    /// Processes the elements tile by tile, over short rows. Inputs that repeat along any axis are expanded.
    fn tiles<const TILE: usize>(mut self, outer: &[MergedAxis<N, K>], inner: &MergedAxis<N, K>) {
        let (inputs, total) = (self.inputs, self.total);
        let mut tiles = ([[T::default(); TILE]; N], [[false; TILE]; K]);
        let mut odometer = Odometer::new(outer, self.start / inner.extent);
        // The number of elements of the current row that precede the part, or have been expanded.
        let mut done = self.start % inner.extent;
        for to in (0..self.len).step_by(TILE) {
            let (start, len) = (self.start + to, TILE.min(self.len - to));
            let mut filled = 0;
            while filled < len {
                let run = (inner.extent - done).min(len - filled);
                let (at, to) = (odometer.at, filled..filled + run);
                expand(&mut tiles.0, inputs.0, (at.0, inner.strides.0, done), to.clone(), total);
                expand(&mut tiles.1, inputs.1, (at.1, inner.strides.1, done), to, total);
                (filled, done) = (filled + run, done + run);
                if done == inner.extent {
                    done = 0;
                    odometer.advance();
                }
            }
            let read =
                (tile(&tiles.0, inputs.0, start, len, total), tile(&tiles.1, inputs.1, start, len, total));
            let written = (part(&mut self.outputs.0, to, len), part(&mut self.outputs.1, to, len));
            (self.each)(len, read, written);
        }
    }
}

/// The axes of a shape, without those of extent 1. Neighbours are merged where every input steps over them as over one
/// axis.
fn collapse<T, const N: usize, const K: usize>(
    ty: &Type,
    inputs: &([Argument<'_, T>; N], [Argument<'_, bool>; K]),
) -> ([MergedAxis<N, K>; MAX_RANK], usize) {
    let (mut axes, mut rank) = ([MergedAxis::NONE; MAX_RANK], 0);
    for axis in 0..ty.rank() {
        let strides = (
            std::array::from_fn(|n| stride(ty, axis, inputs.0[n].ty)),
            std::array::from_fn(|k| stride(ty, axis, inputs.1[k].ty)),
        );
        let next = MergedAxis { extent: extent(ty, axis), strides };
        if next.extent == 1 {
            continue;
        }
        if let Some(last) = axes[..rank].last_mut() {
            let as_one = |(last, own): (&usize, &usize)| *last == own * next.extent;
            if last.strides.0.iter().zip(&next.strides.0).all(as_one)
                && last.strides.1.iter().zip(&next.strides.1).all(as_one)
            {
                *last = MergedAxis { extent: last.extent * next.extent, strides: next.strides };
                continue;
            }
        }
        axes[rank] = next;
        rank += 1;
    }
    (axes, rank)
}

/// The stride in `input` along an axis of `ty`, the type to which it broadcasts; 0 where the input repeats.
fn stride(ty: &Type, axis: usize, input: &Type) -> usize {
    let Some(own) = (axis + input.rank()).checked_sub(ty.rank()) else { return 0 };
    if extent(input, own) == 1 {
        return 0;
    }
    (own + 1..input.rank()).map(|axis| extent(input, axis)).product()
}

/// Counts through the outer axes and keeps the position in each input.
struct Odometer<'a, const N: usize, const K: usize> {
    axes: &'a [MergedAxis<N, K>],
    index: [usize; MAX_RANK],
    at: ([usize; N], [usize; K]),
}

impl<'a, const N: usize, const K: usize> Odometer<'a, N, K> {
    /// Starts at this position in row-major order.
    fn new(axes: &'a [MergedAxis<N, K>], mut position: usize) -> Self {
        let (mut index, mut at) = ([0; MAX_RANK], ([0; N], [0; K]));
        for (axis, index) in axes.iter().zip(&mut index).rev() {
            (*index, position) = (position % axis.extent, position / axis.extent);
            forward(&mut at.0, axis.strides.0, *index);
            forward(&mut at.1, axis.strides.1, *index);
        }
        Self { axes, index, at }
    }

    fn advance(&mut self) {
        for (axis, index) in self.axes.iter().zip(&mut self.index).rev() {
            *index += 1;
            forward(&mut self.at.0, axis.strides.0, 1);
            forward(&mut self.at.1, axis.strides.1, 1);
            if *index < axis.extent {
                return;
            }
            *index = 0;
            back(&mut self.at.0, axis.strides.0, axis.extent);
            back(&mut self.at.1, axis.strides.1, axis.extent);
        }
    }
}

fn forward<const N: usize>(at: &mut [usize; N], strides: [usize; N], steps: usize) {
    at.iter_mut().zip(strides).for_each(|(at, stride)| *at += stride * steps);
}

fn back<const N: usize>(at: &mut [usize; N], strides: [usize; N], extent: usize) {
    at.iter_mut().zip(strides).for_each(|(at, stride)| *at -= stride * extent);
}

/// Fills the tile of each input that repeats along a row with its element in that row.
fn repeat<T: Datum, const N: usize, const TILE: usize>(
    tiles: &mut [[T; TILE]; N],
    inputs: [&[T]; N],
    at: [usize; N],
    strides: [usize; N],
    len: usize,
) {
    for n in (0..N).filter(|n| strides[*n] == 0) {
        T::fill(&mut tiles[n][..len], inputs[n][at[n]]);
    }
}

/// A piece of a row of each input.
fn piece<'a, T, const N: usize, const TILE: usize>(
    tiles: &'a [[T; TILE]; N],
    inputs: [&'a [T]; N],
    at: [usize; N],
    strides: [usize; N],
    start: usize,
    len: usize,
) -> [&'a [T]; N] {
    std::array::from_fn(|n| match strides[n] {
        0 => &tiles[n][..len],
        _ => &inputs[n][at[n] + start..][..len],
    })
}

/// Copies some elements of a row, from `done` on, of each input that repeats into its tile.
fn expand<T: Datum, const N: usize, const TILE: usize>(
    tiles: &mut [[T; TILE]; N],
    inputs: [&[T]; N],
    (at, strides, done): ([usize; N], [usize; N], usize),
    to: std::ops::Range<usize>,
    total: usize,
) {
    for n in (0..N).filter(|n| inputs[*n].len() != total) {
        let (tile, at) = (&mut tiles[n][to.clone()], at[n]);
        match strides[n] {
            0 => T::fill(tile, inputs[n][at]),
            _ => tile.copy_from_slice(&inputs[n][at + done..][..to.len()]),
        }
    }
}

/// The tile of each input that repeats; the elements themselves for other inputs.
fn tile<'a, T, const N: usize, const TILE: usize>(
    tiles: &'a [[T; TILE]; N],
    inputs: [&'a [T]; N],
    start: usize,
    len: usize,
    total: usize,
) -> [&'a [T]; N] {
    std::array::from_fn(
        |n| {
            if inputs[n].len() == total { &inputs[n][start..][..len] } else { &tiles[n][..len] }
        },
    )
}

/// A part of each output.
fn part<'a, T, const M: usize>(outputs: &'a mut [&mut [T]; M], start: usize, len: usize) -> [&'a mut [T]; M] {
    outputs.each_mut().map(|output| &mut output[start..][..len])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bare::Number;
    use crate::parallel::tests::Threads;
    use crate::sample::sample;
    use mind_shape::DType;

    /// Computes `a + 10 b`, a copy of `a`, and whether both are odd from their parities.
    #[derive(Clone, Copy)]
    struct Both;

    impl<T: Number> Row<T, 2, 2, 2, 1> for Both {
        const COST: usize = 2;

        #[inline(always)]
        fn row<A: MultiplyAdd>(
            self,
            len: usize,
            [a, b]: [&[T]; 2],
            [sum, copy]: [&mut [T]; 2],
            [is_odd, is_even]: [&[bool]; 2],
            [are_odd]: [&mut [bool]; 1],
        ) {
            for j in 0..len {
                sum[j] = a[j].plus(T::count(10).times(b[j]));
                copy[j] = a[j];
                are_odd[j] = is_odd[j] & !is_even[j];
            }
        }
    }

    fn ty(dims: &[usize]) -> Type {
        let dims: Vec<i64> = dims.iter().map(|dim| *dim as i64).collect();
        Type::new(DType::I64, &dims)
    }

    /// The element of a value at an index of the shape to which it broadcasts.
    fn broadcast(dims: &[usize], elements: &[i64], index: &[usize]) -> i64 {
        let own = &index[index.len() - dims.len()..];
        let position = dims
            .iter()
            .zip(own)
            .fold(0, |position, (extent, i)| position * extent + if *extent == 1 { 0 } else { *i });
        elements[position]
    }

    #[track_caller]
    fn check(dims: [&[usize]; 2], out: &[usize]) {
        let values =
            dims.map(|dims| (0..dims.iter().product::<usize>() as i64).map(|i| i * i).collect::<Vec<_>>());
        let types = dims.map(ty);
        let len = out.iter().product::<usize>();
        // Slots may be larger than their contents.
        let (mut sum, mut copy) = (vec![-1; len + 3], vec![-1; len]);
        let inputs = [Argument::new(&values[0], &types[0]), Argument::new(&values[1], &types[1])];
        let parity = [0, 1].map(|n| values[n].iter().map(|x| x % 2 == 1 - n as i64).collect::<Vec<_>>());
        let truths = [Argument::new(&parity[0], &types[0]), Argument::new(&parity[1], &types[1])];
        let mut odd = vec![false; len];
        fused(Both, &ty(out), inputs, [&mut sum, &mut copy], truths, [&mut odd]);
        let mut index = vec![0; out.len()];
        for position in 0..len {
            let [a, b] = [0, 1].map(|n| broadcast(dims[n], &values[n], &index));
            assert_eq!((sum[position], copy[position]), (a + 10 * b, a), "{dims:?} at {index:?}");
            assert_eq!(odd[position], a % 2 == 1 && b % 2 == 1, "{dims:?} at {index:?}");
            for (i, extent) in index.iter_mut().zip(out).rev() {
                *i += 1;
                if *i < *extent {
                    break;
                }
                *i = 0;
            }
        }
        assert_eq!(sum[len..], [-1; 3]);
    }

    #[test]
    fn every_pattern_of_broadcasting_gives_what_indexing_gives() {
        // Extents below and above the length of a row and of a tile.
        for inner in [1, 3, 64, 300] {
            let full = [2, 3, 2, inner];
            for pattern in 0..256_u32 {
                let side = |n: u32| -> Vec<usize> {
                    let kept = |axis: usize| pattern >> (n * 4 + axis as u32) & 1 == 1;
                    full.iter()
                        .enumerate()
                        .map(|(axis, extent)| if kept(axis) { *extent } else { 1 })
                        .collect()
                };
                let (a, b) = (side(0), side(1));
                let out: Vec<_> = a.iter().zip(&b).map(|(a, b)| *a.max(b)).collect();
                let leading = b.iter().take_while(|extent| **extent == 1).count();
                check([&a, &b], &out);
                check([&a, &b[leading..]], &out);
            }
        }
    }

    #[test]
    fn parts_for_threads_begin_anywhere() {
        for threads in [1, 3, 128] {
            let _held = Threads::set(threads);
            // Long and short rows, with every pattern of repeated axes.
            let sizes = [[3, 11, 2100], [3, 700, 33], [1, 1, 70_000], [70_000, 1, 1]];
            let cases = sizes.into_iter().flat_map(|full| (0..8_u32).map(move |pattern| (full, pattern)));
            for (full, pattern) in sample("sizes by patterns", cases) {
                let kept = |axis: usize| pattern >> axis & 1 == 1;
                let side: Vec<usize> = (0..3).map(|axis| if kept(axis) { full[axis] } else { 1 }).collect();
                check([&side, &full], &full);
            }
        }
    }

    #[test]
    fn single_numbers_and_rank_0() {
        check([&[], &[]], &[]);
        check([&[], &[1, 1]], &[1, 1]);
        check([&[700], &[]], &[700]);
        check([&[], &[2, 65]], &[2, 65]);
    }
}
