//! Long lines are sorted by the digits of their keys, beginning with the lowest.

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
    /// As many words as the line has elements, or more.
    pub(super) words: &'a mut [K::Word],
    pub(super) other: &'a mut [K::Word],
}

impl<T: Ranked, K: Task<T>> Kernel for Line<'_, T, K> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { sort: &Sort { lines, heads, descending, x }, line, out, words, other } = self;
        let word = |element: T, at| K::word(element.ranked(descending), at);
        lines.read((line, 0), x, words.iter_mut(), word);
        words[lines.extent..].fill(K::Word::MAX);
        let first = &in_order::<T, K>(words, other)[..heads.extent];
        heads.replace((line, 0), out, first.iter().map(|word| K::result(*word, descending)));
    }
}

/// Sorts words. Returns the slice that holds the result.
#[inline(always)]
fn in_order<'w, T: Ranked, K: Task<T>>(
    words: &'w mut [K::Word],
    other: &'w mut [K::Word],
) -> &'w mut [K::Word] {
    if K::Word::sort_as_matrix(words, other) {
        other
    } else if words.len() <= FEW || u32::try_from(words.len()).is_err() {
        words.sort_unstable();
        words
    } else if T::Key::DIGITS == 3 {
        by_digits::<K::Word, 3>(words, other, K::LOWEST_BIT)
    } else {
        const { assert!(T::Key::DIGITS == 3 || T::Key::DIGITS == 6, "keys of 32 and 64 bits") };
        by_digits::<K::Word, 6>(words, other, K::LOWEST_BIT)
    }
}

/// Sorts words by the digits of their keys, which begin at the bit `lowest`. Equal keys keep their order. Returns the
/// slice that holds the result.
#[inline(always)]
fn by_digits<'w, W: Word, const DIGITS: usize>(
    mut words: &'w mut [W],
    mut other: &'w mut [W],
    lowest: u32,
) -> &'w mut [W] {
    let shift = |digit: usize| lowest + DIGIT * digit as u32;
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
    }
    words
}

#[cfg(test)]
mod tests {
    use super::super::tests::scrambled;
    use super::*;

    #[test]
    fn digits_sort_words_whose_digits_are_equal_or_extreme() {
        let of = |words: &[u32]| {
            let (mut words, mut other) = (words.to_vec(), vec![0; words.len()]);
            by_digits::<u32, 3>(&mut words, &mut other, 0).to_vec()
        };
        for words in [vec![], vec![7], vec![u32::MAX, 0, u32::MAX, 1 << 31], vec![5; 9], scrambled(5000)] {
            let mut expected = words.clone();
            expected.sort_unstable();
            assert_eq!(of(&words), expected);
        }
        let words: Vec<u128> =
            scrambled(3000).iter().map(|word| u128::from(*word) << 64 | u128::from(*word)).collect();
        let mut expected = words.clone();
        expected.sort_by_key(|word| *word >> 32);
        let (mut words, mut other) = (words, vec![0; 3000]);
        assert_eq!(by_digits::<u128, 6>(&mut words, &mut other, 32), expected);
        for shift in [0, 15, 32] {
            let words: Vec<u64> = scrambled(3000).iter().map(|word| u64::from(*word) << shift).collect();
            let mut expected = words.clone();
            expected.sort_unstable();
            let (mut words, mut other) = (words, vec![0; 3000]);
            assert_eq!(by_digits::<u64, 6>(&mut words, &mut other, 0), expected);
        }
    }
}
