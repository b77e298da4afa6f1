//! Operations that are neither elementwise, nor products, nor sums, for shapes that are values, not types.
//!
//! Attributes are passed as the program writes them. The rules have checked them, and the same rules resolve them here.

use mind_shape::{
    Type, match_dtype,
    rules::{self, Padding, Permutation, Pooling, Subscript, Taken},
};

use super::{
    Argument, axis_of, count,
    cumulate::around,
    extent,
    number::{Datum, Number},
    reduce,
};
use crate::{
    error::fail,
    kernels::{
        conv::{self, Conv2d},
        copy,
        gather::Picked,
        internal_error,
        math::As,
        pooling::{self, Pool, PoolAxis, PoolOf},
    },
    shape::MAX_RANK,
    support::same_padding,
};

/// Copies the elements.
pub fn copy<T: Datum>(x: Argument<'_, T>, out: &mut [T]) {
    out[..x.elements.len()].copy_from_slice(x.elements);
}

/// Fills the elements with one number.
pub fn filled<T: Datum>(ty: &Type, value: T, out: &mut [T]) {
    T::fill(&mut out[..count(ty)], value);
}

/// Converts the elements to another type, as by Rust's `as`.
pub fn converted<T: Datum, U: Datum>(x: Argument<'_, T>, out: &mut [U]) {
    fn each<T: Copy, U>(x: &[T], out: &mut [U], to: impl Fn(T) -> U) {
        out.iter_mut().zip(x).for_each(|(out, x)| *out = to(*x));
    }
    let (x, out) = (x.elements, &mut out[..x.elements.len()]);
    match_dtype!(U::DTYPE, V => each(x, U::cast_mut::<V>(out), As::<V>::to))
}

/// The number of elements that a reduction over `axes`, or over every axis, combines.
pub fn count_reduced<T: Number>(ty: &Type, axes: Option<&[i64]>, out: &mut [T]) {
    out[0] = T::count(reduce::count_reduced(ty, axes));
}

/// A number computed from extents, which must be known.
pub fn number_like<T: Number>(_: &Type, number: Option<i64>, out: &mut [T]) {
    let number = number.expect("every extent is known as a program runs");
    let size = T::count(usize::try_from(number.unsigned_abs()).expect("an extent is in memory"));
    out[0] = if number < 0 { size.negated() } else { size };
}

/// Permutes the axes.
pub fn transpose<T: Datum>(x: Argument<'_, T>, permutation: Permutation<'_>, out: &mut [T]) {
    let axes = rules::permuted(x.ty.rank(), permutation);
    let (own, rank) = (contiguous(x.ty), x.ty.rank());
    let (mut dims, mut strides) = ([1; MAX_RANK], [0; MAX_RANK]);
    for axis in 0..rank {
        (dims[axis], strides[axis]) = (x.extent(axes[axis]), own[axes[axis]]);
    }
    copy::copy_strided(&dims[..rank], &strides[..rank], 0, x.elements, &mut out[..x.elements.len()]);
}

/// The part that an index expression selects.
pub fn subscript<T: Datum>(x: Argument<'_, T>, subscripts: &[Subscript], out: &mut [T]) {
    take(x, &checked_subscripts(rules::subscripted(*x.ty, subscripts)), out);
}

/// The cotangent of the operand of an index expression: zeros of the type of `x`, except for `dy` in the selected part.
pub fn subscript_grad<T: Number>(dy: Argument<'_, T>, x: &Type, subscripts: &[Subscript], out: &mut [T]) {
    give_back(dy, x, &checked_subscripts(rules::subscripted(*x, subscripts)), out);
}

/// The part between bounds.
pub fn slice<T: Datum>(x: Argument<'_, T>, starts: &[i64], ends: &[i64], steps: &[i64], out: &mut [T]) {
    take(x, &checked_subscripts(rules::sliced(*x.ty, starts, ends, Some(steps))), out);
}

