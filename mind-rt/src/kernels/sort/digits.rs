//! Lines are sorted one by one: by vectors, by comparisons, or by the digits of their keys, beginning with the lowest.

use super::{
    keys::{BUCKETS, DIGIT, Ranked, Word},
    task::{Sort, Task},
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
                Sorted::Same => words,
                Sorted::Other => return K::replace_words(out, descending),
            }
        } else {
            match in_order::<T, K>(words, other) {
                Sorted::Same => words,
                Sorted::Other => other,
            }
        };
        let first = sorted[..heads.extent].iter().map(|word| K::result(*word, descending));
        heads.replace((line, 0), out, first);
    }
}

/// The slice that holds the words in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sorted {
    /// The one that held the words.
    Same,
    /// The other one.
    Other,
}

/// Sorts words.
#[inline(always)]
fn in_order<T: Ranked, K: Task<T>>(words: &mut [K::Word], other: &mut [K::Word]) -> Sorted {
    if K::Word::sort_by_vectors(words, other) {
        Sorted::Other
    } else if words.len() <= FEW || u32::try_from(words.len()).is_err() {
        words.sort_unstable();
        Sorted::Same
    } else if T::Key::DIGITS == 3 {
        by_digits::<K::Word, 3>(words, other, K::LOWEST_BIT)
    } else {
        const { assert!(T::Key::DIGITS == 3 || T::Key::DIGITS == 6, "keys of 32 and 64 bits") };
        by_digits::<K::Word, 6>(words, other, K::LOWEST_BIT)
    }
}

/// Sorts words by the digits of their keys, which begin at the bit `lowest`. Equal keys keep their order.
#[inline(always)]
fn by_digits<'w, W: Word, const DIGITS: usize>(
    mut words: &'w mut [W],
    mut other: &'w mut [W],
    lowest: u32,
) -> Sorted {
    let shift = |digit: usize| lowest + DIGIT * digit as u32;
    let mut sorted = Sorted::Same;
    let mut counts = [[0_u32; BUCKETS]; DIGITS];
    for word in &*words {
        for (digit, counts) in counts.iter_mut().enumerate() {
            counts[word.digit(shift(digit))] += 1;
        }
    }
    for (digit, counts) in counts.iter_mut().enumerate() {
        // A digit that all words share changes no order.
        if counts.iter().any(|count| *count as usize == words.len()) {
            continue;
        }
        let mut before = 0;
        for count in counts.iter_mut() {
            before += std::mem::replace(count, before);
        }
        for word in &*words {
            let place = &mut counts[word.digit(shift(digit))];
            other[*place as usize] = *word;
            *place += 1;
        }
        (words, other) = (other, words);
        sorted = match sorted {
            Sorted::Same => Sorted::Other,
            Sorted::Other => Sorted::Same,
        };
    }
    sorted
}

#[cfg(test)]
mod tests {
    use super::super::tests::scrambled;
    use super::*;

    #[test]
    fn digits_sort_words_whose_digits_are_equal_or_extreme() {
        fn sorted<W: Word, const DIGITS: usize>(mut words: Vec<W>, lowest: u32) -> Vec<W> {
            let mut other = vec![W::MAX; words.len()];
            match by_digits::<W, DIGITS>(&mut words, &mut other, lowest) {
                Sorted::Same => words,
                Sorted::Other => other,
            }
        }
        for words in [vec![], vec![7], vec![u32::MAX, 0, u32::MAX, 1 << 31], vec![5; 9], scrambled(5000)] {
            let mut expected = words.clone();
            expected.sort_unstable();
            assert_eq!(sorted::<u32, 3>(words, 0), expected);
        }
        let words: Vec<u128> =
            scrambled(3000).iter().map(|word| u128::from(*word) << 64 | u128::from(*word)).collect();
        let mut expected = words.clone();
        expected.sort_by_key(|word| *word >> 32);
        assert_eq!(sorted::<u128, 6>(words, 32), expected);
        for shift in [0, 15, 32] {
            let words: Vec<u64> = scrambled(3000).iter().map(|word| u64::from(*word) << shift).collect();
            let mut expected = words.clone();
            expected.sort_unstable();
            assert_eq!(sorted::<u64, 6>(words, 0), expected);
        }
    }
}
