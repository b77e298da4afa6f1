//! Copies between layouts.

use mind_shape::{MAX_RANK, threads::COST_OF_COPY};

use super::check;
use super::compiled::{Compiled, SumKernels};
use super::memory::{Storable, poison};
use super::transpose::Transpose;
use crate::kernels::number::Number;
use crate::parallel::{self, LEAF, Split};
use crate::simd::{Kernel, dispatch};

/// Sets every element.
pub fn fill<T: Compiled>(out: &mut [T], value: T) {
    T::fill(out, value);
}

/// The elements, padded with copies of the last one: computing with these takes no longer than with the other elements.
///
/// # Panics
/// If there are more than `N` elements.
#[inline(always)]
#[must_use]
#[allow(private_bounds, reason = "sealed")]
pub fn padded<T: Storable + Default, const N: usize>(elements: &[T]) -> [T; N] {
    let mut block = [elements.last().copied().unwrap_or_default(); N];
    block[..elements.len()].copy_from_slice(elements);
    block
}

/// The number of elements in the whole registers of `width` that fit into a row. A shorter row is one part.
#[inline(always)]
#[must_use]
pub const fn whole_registers(len: usize, width: usize) -> usize {
    if len < width { len } else { len - len % width }
}

/// `dst[i..] = src[offset + Σ i · stride]` for every index `i..` below `dims`. `dst` is contiguous in the order of
/// `dims`. This covers transposes, broadcasts (stride 0) and slices (`offset`, multiplied strides).
pub fn copy_strided<T: Compiled>(dims: &[usize], strides: &[usize], offset: usize, src: &[T], dst: &mut [T]) {
    T::copy_strided(dims, strides, offset, src, dst);
}

pub(super) fn strided<T: Storable>(
    dims: &[usize],
    strides: &[usize],
    offset: usize,
    src: &[T],
    dst: &mut [T],
) {
    check(dims.len() == strides.len() && dims.len() <= MAX_RANK, "copy: dims and strides differ in number");
    let len = dims.iter().try_fold(1usize, |product, extent| product.checked_mul(*extent));
    check(len == Some(dst.len()), "copy: wrong destination length");
    poison(dst);
    if dst.is_empty() {
        return;
    }
    let last = dims
        .iter()
        .zip(strides)
        .fold(offset, |last, (extent, stride)| last.saturating_add((extent - 1).saturating_mul(*stride)));
    check(last < src.len(), "copy: source too short");

    let mut axes = [CopyAxis::default(); MAX_RANK];
    let rank = merge(dims, strides, &mut axes);
    if rank == 0 {
        dst[0] = src[offset];
        return;
    }
    if dst.len() <= LEAF {
        return copy_axes(&mut axes[..rank], offset, src, dst);
    }
    let steps = axes[0].extent;
    let elements_per_step = dst.len() / steps;
    parallel::run(Strided { axes, rank, offset, src, dst }, steps, elements_per_step, COST_OF_COPY);
}

/// A copy along at least one axis, with checked bounds.
struct Strided<'a, T> {
    axes: [CopyAxis; MAX_RANK],
    rank: usize,
    offset: usize,
    src: &'a [T],
    dst: &'a mut [T],
}

impl<T: Storable> Kernel for Strided<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(mut self) {
        copy_axes(&mut self.axes[..self.rank], self.offset, self.src, self.dst);
    }
}

impl<T: Storable> Split for Strided<'_, T> {
    fn split(self, at: usize) -> (Self, Self) {
        let Self { axes, rank, offset, src, dst } = self;
        let [mut before, mut after] = [axes, axes];
        (before[0].extent, after[0].extent) = (at, axes[0].extent - at);
        let (dst, later) = dst.split_at_mut(at * axes[0].step);
        let skipped = at * axes[0].stride;
        (
            Self { axes: before, rank, offset, src, dst },
            Self { axes: after, rank, offset: offset + skipped, src, dst: later },
        )
    }
}

fn copy_axes<T: Storable>(axes: &mut [CopyAxis], offset: usize, src: &[T], dst: &mut [T]) {
    let (inner, outer) = axes.split_last_mut().expect("a copy has an axis");
    // If the innermost axis is not contiguous in the source, blocks that also span the axis of the smallest stride find
    // their cache lines still in the cache.
    let across =
        if inner.stride > 1 { smallest(outer).filter(|at| outer[*at].stride < inner.stride) } else { None };
    match across {
        None => for_each(outer, offset, |from, to| copy_row(*inner, &src[from..], &mut dst[to..])),
        Some(at) => {
            outer[at..].rotate_left(1);
            let (across, outer) = outer.split_last().expect("an axis was found");
            for_each(outer, offset, |from, to| copy_plane(*across, *inner, &src[from..], &mut dst[to..]));
        }
    }
}

