//! Elementwise loops over shapes that are values.
//!
//! Nothing here is instantiated for a shape. An expansion gives a [`Row`], the chain of operations along slices of one
//! length; everything about broadcasting is done outside of it, once a row or tile, through a dynamic call.

use mind_shape::Type;

use super::{Value, count, extent, number::Number};
use crate::{
    kernels::{
        internal_error,
        limit::limit,
        math::{MultiplyAdd, Separate},
    },
    shape::MAX_RANK,
    simd::{Kernel, dispatch},
};

/// A chain of elementwise operations, `N` inputs to `M` outputs.
pub trait Row<T, const N: usize, const M: usize>: Copy {
    /// Computes `len` elements of each output from as many of each input, products and sums of `exp` and `ln` by `A`. To
    /// be `#[inline(always)]`.
    fn row<A: MultiplyAdd>(self, len: usize, inputs: [&[T]; N], outputs: [&mut [T]; M]);
}

/// Elements that an input which repeats is expanded to at a time.
const TILE: usize = limit(256, 16);
/// The same where there are no more in all.
const SMALL: usize = limit(32, 4);
/// From this length on, rows are gone over one by one, and an input that does not repeat along them is read in place.
const LONG: usize = limit(64, 8);

/// Computes outputs of the type `ty` from inputs that broadcast to it.
pub fn fused<T: Number, R: Row<T, N, M>, const N: usize, const M: usize>(
    row: R,
    ty: &Type,
    inputs: [Value<'_, T>; N],
    outputs: [&mut [T]; M],
) {
    // All that is instantiated for the row is one loop a SIMD level.
    walk(ty, inputs, outputs, &mut |len, inputs, outputs| dispatch(Run { row, len, inputs, outputs }));
}

struct Run<'a, T, R, const N: usize, const M: usize> {
    row: R,
    len: usize,
    inputs: [&'a [T]; N],
    outputs: [&'a mut [T]; M],
}

impl<T: Number, R: Row<T, N, M>, const N: usize, const M: usize> Kernel for Run<'_, T, R, N, M> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.run_by::<Separate>();
    }

    #[inline(always)]
    fn run_by<A: MultiplyAdd>(self) {
        self.row.row::<A>(self.len, self.inputs, self.outputs);
    }
}

type Each<'f, T, const N: usize, const M: usize> = &'f mut dyn FnMut(usize, [&[T]; N], [&mut [T]; M]);

/// Axes that no input tells apart, as one.
#[derive(Clone, Copy)]
struct Axis<const N: usize> {
    extent: usize,
    /// 0 where the input repeats.
    strides: [usize; N],
}

