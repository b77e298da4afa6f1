//! Concatenation of tensors.

use super::check;
use super::memory::Storable;

/// Concatenates tensors along an axis: each of the `rows` rows of `out` consists of one row of each part. `rows` is the
/// product of the extents before the axis.
///
/// # Panics
/// If the parts do not consist of `rows` rows each, or do not have as many elements in all as `out`.
#[allow(private_bounds, reason = "sealed")]
pub fn concat<'a, T: Storable>(rows: usize, parts: impl Iterator<Item = &'a [T]> + Clone, out: &mut [T]) {
    let len: usize = parts.clone().map(<[T]>::len).sum();
    check(len == out.len(), "concat: wrong output length");
    check(rows > 0 && parts.clone().all(|part| part.len() % rows == 0), "concat: wrong operand length");
    let (row, mut start) = (len / rows, 0);
    for part in parts {
        let own = part.len() / rows;
        if own > 0 {
            for (part, out) in part.chunks_exact(own).zip(out.chunks_exact_mut(row)) {
                out[start..start + own].copy_from_slice(part);
            }
        }
        start += own;
    }
}

#[cfg(test)]
mod tests {
    use super::concat;

    #[test]
    fn rows_of_the_parts_stand_one_after_the_other() {
        let (a, b, mut out) = ([1, 2, 3, 4], [5, 6], [0; 6]);
        concat(1, [&a[..], &b].into_iter(), &mut out);
        assert_eq!(out, [1, 2, 3, 4, 5, 6]);
        concat(2, [&a[..], &b].into_iter(), &mut out);
        assert_eq!(out, [1, 2, 5, 3, 4, 6]);
    }

    #[test]
    #[should_panic(expected = "concat: wrong output length")]
    fn an_output_of_another_length_is_refused() {
        concat(1, [&[1.0_f32; 2][..], &[1.0]].into_iter(), &mut [0.0; 4]);
    }
}