/// The cotangent of the operand of a slice: zeros of the type of `x`, except for `dy` in the slice.
pub fn slice_grad<T: Number>(
    dy: Argument<'_, T>,
    x: &Type,
    starts: &[i64],
    ends: &[i64],
    steps: &[i64],
    out: &mut [T],
) {
    give_back(dy, x, &checked_subscripts(rules::sliced(*x, starts, ends, Some(steps))), out);
}

/// The windows that slide along axes.
pub fn unfold<T: Datum>(
    x: Argument<'_, T>,
    sizes: &[i64],
    axes: &[i64],
    strides: &[i64],
    dilations: &[i64],
    out: &mut [T],
) {
    let windows = Slid::new(x.ty, sizes, axes, [strides, dilations]);
    let (dims, steps) = (&windows.dims[..windows.rank], &windows.steps[..windows.rank]);
    let len: usize = dims.iter().product();
    copy::copy_strided(dims, steps, 0, x.elements, &mut out[..len]);
}

/// The cotangent of the operand of [`unfold`]: zeros of the type of `x`, to which each element of `dy` is added where the
/// windows read it.
pub fn unfold_grad<T: Number>(
    dy: Argument<'_, T>,
    x: &Type,
    sizes: &[i64],
    axes: &[i64],
    strides: &[i64],
    dilations: &[i64],
    out: &mut [T],
) {
    let windows = Slid::new(x, sizes, axes, [strides, dilations]);
    let (dims, steps) = (&windows.dims[..windows.rank], &windows.steps[..windows.rank]);
    T::add_strided(dims, steps, dy.elements, &mut out[..count(x)]);
}

/// The extents of windows, and the distance in a contiguous tensor of the elements along each axis of them.
struct Slid {
    rank: usize,
    dims: [usize; MAX_RANK],
    steps: [usize; MAX_RANK],
}

impl Slid {
    fn new(x: &Type, sizes: &[i64], axes: &[i64], [strides, dilations]: [&[i64]; 2]) -> Self {
        let windows = rules::unfold(*x, sizes, axes, strides, dilations);
        let windows = windows.unwrap_or_else(|_| internal_error("windows that no rule has checked"));
        let (own, rank) = (contiguous(x), windows.rank());
        let (mut dims, mut steps, mut to) = ([1; MAX_RANK], [0; MAX_RANK], 0);
        for (axis, own) in own[..x.rank()].iter().enumerate() {
            match axes.iter().position(|along| axis_of(*along, x.rank()) == axis) {
                Some(at) => {
                    steps[to] = own * position(strides[at]);
                    steps[to + 1] = own * position(dilations[at]);
                    to += 2;
                }
                None => {
                    steps[to] = *own;
                    to += 1;
                }
            }
        }
        for (axis, dim) in dims[..rank].iter_mut().enumerate() {
            *dim = extent(&windows, axis);
        }
        Self { rank, dims, steps }
    }
}

/// A value padded with zeros: `low` of them before it along each axis. `ty` is the type of the whole.
pub fn pad<T: Number>(x: Argument<'_, T>, low: &[i64], ty: &Type, out: &mut [T]) {
    let mut taken = [Taken { start: 0, extent: 1, step: 1, dropped: false }; MAX_RANK];
    for (axis, low) in low.iter().enumerate() {
        (taken[axis].start, taken[axis].extent) = (*low, x.ty.extent(axis));
    }
    give_back(x, ty, &taken, out);
}

fn checked_subscripts(taken: Result<[Taken; MAX_RANK], mind_shape::Failure<'_>>) -> [Taken; MAX_RANK] {
    taken.unwrap_or_else(|_| internal_error("an index that no rule has checked"))
}

