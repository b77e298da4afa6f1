//! Reductions over axes, for shapes that are values, not types.

use std::marker::PhantomData;

use mind_shape::{Type, element_types, loops::CHAIN};

use super::{
    Argument, axis_of, count, extent,
    number::{Datum, Number},
};
use crate::{
    kernels::{
        arg,
        limit::limit,
        math::to_bool,
        monoid::{Folded, Max, Min, Monoid, Product, Sum},
        reduce::{self, combine_chains, combine_row},
        rows::Folds,
    },
    parallel::{self, Split},
    shape::MAX_RANK,
    simd::{Kernel, dispatch},
};

/// Defines a reduction of a tensor for each monoid, and in `rows` a reduction of rows.
macro_rules! folds {
    ($($what:literal $name:ident $monoid:ident;)*) => {
        $(
            #[doc = concat!($what, " over `axes`, or over every axis.")]
            pub fn $name<T: Number>(x: Argument<'_, T>, axes: Option<&[i64]>, out: &mut [T]) {
                T::fold::<$monoid>(x, reduced(x.ty, axes), out);
            }
        )*

        /// Reductions of rows of `len` elements each.
        pub mod rows {
            use crate::{
                bare::number::Number,
                kernels::{monoid::{$($monoid),*}, rows::Folds},
            };

            $(
                #[doc = concat!($what, " of each row.")]
                #[inline(always)]
                pub fn $name<T: Number>(elements: &[T], len: usize, out: &mut [T]) {
                    $monoid::rows(elements, len, len, out);
                }
            )*

            /// The arithmetic mean of each row.
            #[inline(always)]
            pub fn mean<T: Number>(elements: &[T], len: usize, out: &mut [T]) {
                sum(elements, len, out);
                out.iter_mut().for_each(|sum| *sum = sum.over(T::count(len)));
            }
        }
    };
}

folds! {
    "The sum" sum Sum;
    "The largest" max Max;
    "The smallest" min Min;
    "The product" prod Product;
}

/// The arithmetic mean over `axes`, or over every axis.
pub fn mean<T: Number>(x: Argument<'_, T>, axes: Option<&[i64]>, out: &mut [T]) {
    let reduced = reduced(x.ty, axes);
    let out = T::fold::<Sum>(x, reduced, out);
    let axes = (0..x.ty.rank()).filter(|axis| reduced.axes[*axis]);
    let things = T::count(axes.map(|axis| x.extent(axis)).product());
    out.iter_mut().for_each(|sum| *sum = sum.over(things));
}

/// The sum over the axes that are added or stretched when `like` broadcasts to the type of `x`.
pub fn sum_like<T: Number>(x: Argument<'_, T>, like: &Type, out: &mut [T]) {
    let added = x.ty.rank() - like.rank();
    let stretched = |axis: usize| axis < added || (extent(like, axis - added) == 1 && x.extent(axis) != 1);
    let mut axes = [false; MAX_RANK];
    (0..x.ty.rank()).for_each(|axis| axes[axis] = stretched(axis));
    T::fold::<Sum>(x, Reduced { axes, whole: count(like) == 1 }, out);
}

/// The positions of the largest elements over `axes`, or of the largest of all, in row-major order over these axes.
pub fn argmax<T: Number>(x: Argument<'_, T>, axes: Option<&[i64]>, out: &mut [i64]) {
    let (dims, reduced) = (extents(x.ty), reduced(x.ty, axes));
    arg::argmax(&dims[..x.ty.rank()], &reduced.axes[..x.ty.rank()], x.elements, out);
}

/// The positions of the smallest elements over `axes`, or of the smallest of all, in row-major order over these axes.
pub fn argmin<T: Number>(x: Argument<'_, T>, axes: Option<&[i64]>, out: &mut [i64]) {
    let (dims, reduced) = (extents(x.ty), reduced(x.ty, axes));
    arg::argmin(&dims[..x.ty.rank()], &reduced.axes[..x.ty.rank()], x.elements, out);
}

fn extents(ty: &Type) -> [usize; MAX_RANK] {
    std::array::from_fn(|axis| if axis < ty.rank() { extent(ty, axis) } else { 1 })
}

/// Whether any element over `axes`, or any element at all, is true. Values other than 0 are true.
pub fn any<T: Datum>(x: Argument<'_, T>, axes: Option<&[i64]>, out: &mut [bool]) {
    truths(x, axes, out, false);
}

/// Whether all elements over `axes`, or all elements of the tensor, are true. Values other than 0 are true.
pub fn all<T: Datum>(x: Argument<'_, T>, axes: Option<&[i64]>, out: &mut [bool]) {
    truths(x, axes, out, true);
}