/// Calls `each` with the rows of a shape, or with tiles of it.
#[inline(never)]
fn walk<T: Number, const N: usize, const M: usize>(
    ty: &Type,
    inputs: [Value<'_, T>; N],
    outputs: [&mut [T]; M],
    each: Each<'_, T, N, M>,
) {
    let len = count(ty);
    let outputs = outputs.map(|output| &mut output[..len]);
    // What has as many elements has the same shape, but for axes of extent 1.
    if inputs.iter().all(|input| input.elements.len() == len) {
        return each(len, inputs.map(|input| input.elements), outputs);
    }
    let (axes, rank) = collapse(ty, &inputs);
    let inputs = inputs.map(|input| input.elements);
    match &axes[..rank] {
        [outer @ .., inner] if inner.extent >= LONG => rows(outer, inner, inputs, outputs, each),
        // Clearing what is not used would cost more than all the rest.
        axes if len <= SMALL => tiles(axes, inputs, outputs, &mut [[T::ZERO; SMALL]; N], each),
        axes => tiles(axes, inputs, outputs, &mut [[T::ZERO; TILE]; N], each),
    }
}

/// The axes of a shape without those of extent 1, neighbours merged wherever every input goes over them as over one.
fn collapse<T, const N: usize>(ty: &Type, inputs: &[Value<'_, T>; N]) -> ([Axis<N>; MAX_RANK], usize) {
    let (mut axes, mut rank) = ([Axis { extent: 1, strides: [0; N] }; MAX_RANK], 0);
    for axis in 0..ty.rank() {
        let next = Axis {
            extent: extent(ty, axis),
            strides: std::array::from_fn(|n| stride(ty, axis, inputs[n].ty)),
        };
        if next.extent == 1 {
            continue;
        }
        if let Some(last) = axes[..rank].last_mut() {
            let as_one = |n: usize| last.strides[n] == next.strides[n] * next.extent;
            if (0..N).all(as_one) {
                *last = Axis { extent: last.extent * next.extent, strides: next.strides };
                continue;
            }
        }
        axes[rank] = next;
        rank += 1;
    }
    (axes, rank)
}

/// How far apart in an input the neighbours along an axis of the shape that it broadcasts to are.
fn stride(ty: &Type, axis: usize, input: &Type) -> usize {
    let Some(own) = (axis + input.rank()).checked_sub(ty.rank()) else { return 0 };
    if extent(input, own) == 1 {
        return 0;
    }
    (own + 1..input.rank()).map(|axis| extent(input, axis)).product()
}

/// Counts through outer axes, keeping the position in each input.
struct Odometer<'a, const N: usize> {
    axes: &'a [Axis<N>],
    index: [usize; MAX_RANK],
    at: [usize; N],
}

impl<'a, const N: usize> Odometer<'a, N> {
    fn new(axes: &'a [Axis<N>]) -> Self {
        Self { axes, index: [0; MAX_RANK], at: [0; N] }
    }

    fn advance(&mut self) {
        for (axis, index) in self.axes.iter().zip(&mut self.index).rev() {
            *index += 1;
            for (at, stride) in self.at.iter_mut().zip(axis.strides) {
                *at += stride;
            }
            if *index < axis.extent {
                return;
            }
            *index = 0;
            for (at, stride) in self.at.iter_mut().zip(axis.strides) {
                *at -= stride * axis.extent;
            }
        }
    }
}

/// Row by row; inputs that repeat along rows come as tiles of one element.
fn rows<T: Number, const N: usize, const M: usize>(
    outer: &[Axis<N>],
    inner: &Axis<N>,
    inputs: [&[T]; N],
    outputs: [&mut [T]; M],
    each: Each<'_, T, N, M>,
) {
    if inner.strides.contains(&0) {
        let mut tiles = [[T::ZERO; TILE]; N];
        pieces(TILE, outer, inner, inputs, outputs, &mut tiles, each);
    } else {
        pieces(inner.extent, outer, inner, inputs, outputs, &mut [[T::ZERO; 0]; N], each);
    }
}

/// Pieces of rows, at most so long; what repeats is held in `tiles`.
fn pieces<T: Number, const N: usize, const M: usize, const TILE: usize>(
    longest: usize,
    outer: &[Axis<N>],
    inner: &Axis<N>,
    inputs: [&[T]; N],
    mut outputs: [&mut [T]; M],
    tiles: &mut [[T; TILE]; N],
    each: Each<'_, T, N, M>,
) {
    let mut odometer = Odometer::new(outer);
    let rows: usize = outer.iter().map(|axis| axis.extent).product();
    for row in 0..rows {
        for n in (0..N).filter(|n| inner.strides[*n] == 0) {
            T::fill(&mut tiles[n][..inner.extent.min(longest)], inputs[n][odometer.at[n]]);
        }
        for start in (0..inner.extent).step_by(longest) {
            let len = longest.min(inner.extent - start);
            let inputs = std::array::from_fn(|n| match inner.strides[n] {
                0 => &tiles[n][..len],
                _ => &inputs[n][odometer.at[n] + start..][..len],
            });
            let outputs = outputs.each_mut().map(|output| &mut output[row * inner.extent + start..][..len]);
            each(len, inputs, outputs);
        }
        odometer.advance();
    }
}

/// Tile by tile, over short rows; inputs that repeat anywhere are expanded.
fn tiles<T: Number, const N: usize, const M: usize, const TILE: usize>(
    axes: &[Axis<N>],
    inputs: [&[T]; N],
    mut outputs: [&mut [T]; M],
    tiles: &mut [[T; TILE]; N],
    each: Each<'_, T, N, M>,
) {
    let (outer, inner) = match axes {
        [outer @ .., inner] => (outer, *inner),
        [] => internal_error("a single element does not broadcast"),
    };
    let total = axes.iter().map(|axis| axis.extent).product();
    let mut odometer = Odometer::new(outer);
    // How much of the current row has been expanded.
    let mut done = 0;
    for start in (0..total).step_by(TILE) {
        let len = TILE.min(total - start);
        let mut filled = 0;
        while filled < len {
            let run = (inner.extent - done).min(len - filled);
            for n in (0..N).filter(|n| inputs[*n].len() != total) {
                let (tile, at) = (&mut tiles[n][filled..][..run], odometer.at[n]);
                match inner.strides[n] {
                    0 => T::fill(tile, inputs[n][at]),
                    _ => tile.copy_from_slice(&inputs[n][at + done..][..run]),
                }
            }
            (filled, done) = (filled + run, done + run);
            if done == inner.extent {
                done = 0;
                odometer.advance();
            }
        }
        let inputs = std::array::from_fn(|n| {
            if inputs[n].len() == total { &inputs[n][start..][..len] } else { &tiles[n][..len] }
        });
        let outputs = outputs.each_mut().map(|output| &mut output[start..][..len]);
        each(len, inputs, outputs);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mind_shape::DType;

    /// `out = a + 10 b`, and `a` itself.
    #[derive(Clone, Copy)]
    struct Both;

    impl<T: Number> Row<T, 2, 2> for Both {
        #[inline(always)]
        fn row<A: MultiplyAdd>(self, len: usize, [a, b]: [&[T]; 2], [sum, copy]: [&mut [T]; 2]) {
            for j in 0..len {
                sum[j] = a[j].plus(T::count(10).times(b[j]));
                copy[j] = a[j];
            }
        }
    }

    fn ty(dims: &[usize]) -> Type {
        let dims: Vec<i64> = dims.iter().map(|dim| *dim as i64).collect();
        Type::new(DType::I64, &dims)
    }

    /// The element of a value at an index of the shape it broadcasts to.
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
        // Slots may be larger than what they hold.
        let (mut sum, mut copy) = (vec![-1; len + 3], vec![-1; len]);
        let inputs = [Value::new(&values[0], &types[0]), Value::new(&values[1], &types[1])];
        fused(Both, &ty(out), inputs, [&mut sum, &mut copy]);
        let mut index = vec![0; out.len()];
        for position in 0..len {
            let [a, b] = [0, 1].map(|n| broadcast(dims[n], &values[n], &index));
            assert_eq!((sum[position], copy[position]), (a + 10 * b, a), "{dims:?} at {index:?}");
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
        // Extents on both sides of a row's and of a tile's length.
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
    fn single_numbers_and_rank_0() {
        check([&[], &[]], &[]);
        check([&[], &[1, 1]], &[1, 1]);
        check([&[700], &[]], &[700]);
        check([&[], &[2, 65]], &[2, 65]);
    }
}
