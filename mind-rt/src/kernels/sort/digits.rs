//! Words are sorted by the digits of their keys, beginning with the lowest.

use super::{
    keys::{BUCKETS, DIGIT, Word},
    task::Destination,
};

/// Sorts words by the digits of their keys, which begin at the bit `lowest`. Equal keys keep their order.
#[inline(always)]
pub(super) fn by_digits<'w, W: Word, const DIGITS: usize>(
    mut words: &'w mut [W],
    mut other: &'w mut [W],
    lowest: u32,
) -> Destination {
    let shift = |digit: usize| lowest + DIGIT * digit as u32;
    let mut sorted = Destination::Same;
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
            Destination::Same => Destination::Other,
            Destination::Other => Destination::Same,
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
                Destination::Same => words,
                Destination::Other => other,
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