/// Copies the box `taken`.
pub(super) fn take<T: Datum>(x: Argument<'_, T>, taken: &[Taken; MAX_RANK], out: &mut [T]) {
    let (own, rank) = (contiguous(x.ty), x.ty.rank());
    let (mut dims, mut strides, mut offset) = ([1; MAX_RANK], [0; MAX_RANK], 0);
    for axis in 0..rank {
        (dims[axis], strides[axis]) = (position(taken[axis].extent), own[axis] * position(taken[axis].step));
        offset += own[axis] * position(taken[axis].start);
    }
    let len: usize = dims[..rank].iter().product();
    copy::copy_strided(&dims[..rank], &strides[..rank], offset, x.elements, &mut out[..len]);
}

/// Zeros, except for `dy` in the box `taken`.
pub(super) fn give_back<T: Number>(dy: Argument<'_, T>, x: &Type, taken: &[Taken; MAX_RANK], out: &mut [T]) {
    let rank = x.rank();
    let [mut dims, mut starts, mut steps, mut extents] = [[1; MAX_RANK]; 4];
    for axis in 0..rank {
        dims[axis] = extent(x, axis);
        starts[axis] = position(taken[axis].start);
        steps[axis] = position(taken[axis].step);
        extents[axis] = position(taken[axis].extent);
    }
    let out = &mut out[..count(x)];
    copy::slice_grad(&dims[..rank], &starts[..rank], &steps[..rank], &extents[..rank], dy.elements, out);
}

/// Checks that integers are valid indices of an axis of a value; `what` names them in the message.
///
/// # Panics
/// With E6001 if an index is out of range.
#[track_caller]
pub fn check_picked<T: Datum, I: Number>(
    table: Argument<'_, T>,
    indices: Argument<'_, I>,
    axis: i64,
    what: &'static str,
) {
    let extent = table.extent(axis_of(axis, table.ty.rank()));
    if let Err(error) = I::indices(indices.elements).check(extent, what) {
        fail(error)
    }
}

/// As [`check_picked`], for the rows of a value of this type.
///
/// # Panics
/// With E6001 if an index is out of range.
#[track_caller]
pub fn check_added<I: Number>(ty: &Type, indices: Argument<'_, I>, what: &'static str) {
    if let Err(error) = I::indices(indices.elements).check(extent(ty, 0), what) {
        fail(error)
    }
}

/// The rows of a table at the given indices, which have been checked.
pub fn gather<T: Datum, I: Number>(table: Argument<'_, T>, indices: Argument<'_, I>, out: &mut [T]) {
    let (row, count) = (row_len(table.ty), indices.elements.len());
    T::gather(table.elements, Picked::Row(row), I::indices(indices.elements), &mut out[..count * row]);
}

/// The elements at the given indices along an axis, which have been checked.
pub fn take_along<T: Datum, I: Number>(
    x: Argument<'_, T>,
    indices: Argument<'_, I>,
    axis: i64,
    out: &mut [T],
) {
    let (extents, len) = (around(x.ty, axis_of(axis, x.ty.rank())), indices.elements.len());
    T::gather(x.elements, Picked::Along(extents), I::indices(indices.elements), &mut out[..len]);
}

/// The cotangent of the operand of [`take_along`]: zeros of the type of `x`, with each element of `dy` added at its
/// index. The indices have been checked.
pub fn take_along_grad<T: Number, I: Number>(
    dy: Argument<'_, T>,
    indices: Argument<'_, I>,
    x: &Type,
    axis: i64,
    out: &mut [T],
) {
    let along = Picked::Along(around(x, axis_of(axis, x.rank())));
    T::scatter_add(&mut out[..count(x)], along, I::indices(indices.elements), dy.elements);
}

/// The cotangent of the table of [`gather`]: zeros, with each row of `dy` added at its index. The indices have been
/// checked.
pub fn gather_grad<T: Number, I: Number>(
    dy: Argument<'_, T>,
    indices: Argument<'_, I>,
    table: &Type,
    out: &mut [T],
) {
    let row = row_len(table);
    T::scatter_add(&mut out[..count(table)], Picked::Row(row), I::indices(indices.elements), dy.elements);
}

