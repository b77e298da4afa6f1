//! Folds of rows, as many at once as a register has lanes.
//!
//! For a row that is no longer than its lanes, almost all of the work is the tree that adds the lanes up. A tree for a
//! single row leaves most of a register idle from its first step on. Here registers that hold one or several rows each
//! are paired: a step of the tree puts the lower halves of all rows of both registers into one register and the upper
//! halves into another, and adds these two. After the last step one register holds the sums. For longer rows, the lanes
//! of each row are such a short row. The order of each sum is that of [`sum`](super::reduce::sum), so that the bits are
//! the same.

use std::marker::PhantomData;

use mind_shape::loops::LANE_BYTES;

use super::check;
use super::limit::limit;
use super::math::Functions;
use super::monoid::{Max, Min, Monoid, Product, Sum};
use super::reduce::{Reduce, combine_lanes};
use crate::simd::{Kernel, SimdLevel, dispatch, simd_level};

/// In bytes. Longer rows are summed one by one: their tree takes little time beside the loop before it.
const LONG: usize = limit(2048, 256);

/// The narrowest elements, in bytes, that registers add. Rows of bytes are summed one by one.
const WORD: usize = 4;

/// The sums of rows of `LEN` elements: `sums[i]` is the sum of the row that begins at `elements[i * stride]`. `LANES`
/// is the smallest power of two that is not below `LEN`, and at most the number of lanes of the type.
///
/// # Panics
/// If a row is not inside `elements`.
pub fn sum_rows<T: SumRows, const LEN: usize, const LANES: usize>(
    elements: &[T],
    stride: usize,
    sums: &mut [T],
) {
    const { assert!(LEN <= LANES && LANES.is_power_of_two() && LANES * size_of::<T>() <= LANE_BYTES) };
    if T::sum_short_rows(elements, LEN, stride, sums) {
        return;
    }
    for (i, sum) in sums.iter_mut().enumerate() {
        let row: &[T; LEN] = elements[i * stride..].first_chunk().expect("the rows are inside");
        *sum = fold_short::<Sum, T, LANES>(row);
    }
}

/// Combines the elements of a row that is no longer than its lanes.
#[inline(always)]
fn fold_short<M: Monoid<T>, T: SumRows, const LANES: usize>(row: &[T]) -> T {
    let mut lanes = [M::NEUTRAL; LANES];
    if let Some(row) = row.first_chunk::<LANES>() {
        // Without a detour through memory.
        for lane in 0..LANES {
            lanes[lane] = M::combine(lanes[lane], row[lane]);
        }
        return combine_lanes::<M, _, _>(lanes);
    }
    for (lane, element) in lanes.iter_mut().zip(row) {
        *lane = M::combine(*lane, *element);
    }
    combine_lanes::<M, _, _>(lanes)
}

/// The sums of rows of `len` elements: `sums[i]` is the sum of the row that begins at `elements[i * stride]`.
///
/// # Panics
/// If a row is not inside `elements`.
pub fn sum_rows_of<T: SumRows>(elements: &[T], len: usize, stride: usize, sums: &mut [T]) {
    T::sum_rows_of(elements, len, stride, sums);
}

/// Folds rows of `len` elements: `out[i]` is the fold of the row that begins at `elements[i * stride]`.
///
/// # Panics
/// If a row is not inside `elements`.
pub fn fold_rows<M: Folds<T>, T: SumRows>(elements: &[T], len: usize, stride: usize, out: &mut [T]) {
    M::rows(elements, len, stride, out);
}

/// Folds of short rows in the registers of the SIMD level in use.
pub trait SumRows: Reduce {
    /// [`sum_rows_of`].
    fn sum_rows_of(elements: &[Self], len: usize, stride: usize, sums: &mut [Self]);

    /// As [`sum_rows`], for rows of at most as many elements as the type has lanes. Returns `false` if it did nothing.
    fn sum_short_rows(elements: &[Self], len: usize, stride: usize, sums: &mut [Self]) -> bool;

    /// [`fold_rows`] by [`Max`].
    fn greatest_of_rows(elements: &[Self], len: usize, stride: usize, out: &mut [Self]);

    /// [`fold_rows`] by [`Min`].
    fn least_of_rows(elements: &[Self], len: usize, stride: usize, out: &mut [Self]);
}

