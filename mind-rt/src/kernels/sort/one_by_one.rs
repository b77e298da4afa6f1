//! Lines are sorted one by one: by vectors, by comparisons or by the digits of their keys.

use super::{
    digits::by_digits,
    keys::{Ranked, Word},
    task::{Destination, Sort, Task},
};
use crate::simd::Kernel;

/// This many words are sorted by comparisons: counters of digits would take longer.
const FEW: usize = 512;

/// Sorts one line.
pub(super) struct Line<'a, T: Ranked, K: Task<T>> {
    pub(super) sort: &'a Sort<'a, T>,
    pub(super) line: usize,
    pub(super) out: &'a mut [K::Out],
    /// As many words as [`words_for`] returns.
    pub(super) words: &'a mut [K::Word],
}

/// The number of words of scratch memory for a line.
pub(super) fn words_for<T: Ranked, K: Task<T>>(sort: &Sort<'_, T>) -> usize {
    if is_in_result::<T, K>(sort) { sort.lines.extent } else { 2 * sort.lines.extent }
}

/// Whether the memory of the result holds words while they are sorted.
fn is_in_result<T: Ranked, K: Task<T>>(Sort { lines, heads, .. }: &Sort<'_, T>) -> bool {
    K::HOLDS_WORDS && lines.inner == 1 && lines.extent == heads.extent
}

impl<T: Ranked, K: Task<T>> Kernel for Line<'_, T, K> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { sort, line, out, words } = self;
        let &Sort { lines, heads, descending, x } = sort;
        let (words, other) = words.split_at_mut(lines.extent);
        lines.read((line, 0), x, words.iter_mut(), |element: T, at| K::word(element.ranked(descending), at));
        let sorted = if is_in_result::<T, K>(sort) {
            let out = &mut out[heads.first(line)..][..heads.extent];
            match in_order::<T, K>(words, K::as_words(out)) {
                Destination::Same => words,
                Destination::Other => return K::replace_words(out, descending),
            }
        } else {
            match in_order::<T, K>(words, other) {
                Destination::Same => words,
                Destination::Other => other,
            }
        };
        let first = sorted[..heads.extent].iter().map(|word| K::result(*word, descending));
        heads.replace((line, 0), out, first);
    }
}

/// Sorts words.
#[inline(always)]
fn in_order<T: Ranked, K: Task<T>>(words: &mut [K::Word], other: &mut [K::Word]) -> Destination {
    if K::Word::sort_by_vectors(words, other) {
        Destination::Other
    } else {
        without_vectors::<T, K>(words, other)
    }
}

/// Sorts words where no sort by vectors is.
#[inline(always)]
fn without_vectors<T: Ranked, K: Task<T>>(words: &mut [K::Word], other: &mut [K::Word]) -> Destination {
    if words.len() <= FEW || u32::try_from(words.len()).is_err() {
        words.sort_unstable();
        Destination::Same
    } else if T::Key::DIGITS == 3 {
        by_digits::<K::Word, 3>(words, other, K::LOWEST_BIT)
    } else {
        const { assert!(T::Key::DIGITS == 3 || T::Key::DIGITS == 6, "keys of 32 and 64 bits") };
        by_digits::<K::Word, 6>(words, other, K::LOWEST_BIT)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{
        task::{Positions, Values},
        tests::scrambled,
    };
    use super::*;

    /// The number of digits belongs to the key, also where the word has more bits.
    #[test]
    fn words_are_sorted_without_vectors_by_all_digits_of_their_keys() {
        fn check<T: Ranked, K: Task<T>>(x: &[T]) {
            let mut words: Vec<_> = (0..).zip(x).map(|(at, x)| K::word(x.ranked(false), at)).collect();
            let mut other = vec![K::Word::MAX; words.len()];
            let mut expected = words.clone();
            expected.sort_unstable();
            let sorted = match without_vectors::<T, K>(&mut words, &mut other) {
                Destination::Same => words,
                Destination::Other => other,
            };
            assert!(sorted == expected, "{} elements", x.len());
        }
        for len in [FEW, FEW + 1, 5000] {
            let words = scrambled(len);
            for shift in [0, 15, 31] {
                let x: Vec<i64> = words.iter().map(|word| i64::from(*word as i32) << shift).collect();
                check::<i64, Values>(&x);
                check::<i64, Positions>(&x);
            }
            for shift in [0, 15] {
                let x: Vec<i32> = words.iter().map(|word| (*word >> 16 << shift) as i32).collect();
                check::<i32, Values>(&x);
                check::<i32, Positions>(&x);
            }
        }
    }
}
