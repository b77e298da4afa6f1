//! Cumulative folds along an axis: each position gets the combination of the elements up to it.

use std::marker::PhantomData;

use mind_shape::loops::CHAIN;

use super::check;
use super::compiled::SumKernels;
use super::limit::limit;
use super::memory::poison;
use super::monoid::Monoid;
use super::number::Number;
use crate::simd::{Kernel, dispatch};

/// The number of columns that are combined at a time.
const COLUMNS: usize = limit(64, 4);

/// The elements of a contiguous tensor that are combined for each position along an axis.
#[derive(Clone, Copy, Debug)]
pub struct Along {
    /// The product of the extents before the axis, the extent of the axis, and the product of the extents after it.
    pub extents: [usize; 3],
    /// Whether the elements are taken from the last position down to this one, instead of from the first up to it.
    pub reverse: bool,
    /// Whether the element at the position itself is left out.
    pub exclusive: bool,
}

/// The monoid that combines elements, as a value.
#[derive(Clone, Copy, Debug)]
pub enum By {
    /// [`Sum`](super::monoid::Sum).
    Sum,
    /// [`Product`](super::monoid::Product).
    Product,
    /// [`Max`](super::monoid::Max).
    Max,
    /// [`Min`](super::monoid::Min).
    Min,
}

/// Combines at each position the elements along an axis up to it, in order. Sums are computed in chains of [`CHAIN`]
/// elements, which are added up as in [`sum`](super::reduce::sum).
///
/// # Panics
/// If a slice does not have as many elements as the product of the extents.
pub fn cumulate<T: SumKernels>(by: By, along: Along, x: &[T], out: &mut [T]) {
    T::cumulate(by, along, x, out);
}

pub(super) fn by_monoid<M: Monoid<T>, T: Number>(along: Along, x: &[T], out: &mut [T]) {
    let places = along.extents.iter().try_fold(1_usize, |all, extent| all.checked_mul(*extent));
    check(places == Some(x.len()) && places == Some(out.len()), "cumulate: wrong length");
    poison(out);
    dispatch(Cumulate::<M, T> { along, x, out, by: PhantomData });
}

struct Cumulate<'a, M, T> {
    along: Along,
    x: &'a [T],
    out: &'a mut [T],
    by: PhantomData<M>,
}

impl<M: Monoid<T>, T: Number> Kernel for Cumulate<'_, M, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let [_, extent, inner] = self.along.extents;
        let len = extent * inner;
        if len == 0 {
            return;
        }
        for (x, out) in self.x.chunks_exact(len).zip(self.out.chunks_exact_mut(len)) {
            if inner == 1 {
                columns::<M, T, 1>(self.along, 0..1, x, out);
                continue;
            }
            for first in (0..inner).step_by(COLUMNS) {
                columns::<M, T, COLUMNS>(self.along, first..inner.min(first + COLUMNS), x, out);
            }
        }
    }
}

/// Cumulates at most `C` columns of the rows that belong to one position before the axis.
#[inline(always)]
fn columns<M: Monoid<T>, T: Number, const C: usize>(
    along: Along,
    columns: std::ops::Range<usize>,
    x: &[T],
    out: &mut [T],
) {
    let Along { extents: [_, extent, inner], reverse, exclusive } = along;
    let [mut all, mut lost, mut chain] = [[M::NEUTRAL; C], [T::ZERO; C], [M::NEUTRAL; C]];
    for turn in 0..extent {
        if M::IS_COMPENSATED && turn > 0 && turn % CHAIN == 0 {
            for column in 0..C {
                (all[column], lost[column]) = M::combine_chain(all[column], lost[column], chain[column]);
            }
            chain = [M::NEUTRAL; C];
        }
        let row = if reverse { extent - 1 - turn } else { turn } * inner;
        let (x, out) = (&x[row..][columns.clone()], &mut out[row..][columns.clone()]);
        let state = all.iter().zip(&lost).zip(&mut chain);
        for ((x, out), ((all, lost), chain)) in x.iter().zip(out).zip(state) {
            let with_own = M::combine(*chain, *x);
            let own = if exclusive { *chain } else { with_own };
            *out = if M::IS_COMPENSATED { M::combine_last_chain(*all, *lost, own) } else { own };
            *chain = with_own;
        }
    }
}

/// Computes at each position along an axis `a * h + b`, where `h` is the result at the position before it, and 0 at the
/// first one. If the cumulation is exclusive, the output is `h` instead. A product with a factor of 0 is 0.
///
/// # Panics
/// If a slice does not have as many elements as the product of the extents.
pub fn recurrence<T: SumKernels>(along: Along, a: &[T], b: &[T], out: &mut [T]) {
    T::recurrence(along, a, b, out);
}

pub(super) fn by_factors<T: Number>(along: Along, a: &[T], b: &[T], out: &mut [T]) {
    let places = along.extents.iter().try_fold(1_usize, |all, extent| all.checked_mul(*extent));
    let lens = [a.len(), b.len(), out.len()];
    check(lens.iter().all(|len| places == Some(*len)), "recurrence: wrong length");
    poison(out);
    dispatch(Recurrence { along, a, b, out });
}

struct Recurrence<'a, T> {
    along: Along,
    a: &'a [T],
    b: &'a [T],
    out: &'a mut [T],
}

