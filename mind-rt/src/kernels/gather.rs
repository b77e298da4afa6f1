//! Rows and elements selected by index.

use mind_shape::element_types;

use super::check;
use super::compiled::{Compiled, SumKernels};
use super::memory::{Storable, poison};
use crate::error::Error;
use crate::kernels::number::Number;
use crate::simd::{Kernel, dispatch};

/// An element type that can be an index.
#[allow(private_bounds, reason = "sealed")]
pub trait Index: Storable + Into<i64> {
    /// The slice as [`Indices`].
    #[doc(hidden)]
    fn indices(indices: &[Self]) -> Indices<'_>;

    /// The index as a position. A negative index becomes `usize::MAX`, which is outside every extent.
    #[doc(hidden)]
    #[inline(always)]
    fn position(self) -> usize {
        usize::try_from(self.into()).unwrap_or(usize::MAX)
    }
}

macro_rules! indices {
    ($($integer:ident $variant:ident;)*) => {
        /// Indices of any integer type.
        #[derive(Clone, Copy, Debug)]
        pub enum Indices<'a> {
            $($variant(&'a [$integer]),)*
        }

        $(impl Index for $integer {
            fn indices(indices: &[Self]) -> Indices<'_> {
                Indices::$variant(indices)
            }
        })*
    };
}

element_types!(integers => indices!);

/// Evaluates an expression for indices of each type. In it, the name of the indices is bound to their slice.
macro_rules! by_type {
    ($indices:ident => $value:expr) => {
        mind_shape::element_types!(integers => by_type! @match $indices $value;)
    };
    (@match $indices:ident $value:expr; $($integer:ident $variant:ident;)*) => {
        match $indices {
            $(Indices::$variant($indices) => $value,)*
        }
    };
}

pub(super) use by_type;

impl Indices<'_> {
    /// The first index as a position.
    ///
    /// # Panics
    /// If there is none.
    pub fn first(self) -> usize {
        let indices = self;
        by_type!(indices => indices[0].position())
    }

    /// As [`check_indices`], but compiled with this crate, like the methods of [`Compiled`].
    ///
    /// # Errors
    /// E6001 for the first index that is out of range.
    #[inline(never)]
    pub fn check(self, extent: usize, what: &'static str) -> Result<(), Error> {
        fn first_outside<I: Index>(indices: &[I], extent: usize) -> Option<(usize, i64)> {
            let position = indices.iter().position(|index| index.position() >= extent)?;
            Some((position, indices[position].into()))
        }

        let indices = self;
        let outside = by_type!(indices => first_outside(indices, extent));
        match outside {
            None => Ok(()),
            Some((position, index)) => Err(Error::IndexOutOfRange { what, position, index, extent }),
        }
    }
}

/// Checks that every index is within `extent`.
///
/// # Errors
/// E6001 for the first index that is not within `extent`. The message names the indices by `what`.
pub fn check_indices<I: Index>(indices: &[I], extent: usize, what: &'static str) -> Result<(), Error> {
    I::indices(indices).check(extent, what)
}

/// Checks that no divisor is 0.
///
/// # Errors
/// E6010 for the first divisor that is 0. The message names the dividing operation by `what`.
pub fn check_divisors<I: Index>(divisors: &[I], what: &'static str) -> Result<(), Error> {
    let zero = divisors.iter().position(|divisor| (*divisor).into() == 0);
    zero.map_or(Ok(()), |position| Err(Error::DivisionByZero { what, position }))
}

/// Checks that a loop has ended.
///
/// # Errors
/// E6010 if it has not.
pub fn check_ended(goes_on: bool, steps: usize, function: &'static str) -> Result<(), Error> {
    if goes_on { Err(Error::LoopLimit { function, steps }) } else { Ok(()) }
}

/// The part of a contiguous tensor that an index selects.
#[derive(Clone, Copy, Debug)]
pub enum Picked {
    /// A row of this many elements.
    Row(usize),
    /// One element along an axis. The index is its position along the axis, and the place of the index gives the
    /// positions along the other axes. The extents are the product of those before the axis, the axis's own, and the
    /// product of those after it.
    Along([usize; 3]),
}

/// For rows `out[i, :] = table[indices[i], :]`, and along an axis `out[o, k, i] = table[o, indices[o, k, i], i]`.
/// Indices must be in range, see [`check_indices`].
pub fn gather<T: Compiled, I: Index>(table: &[T], picked: Picked, indices: &[I], out: &mut [T]) {
    T::gather(table, picked, I::indices(indices), out);
}

pub(super) fn pick<T: Storable, I: Index>(table: &[T], picked: Picked, indices: &[I], out: &mut [T]) {
    match picked {
        Picked::Row(row_len) => rows(table, row_len, indices, out),
        Picked::Along(extents) => {
            check(indices.len() == out.len(), "take_along: wrong output length");
            poison(out);
            each_place(extents, table.len(), indices, |at, place| out[at] = table[place]);
        }
    }
}