/// An axis of a copy.
#[derive(Clone, Copy, Default)]
struct CopyAxis {
    extent: usize,
    /// The distance from one element to the next in the source.
    stride: usize,
    /// The distance from one element to the next in the destination.
    step: usize,
}

/// Drops axes of extent 1, and merges neighbouring axes that are contiguous in the source as they are in the
/// destination. Returns the number of axes left.
fn merge(dims: &[usize], strides: &[usize], axes: &mut [CopyAxis; MAX_RANK]) -> usize {
    let mut rank = 0;
    let mut step: usize = dims.iter().product();
    for (&extent, &stride) in dims.iter().zip(strides) {
        step /= extent;
        if extent == 1 {
            continue;
        }
        if rank > 0 && Some(axes[rank - 1].stride) == stride.checked_mul(extent) {
            let extent = extent * axes[rank - 1].extent;
            axes[rank - 1] = CopyAxis { extent, stride, step };
        } else {
            axes[rank] = CopyAxis { extent, stride, step };
            rank += 1;
        }
    }
    rank
}

/// The axis with the smallest stride that is not 0.
fn smallest(axes: &[CopyAxis]) -> Option<usize> {
    (0..axes.len()).filter(|at| axes[*at].stride > 0).min_by_key(|at| axes[*at].stride)
}

/// Calls `f` with the source and destination position of every index of `axes`.
fn for_each(axes: &[CopyAxis], from: usize, mut f: impl FnMut(usize, usize)) {
    let (mut from, mut to) = (from, 0);
    let mut index = [0; MAX_RANK];
    loop {
        f(from, to);
        let mut axis = axes.len();
        loop {
            if axis == 0 {
                return;
            }
            axis -= 1;
            let CopyAxis { extent, stride, step } = axes[axis];
            index[axis] += 1;
            if index[axis] < extent {
                from += stride;
                to += step;
                break;
            }
            index[axis] = 0;
            from -= (extent - 1) * stride;
            to -= (extent - 1) * step;
        }
    }
}

#[inline(always)]
fn copy_row<T: Copy>(axis: CopyAxis, src: &[T], dst: &mut [T]) {
    let dst = &mut dst[..axis.extent];
    match axis.stride {
        0 => dst.fill(src[0]),
        1 => dst.copy_from_slice(&src[..axis.extent]),
        stride => {
            for (dst, src) in dst.iter_mut().zip(src.iter().step_by(stride)) {
                *dst = *src;
            }
        }
    }
}

/// Copies the plane of `across` and `inner`.
fn copy_plane<T: Copy>(across: CopyAxis, inner: CopyAxis, src: &[T], dst: &mut [T]) {
    if across.stride == 1 && inner.step == 1 {
        let (rows, columns) = (inner.extent, across.extent);
        return Transpose { rows, columns, from: inner.stride, to: across.step }.run(src, dst);
    }
    copy_blocks(across, inner, src, dst);
}

/// Copies the plane of `across` and `inner` in square blocks.
fn copy_blocks<T: Copy>(across: CopyAxis, inner: CopyAxis, src: &[T], dst: &mut [T]) {
    /// With elements of 8 bytes, a block's 16 rows in the source and 16 in the destination are 4 KiB.
    const SIDE: usize = 16;

    let last_src = (across.extent - 1) * across.stride + (inner.extent - 1) * inner.stride;
    let last_dst = (across.extent - 1) * across.step + (inner.extent - 1) * inner.step;
    assert!(last_src < src.len() && last_dst < dst.len(), "the caller checked the bounds");
    for i in (0..across.extent).step_by(SIDE) {
        let rows = i..across.extent.min(i + SIDE);
        for j in (0..inner.extent).step_by(SIDE) {
            let columns = j..inner.extent.min(j + SIDE);
            for i in rows.clone() {
                for j in columns.clone() {
                    let from = i * across.stride + j * inner.stride;
                    let to = i * across.step + j * inner.step;
                    // SAFETY: `i` and `j` are below the extents, so `from` and `to` are at most the last positions,
                    // which are in bounds as just asserted.
                    unsafe { *dst.get_unchecked_mut(to) = *src.get_unchecked(from) };
                }
            }
        }
    }
}

/// The derivative of a slice: `out = 0; out[starts + i · steps] = updates[i]`, where `out` has the extents `dims` and
/// `updates` has `update_dims`.
pub fn slice_grad<T: SumKernels>(
    dims: &[usize],
    starts: &[usize],
    steps: &[usize],
    update_dims: &[usize],
    updates: &[T],
    out: &mut [T],
) {
    T::slice_grad(dims, starts, steps, update_dims, updates, out);
}