/// The elements along an axis from a position on, which has been checked: as many as `ty` has.
pub fn dynamic_slice<T: Datum, I: Number>(
    x: Argument<'_, T>,
    start: Argument<'_, I>,
    ty: &Type,
    axis: i64,
    out: &mut [T],
) {
    let part = PartAlong::new(x.ty, ty, axis_of(axis, ty.rank()), first(start));
    let out = &mut out[..count(ty)];
    T::copy_rows(out, &x.elements[part.offset..], [part.row, part.whole_row], part.rows, part.row);
}

/// The elements of `x`, with those along an axis from a position on, which has been checked, replaced by `updates`.
pub fn dynamic_update<T: Datum, I: Number>(
    x: Argument<'_, T>,
    start: Argument<'_, I>,
    updates: Argument<'_, T>,
    axis: i64,
    out: &mut [T],
) {
    out[..x.elements.len()].copy_from_slice(x.elements);
    dynamic_update_in_place(x.ty, start, updates, axis, out);
}

/// [`dynamic_update`] of elements of type `x` where they are.
pub fn dynamic_update_in_place<T: Datum, I: Number>(
    x: &Type,
    start: Argument<'_, I>,
    updates: Argument<'_, T>,
    axis: i64,
    out: &mut [T],
) {
    let part = PartAlong::new(x, updates.ty, axis_of(axis, x.rank()), first(start));
    let out = &mut out[part.offset..count(x)];
    T::copy_rows(out, updates.elements, [part.whole_row, part.row], part.rows, part.row);
}

/// The elements of `x`, with the rows at the given indices, which have been checked, replaced by those of `updates`.
pub fn scatter<T: Datum, I: Number>(
    x: Argument<'_, T>,
    indices: Argument<'_, I>,
    updates: Argument<'_, T>,
    out: &mut [T],
) {
    out[..x.elements.len()].copy_from_slice(x.elements);
    scatter_in_place(x.ty, indices, updates, out);
}

/// [`scatter`] of elements of type `x` where they are.
pub fn scatter_in_place<T: Datum, I: Number>(
    x: &Type,
    indices: Argument<'_, I>,
    updates: Argument<'_, T>,
    out: &mut [T],
) {
    T::scatter(&mut out[..count(x)], row_len(x), I::indices(indices.elements), updates.elements);
}

/// The elements of `x`, with the rows of `updates` added at the given indices, which have been checked.
pub fn add_rows<T: Number, I: Number>(
    x: Argument<'_, T>,
    indices: Argument<'_, I>,
    updates: Argument<'_, T>,
    out: &mut [T],
) {
    out[..x.elements.len()].copy_from_slice(x.elements);
    add_rows_in_place(x.ty, indices, updates, out);
}

/// [`add_rows`] to elements of type `x` where they are.
pub fn add_rows_in_place<T: Number, I: Number>(
    x: &Type,
    indices: Argument<'_, I>,
    updates: Argument<'_, T>,
    out: &mut [T],
) {
    T::add_rows(&mut out[..count(x)], row_len(x), I::indices(indices.elements), updates.elements);
}

/// Consecutive elements along an axis of a contiguous tensor.
struct PartAlong {
    rows: usize,
    /// The number of elements of a row of the part.
    row: usize,
    /// The number of elements of a row of the tensor.
    whole_row: usize,
    offset: usize,
}

impl PartAlong {
    fn new(whole: &Type, part: &Type, axis: usize, start: usize) -> Self {
        let [rows, extent, inner] = around(whole, axis);
        let length = self::extent(part, axis);
        assert!(start <= extent && length <= extent - start, "the position was checked before");
        Self { rows, row: length * inner, whole_row: extent * inner, offset: start * inner }
    }
}

/// The position that a single number is.
fn first<I: Number>(start: Argument<'_, I>) -> usize {
    I::indices(start.elements).first()
}

fn row_len(table: &Type) -> usize {
    (1..table.rank()).map(|axis| extent(table, axis)).product()
}

