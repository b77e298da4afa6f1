//! What the elements up to each along an axis are together.

use std::marker::PhantomData;

use mind_shape::loops::CHAIN;

use super::check;
use super::compiled::Sums;
use super::limit::limit;
use super::memory::poison;
use super::monoid::Monoid;
use super::number::Number;
use crate::simd::{Kernel, dispatch};

/// The columns that are put together at a time.
const COLUMNS: usize = limit(64, 4);

/// Which elements of a contiguous tensor are together at each place along an axis.
#[derive(Clone, Copy, Debug)]
pub struct Along {
    /// The places before the axis, along it, and behind it.
    pub extents: [usize; 3],
    /// Whether they are those from the place on, the last one first, instead of those up to it.
    pub reverse: bool,
    /// Whether the one at the place is not among them.
    pub exclusive: bool,
}

/// What puts elements together: a monoid as a value.
#[derive(Clone, Copy, Debug)]
pub enum By {
    /// [`Sum`](super::monoid::Sum).
    Sum,
}

/// At each place what the elements along an axis up to it are together. They are taken in order; sums in chains of [`CHAIN`], each
/// of which is settled as those of [sums](super::reduce::sum) are.
///
/// # Panics
/// If there are not as many elements as places.
pub fn cumulate<T: Sums>(by: By, along: Along, x: &[T], out: &mut [T]) {
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

/// Some columns, at most `C`, of the rows behind one place before the axis.
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
        if M::SETTLES && turn > 0 && turn % CHAIN == 0 {
            for column in 0..C {
                (all[column], lost[column]) = M::settle(all[column], lost[column], chain[column]);
            }
            chain = [M::NEUTRAL; C];
        }
        let row = if reverse { extent - 1 - turn } else { turn } * inner;
        let (x, out) = (&x[row..][columns.clone()], &mut out[row..][columns.clone()]);
        let state = all.iter().zip(&lost).zip(&mut chain);
        for ((x, out), ((all, lost), chain)) in x.iter().zip(out).zip(state) {
            let with_own = M::combine(*chain, *x);
            let own = if exclusive { *chain } else { with_own };
            *out = if M::SETTLES { M::settled(*all, *lost, own) } else { own };
            *chain = with_own;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_place_has_what_comes_before_it() {
        for extents in [[1, 1, 1], [2, 3, 1], [1, 100, 1], [2, 70, 5], [3, 33, 131]] {
            let len = extents.iter().product::<usize>();
            let x: Vec<i64> = (0..len as i64).map(|i| i * i % 17 - 5).collect();
            let [outer, extent, inner] = extents;
            for (reverse, exclusive) in [(false, false), (true, false), (false, true), (true, true)] {
                let mut out = vec![-1; len];
                cumulate(By::Sum, Along { extents, reverse, exclusive }, &x, &mut out);
                for (place, found) in out.iter().enumerate() {
                    let (row, at, column) = (place / (extent * inner), place / inner % extent, place % inner);
                    assert!(row < outer);
                    let counts = |other: &usize| match (reverse, exclusive) {
                        (false, false) => *other <= at,
                        (true, false) => *other >= at,
                        (false, true) => *other < at,
                        (true, true) => *other > at,
                    };
                    let others = (0..extent).filter(counts);
                    let sum: i64 = others.map(|other| x[(row * extent + other) * inner + column]).sum();
                    assert_eq!(*found, sum, "{extents:?} at {place}, {reverse} {exclusive}");
                }
            }
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