pub(super) fn put_back<T: Number>(
    dims: &[usize],
    starts: &[usize],
    steps: &[usize],
    update_dims: &[usize],
    updates: &[T],
    out: &mut [T],
) {
    let rank = dims.len();
    check(
        starts.len() == rank && steps.len() == rank && update_dims.len() == rank && rank <= MAX_RANK,
        "slice_grad: lists differ in length",
    );
    let len = |dims: &[usize]| dims.iter().try_fold(1usize, |product, extent| product.checked_mul(*extent));
    check(len(dims) == Some(out.len()), "slice_grad: wrong output length");
    check(len(update_dims) == Some(updates.len()), "slice_grad: wrong update length");
    out.fill(T::ZERO);
    if updates.is_empty() {
        return;
    }
    // As in a copy, with source and destination exchanged: `stride` belongs to the output, `step` to the updates.
    let mut axes = [CopyAxis::default(); MAX_RANK];
    let (mut offset, mut stride, mut step) = (0, 1, 1);
    for axis in (0..rank).rev() {
        let span = (update_dims[axis] - 1).saturating_mul(steps[axis]);
        check(starts[axis].saturating_add(span) < dims[axis], "slice_grad: an update lies outside");
        // A step that is never taken may have any value.
        let taken = if update_dims[axis] > 1 { steps[axis] * stride } else { 0 };
        axes[axis] = CopyAxis { extent: update_dims[axis], stride: taken, step };
        offset += starts[axis] * stride;
        stride *= dims[axis];
        step *= update_dims[axis];
    }
    let Some((inner, outer)) = axes[..rank].split_last() else {
        out[0] = updates[0];
        return;
    };
    for_each(outer, offset, |to, from| {
        let updates = &updates[from..][..inner.extent];
        if inner.stride == 1 {
            out[to..][..inner.extent].copy_from_slice(updates);
        } else {
            for (i, update) in updates.iter().enumerate() {
                out[to + i * inner.stride] = *update;
            }
        }
    });
}

/// Adds updates to zeros. See [`SumKernels::add_strided`].
pub(super) fn put_sums<T: Number>(dims: &[usize], steps: &[usize], updates: &[T], out: &mut [T]) {
    check(dims.len() == steps.len() && dims.len() <= MAX_RANK, "add: dims and steps differ in number");
    let len = dims.iter().try_fold(1usize, |product, extent| product.checked_mul(*extent));
    check(len == Some(updates.len()), "add: wrong update length");
    out.fill(T::ZERO);
    if updates.is_empty() {
        return;
    }
    let axes = dims.iter().zip(steps);
    let last =
        axes.fold(0usize, |last, (extent, step)| last.saturating_add((extent - 1).saturating_mul(*step)));
    check(last < out.len(), "add: an update lies outside");
    let mut axes = [CopyAxis::default(); MAX_RANK];
    let rank = merge(dims, steps, &mut axes);
    if rank == 0 {
        out[0] = out[0].plus(updates[0]);
        return;
    }
    dispatch(AddStrided { axes, rank, updates, out });
}

/// Adds updates along at least one axis, with checked bounds.
struct AddStrided<'a, T> {
    axes: [CopyAxis; MAX_RANK],
    rank: usize,
    updates: &'a [T],
    out: &'a mut [T],
}

