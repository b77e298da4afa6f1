//! Sorts of lines by keys: unsigned integers in the order of the numbers. A key has one value for both zeros and one for
//! all NaN, so that equal numbers have equal keys.
//!
//! - Short lines are sorted side by side, one in each lane, by a network of comparisons.
//! - Long lines are sorted by the digits of their keys, beginning with the lowest.
//!
//! For positions each key carries the position of its element in its low bits. Keys with positions differ, so that their
//! order is stable by any sort.

mod digits;
mod keys;
mod lines;
mod network;
mod task;

pub(super) use keys::Ranked;
pub(super) use lines::Lines;

use digits::Line;
use keys::Word;
use network::SideBySide;
use task::{Positions, Task, Values};

use crate::simd::dispatch;

/// Sorts each line.
pub(super) fn sorted<T: Ranked>(lines: &Lines, descending: bool, x: &[T], out: &mut [T]) {
    run::<T, Values>(lines, descending, x, out);
    // Numbers that share a key are written as one of them. This restores their bits, in their order.
    for line in 0..lines.count() {
        let share = |shares, element: &T| shares | element.shares_its_key();
        let shares = match lines.inner {
            1 => x[lines.first(line)..][..lines.extent].iter().fold(false, share),
            _ => lines.elements(line, x).fold(false, share),
        };
        if !shares {
            continue;
        }
        let is_zero = |element: T| element == T::ZERO;
        let is_nan = |element: T| element.partial_cmp(&element).is_none();
        for is_alike in [&is_zero as &dyn Fn(T) -> bool, &is_nan] {
            let from = lines.elements(line, x).filter(|element| is_alike(**element));
            let to = lines.elements_mut(line, out).filter(|element| is_alike(**element));
            to.zip(from).for_each(|(to, from)| *to = *from);
        }
    }
}

/// The positions of the elements of each line in sorted order.
pub(super) fn order<T: Ranked>(lines: &Lines, descending: bool, x: &[T], out: &mut [i64]) {
    if u32::try_from(lines.extent).is_err() {
        return order_of_long(lines, descending, x, out);
    }
    run::<T, Positions>(lines, descending, x, out);
}

/// [`order`] of lines whose positions do not fit into 32 bits.
fn order_of_long<T: Ranked>(lines: &Lines, descending: bool, x: &[T], out: &mut [i64]) {
    for line in 0..lines.count() {
        let first = lines.first(line);
        u64::with_scratch(lines.extent, |places| {
            places.iter_mut().zip(0..).for_each(|(place, at)| *place = at);
            let key = |at: u64| Values::word(x[first + at as usize * lines.inner], 0, descending);
            places.sort_unstable_by_key(|at| (key(*at), *at));
            lines.elements_mut(line, out).zip(&*places).for_each(|(out, at)| *out = *at as i64);
        });
    }
}

fn run<T: Ranked, K: Task<T>>(lines: &Lines, descending: bool, x: &[T], out: &mut [K::Out]) {
    let (count, extent) = (lines.count(), lines.extent);
    let is_short = extent <= K::Word::SHORT && (extent <= SMALL || 2 * count >= K::Word::LANES);
    if is_short {
        return K::Word::with_scratch(extent * K::Word::LANES, |words| {
            dispatch(SideBySide::<T, K> { lines, descending, x, out, words });
        });
    }
    for line in 0..count {
        K::Word::with_scratch(2 * extent, |words| {
            let (words, other) = words.split_at_mut(extent);
            dispatch(Line::<T, K> { lines, line, descending, x, out: &mut *out, words, other });
        });
    }
}

/// Lines up to this length are sorted side by side even if there are few of them.
const SMALL: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::{SimdLevel, run_at_most};

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
            let lines = Lines::new([2, 10, 3], 60, 60, "");
            let (mut short, mut long) = (vec![-1; 60], vec![-1; 60]);
            order(&lines, descending, &x, &mut short);
            order_of_long(&lines, descending, &x, &mut long);
            assert_eq!(short, long);
        }
    }

    #[test]
    fn every_level_gives_the_same_order() {
        let x: Vec<f64> = scrambled(40 * 33).iter().map(|word| f64::from(word % 50) - 25.0).collect();
        let lines = Lines::new([40, 33, 1], x.len(), x.len(), "");
        let at = |level| {
            let mut out = vec![0.0; x.len()];
            u64::with_scratch(33 * 8, |words| {
                run_at_most(
                    level,
                    SideBySide::<f64, Values> {
                        lines: &lines,
                        descending: true,
                        x: &x,
                        out: &mut out,
                        words,
                    },
                );
            });
            let mut one = vec![0.0; 33];
            let mut words = vec![0; 66];
            let (words, other) = words.split_at_mut(33);
            let lines = Lines::new([1, 33, 1], 33, 33, "");
            run_at_most(
                level,
                Line::<f64, Values> {
                    lines: &lines,
                    line: 0,
                    descending: true,
                    x: &x[..33],
                    out: &mut one,
                    words,
                    other,
                },
            );
            assert_eq!(one, out[..33]);
            out
        };
        let portable = at(SimdLevel::Portable);
        assert!(portable.chunks_exact(33).all(|line| line.is_sorted_by(|a, b| a >= b)));
        assert!(SimdLevel::ALL.into_iter().all(|level| at(level) == portable));
    }
}
