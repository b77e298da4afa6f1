//! The first elements of a line in sorted order, without a sort of the others.
//!
//! A scan keeps the words that precede the last of the first words so far. When the memory for them is full, a selection
//! drops the others. So a line in random order keeps few words after its beginning, and a line in the opposite order
//! costs a selection per word, which takes constant time on average.

use super::{
    keys::{Ranked, Word},
    task::{Sort, Task},
};
use crate::simd::Kernel;

/// The keys that are compared together.
const BLOCK: usize = 64;

/// The numbers of words that a scan keeps.
#[derive(Clone, Copy)]
pub(super) struct Kept {
    /// The first words, which are wanted.
    first: usize,
    /// The words at which a selection drops those that are not the first ones.
    most: usize,
}

impl Kept {
    /// The numbers for lines of an extent of which the first elements are wanted; `None` if a sort takes less time.
    pub(super) fn of(extent: usize, first: usize) -> Option<Self> {
        let most = (2 * first).max(first + BLOCK);
        (first > 0 && extent / RATIO >= first && extent > most).then_some(Self { first, most })
    }

    /// The words of memory.
    pub(super) fn len(self) -> usize {
        self.most + BLOCK
    }
}

/// A scan takes less time than a sort for lines that are this many times as long as their result.
const RATIO: usize = 8;

/// Writes the first elements of one line in sorted order.
pub(super) struct Head<'a, T: Ranked, K: Task<T>> {
    pub(super) sort: &'a Sort<'a, T>,
    pub(super) line: usize,
    pub(super) kept: Kept,
    pub(super) out: &'a mut [K::Out],
    pub(super) words: &'a mut [K::Word],
}

impl<T: Ranked, K: Task<T>> Kernel for Head<'_, T, K> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self {
            sort: &Sort { lines, heads, descending, x },
            line,
            kept: Kept { first, most },
            out,
            words,
        } = self;
        let word = |element: T, at| K::word(element.ranked(descending), at);
        lines.read((line, 0), x, words[..most].iter_mut(), word);
        let (mut count, mut last) = (first, last_of::<T, K>(&mut words[..most], first));
        for from in (most..lines.extent).step_by(BLOCK) {
            let mut keys = [T::Key::MAX; BLOCK];
            lines.read(
                (line, from),
                x,
                keys[..BLOCK.min(lines.extent - from)].iter_mut(),
                |element: T, _| element.ranked(descending),
            );
            if !keys.iter().fold(false, |any, key| any | (*key < last)) {
                continue;
            }
            for (key, at) in keys.into_iter().zip(from..) {
                words[count] = K::word(key, at);
                count += usize::from(key < last);
            }
            if count > most {
                last = last_of::<T, K>(&mut words[..count], first);
                count = first;
            }
        }
        last_of::<T, K>(&mut words[..count], first);
        // Positions are not in their order, so digits of keys alone would not sort the words.
        words[..first].sort_unstable();
        let values = words[..first].iter().map(|word| K::result(*word, descending));
        heads.replace((line, 0), out, values);
    }
}

/// Moves the first words in sorted order to the front. Returns the key of the last of them.
#[inline(always)]
fn last_of<T: Ranked, K: Task<T>>(words: &mut [K::Word], first: usize) -> T::Key {
    K::key(*words.select_nth_unstable(first - 1).1)
}

#[cfg(test)]
mod tests {
    use super::super::{lines::Lines, order, tests::scrambled};

    #[test]
    fn the_first_elements_are_found_in_lines_in_any_order() {
        let random: Vec<i32> = scrambled(3000).into_iter().map(|word| word as i32).collect();
        let ascending: Vec<i32> = (0..3000).collect();
        let mut late = vec![7; 3000];
        late[2999] = 8;
        for x in
            [random, ascending.clone(), ascending.into_iter().rev().collect(), vec![i32::MIN; 3000], late]
        {
            for descending in [false, true] {
                let lines = Lines::new([1, 3000, 1], 3000, "");
                let mut all = vec![-1; 3000];
                order([&lines, &lines], descending, &x, &mut all);
                for first in [1, 8, 65, 370, 375, 376, 600] {
                    let mut found = vec![-1; first];
                    order([&lines, &Lines::new([1, first, 1], first, "")], descending, &x, &mut found);
                    assert_eq!(found, all[..first], "{first}, {descending}");
                }
            }
        }
    }
}