/// Calls `visit` with the position of each index and the position of the element that it selects. The table has `len`
/// elements.
#[inline(always)]
fn each_place<I: Index>(
    [outer, extent, inner]: [usize; 3],
    len: usize,
    indices: &[I],
    mut visit: impl FnMut(usize, usize),
) {
    let places = outer.checked_mul(extent).and_then(|places| places.checked_mul(inner));
    check(places == Some(len), "take_along: wrong length");
    if indices.is_empty() {
        return;
    }
    check(indices.len().is_multiple_of(outer * inner), "take_along: wrong number of indices");
    let part = indices.len() / outer;
    for outer in 0..outer {
        for first in (outer * part..(outer + 1) * part).step_by(inner) {
            for column in 0..inner {
                let index = indices[first + column].position();
                check(index < extent, "take_along: an index was not checked");
                visit(first + column, (outer * extent + index) * inner + column);
            }
        }
    }
}

fn rows<T: Storable, I: Index>(table: &[T], row_len: usize, indices: &[I], out: &mut [T]) {
    check(indices.len().checked_mul(row_len) == Some(out.len()), "gather: wrong output length");
    poison(out);
    if row_len == 1 {
        for (out, index) in out.iter_mut().zip(indices) {
            *out = table[index.position()];
        }
    } else if let Some(rows) = table.len().checked_div(row_len) {
        for (out, index) in out.chunks_exact_mut(row_len).zip(indices) {
            let row = index.position();
            check(row < rows, "gather: an index was not checked");
            out.copy_from_slice(&table[row * row_len..][..row_len]);
        }
    }
}

/// Replaces rows: `out[indices[i], :] = updates[i, :]`, one after the other. Indices must be in range, see
/// [`check_indices`].
pub(super) fn scatter<T: Storable, I: Index>(out: &mut [T], row_len: usize, indices: &[I], updates: &[T]) {
    check(indices.len().checked_mul(row_len) == Some(updates.len()), "scatter: wrong update length");
    if row_len == 0 {
        return;
    }
    let rows = out.len() / row_len;
    for (update, index) in updates.chunks_exact(row_len).zip(indices) {
        let row = index.position();
        check(row < rows, "scatter: an index was not checked");
        out[row * row_len..][..row_len].copy_from_slice(update);
    }
}

/// The transpose of [`gather`]: sets `out` to zeros and adds `updates` at the indices, in their order. Indices must be
/// in range, see [`check_indices`].
pub fn scatter_add<T: SumKernels, I: Index>(out: &mut [T], picked: Picked, indices: &[I], updates: &[T]) {
    T::scatter_add(out, picked, I::indices(indices), updates);
}

pub(super) fn put<T: Number, I: Index>(out: &mut [T], picked: Picked, indices: &[I], updates: &[T]) {
    out.fill(T::ZERO);
    match picked {
        Picked::Row(row_len) => add_rows(out, row_len, indices, updates),
        Picked::Along(extents) => {
            check(indices.len() == updates.len(), "take_along: wrong update length");
            let len = out.len();
            each_place(extents, len, indices, |at, place| out[place] = out[place].plus(updates[at]));
        }
    }
}

/// Adds rows: `out[indices[i], :] += updates[i, :]`, one after the other. Indices must be in range, see
/// [`check_indices`].
pub(super) fn add_rows<T: Number, I: Index>(out: &mut [T], row_len: usize, indices: &[I], updates: &[T]) {
    check(indices.len().checked_mul(row_len) == Some(updates.len()), "scatter_add: wrong update length");
    dispatch(ScatterAdd { out, row_len, indices, updates });
}

struct ScatterAdd<'a, T, I> {
    out: &'a mut [T],
    row_len: usize,
    indices: &'a [I],
    updates: &'a [T],
}

