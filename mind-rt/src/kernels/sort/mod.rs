//! Sorts of lines by keys: unsigned integers in the order of the numbers. A key has one value for both zeros and one for
//! all NaN, so that equal numbers have equal keys.
//!
//! - Short lines are sorted side by side, one in each lane, by a network of comparisons.
//! - Longer lines are sorted one by one: at the level AVX-512 by partitions into matrices of vectors, at other levels by
//!   the digits of their keys, beginning with the lowest.
//! - If only the first elements in sorted order are needed, a scan selects them.
//!
//! For positions each key carries the position of its element in its low bits. Keys with positions differ, so that their
//! order is stable by any sort.

#[cfg(target_arch = "x86_64")]
mod avx512;
mod digits;
mod keys;
mod lines;
mod network;
mod one_by_one;
#[cfg(target_arch = "x86_64")]
mod quick;
mod select;
mod task;

pub(super) use keys::Ranked;
pub(super) use lines::Lines;

use keys::Word;
use network::SideBySide;
use one_by_one::{Line, words_for};
use select::{Head, Kept};
use task::{Positions, Sort, Task, Values};

use crate::simd::{Kernel, SimdLevel, dispatch, simd_level};

/// Sorts each line. `heads` are the lines of the result: the first elements of each, or all.
pub(super) fn sorted<T: Ranked>([lines, heads]: [&Lines; 2], descending: bool, x: &[T], out: &mut [T]) {
    run::<T, Values>(&Sort { lines, heads, descending, x }, out);
    // Numbers that share a key are written as one of them. This restores their bits, in their order.
    for line in 0..heads.count() {
        let shares = match lines.inner {
            1 => dispatch(ShareKeys(&x[lines.first(line)..][..lines.extent])),
            _ => lines.elements(line, x).any(|element| element.shares_its_key()),
        };
        if !shares {
            continue;
        }
        let is_zero = |element: T| element == T::ZERO;
        let is_nan = |element: T| element.partial_cmp(&element).is_none();
        for is_alike in [&is_zero as &dyn Fn(T) -> bool, &is_nan] {
            let from = lines.elements(line, x).filter(|element| is_alike(**element));
            let to = heads.elements_mut(line, out).filter(|element| is_alike(**element));
            to.zip(from).for_each(|(to, from)| *to = *from);
        }
    }
}

/// Finds whether some of the elements share their keys with other numbers.
struct ShareKeys<'a, T>(&'a [T]);

impl<T: Ranked> Kernel for ShareKeys<'_, T> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        self.0.iter().fold(false, |shares, element| shares | element.shares_its_key())
    }
}

/// The positions of the elements of each line in sorted order. `heads` as in [`sorted`].
pub(super) fn order<T: Ranked>([lines, heads]: [&Lines; 2], descending: bool, x: &[T], out: &mut [i64]) {
    let sort = Sort { lines, heads, descending, x };
    if u32::try_from(lines.extent).is_err() {
        return order_of_long(&sort, out);
    }
    run::<T, Positions>(&sort, out);
}

/// [`order`] of lines whose positions do not fit into 32 bits.
fn order_of_long<T: Ranked>(sort: &Sort<'_, T>, out: &mut [i64]) {
    let &Sort { lines, heads, descending, x } = sort;
    for line in 0..heads.count() {
        let first = lines.first(line);
        u64::with_scratch(lines.extent, |places| {
            places.iter_mut().zip(0..).for_each(|(place, at)| *place = at);
            let key = |at: u64| x[first + at as usize * lines.inner].ranked(descending);
            places.sort_unstable_by_key(|at| (key(*at), *at));
            heads.elements_mut(line, out).zip(&*places).for_each(|(out, at)| *out = *at as i64);
        });
    }
}

fn run<T: Ranked, K: Task<T>>(sort: &Sort<'_, T>, out: &mut [K::Out]) {
    let (count, extent, first) = (sort.heads.count(), sort.lines.extent, sort.heads.extent);
    if let Some(kept) = Kept::of(extent, first) {
        for line in 0..count {
            K::Word::with_scratch(kept.len(), |words| {
                dispatch(Head::<T, K> { sort, line, kept, out: &mut *out, words });
            });
        }
        return;
    }
    let is_by_vectors = extent >= K::Word::ONE_BY_ONE && simd_level() == SimdLevel::Avx512;
    let is_short = extent <= K::Word::SHORT && (extent <= SMALL || 2 * count >= K::Word::LANES);
    if is_short && !is_by_vectors {
        return K::Word::with_scratch(extent * K::Word::LANES, |words| {
            dispatch(SideBySide::<T, K> { sort, out, words });
        });
    }
    for line in 0..count {
        K::Word::with_scratch(words_for::<T, K>(sort), |words| {
            dispatch(Line::<T, K> { sort, line, out: &mut *out, words });
        });
    }
}