/// Whether all elements, or any, are true. Each element of `out` is one result.
fn truths<T: Datum>(x: Argument<'_, T>, axes: Option<&[i64]>, out: &mut [bool], all: bool) {
    let (rank, reduced) = (x.ty.rank(), reduced(x.ty, axes).axes);
    // The strides in `out`; 0 along reduced axes.
    let (mut strides, mut count) = ([0; MAX_RANK], 1);
    for axis in (0..rank).rev().filter(|axis| !reduced[*axis]) {
        strides[axis] = count;
        count *= x.extent(axis);
    }
    let out = &mut out[..count];
    out.fill(all);
    let inner = if rank == 0 { 1 } else { x.extent(rank - 1) };
    let (mut index, mut at) = ([0; MAX_RANK], 0);
    for row in x.elements.chunks_exact(inner) {
        if strides[rank.saturating_sub(1)] == 0 {
            let differs = row.iter().fold(false, |differs, x| differs | (to_bool(*x) != all));
            out[at] = (out[at] != all || differs) != all;
        } else {
            for (out, x) in out[at..][..inner].iter_mut().zip(row) {
                *out = if all { *out & to_bool(*x) } else { *out | to_bool(*x) };
            }
        }
        for axis in (0..rank.saturating_sub(1)).rev() {
            index[axis] += 1;
            at += strides[axis];
            if index[axis] < x.extent(axis) {
                break;
            }
            at -= strides[axis] * index[axis];
            index[axis] = 0;
        }
    }
}

/// The axes of a reduction.
#[derive(Clone, Copy)]
pub struct Reduced {
    axes: [bool; MAX_RANK],
    /// Whether the program reduces all elements to one, for any shape. Such a reduction never runs row by row in a
    /// group, so it may be split among threads.
    whole: bool,
}

fn reduced(ty: &Type, axes: Option<&[i64]>) -> Reduced {
    let mut reduced = Reduced { axes: [axes.is_none(); MAX_RANK], whole: axes.is_none() };
    for axis in axes.unwrap_or_default() {
        reduced.axes[axis_of(*axis, ty.rank())] = true;
    }
    reduced
}

/// Neighbouring axes that are both reduced or both kept, merged into one.
#[derive(Clone, Copy, Default)]
struct MergedAxis {
    extent: usize,
    reduced: bool,
    /// The stride of the axis.
    stride: usize,
}

/// A monoid on an element type. Sums are compiled with this crate, as `Compiled` is.
pub trait OverElements<T> {
    #[doc(hidden)]
    fn fold<'a>(x: Argument<'_, T>, reduced: Reduced, out: &'a mut [T]) -> &'a mut [T];
}

macro_rules! over {
    ($($monoid:ident $inline:meta),+) => {
        $(element_types!(numbers => over! @each $monoid $inline:);
        impl Over for $monoid {})+
    };
    (@each $monoid:ident $inline:meta: $($number:ident $variant:ident;)*) => {
        $(impl OverElements<$number> for $monoid {
            #[$inline]
            fn fold<'a>(x: Argument<'_, $number>, reduced: Reduced, out: &'a mut [$number]) -> &'a mut [$number] {
                fold::<Self, $number>(x, reduced, out)
            }
        })*
    };
    (@all $($number:ident $variant:ident;)*) => {
        /// A monoid on every numeric type.
        pub trait Over: $(OverElements<$number> +)* {}
    };
}

element_types!(numbers => over! @all);

// Most programs use none of the others. All of them together would take an eighth of a small program's build.
over!(Sum inline(never), Max inline, Min inline, Product inline);

