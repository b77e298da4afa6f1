//! The elements along an axis in another order.

use std::cmp::Ordering;

use super::check;
use super::compiled::Sums;
use super::memory::{Storable, poison};
use super::number::Number;

/// The elements along an axis from the last to the first: `extents` are the places before the axis, along it, and behind it.
///
/// # Panics
/// If there are not as many elements as places.
#[allow(private_bounds, reason = "sealed")]
pub fn flip<T: Storable>(extents: [usize; 3], x: &[T], out: &mut [T]) {
    let [.., inner] = extents;
    for (x, out) in slabs(extents, x, out, "flip: wrong length") {
        if inner == 1 {
            out.iter_mut().zip(x.iter().rev()).for_each(|(out, x)| *out = *x);
            continue;
        }
        for (x, out) in x.chunks_exact(inner).rev().zip(out.chunks_exact_mut(inner)) {
            out.copy_from_slice(x);
        }
    }
}

/// The elements along an axis moved by `shift` places, those moved off one end to the other: `extents` as those of [`flip`].
///
/// # Panics
/// If there are not as many elements as places.
#[allow(private_bounds, reason = "sealed")]
pub fn roll<T: Storable>(extents: [usize; 3], shift: i64, x: &[T], out: &mut [T]) {
    let [outer, extent, inner] = extents;
    let places = outer.checked_mul(extent).and_then(|places| places.checked_mul(inner));
    check(places == Some(x.len()) && places == Some(out.len()), "roll: wrong length");
    poison(out);
    if out.is_empty() {
        return;
    }
    let front = i128::from(shift).rem_euclid(extent.max(1) as i128) as usize * inner;
    for (x, out) in x.chunks_exact(extent * inner).zip(out.chunks_exact_mut(extent * inner)) {
        let (to_back, to_front) = x.split_at(x.len() - front);
        out[..front].copy_from_slice(to_front);
        out[front..].copy_from_slice(to_back);
    }
}

/// The elements along an axis from the least to the greatest, or the other way: `extents` as those of [`flip`]. Equal elements stay as
/// they are, among them -0 and +0; NaN comes last.
///
/// # Panics
/// If there are not as many elements as places.
pub fn sort<T: Sums>(extents: [usize; 3], descending: bool, x: &[T], out: &mut [T]) {
    T::sort(extents, descending, x, out);
}

/// Where the elements along an axis are that [`sort`] puts at each place.
///
/// # Panics
/// As [`sort`].
pub fn argsort<T: Sums>(extents: [usize; 3], descending: bool, x: &[T], out: &mut [i64]) {
    T::argsort(extents, descending, x, out);
}

pub(super) fn sorted<T: Number>(extents: [usize; 3], descending: bool, x: &[T], out: &mut [T]) {
    each_line(extents, x, out, "sort: wrong length", |x, stride, extent, out| {
        for along in 0..extent {
            out[along * stride] = x[along * stride];
        }
        if stride == 1 {
            out[..extent].sort_unstable_by(|a, b| compare(descending, *a, *b));
        } else {
            heap_sort(extent, out, stride, |a, b| compare(descending, a, b));
        }
        // The unstable sort may have exchanged zeros of different signs and NaN of different bits: restore their order.
        let is_zero = |x: T| x == T::ZERO;
        for is_alike in [&is_zero as &dyn Fn(T) -> bool, &is_nan] {
            let Some(mut to) = (0..extent).find(|along| is_alike(out[along * stride])) else { continue };
            for element in x.iter().step_by(stride).take(extent).filter(|element| is_alike(**element)) {
                out[to * stride] = *element;
                to += 1;
            }
        }
    });
}

pub(super) fn order<T: Number>(extents: [usize; 3], descending: bool, x: &[T], out: &mut [i64]) {
    each_line(extents, x, out, "argsort: wrong length", |x, stride, extent, out| {
        for along in 0..extent {
            out[along * stride] = along as i64;
        }
        let element = |place: i64| x[place as usize * stride];
        let by = |a: i64, b: i64| compare(descending, element(a), element(b)).then(a.cmp(&b));
        if stride == 1 {
            out[..extent].sort_unstable_by(|a, b| by(*a, *b));
        } else {
            heap_sort(extent, out, stride, by);
        }
    });
}

/// The elements at each place before the axis, beside where they go.
fn slabs<'a, T, U: Storable>(
    [outer, extent, inner]: [usize; 3],
    x: &'a [T],
    out: &'a mut [U],
    wrong: &'static str,
) -> impl Iterator<Item = (&'a [T], &'a mut [U])> {
    let places = outer.checked_mul(extent).and_then(|places| places.checked_mul(inner));
    check(places == Some(x.len()) && places == Some(out.len()), wrong);
    poison(out);
    // A chunk has one element at least, of which there is none where an extent is 0.
    let count = extent.saturating_mul(inner).max(1);
    x.chunks_exact(count).zip(out.chunks_exact_mut(count))
}

/// Calls `visit` for each line along the axis with the elements from its first one on, the stride, the number of elements and the
/// destination.
fn each_line<T, U: Storable>(
    extents: [usize; 3],
    x: &[T],
    out: &mut [U],
    wrong: &'static str,
    mut visit: impl FnMut(&[T], usize, usize, &mut [U]),
) {
    let [_, extent, inner] = extents;
    for (x, out) in slabs(extents, x, out, wrong) {
        for column in 0..inner {
            visit(&x[column..], inner, extent, &mut out[column..]);
        }
    }
}