/// Lines up to this length are sorted side by side even if there are few of them.
const SMALL: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::run_at_most;

    /// Numbers of 32 bits without an apparent order.
    pub(super) fn scrambled(count: usize) -> Vec<u32> {
        (0..count as u32)
            .map(|at| at.wrapping_mul(0x9e37_79b9).rotate_left(7) ^ at.wrapping_mul(0x85eb_ca6b))
            .collect()
    }

    #[test]
    fn positions_beyond_32_bits_are_sorted_too() {
        let x: Vec<f32> = scrambled(60).iter().map(|word| (word % 7) as f32).collect();
        for descending in [false, true] {
            for first in [0, 4, 10] {
                let (lines, heads) =
                    (Lines::new([2, 10, 3], 60, ""), Lines::new([2, first, 3], 6 * first, ""));
                let (mut short, mut long) = (vec![-1; 6 * first], vec![-1; 6 * first]);
                order([&lines, &heads], descending, &x, &mut short);
                order_of_long(&Sort { lines: &lines, heads: &heads, descending, x: &x }, &mut long);
                assert_eq!(short, long);
            }
        }
    }

    /// Numbers that differ only in their high or only in their low bits are sorted in lines of every kind of sort.
    #[test]
    fn all_bits_of_a_number_count() {
        for len in [1, 2, 31, 33, 200, 300, 600, 1500, 5000, 9000, 20_000] {
            let words = scrambled(len);
            for shift in [0, 15, 31] {
                let x: Vec<i64> = words.iter().map(|word| i64::from(*word as i32) << shift).collect();
                let floats: Vec<f64> = words
                    .iter()
                    .map(|word| f64::from_bits(1.0_f64.to_bits() + (u64::from(*word >> 1) << (shift / 2))))
                    .collect();
                let lines = Lines::new([1, len, 1], len, "");
                let (mut sorted_x, mut expected) = (vec![0; len], x.clone());
                sorted([&lines, &lines], false, &x, &mut sorted_x);
                expected.sort_unstable();
                assert!(sorted_x == expected, "{len} integers, shifted by {shift}");
                let (mut sorted_floats, mut expected) = (vec![0.0; len], floats.clone());
                sorted([&lines, &lines], true, &floats, &mut sorted_floats);
                expected.sort_unstable_by(|a, b| f64::total_cmp(b, a));
                assert!(sorted_floats == expected, "{len} floats, shifted by {}", shift / 2);
                let mut positions = vec![0; len];
                order([&lines, &lines], false, &x, &mut positions);
                let mut expected: Vec<i64> = (0..len as i64).collect();
                expected.sort_by_key(|at| x[*at as usize]);
                assert!(positions == expected, "positions of {len}, shifted by {shift}");
                let first = Lines::new([1, len.min(8), 1], len.min(8), "");
                let mut least = vec![0; len.min(8)];
                sorted([&lines, &first], false, &x, &mut least);
                assert!(least == sorted_x[..len.min(8)], "the first of {len}, shifted by {shift}");
            }
        }
    }

    #[test]
    fn every_level_gives_the_same_order() {
        let x: Vec<f64> = scrambled(40 * 33).iter().map(|word| f64::from(word % 50) - 25.0).collect();
        let lines = Lines::new([40, 33, 1], x.len(), "");
        let at = |level| {
            let mut out = vec![0.0; x.len()];
            u64::with_scratch(33 * 8, |words| {
                run_at_most(
                    level,
                    SideBySide::<f64, Values> {
                        sort: &Sort { lines: &lines, heads: &lines, descending: true, x: &x },
                        out: &mut out,
                        words,
                    },
                );
            });
            let mut one = vec![0.0; 33];
            let lines = Lines::new([1, 33, 1], 33, "");
            let sort = Sort { lines: &lines, heads: &lines, descending: true, x: &x[..33] };
            let mut words = vec![0; words_for::<f64, Values>(&sort)];
            run_at_most(
                level,
                Line::<f64, Values> { sort: &sort, line: 0, out: &mut one, words: &mut words },
            );
            assert_eq!(one, out[..33]);
            out
        };
        let portable = at(SimdLevel::Portable);
        assert!(portable.chunks_exact(33).all(|line| line.is_sorted_by(|a, b| a >= b)));
        assert!(SimdLevel::ALL.into_iter().all(|level| at(level) == portable));
    }
}