fn fold<'a, M: Folds<T>, T: Number>(x: Argument<'_, T>, reduced: Reduced, out: &'a mut [T]) -> &'a mut [T] {
    let (mut axes, mut rank) = ([MergedAxis::default(); MAX_RANK], 0);
    for axis in 0..x.ty.rank() {
        let next = MergedAxis { extent: x.extent(axis), reduced: reduced.axes[axis], stride: 0 };
        match axes[..rank].last_mut() {
            _ if next.extent == 1 => {}
            Some(last) if last.reduced == next.reduced => last.extent *= next.extent,
            Some(_) | None => {
                axes[rank] = next;
                rank += 1;
            }
        }
    }
    let mut stride = 1;
    for axis in axes[..rank].iter_mut().rev() {
        axis.stride = stride;
        stride *= axis.extent;
    }
    let kept = axes[..rank].iter().filter(|axis| !axis.reduced).map(|axis| axis.extent);
    let out = &mut out[..kept.product()];
    match &axes[..rank] {
        [] => out.copy_from_slice(x.elements),
        [only] if only.reduced && reduced.whole => {
            out[0] = parallel::run(All::<M, T>(x.elements, PhantomData), only.extent, 1, 1).value;
        }
        [only] if only.reduced => out[0] = reduce::all::<M, T>(x.elements),
        [_] => out.copy_from_slice(x.elements),
        [outer, inner] if inner.reduced => {
            let rows =
                RowReduction { x: x.elements, len: inner.extent, out: &mut *out, by: PhantomData::<M> };
            parallel::run(rows, outer.extent, inner.extent, 1);
        }
        [outer @ .., inner] => {
            let rows =
                OuterReductions { x: x.elements, outer, inner: *inner, out: &mut *out, by: PhantomData::<M> };
            match outer {
                [axis] => parallel::run_columns(rows, inner.extent, axis.extent, 1),
                _ => rows.over_outer(),
            }
        }
    }
    out
}

/// Reduces all elements to one.
struct All<'a, M, T>(&'a [T], PhantomData<M>);

impl<M: Monoid<T>, T: Number> Kernel for All<'_, M, T> {
    type Output = Folded<M, T>;

    #[inline(always)]
    fn run(self) -> Folded<M, T> {
        Folded::new(T::lane_fold::<M>(self.0))
    }
}

impl<M: Monoid<T>, T: Number> Split for All<'_, M, T> {
    fn split(self, at: usize) -> (Self, Self) {
        let (first, later) = self.0.split_at(at);
        (Self(first, PhantomData), Self(later, PhantomData))
    }
}

/// Reduces each row to one element.
struct RowReduction<'a, M, T> {
    x: &'a [T],
    len: usize,
    out: &'a mut [T],
    by: PhantomData<M>,
}

impl<M: Folds<T>, T: Number> Kernel for RowReduction<'_, M, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        // `rows` is dispatched separately.
        M::rows(self.x, self.len, self.len, self.out);
    }
}

impl<M: Folds<T>, T: Number> Split for RowReduction<'_, M, T> {
    fn split(self, at: usize) -> (Self, Self) {
        let (x, out) = (self.x.split_at(at * self.len), self.out.split_at_mut(at));
        (Self { x: x.0, out: out.0, ..self }, Self { x: x.1, out: out.1, ..self })
    }
}

/// The largest number of columns that are summed at a time, so that their sums stay in the fastest cache.
const WIDEST: usize = limit(1024, 16);

/// Reductions over outer axes: of rows, or of the results of rows.
struct OuterReductions<'a, M, T> {
    x: &'a [T],
    outer: &'a [MergedAxis],
    inner: MergedAxis,
    out: &'a mut [T],
    by: PhantomData<M>,
}

impl<'a, M: Monoid<T>, T: Number> OuterReductions<'a, M, T> {
    /// The number of rows that are reduced to one.
    #[inline(always)]
    fn count(&self) -> usize {
        self.outer.iter().filter(|axis| axis.reduced).map(|axis| axis.extent).product()
    }

    /// The width of a row of results.
    #[inline(always)]
    fn width(&self) -> usize {
        if self.inner.reduced { 1 } else { self.inner.extent }
    }

    /// Combines the row that begins at `x` into `all`.
    #[inline(always)]
    fn combine(x: &[T], inner: MergedAxis, all: &mut [T]) {
        if inner.reduced {
            all[0] = M::combine(all[0], T::lane_fold::<M>(&x[..inner.extent]));
        } else {
            combine_row::<M, T>(all, x);
        }
    }
}

impl<M: Monoid<T>, T: Number> OuterReductions<'_, M, T> {
    #[inline(never)]
    fn over_outer(self) {
        if !M::IS_COMPENSATED {
            return dispatch(InTurn(self));
        }
        let (width, rows) = (self.width(), self);
        // Clearing memory that is not used would take longer than a small sum.
        match width {
            0..=32 => dispatch(InChains { rows, chain: &mut [T::ZERO; 32], lost: &mut [T::ZERO; 32] }),
            33..=256 => dispatch(InChains { rows, chain: &mut [T::ZERO; 256], lost: &mut [T::ZERO; 256] }),
            _ => dispatch(InChains { rows, chain: &mut [T::ZERO; WIDEST], lost: &mut [T::ZERO; WIDEST] }),
        }
    }
}

impl<M: Monoid<T>, T: Number> Kernel for OuterReductions<'_, M, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        // The loops over elements are dispatched separately.
        self.over_outer();
    }
}