macro_rules! sum_rows {
    (@sums $ty:ident) => {
        fn sum_rows_of(elements: &[Self], len: usize, stride: usize, sums: &mut [Self]) {
            at_once_or_one_by_one::<Sum, Self>(elements, len, stride, sums);
        }

        fn sum_short_rows(elements: &[Self], len: usize, stride: usize, sums: &mut [Self]) -> bool {
            at_once::<Sum, Self>(elements, len, stride, sums)
        }
    };
    (@integers $($ty:ident $variant:ident;)*) => {
        $(impl SumRows for $ty {
            sum_rows!(@sums $ty);

            fn greatest_of_rows(elements: &[Self], len: usize, stride: usize, out: &mut [Self]) {
                one_by_one::<Max, Self>(elements, len, stride, out);
            }

            fn least_of_rows(elements: &[Self], len: usize, stride: usize, out: &mut [Self]) {
                one_by_one::<Min, Self>(elements, len, stride, out);
            }
        })*
    };
    (@floats $($ty:ident $variant:ident;)*) => {
        $(impl SumRows for $ty {
            sum_rows!(@sums $ty);

            fn greatest_of_rows(elements: &[Self], len: usize, stride: usize, out: &mut [Self]) {
                at_once_or_one_by_one::<Max, Self>(elements, len, stride, out);
            }

            fn least_of_rows(elements: &[Self], len: usize, stride: usize, out: &mut [Self]) {
                at_once_or_one_by_one::<Min, Self>(elements, len, stride, out);
            }
        })*
    };
}

mind_shape::element_types!(integers => sum_rows! @integers);
mind_shape::element_types!(floats => sum_rows! @floats);

/// Folds rows, as many at once as possible unless their trees take little of the time.
fn at_once_or_one_by_one<M: AtOnce<T>, T: SumRows>(
    elements: &[T],
    len: usize,
    stride: usize,
    folds: &mut [T],
) {
    let is_short = len <= LANE_BYTES / size_of::<T>();
    if is_short && at_once::<M, T>(elements, len, stride, folds) {
        return;
    }
    let alone = len > LONG / size_of::<T>() || size_of::<T>() < WORD || simd_level() == SimdLevel::Portable;
    let blocks = if alone { 0 } else { folds.len() / BLOCK * BLOCK };
    let (first, rest) = folds.split_at_mut(blocks);
    if !first.is_empty() {
        let rows = RowsKernel { elements, len, stride, folds: first };
        dispatch(InBlocks::<M, T>(rows, PhantomData));
    }
    if !rest.is_empty() {
        one_by_one::<M, T>(&elements[blocks * stride..], len, stride, rest);
    }
}

fn one_by_one<M: Monoid<T>, T: SumRows>(elements: &[T], len: usize, stride: usize, folds: &mut [T]) {
    dispatch(OneByOne::<M, T>(RowsKernel { elements, len, stride, folds }, PhantomData));
}

/// Folds rows of at most as many elements as the type has lanes. Returns `false` if it did nothing.
fn at_once<M: AtOnce<T>, T: Copy>(elements: &[T], len: usize, stride: usize, folds: &mut [T]) -> bool {
    let last = folds.len().checked_sub(1).map(|rows| rows.checked_mul(stride)?.checked_add(len));
    let is_inside = |end: Option<usize>| end.is_some_and(|end| end <= elements.len());
    check(last.is_none_or(is_inside), "rows to be folded are outside of their tensor");
    check(len * size_of::<T>() <= LANE_BYTES, "rows to be folded at once are not short");
    #[cfg(target_arch = "x86_64")]
    return x86::fold::<M, T>(elements, len, stride, folds);
    #[cfg(not(target_arch = "x86_64"))]
    false
}

struct RowsKernel<'a, T> {
    elements: &'a [T],
    len: usize,
    stride: usize,
    folds: &'a mut [T],
}

impl<T> RowsKernel<'_, T> {
    #[inline(always)]
    fn row(&self, i: usize) -> &[T] {
        &self.elements[i * self.stride..][..self.len]
    }
}

/// Folds each row by a function. The function is named, not passed as a value: a value would be compiled once, for no
/// SIMD level.
macro_rules! unroll {
    ($rows:expr, $($fold:tt)+) => {
        for i in 0..$rows.folds.len() {
            $rows.folds[i] = $($fold)+($rows.row(i));
        }
    };
}

struct OneByOne<'a, M, T>(RowsKernel<'a, T>, PhantomData<M>);

impl<M: Monoid<T>, T: SumRows> Kernel for OneByOne<'_, M, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        match self.0.len {
            len if len > LANE_BYTES / size_of::<T>().max(WORD) => unroll!(self.0, T::lane_fold::<M>),
            0..=4 => unroll!(self.0, fold_short::<M, T, 4>),
            5..=8 => unroll!(self.0, fold_short::<M, T, 8>),
            9..=16 => unroll!(self.0, fold_short::<M, T, 16>),
            _ => unroll!(self.0, fold_short::<M, T, 32>),
        }
    }
}

