//! Loops over rows that are cut into chunks of `L` elements: a register of AVX-512, or several smaller ones.

use super::real::Real;
use crate::kernels::math::MultiplyAdd;

/// `x * row + sums`.
#[inline(always)]
pub(super) fn axpy<A: MultiplyAdd, T: Real, const L: usize>(x: T, row: &[T; L], mut sums: [T; L]) -> [T; L] {
    for l in 0..L {
        sums[l] = A::multiply_add(x, row[l], sums[l]);
    }
    sums
}

/// `a * b + sums`, element by element.
#[inline(always)]
pub(super) fn add_products<A: MultiplyAdd, T: Real, const L: usize>(
    a: &[T; L],
    b: &[T; L],
    mut sums: [T; L],
) -> [T; L] {
    for l in 0..L {
        sums[l] = A::multiply_add(a[l], b[l], sums[l]);
    }
    sums
}

/// The sum of the lanes, as a tree.
#[inline(always)]
pub(super) fn sum<T: Real, const L: usize>(mut lanes: [T; L]) -> T {
    let mut half = L / 2;
    while half > 0 {
        for l in 0..half {
            lanes[l] += lanes[l + half];
        }
        half /= 2;
    }
    lanes[0]
}

/// The chunks of elements whose number is a multiple of `L`.
#[inline(always)]
pub(super) fn chunks<T, const L: usize>(elements: &[T]) -> &[[T; L]] {
    elements.as_chunks().0
}

/// As [`chunks`].
#[inline(always)]
pub(super) fn rows_of<T, const L: usize>(elements: &mut [T]) -> &mut [[T; L]] {
    elements.as_chunks_mut().0
}

/// `R` consecutive rows of a matrix, `width` chunks each.
#[inline(always)]
pub(super) fn some_rows<T, const L: usize, const R: usize>(
    matrix: &mut [[T; L]],
    first: usize,
    width: usize,
) -> [&mut [[T; L]]; R] {
    let mut rows = matrix[first * width..][..R * width].chunks_exact_mut(width);
    std::array::from_fn(|_| rows.next().expect("there are R rows"))
}
