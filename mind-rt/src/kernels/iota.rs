//! Positions along an axis.

use super::check;

/// Writes each element's position along an axis. `extents` are the product of the extents before the axis, the extent
/// of the axis, and the product of the extents after it.
///
/// # Panics
/// If `out` does not have as many elements as the product of `extents`.
pub fn iota(extents: [usize; 3], out: &mut [i64]) {
    let [outer, extent, inner] = extents;
    let places = outer.checked_mul(extent).and_then(|places| places.checked_mul(inner));
    check(places == Some(out.len()), "iota: wrong output length");
    if out.is_empty() {
        return;
    }
    for out in out.chunks_exact_mut(extent * inner) {
        for (position, out) in (0..).zip(out.chunks_exact_mut(inner)) {
            out.fill(position);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::iota;

    #[test]
    fn each_element_is_its_position_along_the_axis() {
        let mut out = [-1; 12];
        iota([1, 12, 1], &mut out);
        assert_eq!(out, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
        iota([2, 3, 2], &mut out);
        assert_eq!(out, [0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2]);
        iota([2, 0, 2], &mut []);
    }

    #[test]
    #[should_panic(expected = "iota: wrong output length")]
    fn a_wrong_length_panics() {
        iota([1, 4, 1], &mut [0; 3]);
    }
}