/// A convolution.
pub fn conv2d<T: Number>(
    x: Argument<'_, T>,
    f: Argument<'_, T>,
    strides: &[i64],
    padding: Padding<'_>,
    ty: &Type,
    out: &mut [T],
) {
    conv::conv2d(&geometry(x.ty, f.ty, ty, strides, padding), x.elements, f.elements, &mut out[..count(ty)]);
}

/// The cotangent of a convolution's image.
pub fn conv2d_grad_input<T: Number>(
    dy: Argument<'_, T>,
    x: &Type,
    f: Argument<'_, T>,
    strides: &[i64],
    padding: Padding<'_>,
    out: &mut [T],
) {
    let geometry = geometry(x, f.ty, dy.ty, strides, padding);
    conv::conv2d_grad_input(&geometry, dy.elements, f.elements, &mut out[..count(x)]);
}

/// The cotangent of a convolution's filter.
pub fn conv2d_grad_filter<T: Number>(
    dy: Argument<'_, T>,
    x: Argument<'_, T>,
    f: &Type,
    strides: &[i64],
    padding: Padding<'_>,
    out: &mut [T],
) {
    let geometry = geometry(x.ty, f, dy.ty, strides, padding);
    conv::conv2d_grad_filter(&geometry, x.elements, dy.elements, &mut out[..count(f)]);
}

fn geometry(x: &Type, f: &Type, out: &Type, strides: &[i64], padding: Padding<'_>) -> Conv2d {
    let [n, h, w, c_in] = [0, 1, 2, 3].map(|axis| extent(x, axis));
    let [kh, kw, c_out] = [0, 1, 3].map(|axis| extent(f, axis));
    let stride = [0, 1].map(|axis| position(strides[axis]));
    let pad = match padding {
        Padding::Valid => [[0; 2]; 2],
        Padding::Same => [same_padding(h, kh, stride[0]), same_padding(w, kw, stride[1])],
        Padding::Pairs(pairs) => [0, 1].map(|axis| pairs[axis].map(position)),
    };
    Conv2d { n, h, w, c_in, kh, kw, c_out, stride, pad, h_out: extent(out, 1), w_out: extent(out, 2) }
}

/// The largest element of each window.
pub fn max_pool<T: Number>(x: Argument<'_, T>, by: Pooling<'_>, out: &mut [T]) {
    let (pool, count) = pool_of(x.ty, by);
    pooling::pool(&pool, PoolOf::Max { x: x.elements }, &mut out[..count]);
}

/// The cotangent of the operand of [`max_pool`].
pub fn max_pool_grad<T: Number>(x: Argument<'_, T>, dy: Argument<'_, T>, by: Pooling<'_>, out: &mut [T]) {
    let (pool, _) = pool_of(x.ty, by);
    let (x, dx) = (x.elements, &mut out[..count(x.ty)]);
    pooling::pool(&pool, PoolOf::MaxGrad { x, dy: dy.elements }, dx);
}

/// The element of `t` at the place of the largest element of each window of `x`.
pub fn max_pool_take<T: Number>(x: Argument<'_, T>, t: Argument<'_, T>, by: Pooling<'_>, out: &mut [T]) {
    let (pool, count) = pool_of(x.ty, by);
    pooling::pool(&pool, PoolOf::MaxTake { x: x.elements, t: t.elements }, &mut out[..count]);
}

/// The sum of each window.
pub fn sum_pool<T: Number>(x: Argument<'_, T>, by: Pooling<'_>, out: &mut [T]) {
    let (pool, count) = pool_of(x.ty, by);
    pooling::pool(&pool, PoolOf::Sum { x: x.elements }, &mut out[..count]);
}

/// The cotangent of the operand of [`sum_pool`].
pub fn sum_pool_grad<T: Number>(dy: Argument<'_, T>, x: &Type, by: Pooling<'_>, out: &mut [T]) {
    let (pool, _) = pool_of(x, by);
    pooling::pool(&pool, PoolOf::SumGrad { dy: dy.elements }, &mut out[..count(x)]);
}

