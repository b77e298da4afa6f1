//! Sums over rows, which use the machine's SIMD vectors for long rows.

use super::number::Real;
use crate::{
    element::Arithmetic,
    kernels::number::Number,
    simd::{Kernel, dispatch},
};

/// The largest length of rows that are summed in order. Finding the SIMD level of the machine would take longer.
const SHORT: usize = 32;

/// The inner product of two rows of one length. Short rows are summed in order, long rows in as many lanes as the type
/// has.
#[inline(always)]
pub fn inner_product<T: Real>(lhs: &[T], rhs: &[T]) -> T {
    let rhs = &rhs[..lhs.len()];
    match lhs.len() {
        0 => T::ZERO,
        1..=SHORT => in_order(lhs.iter().zip(rhs).map(|(x, y)| x.times(*y))),
        _ => dispatch(InnerProduct { lhs, rhs }),
    }
}

/// The sum of a row, in the order of [`inner_product`].
#[inline(always)]
pub fn row_sum<T: Real>(row: &[T]) -> T {
    match row.len() {
        0 => T::ZERO,
        1..=SHORT => in_order(row.iter().copied()),
        _ => dispatch(RowSum { row }),
    }
}

/// The sum of one or more numbers, in order.
#[inline(always)]
fn in_order<T: Real>(numbers: impl Iterator<Item = T>) -> T {
    // -0 leaves every number unchanged when it is added, including the sign of a zero.
    numbers.fold(T::rounded(-0.0), Number::plus)
}

struct InnerProduct<'a, T> {
    lhs: &'a [T],
    rhs: &'a [T],
}

impl<T: Arithmetic> Kernel for InnerProduct<'_, T> {
    type Output = T;

    #[inline(always)]
    fn run(self) -> T {
        T::lane_dot(self.lhs, self.rhs)
    }
}

struct RowSum<'a, T> {
    row: &'a [T],
}

impl<T: Arithmetic> Kernel for RowSum<'_, T> {
    type Output = T;

    #[inline(always)]
    fn run(self) -> T {
        T::lane_sum(self.row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_every_length_are_added_up() {
        for length in 0..100_i32 {
            let x: Vec<f64> = (0..length).map(f64::from).collect();
            let n = f64::from(length);
            assert_eq!(row_sum(&x), n * (n - 1.0) / 2.0);
            assert_eq!(inner_product(&x, &x), (n - 1.0) * n * (2.0 * n - 1.0) / 6.0, "{length}");
        }
    }

    #[test]
    fn short_rows_keep_the_sign_of_a_zero() {
        assert!(row_sum(&[-0.0_f64, -0.0]).is_sign_negative());
        assert!(inner_product(&[-0.0_f32], &[1.0]).is_sign_negative());
    }
}