impl<T: Number, I: Index> Kernel for ScatterAdd<'_, T, I> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { out, row_len, indices, updates } = self;
        if row_len == 0 {
            return;
        }
        let rows = out.len() / row_len;
        for (update, index) in updates.chunks_exact(row_len).zip(indices) {
            let row = index.position();
            check(row < rows, "scatter_add: an index was not checked");
            for (out, update) in out[row * row_len..][..row_len].iter_mut().zip(update) {
                *out = out.plus(*update);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_are_checked_at_both_ends() {
        assert_eq!(check_indices::<i32>(&[], 0, "ids"), Ok(()));
        assert_eq!(check_indices(&[0_i32, 4], 5, "ids"), Ok(()));
        let error =
            |position, index, extent| Err(Error::IndexOutOfRange { what: "ids", position, index, extent });
        assert_eq!(check_indices(&[0_i32, 5, 6], 5, "ids"), error(1, 5, 5));
        assert_eq!(check_indices(&[0_i64, 1, -1], 5, "ids"), error(2, -1, 5));
        assert_eq!(check_indices(&[i64::MIN], usize::MAX, "ids"), error(0, i64::MIN, usize::MAX));
        assert_eq!(check_indices(&[0_i32], 0, "ids"), error(0, 0, 0));
    }

    #[test]
    fn gather_takes_rows_and_scatter_add_gives_them_back() {
        for row_len in 0..=17 {
            let table: Vec<f32> = (0..5 * row_len).map(|x| x as f32).collect();
            let indices = [4_i64, 0, 4, 2];
            let mut rows = vec![-1.0; 4 * row_len];
            gather(&table, Picked::Row(row_len), &indices, &mut rows);
            let mut sums = vec![f32::NAN; 5 * row_len];
            scatter_add(&mut sums, Picked::Row(row_len), &indices, &rows);
            for column in 0..row_len {
                for (i, index) in indices.iter().enumerate() {
                    assert_eq!(rows[i * row_len + column], table[*index as usize * row_len + column]);
                }
                for (row, count) in [1.0, 0.0, 1.0, 0.0, 2.0].into_iter().enumerate() {
                    assert_eq!(sums[row * row_len + column], count * table[row * row_len + column]);
                }
            }
        }
    }

    #[test]
    fn rows_are_replaced_in_the_order_of_the_indices() {
        for row_len in 0..=17 {
            let update = |row: usize, column| (100 * row + column) as f64;
            let updates: Vec<f64> = (0..3 * row_len).map(|at| update(at / row_len, at % row_len)).collect();
            let mut out = vec![-1.0; 4 * row_len];
            <f64 as Compiled>::scatter(&mut out, row_len, i32::indices(&[2, 0, 2]), &updates);
            for (row, from) in [Some(1), None, Some(2), None].into_iter().enumerate() {
                for column in 0..row_len {
                    let expected = from.map_or(-1.0, |from| update(from, column));
                    assert_eq!(out[row * row_len + column], expected);
                }
            }
        }
    }

    #[test]
    fn rows_are_added_in_the_order_of_the_indices() {
        for row_len in 0..=17 {
            let update = |row: usize, column| (100 * row + column) as f32 / 3.0;
            let updates: Vec<f32> = (0..3 * row_len).map(|at| update(at / row_len, at % row_len)).collect();
            let mut out = vec![0.1; 4 * row_len];
            <f32 as SumKernels>::add_rows(&mut out, row_len, u8::indices(&[2, 0, 2]), &updates);
            for (row, from) in [&[1][..], &[], &[0, 2], &[]].into_iter().enumerate() {
                for column in 0..row_len {
                    let expected = from.iter().fold(0.1, |sum, from| sum + update(*from, column));
                    assert_eq!(out[row * row_len + column].to_bits(), expected.to_bits());
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "internal error in mind: scatter_add: an index was not checked")]
    fn nothing_is_added_to_an_unchecked_row() {
        <i32 as SumKernels>::add_rows(&mut [1; 4], 2, i64::indices(&[2]), &[0; 2]);
    }

    #[test]
    #[should_panic(expected = "internal error in mind: scatter: an index was not checked")]
    fn an_unchecked_row_is_not_replaced() {
        <bool as Compiled>::scatter(&mut [true; 4], 2, i64::indices(&[-1]), &[false; 2]);
    }

    #[test]
    fn elements_are_picked_along_an_axis_and_given_back() {
        for [outer, extent, inner, count] in [[1, 5, 1, 3], [2, 3, 4, 5], [3, 4, 1, 1], [2, 1, 3, 2]] {
            let table: Vec<f64> = (0..outer * extent * inner).map(|x| x as f64).collect();
            let indices: Vec<i32> = (0..outer * count * inner).map(|i| (i * i % extent) as i32).collect();
            let mut taken = vec![-1.0; indices.len()];
            let along = Picked::Along([outer, extent, inner]);
            gather(&table, along, &indices, &mut taken);
            let mut sums = vec![f64::NAN; table.len()];
            scatter_add(&mut sums, along, &indices, &taken);
            let mut expected = vec![0.0; table.len()];
            for (at, index) in indices.iter().enumerate() {
                let (row, column) = (at / (count * inner), at % inner);
                let place = (row * extent + *index as usize) * inner + column;
                assert_eq!(taken[at], table[place]);
                expected[place] += table[place];
            }
            assert_eq!(sums, expected);
        }
        gather::<f32, i64>(&[], Picked::Along([0, 3, 2]), &[], &mut []);
    }

    #[test]
    #[should_panic(expected = "internal error in mind: take_along: an index was not checked")]
    fn an_unchecked_index_along_an_axis_panics() {
        gather(&[1.0_f32; 4], Picked::Along([2, 2, 1]), &[0_i64, -1], &mut [0.0; 2]);
    }

    #[test]
    fn integers_wrap_as_they_accumulate() {
        let mut out = [7; 1];
        scatter_add(&mut out, Picked::Row(1), &[0_i32, 0], &[i32::MAX, 1]);
        assert_eq!(out, [i32::MIN]);
    }

    #[test]
    #[should_panic(expected = "internal error in mind: gather: an index was not checked")]
    fn an_unchecked_index_panics() {
        gather(&[1.0_f32; 4], Picked::Row(2), &[2_i32], &mut [0.0; 2]);
    }

    #[test]
    #[should_panic(expected = "gather: wrong output length")]
    fn a_wrong_length_panics() {
        gather(&[1.0_f32; 4], Picked::Row(2), &[1_i32], &mut [0.0; 3]);
    }
}