/// The number of rows in a block: as many as the widest register has lanes.
const BLOCK: usize = 16;

/// Folds whole blocks: the lanes of the rows of a block are short rows themselves.
struct InBlocks<'a, M, T>(RowsKernel<'a, T>, PhantomData<M>);

impl<M: AtOnce<T>, T: SumRows> Kernel for InBlocks<'_, M, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let width = const { LANE_BYTES / size_of::<T>() };
        let mut lanes = [M::NEUTRAL; BLOCK * LANE_BYTES / size_of::<f32>()];
        for first in (0..self.0.folds.len()).step_by(BLOCK) {
            for (i, lanes) in lanes.chunks_exact_mut(width).enumerate().take(BLOCK) {
                T::fold_lanes::<M>(self.0.row(first + i), lanes);
            }
            let is_done = at_once::<M, T>(&lanes, width, width, &mut self.0.folds[first..][..BLOCK]);
            check(is_done, "a block of rows fills no register");
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86;

/// A monoid that combines registers of elements.
#[cfg(target_arch = "x86_64")]
use x86::InRegisters as AtOnce;

#[cfg(not(target_arch = "x86_64"))]
use super::monoid::Monoid as AtOnce;

/// How rows are folded by a monoid.
pub trait Folds<T: SumRows>: Monoid<T> {
    /// [`fold_rows`].
    fn rows(elements: &[T], len: usize, stride: usize, out: &mut [T]);
}

impl<T: SumRows> Folds<T> for Sum {
    fn rows(elements: &[T], len: usize, stride: usize, out: &mut [T]) {
        T::sum_rows_of(elements, len, stride, out);
    }
}

impl<T: Functions + SumRows> Folds<T> for Max {
    fn rows(elements: &[T], len: usize, stride: usize, out: &mut [T]) {
        T::greatest_of_rows(elements, len, stride, out);
    }
}

impl<T: Functions + SumRows> Folds<T> for Min {
    fn rows(elements: &[T], len: usize, stride: usize, out: &mut [T]) {
        T::least_of_rows(elements, len, stride, out);
    }
}

impl<T: Functions + SumRows> Folds<T> for Product {
    fn rows(elements: &[T], len: usize, stride: usize, out: &mut [T]) {
        one_by_one::<Self, T>(elements, len, stride, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::compiled::SumKernels;
    use crate::kernels::reduce::sum;

    /// Sums rows of every short length, in matrices of up to 40 rows that are exactly as long as their rows need.
    fn rows_are_summed<T: SumRows + SumKernels>(element: impl Fn(usize) -> T, bits: impl Fn(T) -> u64) {
        for len in 0..=LANE_BYTES / size_of::<T>() {
            for rows in 0..40 {
                for stride in [len, len + 3, 0] {
                    let needed = if rows == 0 { 0 } else { (rows - 1) * stride + len };
                    let elements: Vec<T> = (0..needed).map(&element).collect();
                    let mut sums = vec![T::ONE; rows];
                    let is_done = T::sum_short_rows(&elements, len, stride, &mut sums);
                    assert!(is_done || rows < BLOCK || simd_level() == SimdLevel::Portable);
                    for (i, found) in sums.iter().enumerate().filter(|_| is_done) {
                        let expected = sum(&elements[i * stride..][..len]);
                        assert_eq!(
                            bits(*found),
                            bits(expected),
                            "row {i} of {rows} of {len}, {stride} apart"
                        );
                    }
                }
            }
        }
    }

    fn uneven(i: usize) -> f32 {
        match i % 17 {
            3 => 3.0e7,
            5 => -0.0,
            _ => ((i * 7919) % 1013) as f32 * 0.137 - 30.0,
        }
    }

    #[test]
    fn short_rows_are_summed_in_the_order_of_a_sum() {
        rows_are_summed(uneven, |sum| sum.to_bits().into());
        rows_are_summed(|i| f64::from(uneven(i)) * 1.1, f64::to_bits);
        rows_are_summed(|i| i32::MAX / (i as i32 + 1), |sum| sum as u64);
        rows_are_summed(|i| i64::MAX / (i as i64 + 1), |sum| sum as u64);
    }

    /// Folds rows of every length near a limit by comparison, and compares them with the rows folded one by one.
    fn rows_are_compared<M: Folds<T>, T: SumRows>(element: impl Fn(usize) -> T, bits: impl Fn(T) -> u64) {
        for len in (0..=40).chain([64, 100, 300, 1000]) {
            for (rows, gap) in
                [0, 1, 3, 4, 7, 8, 15, 16, 17, 33, 40].into_iter().flat_map(|rows| [(rows, 0), (rows, 3)])
            {
                let stride = len + gap;
                let needed = if rows == 0 { 0 } else { (rows - 1) * stride + len };
                let elements: Vec<T> = (0..needed).map(&element).collect();
                let mut found = vec![T::ONE; rows];
                fold_rows::<M, T>(&elements, len, stride, &mut found);
                for (i, found) in found.iter().enumerate() {
                    let row = &elements[i * stride..][..len];
                    let expected = row.iter().fold(M::NEUTRAL, |all, x| M::combine(all, *x));
                    assert_eq!(bits(*found), bits(expected), "row {i} of {rows} of {len}, {stride} apart");
                }
            }
        }
    }

    /// Zeros of both signs are most of the elements, and some are NaN.
    fn special(i: usize) -> f32 {
        match i * 7919 % 211 {
            0 => f32::NAN,
            1..70 => -0.0,
            70..140 => 0.0,
            140 => f32::INFINITY,
            141 => f32::NEG_INFINITY,
            _ => uneven(i),
        }
    }

    fn bits_but_of_nans(x: f64) -> u64 {
        if x.is_nan() { u64::MAX } else { x.to_bits() }
    }

    #[test]
    fn rows_are_compared_as_elements_are() {
        let single = |x: f32| bits_but_of_nans(x.into());
        for element in [uneven, special] {
            rows_are_compared::<Max, _>(element, single);
            rows_are_compared::<Min, _>(element, single);
            rows_are_compared::<Max, _>(|i| f64::from(element(i)), bits_but_of_nans);
            rows_are_compared::<Min, _>(|i| f64::from(element(i)), bits_but_of_nans);
        }
        rows_are_compared::<Max, _>(|i| (i * 7919 % 251) as u8, u64::from);
        rows_are_compared::<Min, _>(|i| (i * 7919 % 1001) as i64 - 500, |x| x as u64);
    }

    #[test]
    fn rows_of_negative_zeros_sum_to_zero() {
        rows_are_summed(|_| -0.0_f32, |sum| sum.to_bits().into());
    }

    fn rows_of_known_length_are_summed<const LEN: usize, const LANES: usize>() {
        for rows in 0..40 {
            let elements: Vec<f32> = (0..rows * LEN).map(uneven).collect();
            let mut sums = vec![1.0; rows];
            sum_rows::<f32, LEN, LANES>(&elements, LEN, &mut sums);
            let expected: Vec<f32> = elements.chunks(LEN).map(sum).collect();
            assert_eq!(sums, expected, "{rows} rows of {LEN}");
        }
    }

    #[test]
    fn few_rows_and_rows_at_the_portable_level_are_summed_one_by_one() {
        rows_of_known_length_are_summed::<1, 1>();
        rows_of_known_length_are_summed::<3, 4>();
        rows_of_known_length_are_summed::<10, 16>();
        rows_of_known_length_are_summed::<32, 32>();
    }

    #[test]
    fn rows_of_any_length_are_summed_in_the_order_of_a_sum() {
        for len in (0..=40).chain([1000]) {
            for rows in [0, 1, 7, 8, 15, 16, 33] {
                let elements: Vec<f32> = (0..rows * (len + 1)).map(uneven).collect();
                let mut sums = vec![1.0; rows];
                sum_rows_of(&elements, len, len + 1, &mut sums);
                let expected: Vec<f32> = elements.chunks(len + 1).map(|row| sum(&row[..len])).collect();
                assert_eq!(sums, expected, "{rows} rows of {len}");
            }
        }
    }

    #[test]
    fn rows_of_bytes_are_summed() {
        for len in (0..=40).chain([127, 128, 129, 1000]) {
            for rows in [0, 1, 31, 32, 33, 64, 65, 200] {
                let elements: Vec<u8> = (0..rows * (len + 1)).map(|i| (i % 251) as u8).collect();
                let mut sums = vec![1; rows];
                sum_rows_of(&elements, len, len + 1, &mut sums);
                let expected: Vec<u8> = elements.chunks(len + 1).map(|row| sum(&row[..len])).collect();
                assert_eq!(sums, expected, "{rows} rows of {len}");
            }
        }
    }

    #[test]
    #[should_panic(expected = "rows to be folded are outside of their tensor")]
    fn rows_outside_of_their_tensor_panic() {
        f32::sum_short_rows(&[0.0; 159], 10, 10, &mut [0.0; 16]);
    }

    #[test]
    #[should_panic(expected = "rows to be folded are outside of their tensor")]
    fn strides_that_overflow_panic() {
        f32::sum_short_rows(&[0.0; 160], 10, usize::MAX / 2, &mut [0.0; 16]);
    }
}