/// The sum of each window, in which elements are multiplied by a filter.
pub fn depthwise<T: Number>(x: Argument<'_, T>, f: Argument<'_, T>, by: Pooling<'_>, out: &mut [T]) {
    let (pool, count) = pool_of(x.ty, by);
    pooling::pool(&pool, PoolOf::Depthwise { x: x.elements, f: f.elements }, &mut out[..count]);
}

/// The cotangent of the input of [`depthwise`].
pub fn depthwise_grad_input<T: Number>(
    dy: Argument<'_, T>,
    f: Argument<'_, T>,
    x: &Type,
    by: Pooling<'_>,
    out: &mut [T],
) {
    let (pool, _) = pool_of(x, by);
    let of = PoolOf::DepthwiseGradInput { dy: dy.elements, f: f.elements };
    pooling::pool(&pool, of, &mut out[..count(x)]);
}

/// The cotangent of the filter of [`depthwise`].
pub fn depthwise_grad_filter<T: Number>(
    x: Argument<'_, T>,
    dy: Argument<'_, T>,
    by: Pooling<'_>,
    out: &mut [T],
) {
    let (pool, _) = pool_of(x.ty, by);
    let count = by.sizes.iter().map(|size| position(*size)).product::<usize>() * pool.channels;
    let of = PoolOf::DepthwiseGradFilter { x: x.elements, dy: dy.elements };
    pooling::pool(&pool, of, &mut out[..count]);
}

/// The windows over a value of this type, and the number of elements of the result.
fn pool_of(x: &Type, by: Pooling<'_>) -> (Pool, usize) {
    let Pooling { sizes, strides, dilations, padding } = by;
    let ty = rules::pool(*x, by).unwrap_or_else(|_| internal_error("windows that no rule has checked"));
    let lead = x.rank() - 1 - sizes.len();
    let mut axes = [PoolAxis::ONE; 3];
    for (at, size) in sizes.iter().enumerate() {
        let [size, stride, dilation] = [*size, strides[at], dilations[at]].map(position);
        let extent = extent(x, lead + at);
        let before = match padding {
            Padding::Valid => 0,
            Padding::Same => same_padding(extent, (size - 1) * dilation + 1, stride)[0],
            Padding::Pairs(pairs) => position(pairs[at][0]),
        };
        let positions = self::extent(&ty, lead + at);
        axes[3 - sizes.len() + at] = PoolAxis { extent, positions, size, stride, dilation, before };
    }
    let outer = (0..lead).map(|axis| extent(x, axis)).product();
    (Pool { outer, axes, channels: extent(x, x.rank() - 1) }, count(&ty))
}

/// The strides of contiguous elements.
fn contiguous(ty: &Type) -> [usize; MAX_RANK] {
    let (mut strides, mut stride) = ([0; MAX_RANK], 1);
    for axis in (0..ty.rank()).rev() {
        strides[axis] = stride;
        stride *= extent(ty, axis);
    }
    strides
}

/// Converts a number that the rules have found to be at least 0.
fn position(number: i64) -> usize {
    usize::try_from(number).unwrap_or_else(|_| internal_error("a position below 0"))
}

/// The type of `squeeze(x)`: the axes are removed whose extent is 1 by the Rust types of the leaves, since these types
/// determine the rank. `known` contains the types of all nodes as far as the Rust types determine them. It is empty
/// where `x` is itself such a type.
pub const fn squeeze(x: Type, known: &[Type], position: usize) -> Type {
    let squeezable = rules::squeezable(if known.is_empty() { x } else { known[position] });
    let (mut dims, mut rank, mut axis) = ([0; MAX_RANK], 0, 0);
    while axis < x.rank() {
        if !squeezable[axis] {
            dims[rank] = x.extent(axis);
            rank += 1;
        }
        axis += 1;
    }
    Type::new(x.dtype(), dims.split_at(rank).0)
}