impl<T: Number> Kernel for Recurrence<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Along { extents: [_, extent, inner], reverse, exclusive } = self.along;
        let len = extent * inner;
        if len == 0 {
            return;
        }
        let rows = self.a.chunks_exact(len).zip(self.b.chunks_exact(len));
        for ((a, b), out) in rows.zip(self.out.chunks_exact_mut(len)) {
            for first in (0..inner).step_by(COLUMNS) {
                let columns = first..inner.min(first + COLUMNS);
                let mut state = [T::ZERO; COLUMNS];
                for turn in 0..extent {
                    let row = if reverse { extent - 1 - turn } else { turn } * inner;
                    let [a, b] = [a, b].map(|x| &x[row..][columns.clone()]);
                    let out = &mut out[row..][columns.clone()];
                    for (((a, b), out), h) in a.iter().zip(b).zip(out).zip(&mut state) {
                        let is_zero = (*a == T::ZERO) | (*h == T::ZERO);
                        let carried = if is_zero { T::ZERO } else { a.times(*h) };
                        let after = carried.plus(*b);
                        *out = if exclusive { *h } else { after };
                        *h = after;
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZES: [[usize; 3]; 5] = [[1, 1, 1], [2, 3, 1], [1, 100, 1], [2, 70, 5], [3, 33, 131]];

    /// Visits every kind of cumulation along an axis, with the positions that each position combines, in their order.
    fn ways(extents: [usize; 3], mut visit: impl FnMut(Along, &[Vec<usize>])) {
        let [outer, extent, inner] = extents;
        for (reverse, exclusive) in [(false, false), (true, false), (false, true), (true, true)] {
            let of = |place: usize| {
                let (row, at, column) = (place / (extent * inner), place / inner % extent, place % inner);
                let turn = |other: usize| if reverse { extent - 1 - other } else { other };
                let last = turn(at) + usize::from(!exclusive);
                (0..last).map(|other| (row * extent + turn(other)) * inner + column).collect()
            };
            let places: Vec<Vec<usize>> = (0..outer * extent * inner).map(of).collect();
            visit(Along { extents, reverse, exclusive }, &places);
        }
    }

    #[test]
    fn each_place_has_what_comes_before_it() {
        for extents in SIZES {
            let len = extents.iter().product::<usize>();
            let x: Vec<i64> = (0..len as i64).map(|i| i * i % 17 - 5).collect();
            ways(extents, |along, places| {
                let folded = |by: By, places: &Vec<usize>| {
                    let elements = places.iter().map(|place| x[*place]);
                    match by {
                        By::Sum => elements.sum::<i64>(),
                        By::Product => elements.fold(1, i64::wrapping_mul),
                        By::Max => elements.fold(i64::MIN, i64::max),
                        By::Min => elements.fold(i64::MAX, i64::min),
                    }
                };
                for by in [By::Sum, By::Product, By::Max, By::Min] {
                    let mut out = vec![-1; len];
                    cumulate(by, along, &x, &mut out);
                    let expected: Vec<i64> = places.iter().map(|places| folded(by, places)).collect();
                    assert_eq!(out, expected, "{by:?} {along:?}");
                }
            });
        }
    }

    #[test]
    fn each_place_has_its_summand_and_its_factor_times_what_is_before_it() {
        for extents in SIZES {
            let len = extents.iter().product::<usize>();
            // Factors of 0 and infinity, and sums that are 0.
            let a: Vec<f64> =
                (0..len).map(|i| [0.5, 2.0, 0.0, -1.0, f64::INFINITY, 1.0][i * 7 % 13 % 6]).collect();
            let b: Vec<f64> = (0..len).map(|i| (i * 5 % 7) as f64 - 3.0).collect();
            ways(extents, |along, places| {
                let mut out = vec![-1.0; len];
                recurrence(along, &a, &b, &mut out);
                for (found, places) in out.iter().zip(places) {
                    let next = |h: f64, place: &usize| {
                        b[*place] + if h == 0.0 || a[*place] == 0.0 { 0.0 } else { a[*place] * h }
                    };
                    let expected = places.iter().fold(0.0, next);
                    let both_nan = found.is_nan() && expected.is_nan();
                    assert!(both_nan || *found == expected, "{found}, expected {expected}: {along:?}");
                }
            });
        }
    }

    #[test]
    fn the_error_does_not_grow_with_the_length() {
        let x = vec![0.1_f32; 1 << 20];
        let mut out = vec![0.0; x.len()];
        cumulate(By::Sum, Along { extents: [1, x.len(), 1], reverse: false, exclusive: false }, &x, &mut out);
        for (count, found) in (1_u32..).zip(&out) {
            let exact = f64::from(count) * f64::from(0.1_f32);
            let bound = 4.0 * f64::from(f32::EPSILON) * f64::from(count).log2();
            assert!((f64::from(*found) / exact - 1.0).abs() <= bound, "{found} of {count}");
        }
    }

    #[test]
    fn what_is_not_finite_stays() {
        let mut x = vec![1.0_f64; 100];
        (x[10], x[70]) = (f64::INFINITY, f64::NEG_INFINITY);
        let mut out = vec![0.0; 100];
        cumulate(By::Sum, Along { extents: [1, 100, 1], reverse: false, exclusive: false }, &x, &mut out);
        assert_eq!(out[..10], (1..=10).map(f64::from).collect::<Vec<_>>()[..]);
        assert!(
            out[10..70].iter().all(|sum| *sum == f64::INFINITY) && out[70..].iter().all(|sum| sum.is_nan())
        );
    }

    #[test]
    #[should_panic(expected = "cumulate: wrong length")]
    fn a_wrong_length_panics() {
        cumulate(
            By::Sum,
            Along { extents: [1, 4, 1], reverse: false, exclusive: false },
            &[1_i32; 4],
            &mut [0; 3],
        );
    }
}