impl<T: Number> Kernel for AddStrided<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { axes, rank, updates, out } = self;
        let (inner, outer) = axes[..rank].split_last().expect("there is an axis");
        for_each(outer, 0, |to, from| {
            let updates = &updates[from..][..inner.extent];
            if inner.stride == 1 {
                for (out, update) in out[to..][..inner.extent].iter_mut().zip(updates) {
                    *out = out.plus(*update);
                }
            } else {
                for (i, update) in updates.iter().enumerate() {
                    let out = &mut out[to + i * inner.stride];
                    *out = out.plus(*update);
                }
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn indices(dims: &[usize]) -> Vec<Vec<usize>> {
        dims.iter().fold(vec![vec![]], |lists, extent| {
            lists.iter().flat_map(|list| (0..*extent).map(|i| [&list[..], &[i]].concat())).collect()
        })
    }

    fn agrees(dims: &[usize], strides: &[usize], offset: usize) {
        let at = |index: &Vec<usize>| {
            offset + index.iter().zip(strides).map(|(i, stride)| i * stride).sum::<usize>()
        };
        let expected: Vec<i64> = indices(dims).iter().map(|index| at(index) as i64).collect();
        let len = expected.iter().max().map_or(0, |last| *last as usize + 1);
        // Exactly as long as needed.
        let src: Vec<i64> = (0..len as i64).collect();
        let mut dst = vec![-1; expected.len()];
        copy_strided(dims, strides, offset, &src, &mut dst);
        assert_eq!(dst, expected, "{dims:?} {strides:?} {offset}");
    }

    #[test]
    fn every_permutation_of_small_extents() {
        for a in 1..=9 {
            for b in 1..=9 {
                agrees(&[a, b], &[b, 1], 0);
                agrees(&[a, b], &[1, a], 2);
                for c in [1, 2, 5, 17] {
                    for [i, j, k] in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
                        let (dims, strides) = ([a, b, c], [b * c, c, 1]);
                        agrees(&[dims[i], dims[j], dims[k]], &[strides[i], strides[j], strides[k]], 1);
                    }
                }
            }
        }
    }

    #[test]
    fn broadcasts_slices_and_large_transposes() {
        agrees(&[], &[], 3);
        agrees(&[7], &[0], 3);
        agrees(&[7], &[3], 3);
        agrees(&[7], &[1], 3);
        agrees(&[3, 4], &[0, 1], 0);
        agrees(&[3, 4], &[1, 0], 0);
        agrees(&[3, 4], &[0, 2], 5);
        agrees(&[3, 4], &[0, 0], 5);
        agrees(&[3, 4, 5], &[0, 3, 1], 0);
        agrees(&[3, 4, 5], &[40, 10, 2], 1);
        agrees(&[100, 70], &[1, 100], 0);
        agrees(&[33, 2, 65], &[1, 33, 66], 0);
        agrees(&[2, 33, 65], &[33 * 65, 1, 33], 0);
        agrees(&[1, 2, 1, 3, 1, 2, 2, 2], &[9, 12, 7, 4, 5, 2, 1, 0], 0);
        agrees(&[2, 2, 2, 2, 2, 2, 2, 2], &[1, 2, 4, 8, 16, 32, 64, 128], 0);
        agrees(&[2, 0, 2], &[1, 1, 1], 0);
    }

    #[test]
    fn copies_large_enough_for_several_threads() {
        agrees(&[301, 400], &[1, 301], 3);
        agrees(&[3, 200, 200], &[1, 600, 3], 0);
        agrees(&[500, 300], &[0, 2], 1);
        agrees(&[150_000], &[2], 1);
    }

    #[test]
    #[should_panic(expected = "internal error in mind: copy: source too short")]
    fn a_source_too_short_panics() {
        copy_strided(&[2, 3], &[1, 2], 1, &[0_i32; 6], &mut [0; 6]);
    }

    #[test]
    #[should_panic(expected = "copy: source too short")]
    fn strides_that_overflow_panic() {
        copy_strided(&[3, 1], &[usize::MAX / 2 + 1, 0], 0, &[0_i32; 6], &mut [0; 3]);
    }

    fn slice_grad_agrees(dims: &[usize], starts: &[usize], steps: &[usize], update_dims: &[usize]) {
        let updates: Vec<f32> = (0..update_dims.iter().product()).map(|i: usize| i as f32 + 1.0).collect();
        let mut expected = vec![0.0; dims.iter().product()];
        for (index, update) in indices(update_dims).iter().zip(&updates) {
            let to = (0..dims.len())
                .fold(0, |to, axis| to * dims[axis] + starts[axis] + index[axis] * steps[axis]);
            expected[to] = *update;
        }
        let mut out = vec![f32::NAN; expected.len()];
        slice_grad(dims, starts, steps, update_dims, &updates, &mut out);
        assert_eq!(out, expected);
    }

    #[test]
    fn slices_are_put_back() {
        slice_grad_agrees(&[], &[], &[], &[]);
        slice_grad_agrees(&[5], &[1], &[1], &[3]);
        slice_grad_agrees(&[5], &[0], &[2], &[3]);
        slice_grad_agrees(&[5], &[4], &[usize::MAX], &[1]);
        slice_grad_agrees(&[4, 6], &[1, 2], &[2, 1], &[2, 4]);
        slice_grad_agrees(&[4, 6], &[0, 1], &[3, 2], &[2, 3]);
        slice_grad_agrees(&[2, 3, 17], &[1, 0, 3], &[1, 2, 7], &[1, 2, 2]);
        slice_grad_agrees(&[2, 3], &[0, 0], &[1, 1], &[2, 3]);
    }

    #[test]
    #[should_panic(expected = "slice_grad: an update lies outside")]
    fn an_update_outside_panics() {
        slice_grad(&[4, 6], &[1, 2], &[2, 1], &[2, 5], &[0.0_f32; 10], &mut [0.0; 24]);
    }
}