/// Cuts the columns of rows that are folded over one axis.
impl<M: Monoid<T>, T: Number> Split for OuterReductions<'_, M, T> {
    fn split(self, at: usize) -> (Self, Self) {
        let (first, later) = self.out.split_at_mut(at);
        let inner = |extent| MergedAxis { extent, ..self.inner };
        (
            Self { out: first, inner: inner(at), ..self },
            Self { x: &self.x[at..], out: later, inner: inner(self.inner.extent - at), ..self },
        )
    }
}

/// Reduces row after row.
struct InTurn<'a, M, T>(OuterReductions<'a, M, T>);

impl<M: Monoid<T>, T: Number> Kernel for InTurn<'_, M, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let (count, width) = (self.0.count(), self.0.width());
        let OuterReductions { x, outer, inner, out, .. } = self.0;
        let mut at = Odometer::new(outer, |axis| !axis.reduced);
        for out in out.chunks_exact_mut(width) {
            for (part, out) in out.chunks_mut(WIDEST).enumerate() {
                let first = at.position + part * WIDEST;
                let mut row = Odometer::new(outer, |axis| axis.reduced);
                out.fill(M::NEUTRAL);
                for _ in 0..count {
                    OuterReductions::<M, T>::combine(&x[first + row.position..], inner, out);
                    row.advance();
                }
            }
            at.advance();
        }
    }
}

/// Computes sums, in chains, like `kernels::reduce`.
struct InChains<'a, M, T> {
    rows: OuterReductions<'a, M, T>,
    /// The current chain, for as many columns as are summed at a time.
    chain: &'a mut [T],
    /// The rounding errors of the sums.
    lost: &'a mut [T],
}

impl<M: Monoid<T>, T: Number> Kernel for InChains<'_, M, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let (rows, width) = (self.rows.count(), self.rows.width());
        let Self { rows: OuterReductions { x, outer, inner, out, .. }, chain, lost } = self;
        let mut at = Odometer::new(outer, |axis| !axis.reduced);
        for out in out.chunks_exact_mut(width) {
            let strip = chain.len();
            for (part, out) in out.chunks_mut(strip).enumerate() {
                let (chain, lost) = (&mut chain[..out.len()], &mut lost[..out.len()]);
                let first = at.position + part * strip;
                let mut row = Odometer::new(outer, |axis| axis.reduced);
                if let [axis] = outer {
                    reduce::sum_columns(out, lost, chain, &x[first..], axis.stride, rows);
                    continue;
                }
                out.fill(T::ZERO);
                lost.fill(T::ZERO);
                for start in (0..rows).step_by(CHAIN) {
                    chain.fill(T::ZERO);
                    for _ in 0..CHAIN.min(rows - start) {
                        OuterReductions::<M, T>::combine(&x[first + row.position..], inner, chain);
                        row.advance();
                    }
                    combine_chains::<M, T>(out, lost, chain);
                }
            }
            at.advance();
        }
    }
}

/// Counts through the axes that `counts` selects.
struct Odometer<'a, F> {
    axes: &'a [MergedAxis],
    counts: F,
    index: [usize; MAX_RANK],
    position: usize,
}

impl<'a, F: Fn(&MergedAxis) -> bool> Odometer<'a, F> {
    #[inline(always)]
    fn new(axes: &'a [MergedAxis], counts: F) -> Self {
        Self { axes, counts, index: [0; MAX_RANK], position: 0 }
    }

    #[inline(always)]
    fn advance(&mut self) {
        for (axis, index) in
            self.axes.iter().zip(&mut self.index).rev().filter(|(axis, _)| (self.counts)(axis))
        {
            *index += 1;
            self.position += axis.stride;
            if *index < axis.extent {
                return;
            }
            *index = 0;
            self.position -= axis.stride * axis.extent;
        }
    }
}

