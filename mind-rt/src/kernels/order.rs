//! The elements along an axis in another order.

use super::check;
use super::memory::{Stored, poison};

/// The elements along an axis from the last to the first: `extents` are the places before the axis, along it, and behind it.
///
/// # Panics
/// If there are not as many elements as places.
#[allow(private_bounds, reason = "sealed")]
pub fn flip<T: Stored>(extents: [usize; 3], x: &[T], out: &mut [T]) {
    let [outer, extent, inner] = extents;
    let places = outer.checked_mul(extent).and_then(|places| places.checked_mul(inner));
    check(places == Some(x.len()) && places == Some(out.len()), "flip: wrong length");
    poison(out);
    if out.is_empty() {
        return;
    }
    for (x, out) in x.chunks_exact(extent * inner).zip(out.chunks_exact_mut(extent * inner)) {
        if inner == 1 {
            out.iter_mut().zip(x.iter().rev()).for_each(|(out, x)| *out = *x);
            continue;
        }
        for (x, out) in x.chunks_exact(inner).rev().zip(out.chunks_exact_mut(inner)) {
            out.copy_from_slice(x);
        }
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
    #[should_panic(expected = "flip: wrong length")]
    fn a_wrong_length_panics() {
        flip([1, 4, 1], &[1; 4], &mut [0; 3]);
    }
}
