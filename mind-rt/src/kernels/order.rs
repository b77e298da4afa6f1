//! Reorders the elements along an axis.

use super::check;
use super::compiled::SumKernels;
use super::memory::{Storable, poison};
use super::sort::{self, Lines, Ranked};

/// Reverses the elements along an axis. `extents` are the product of the extents before the axis, the extent of the
/// axis, and the product of the extents after it.
///
/// # Panics
/// If a slice does not have as many elements as the product of `extents`.
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

/// Moves the elements along an axis by `shift` positions. Elements that are moved off one end enter at the other.
/// `extents` as in [`flip`].
///
/// # Panics
/// If a slice does not have as many elements as the product of `extents`.
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

/// The `first` elements along an axis, sorted from the least to the greatest or in descending order. `extents` as in
/// [`flip`]. Equal elements keep their order, among them -0 and +0. NaN is greater than every number. Keys are kept in
/// scratch memory of the thread, which stays for the next call.
///
/// # Panics
/// If `x` does not have as many elements as the product of `extents`, or `out` as that with `first` in place of the
/// extent of the axis.
pub fn sort<T: SumKernels>(extents: [usize; 3], first: usize, descending: bool, x: &[T], out: &mut [T]) {
    T::sort(extents, first, descending, x, out);
}

/// For each position of the result of [`sort`], the position along the axis from which its element comes.
///
/// # Panics
/// As [`sort`].
pub fn argsort<T: SumKernels>(extents: [usize; 3], first: usize, descending: bool, x: &[T], out: &mut [i64]) {
    T::argsort(extents, first, descending, x, out);
}

pub(super) fn sorted<T: Ranked>(extents: [usize; 3], first: usize, descending: bool, x: &[T], out: &mut [T]) {
    let [lines, heads] = lines(extents, first, x.len(), out.len(), "sort: wrong length");
    poison(out);
    sort::sorted([&lines, &heads], descending, x, out);
}

pub(super) fn order<T: Ranked>(
    extents: [usize; 3],
    first: usize,
    descending: bool,
    x: &[T],
    out: &mut [i64],
) {
    let [lines, heads] = lines(extents, first, x.len(), out.len(), "argsort: wrong length");
    poison(out);
    sort::order([&lines, &heads], descending, x, out);
}

/// The lines of an operand and those of a result with the first elements of each.
fn lines(
    [outer, extent, inner]: [usize; 3],
    first: usize,
    from: usize,
    to: usize,
    wrong: &'static str,
) -> [Lines; 2] {
    check(first <= extent, wrong);
    [Lines::new([outer, extent, inner], from, wrong), Lines::new([outer, first, inner], to, wrong)]
}

/// The elements at each position before the axis, with their destination.
fn slabs<'a, T, U: Storable>(
    [outer, extent, inner]: [usize; 3],
    x: &'a [T],
    out: &'a mut [U],
    wrong: &'static str,
) -> impl Iterator<Item = (&'a [T], &'a mut [U])> {
    let places = outer.checked_mul(extent).and_then(|places| places.checked_mul(inner));
    check(places == Some(x.len()) && places == Some(out.len()), wrong);
    poison(out);
    // A chunk size must not be 0. If an extent is 0, there are no elements and no chunks.
    let count = extent.saturating_mul(inner).max(1);
    x.chunks_exact(count).zip(out.chunks_exact_mut(count))
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
        // Lines on both sides of each limit: side by side, by comparisons and by digits.
        for extents in [
            [1, 1, 1],
            [1, 7, 1],
            [3, 50, 1],
            [1, 40, 3],
            [2, 33, 65],
            [2, 0, 3],
            [1, 32, 1],
            [1, 33, 1],
            [9, 256, 1],
            [9, 257, 1],
            [1, 512, 1],
            [1, 513, 1],
            [2, 600, 2],
            [1, 1024, 8],
            [1, 1025, 8],
            [17, 10, 1],
            [1, 64, 1],
            [3, 65, 1],
            [2, 129, 2],
            [1, 3000, 1],
            [1, 4096, 1],
            [1, 8192, 1],
            [1, 8193, 1],
        ] {
            let [outer, extent, inner] = extents;
            // Few distinct values, so that many elements are equal; zeros of both signs, infinities and NaN.
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
            for (descending, first) in [
                (false, extent),
                (true, extent),
                (false, extent / 2),
                (true, extent / 9),
                (true, extent.min(1)),
            ] {
                let mut out = vec![-1.0; outer * first * inner];
                let mut places = vec![-1; out.len()];
                sort(extents, first, descending, &x, &mut out);
                argsort(extents, first, descending, &x, &mut places);
                for (outer, column) in
                    (0..outer).flat_map(|outer| (0..inner).map(move |column| (outer, column)))
                {
                    let place = |along: usize| (outer * extent + along) * inner + column;
                    let key = |x: f64| if descending { -x } else { x };
                    let mut expected: Vec<usize> = (0..extent).collect();
                    expected.sort_by(|a, b| {
                        let (a, b) = (x[place(*a)], x[place(*b)]);
                        let of_nan = a.is_nan().cmp(&b.is_nan());
                        let of_nan = if descending { of_nan.reverse() } else { of_nan };
                        key(a).partial_cmp(&key(b)).unwrap_or(of_nan)
                    });
                    for (along, from) in expected.into_iter().take(first).enumerate() {
                        let found = (outer * first + along) * inner + column;
                        let what = format!("{first} of {extents:?}, {descending}");
                        assert_eq!(places[found], from as i64, "{what}");
                        assert_eq!(out[found].to_bits(), x[place(from)].to_bits(), "{what}");
                    }
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "sort: wrong length")]
    fn sorting_to_a_wrong_length_panics() {
        sort([1, 4, 1], 4, false, &[1; 4], &mut [0; 3]);
    }

    #[test]
    #[should_panic(expected = "flip: wrong length")]
    fn a_wrong_length_panics() {
        flip([1, 4, 1], &[1; 4], &mut [0; 3]);
    }
}