/// The number of elements that a reduction over `axes` combines.
pub(super) fn count_reduced(ty: &Type, axes: Option<&[i64]>) -> usize {
    match axes {
        None => count(ty),
        Some(axes) => axes.iter().map(|axis| extent(ty, axis_of(*axis, ty.rank()))).product(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parallel::tests::Threads;
    use crate::sample::sample;
    use mind_shape::DType;

    /// The sum over the axes in `reduced`, element by element.
    fn by_definition(dims: &[usize], elements: &[i64], reduced: &[bool]) -> Vec<i64> {
        let kept = |axis: &usize| !reduced[*axis];
        let len = (0..dims.len()).filter(kept).map(|axis| dims[axis]).product();
        let mut sums = vec![0; len];
        for (position, element) in elements.iter().enumerate() {
            let (mut rest, mut at, mut stride) = (position, 0, 1);
            for axis in (0..dims.len()).rev() {
                let index = rest % dims[axis];
                rest /= dims[axis];
                if kept(&axis) {
                    at += index * stride;
                    stride *= dims[axis];
                }
            }
            sums[at] += element;
        }
        sums
    }

    #[test]
    fn sums_over_every_set_of_axes() {
        for dims in [&[][..], &[7], &[2, 3, 4, 5], &[1, 3, 1, 40], &[3, 1, 2, 1]] {
            let extents: Vec<i64> = dims.iter().map(|dim| *dim as i64).collect();
            let ty = Type::new(DType::I64, &extents);
            let elements: Vec<i64> = (0..dims.iter().product::<usize>() as i64).map(|i| i * i + 1).collect();
            for set in 0..1_u32 << dims.len() {
                let reduced: Vec<bool> = (0..dims.len()).map(|axis| set >> axis & 1 == 1).collect();
                let axes: Vec<i64> = (0..dims.len())
                    .filter(|axis| reduced[*axis])
                    .map(|axis| if set % 3 == 0 { axis as i64 } else { axis as i64 - dims.len() as i64 })
                    .collect();
                let expected = by_definition(dims, &elements, &reduced);
                let mut out = vec![-1; expected.len()];
                sum(Argument::new(&elements, &ty), Some(&axes), &mut out);
                assert_eq!(out, expected, "{dims:?} over {axes:?}");
                let kept: Vec<i64> = extents
                    .iter()
                    .zip(&reduced)
                    .map(|(extent, reduced)| if *reduced { 1 } else { *extent })
                    .collect();
                sum_like(Argument::new(&elements, &ty), &Type::new(DType::I64, &kept), &mut out);
                assert_eq!(out, expected, "{dims:?} like {kept:?}");
            }
        }
    }

    #[test]
    fn threads_fold_every_element_once_and_in_one_order() {
        let bits = |out: &[f32]| out.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        let cases = [
            (&[270_001][..], None),
            (&[270_001], Some(&[0][..])),
            (&[600, 501], Some(&[1])),
            (&[600, 501], Some(&[0])),
            (&[3, 90_001], Some(&[0])),
            (&[90_001, 3], Some(&[1])),
            (&[90_001, 3], Some(&[0])),
            (&[20, 30, 501], Some(&[0, 2])),
        ];
        for (dims, axes) in sample("sums", cases) {
            let extents: Vec<i64> = dims.iter().map(|dim| *dim as i64).collect();
            let len: usize = dims.iter().product();
            let kept: Vec<bool> =
                (0..dims.len()).map(|axis| axes.is_none_or(|axes| axes.contains(&(axis as i64)))).collect();
            let whole: Vec<i64> = (0..len as i64).map(|i| i * i % 1009).collect();
            let broken: Vec<f32> = (0..len).map(|i| (i * 7919 % 1013) as f32 * 0.137 - 30.0).collect();
            let expected = by_definition(dims, &whole, &kept);
            let (ty, of_floats) = (Type::new(DType::I64, &extents), Type::new(DType::F32, &extents));
            let mut alone = None;
            for threads in [1, 2, 5, 128] {
                let _held = Threads::set(threads);
                let (mut out, mut sums) = (vec![-1; expected.len()], vec![-1.0; expected.len()]);
                sum(Argument::new(&whole, &ty), axes, &mut out);
                assert_eq!(out, expected, "{dims:?} over {axes:?} by {threads}");
                sum(Argument::new(&broken, &of_floats), axes, &mut sums);
                assert_eq!(bits(&sums), *alone.get_or_insert(bits(&sums)), "{dims:?} by {threads}");
                max(Argument::new(&whole, &ty), axes, &mut out);
                assert!(out.iter().all(|x| *x <= 1008) && out.contains(&1008), "{dims:?} by {threads}");
            }
        }
    }

    #[test]
    fn a_mean_divides_by_what_it_took_together() {
        let ty = Type::new(DType::F64, &[2, 3]);
        let mut out = [0.0; 2];
        mean(Argument::new(&[1.0, 2.0, 3.0, 4.0, 5.0, 9.0], &ty), Some(&[-1]), &mut out);
        assert_eq!(out, [2.0, 6.0]);
        mean(Argument::new(&[1.0, 2.0, 3.0, 4.0, 5.0, 9.0], &ty), None, &mut out);
        assert_eq!(out[0], 4.0);
        assert_eq!(count_reduced(&ty, Some(&[0])), 2);
    }
}