fn compare<T: Number>(descending: bool, a: T, b: T) -> Ordering {
    let (low, high) = if descending { (b, a) } else { (a, b) };
    low.partial_cmp(&high).unwrap_or_else(|| is_nan(a).cmp(&is_nan(b)))
}

fn is_nan<T: Number>(x: T) -> bool {
    x.partial_cmp(&x).is_none()
}

/// Heap sort of `count` elements that are `stride` places apart, in place.
fn heap_sort<T: Copy>(count: usize, line: &mut [T], stride: usize, compare: impl Fn(T, T) -> Ordering) {
    let sift = |line: &mut [T], mut node: usize, count: usize| loop {
        let mut child = 2 * node + 1;
        if child >= count {
            return;
        }
        if child + 1 < count && compare(line[child * stride], line[(child + 1) * stride]).is_lt() {
            child += 1;
        }
        if compare(line[node * stride], line[child * stride]).is_ge() {
            return;
        }
        line.swap(node * stride, child * stride);
        node = child;
    };
    for node in (0..count / 2).rev() {
        sift(line, node, count);
    }
    for end in (1..count).rev() {
        line.swap(0, end * stride);
        sift(line, 0, end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_element_along_the_axis_is_the_first() {
        for extents in [[1, 1, 1], [1, 7, 1], [3, 5, 1], [1, 4, 3], [2, 3, 65], [2, 0, 3]] {
            let [outer, extent, inner] = extents;
            let x: Vec<i64> = (0..(outer * extent * inner) as i64).collect();
            let mut out = vec![-1; x.len()];
            flip(extents, &x, &mut out);
            for (place, found) in out.iter().enumerate() {
                let (row, at, column) = (place / (extent * inner), place / inner % extent, place % inner);
                assert_eq!(
                    *found,
                    x[(row * extent + extent - 1 - at) * inner + column],
                    "{extents:?} at {place}"
                );
            }
        }
    }

    #[test]
    fn the_elements_move_by_the_shift_and_around_the_ends() {
        for extents in [[1, 1, 1], [1, 7, 1], [3, 5, 1], [1, 4, 3], [2, 3, 65], [2, 0, 3]] {
            let [outer, extent, inner] = extents;
            let x: Vec<i64> = (0..(outer * extent * inner) as i64).collect();
            for shift in [0, 1, -1, 3, 12, -8, i64::MAX, i64::MIN] {
                let mut out = vec![-1; x.len()];
                roll(extents, shift, &x, &mut out);
                for (place, element) in x.iter().enumerate() {
                    let (row, along, column) =
                        (place / (extent * inner), place / inner % extent, place % inner);
                    let moved =
                        (along as i128 + i128::from(shift)).rem_euclid(extent.max(1) as i128) as usize;
                    assert_eq!(
                        out[(row * extent + moved) * inner + column],
                        *element,
                        "{extents:?} by {shift}"
                    );
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "roll: wrong length")]
    fn rolling_to_a_wrong_length_panics() {
        roll([1, 4, 1], 1, &[1; 4], &mut [0; 3]);
    }

    #[test]
    fn elements_are_in_order_along_the_axis_and_equal_ones_as_they_were() {
        for extents in [[1, 1, 1], [1, 7, 1], [3, 50, 1], [1, 40, 3], [2, 33, 65], [2, 0, 3]] {
            let [outer, extent, inner] = extents;
            // Few values, so that many are equal; zeros of both signs, infinities and NaN.
            let x: Vec<f64> = (0..outer * extent * inner)
                .map(|i| match i * 7 % 23 % 9 {
                    0 => -0.0,
                    1 => 0.0,
                    2 => f64::NAN,
                    3 => f64::INFINITY,
                    4 => f64::NEG_INFINITY,
                    other => other as f64 - 6.5,
                })
                .collect();
            for descending in [false, true] {
                let (mut out, mut places) = (vec![-1.0; x.len()], vec![-1; x.len()]);
                sort(extents, descending, &x, &mut out);
                argsort(extents, descending, &x, &mut places);
                for (outer, column) in
                    (0..outer).flat_map(|outer| (0..inner).map(move |column| (outer, column)))
                {
                    let place = |along: usize| (outer * extent + along) * inner + column;
                    let key = |x: f64| if descending { -x } else { x };
                    let mut expected: Vec<usize> = (0..extent).collect();
                    expected.sort_by(|a, b| {
                        let (a, b) = (x[place(*a)], x[place(*b)]);
                        key(a).partial_cmp(&key(b)).unwrap_or(a.is_nan().cmp(&b.is_nan()))
                    });
                    for (along, from) in expected.into_iter().enumerate() {
                        assert_eq!(places[place(along)], from as i64, "{extents:?}, {descending}");
                        assert_eq!(
                            out[place(along)].to_bits(),
                            x[place(from)].to_bits(),
                            "{extents:?}, {descending}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "sort: wrong length")]
    fn sorting_to_a_wrong_length_panics() {
        sort([1, 4, 1], false, &[1; 4], &mut [0; 3]);
    }

    #[test]
    #[should_panic(expected = "flip: wrong length")]
    fn a_wrong_length_panics() {
        flip([1, 4, 1], &[1; 4], &mut [0; 3]);
    }
}
