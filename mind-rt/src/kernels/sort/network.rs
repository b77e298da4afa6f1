//! Short lines are sorted side by side, one in each lane, by a network of comparisons.

use super::{
    keys::{Ranked, Word},
    task::{Sort, Task},
};
use crate::simd::Kernel;

/// The positions of all lanes that are moved together: their words are in the first cache.
const BLOCK: usize = 64;

/// Sorts lines, one in each lane.
pub(super) struct SideBySide<'a, T: Ranked, K: Task<T>> {
    pub(super) sort: &'a Sort<'a, T>,
    pub(super) out: &'a mut [K::Out],
    /// The words at each position along the lines, those of all lanes side by side.
    pub(super) words: &'a mut [K::Word],
}

impl<T: Ranked, K: Task<T>> Kernel for SideBySide<'_, T, K> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { sort: &Sort { lines, heads, descending, x }, out, words } = self;
        let (count, lanes) = (lines.count(), K::Word::LANES);
        for start in (0..count).step_by(lanes) {
            // The lanes after the last line sort what they hold.
            let here = start..count.min(start + lanes);
            for (block, words) in words.chunks_mut(BLOCK * lanes).enumerate() {
                for (lane, line) in here.clone().enumerate() {
                    let to = words[lane..].iter_mut().step_by(lanes);
                    let word = |element: T, at| K::word(element.ranked(descending), at);
                    lines.read((line, block * BLOCK), x, to, word);
                }
            }
            match lanes {
                4 => network::<K::Word, 4>(words.as_chunks_mut().0),
                8 => network::<K::Word, 8>(words.as_chunks_mut().0),
                _ => network::<K::Word, 16>(words.as_chunks_mut().0),
            }
            for (block, words) in words[..heads.extent * lanes].chunks(BLOCK * lanes).enumerate() {
                for (lane, line) in here.clone().enumerate() {
                    let words = words.chunks_exact(lanes).map(|words| K::result(words[lane], descending));
                    heads.replace((line, block * BLOCK), out, words);
                }
            }
        }
    }
}

/// Sorts rows of words, each lane for itself, by merges of odd and even positions. (Batcher, *Sorting Networks and Their
/// Applications*, 1968; Knuth, *The Art of Computer Programming*, volume 3, algorithm 5.2.2M.)
#[inline(always)]
fn network<W: Word, const LANES: usize>(rows: &mut [[W; LANES]]) {
    let first = rows.len().next_power_of_two() / 2;
    let mut merged = first;
    while merged > 0 {
        let (mut apart, mut offset, mut next) = (merged, 0, first);
        loop {
            // Pairs of rows `apart`. The lower ones are blocks of `merged` rows with as many rows between them.
            let mut start = offset;
            while start + apart < rows.len() {
                let (low, high) = rows.split_at_mut(start + apart);
                for (low, high) in low[start..].iter_mut().take(merged).zip(high) {
                    exchange(low, high);
                }
                start += 2 * merged;
            }
            if next == merged {
                break;
            }
            (apart, offset, next) = (next - merged, merged, next / 2);
        }
        merged /= 2;
    }
}

/// Puts the lesser word of each lane into the first row.
#[inline(always)]
fn exchange<W: Word, const LANES: usize>(low: &mut [W; LANES], high: &mut [W; LANES]) {
    let (a, b) = (*low, *high);
    for lane in 0..LANES {
        low[lane] = a[lane].min(b[lane]);
        high[lane] = a[lane].max(b[lane]);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::scrambled;
    use super::*;

    #[test]
    fn networks_sort_every_number_of_rows() {
        for rows in (0..70).chain([127, 128, 129, 500, 1000, 1024]) {
            const LANES: usize = 4;
            let lanes = LANES;
            let mut words = scrambled(rows * lanes);
            // Few different words in one lane.
            words.iter_mut().step_by(lanes).for_each(|word| *word %= 3);
            let mut expected: Vec<Vec<u32>> = (0..lanes)
                .map(|lane| words[lane.min(words.len())..].iter().step_by(lanes).copied().collect())
                .collect();
            expected.iter_mut().for_each(|lane| lane.sort_unstable());
            network::<u32, LANES>(words.as_chunks_mut().0);
            for (lane, expected) in expected.iter().enumerate() {
                let found: Vec<u32> = words[lane.min(words.len())..].iter().step_by(lanes).copied().collect();
                assert_eq!(found, *expected, "{rows} rows");
            }
        }
    }
}
